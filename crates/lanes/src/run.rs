//! The loop that does a job with a kernel, whatever the hash and the instruction set.

use crate::{
    grid::Grid,
    kernel::{Block, Context, End, Job, Kernel, Start},
    overlay::{Overlay, PITCH},
    plan::{Content, Step},
};
use core::{hint, mem::MaybeUninit, ptr};

#[cfg(not(target_family = "wasm"))]
mod native;
pub(crate) mod prefetch;
#[cfg(target_family = "wasm")]
mod wasm;

#[cfg(not(target_family = "wasm"))]
use native as platform;
use prefetch::{prefetch, prefetch_far};
#[cfg(target_family = "wasm")]
use wasm as platform;

/// The number of bytes of each message that are copied at a time where messages would push each other out of the cache.
const PIECE: usize = 512;

/// The distance between two messages' copies, in bytes: skewed by a cache line.
const PIECE_PITCH: usize = PIECE + 64;

/// A message's block is fetched while the block so many before it is hashed. Of BLAKE3's chunks in memory, one block is too late, and
/// takes up to a fifth longer; with three, nothing is gained.
const EARLY: usize = 2;

/// So many bytes are taken to be in the second cache already when they are hashed.
const NEAR: usize = 1 << 20;

/// Memory that begins at a cache line.
#[repr(align(64))]
struct Aligned<T>(T);

/// Memory for one value of each lane.
type Own<K, T> = MaybeUninit<<K as Kernel>::Each<T>>;

/// The loop's own memory for the messages that are hashed at a time, one in each lane.
#[derive(Clone, Copy)]
struct Group {
    /// A pointer to each message: as many as there are lanes.
    pointers: *mut *const u8,
    /// As many pointers to copies, or to a template.
    copies: *mut *const u8,
    /// [`PIECE_PITCH`] bytes for each lane.
    staged: *mut u8,
    /// The distance to the messages of the group after this one, in bytes; 0 if they need not be prefetched.
    far: usize,
}

/// Does a job with one kernel.
///
/// # Safety
/// *Instructions*: the machine has the kernel's instruction set. *Messages*: each message of the grid has the bytes that the
/// plan's steps take from it. *Start* and *end*: a state can be read for each lane if it is kept, and the states or the digests
/// of all messages can be written; states that are kept are of no more messages than there are lanes. *Terms*: they are those of
/// the kernel's hash.
#[inline(always)]
pub(crate) unsafe fn run<K: Kernel>(job: &Job<'_>) {
    const { assert!(size_of::<K::Each<u8>>() >= K::LANES && K::DIGEST <= 64) };
    let (grid, steps) = (job.grid, job.plan.steps());
    // None of this memory is cleared: hashing a single message takes less time than that.
    let (mut pointers, mut copies) = (Own::<K, *const u8>::uninit(), Own::<K, *const u8>::uninit());
    let mut lanes = MaybeUninit::uninit();
    // A local of a cache line's alignment whose address escapes makes the compiler align the whole frame before it spills
    // registers: otherwise half of all spilled vectors would cross a cache line, or not, by the accident of the caller's stack.
    let mut staged = Aligned(Own::<K, [u8; PIECE_PITCH]>::uninit());
    // While a block is hashed, a later one is fetched. Of chunks that lie one after another, the next group's are fetched, too: a
    // chunk is too short for the chip to see a stream in it, and a group's chunks are together too long for the nearest cache.
    // What is short enough to have come through the second cache just now would only wait for it.
    let far = if grid.run > K::LANES && grid.count * grid.step > NEAR { K::LANES * grid.step } else { 0 };
    let group = Group {
        pointers: pointers.as_mut_ptr().cast(),
        copies: copies.as_mut_ptr().cast(),
        staged: hint::black_box(staged.0.as_mut_ptr()).cast(),
        far,
    };
    let short = steps.iter().all(|step| step.blocks == 1);
    // SAFETY: *terms*; `lanes` is a local of this function, which only the context uses.
    let mut context = unsafe { K::Context::new(job, lanes.as_mut_ptr()) };
    let (mut base, mut place, mut done) = (grid.base, grid.first, 0);
    while done < grid.count {
        let valid = K::LANES.min(grid.count - done);
        // SAFETY: `group` is memory of this function for all lanes. There are `valid` more messages, of which `base` and `place`
        // are the first one's; everything else is promised to this function, too.
        unsafe {
            (base, place) = fill::<K>(group, &mut context, &grid, base, place, valid, short);
            let mut state = match job.start {
                Start::Same(words) => K::same(words.as_ptr()),
                Start::Kept(words) => K::load(words),
            };
            for step in steps {
                fold_step::<K>(&mut state, &mut context, step, job, group);
            }
            finish::<K>(&state, job.end, group.staged, done, valid);
        }
        done += valid;
    }
}

/// Points each lane to a message, those after the `valid` first ones to the last of these. Returns the first message of the run
/// that comes next, and the place of the next message in it. `short` says that no step has several blocks.
///
/// # Safety
/// `group` has memory for each lane; `0 < valid <= K::LANES`. If the grid points to its messages, it has so many pointers from `base` on.
#[inline(always)]
unsafe fn fill<K: Kernel>(
    group: Group,
    context: &mut K::Context,
    grid: &Grid,
    mut base: *const u8,
    mut place: usize,
    valid: usize,
    short: bool,
) -> (*const u8, usize) {
    let (pointers, mut lane) = (group.pointers, 0);
    // SAFETY: every `lane` is less than `K::LANES`, for which `group` has memory; `valid - 1` is, too, and was written before. A grid
    // that points to its messages has `valid` more pointers at `base`.
    unsafe {
        if grid.pointed {
            while lane < valid {
                *pointers.add(lane) = *base.cast::<*const u8>().add(lane);
                lane += 1;
            }
            base = base.wrapping_add(valid * grid.stride);
        } else if grid.run == 1 && valid == K::LANES {
            // The most frequent case has a number of turns that the compiler knows.
            while lane < K::LANES {
                *pointers.add(lane) = base;
                if short {
                    // While these messages are hashed, the next ones are fetched.
                    prefetch(base.wrapping_add(K::LANES * grid.stride));
                }
                base = base.wrapping_add(grid.stride);
                lane += 1;
            }
        }
        while lane < valid {
            *pointers.add(lane) = base.wrapping_add(place * grid.step);
            context.lane(lane, place);
            place += 1;
            if place == grid.run {
                place = 0;
                base = base.wrapping_add(grid.stride);
            }
            lane += 1;
        }
        while lane < K::LANES {
            *pointers.add(lane) = *pointers.add(valid - 1);
            lane += 1;
        }
    }
    (base, place)
}

/// Folds the blocks of a step into the states.
///
/// # Safety
/// *Instructions*, *messages* and *terms*, as for [`run`]; `group` has memory for each lane, and a pointer to each message.
#[inline(always)]
unsafe fn fold_step<K: Kernel>(
    state: &mut K::State,
    context: &mut K::Context,
    step: &Step,
    job: &Job<'_>,
    group: Group,
) {
    let size = job.plan.block();
    context.step(step);
    let (mut pointers, mut offset) = match step.content {
        Content::Message => (group.pointers.cast_const(), step.offset),
        // SAFETY: the same promises.
        _ => (unsafe { assemble::<K>(step, size, group) }, 0),
    };
    let stages = platform::STAGES && step.is_long() && job.grid.conflicts();
    let (mut left, mut staged) = (step.blocks, 0);
    while left > 0 {
        // SAFETY: *messages* has `left` more blocks behind each of `group.pointers`, or the one block that was put together;
        // copies have the `staged` blocks that were copied last. Prefetches need no memory.
        unsafe {
            if stages && staged == 0 {
                staged = left.min(PIECE / size);
                let from = step.offset + ((step.blocks - left) * size) as isize;
                pointers = stage::<K>(group, from, staged * size);
                offset = 0;
            } else if left > 1 && !stages {
                let mut lane = 0;
                while lane < K::LANES {
                    prefetch((*group.pointers.add(lane)).wrapping_offset(offset).wrapping_add(EARLY * size));
                    lane += 1;
                }
            }
            if group.far > 0 {
                let mut lane = 0;
                while lane < K::LANES {
                    prefetch_far((*group.pointers.add(lane)).wrapping_offset(offset).wrapping_add(group.far));
                    lane += 1;
                }
            }
            let blocks = platform::at_once::<K>(left, step.last);
            left -= blocks;
            if left == 0 && step.last {
                context.last();
            }
            let block = match step.content {
                // A single lane needs no short cut, and with a second way to the words all of them would lie in memory between
                // reading and use.
                Content::Template if K::SAME && K::LANES > 1 => Block::Same(step.template.as_ptr()),
                _ => Block::Each(pointers, offset),
            };
            platform::fold::<K>(state, block, context, blocks, size);
            offset += (blocks * size) as isize;
            staged = staged.wrapping_sub(1);
        }
    }
}

/// Puts the only block of a step together, where it is not all message, and returns a pointer for each lane to it.
///
/// # Safety
/// As [`fold_step`].
#[inline(always)]
unsafe fn assemble<K: Kernel>(step: &Step, size: usize, group: Group) -> *const *const u8 {
    let Group { pointers, copies, staged, .. } = group;
    let template = step.template.as_ptr();
    if let Content::Overlaid(from, end) = step.content {
        let overlay = Overlay { template, len: size, pointers, offset: step.offset, from, end, to: staged };
        // SAFETY: *instructions*. The template has `MAX_BLOCK` bytes; *messages* has those at `from..end` of the step's block; and
        // `PIECE_PITCH`, which is no less than `PITCH`, bytes are staged for each lane.
        unsafe { K::overlay(overlay) };
    }
    let mut lane = 0;
    while lane < K::LANES {
        // SAFETY: `lane` is less than `K::LANES`, for which there are copies.
        unsafe {
            *copies.add(lane) = match step.content {
                Content::Template => template,
                _ => staged.add(lane * PITCH),
            };
        }
        lane += 1;
    }
    copies
}

/// Copies `len` bytes of each message, `from` bytes after its pointer, so that they lie in different cache sets. Returns a pointer
/// for each lane to the copy.
///
/// # Safety
/// `group` has memory for each lane, and a pointer to each message that has these bytes; `len <= PIECE`.
#[inline(always)]
unsafe fn stage<K: Kernel>(group: Group, from: isize, len: usize) -> *const *const u8 {
    let mut lane = 0;
    while lane < K::LANES {
        // SAFETY: `lane` is less than `K::LANES`, for which there are `PIECE_PITCH` bytes and a copy's pointer. The message has
        // the bytes, as promised, and does not lie in this crate's own memory.
        unsafe {
            let to = group.staged.add(lane * PIECE_PITCH);
            ptr::copy_nonoverlapping((*group.pointers.add(lane)).wrapping_offset(from), to, len);
            *group.copies.add(lane) = to;
        }
        lane += 1;
    }
    group.copies
}

/// Writes the states, or the digests of the `valid` messages that come after the `done` first ones. `staged` is memory of
/// [`PIECE_PITCH`] bytes for each lane.
///
/// # Safety
/// *End*, as for [`run`], and that memory.
#[inline(always)]
unsafe fn finish<K: Kernel>(state: &K::State, end: End, staged: *mut u8, done: usize, valid: usize) {
    // SAFETY: *end* has room for the states of all lanes, or for the digests of the messages from `done` to before
    // `done + valid`. A digest has at most 64 bytes, for which `staged` has room.
    unsafe {
        match end {
            End::Kept(words) => K::store(state, words),
            End::Digests(out, size) if size == K::DIGEST && valid == K::LANES => {
                K::digests(state, out.add(done * size), size);
            }
            End::Digests(out, size) => {
                K::digests(state, staged, K::DIGEST);
                let mut lane = 0;
                while lane < valid {
                    ptr::copy_nonoverlapping(staged.add(lane * K::DIGEST), out.add((done + lane) * size), size);
                    lane += 1;
                }
            }
        }
    }
}

/// Folds in one block of each lane whose 16 words lie in lanes.
///
/// # Safety
/// *Instructions*, as for [`run`]; 16 words of each lane can be read at `words`.
#[inline(never)]
pub(crate) unsafe fn fold_lanes<K: Kernel<Context: Default>>(state: &mut K::State, words: *const u8) {
    let (block, mut context) = (Block::Lanes(words), K::Context::default());
    // SAFETY: the same promises; the default context points to nothing.
    unsafe {
        match K::LANES {
            1 => K::fold(state, block, &context),
            _ => platform::fold::<K>(state, block, &mut context, 1, 0),
        }
    }
}
