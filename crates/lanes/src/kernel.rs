//! What a kernel is asked to do, and the one loop that does it for every hash on every instruction set.

use crate::{
    lane::Lane,
    plan::{Plan, Rows, Scheme, Step},
};
use core::{hint, mem::MaybeUninit, ptr};

/// The largest block of any hash, in bytes (SHA3-224).
pub(crate) const MAX_BLOCK: usize = 144;

/// From one message's copied block to the next one's, in bytes.
pub(crate) const PITCH: usize = MAX_BLOCK.next_multiple_of(64);

/// The bytes of each message that are copied at a time where messages would push each other out of the cache.
const PIECE: usize = 512;

/// So many bytes are taken to be in the second cache already when they are hashed.
const NEAR: usize = 1 << 20;

/// Messages at a kernel, all of the same length.
#[derive(Clone, Copy)]
pub(crate) struct Job<'a> {
    /// Where the states come from.
    pub start: Start,
    /// Where the messages lie.
    pub grid: Grid,
    /// The number of messages.
    pub count: usize,
    /// What is folded into the states, in order.
    pub steps: &'a [Step],
    /// The size of a block, in bytes.
    pub block: usize,
    /// Of SHA-2, the last block's schedule with the constants, if that block is the same in every message, or those parts of
    /// it that are, if the block differs in its first word alone.
    pub schedule: *const u8,
    /// Of BLAKE3, the flags of every block, and those of the last one besides.
    pub flags: (u32, u32),
    /// Where the states or digests go.
    pub end: End,
}

impl<'a> Job<'a> {
    /// A job without a schedule or flags.
    pub fn new(scheme: &Scheme, plan: &'a Plan, start: Start, grid: Grid, count: usize, end: End) -> Self {
        let (steps, block) = (plan.steps(), scheme.block);
        Job { start, grid, count, steps, block, schedule: ptr::null(), flags: (0, 0), end }
    }
}

/// Where the states come from: `*const u8` points to words in the machine's own order.
#[derive(Clone, Copy)]
pub(crate) enum Start {
    /// One state for all messages.
    Same(*const u8),
    /// A state for each lane: the first word of all lanes, then the second, and so on.
    Kept(*const u8),
}

/// Where the states or digests go.
#[derive(Clone, Copy)]
pub(crate) enum End {
    /// The states, as in [`Start::Kept`].
    Kept(*mut u8),
    /// The digests' first bytes (the number), one after another.
    Digests(*mut u8, usize),
}

/// Where messages lie: rows of `columns` messages, and, of BLAKE3's chunks, which number they have.
#[derive(Clone, Copy)]
pub(crate) struct Grid {
    /// The first message.
    pub base: *const u8,
    /// The distance between rows, in bytes.
    pub stride: usize,
    /// The number of messages in each row.
    pub columns: usize,
    /// The distance between messages in a row, in bytes.
    pub step: usize,
    /// The first message's place in the first row.
    pub first: usize,
    /// The number of each row's first message.
    pub counter: u64,
    /// How much larger the number of the next message in a row is: 0 or 1.
    pub up: u64,
}

impl Grid {
    /// Messages that lie `stride` bytes apart.
    pub fn column(base: *const u8, stride: usize) -> Self {
        Grid { base, stride, columns: 1, step: 0, first: 0, counter: 0, up: 0 }
    }

    /// Where the first of `count` messages lies, how far behind it the next one, and how much larger that one's number is, if
    /// all of them are so far from each other.
    #[allow(dead_code)] // Where there are no rows.
    pub fn line(&self, count: usize) -> Option<(*const u8, usize, u64)> {
        let base = self.base.wrapping_add(self.first * self.step);
        match self.columns {
            1 => Some((base, self.stride, 0)),
            columns if self.first + count <= columns => Some((base, self.step, self.up)),
            _ => None,
        }
    }

    /// Without the first `count` messages.
    pub fn skip(self, count: usize) -> Self {
        if count == 0 {
            return self;
        }
        let at = self.first + count;
        let base = self.base.wrapping_add(at / self.columns * self.stride);
        Grid { base, first: at % self.columns, ..self }
    }

    /// Whether messages of many blocks, at the same distance from their begin, lie in the same few cache sets.
    fn conflicts(&self) -> bool {
        self.columns == 1 && self.stride > 0 && self.stride.is_multiple_of(2048)
    }
}

/// Whether each kernel has one way through its rounds, and short: in WebAssembly, where a module is downloaded.
pub(crate) const SMALL: bool = cfg!(target_family = "wasm");

/// A block of each message.
#[derive(Clone, Copy)]
pub(crate) enum Source {
    /// At so many bytes from the messages' rows.
    Rows(*const *const u8, isize),
    /// The same in every message.
    Same(*const u8),
    /// The same in every message: of SHA-2, its schedule with the constants.
    Scheduled(*const u8),
    /// As rows; but the same in every message, except for the first word: of SHA-2, what is the same in their schedules.
    Nearly(*const *const u8, isize, *const u8),
    /// 16 words in lanes, as [`Lane::load`] reads them, one after another.
    Lanes(*const u8),
}

impl Source {
    /// Where each message's block is.
    ///
    /// # Safety
    /// There are so many rows.
    #[inline(always)]
    #[allow(dead_code)] // Where there are no SHA instructions.
    pub unsafe fn every_row<const N: usize>(self) -> [*const u8; N] {
        match self {
            Source::Rows(rows, offset) | Source::Nearly(rows, offset, _) => {
                let mut all = [ptr::null(); N];
                let mut message = 0;
                while message < N {
                    // SAFETY: the caller's promise.
                    all[message] = unsafe { (*rows.add(message)).wrapping_offset(offset) };
                    message += 1;
                }
                all
            }
            Source::Same(block) | Source::Scheduled(block) | Source::Lanes(block) => [block; N],
        }
    }

    /// The rows, where [`Kernel::SAME`] is false.
    ///
    /// # Safety
    /// The block is in rows.
    #[inline(always)]
    pub unsafe fn rows(self) -> (*const *const u8, isize) {
        match self {
            Source::Rows(rows, offset) => (rows, offset),
            // SAFETY: the caller's promise.
            _ => unsafe { hint::unreachable_unchecked() },
        }
    }

    /// The block's 16 words. `SAME` is the kernel's [`Kernel::SAME`].
    ///
    /// # Safety
    /// The machine has the instruction set, and the block is there.
    #[inline(always)]
    pub unsafe fn words<const BIG: bool, const SAME: bool, L: Lane>(self) -> [L; 16] {
        // SAFETY: the caller's promise.
        unsafe {
            match self {
                Source::Rows(rows, offset) | Source::Nearly(rows, offset, _) => L::rows16::<BIG>(rows, offset),
                Source::Same(block) | Source::Scheduled(block) if SAME => {
                    let row = [block; 1];
                    let words = L::Word::rows16::<BIG>(row.as_ptr(), 0);
                    let mut all = [L::broadcast(words[0]); 16];
                    let mut at = 1;
                    while at < 16 {
                        all[at] = L::broadcast(words[at]);
                        at += 1;
                    }
                    all
                }
                Source::Lanes(words) => {
                    let words = words.cast::<L::Word>();
                    let mut all = [L::load(words); 16];
                    let mut at = 1;
                    while at < 16 {
                        all[at] = L::load(words.add(at * L::LANES));
                        at += 1;
                    }
                    all
                }
                _ => hint::unreachable_unchecked(),
            }
        }
    }
}

/// A block of each message to be put together: `len` bytes of `template`, but those at `from..end` are the message's, at the
/// same index from `offset` on. They go to `to`, `to + `[`PITCH`] and so on.
///
/// `len <= 144` bytes can be read at `template`, and `PITCH` be written at each place; the message's bytes can be read.
#[derive(Clone, Copy)]
pub(crate) struct Overlay {
    pub template: *const u8,
    pub rows: *const *const u8,
    pub offset: isize,
    pub from: usize,
    pub end: usize,
    pub to: *mut u8,
    pub len: usize,
}

impl Overlay {
    /// Without the first messages.
    #[inline(always)]
    pub fn skip(self, messages: usize) -> Self {
        Overlay { rows: self.rows.wrapping_add(messages), to: self.to.wrapping_add(messages * PITCH), ..self }
    }
}

/// A block's place in its message.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    /// The bytes hashed up to and including this block (BLAKE2).
    pub counter: u64,
    /// The bytes of this block that are not padding (BLAKE3).
    pub len: u32,
    /// The block's flags (BLAKE3).
    pub flags: u32,
    /// Whether it is the last block.
    pub last: bool,
    /// The number of each lane's message (BLAKE3).
    pub numbers: Numbers,
    /// The size of a block, in bytes (Keccak).
    pub block: usize,
}

impl Place {
    /// Of hashes whose blocks do not know their places.
    pub const NOWHERE: Place = Place { counter: 0, len: 0, flags: 0, last: false, numbers: Numbers::Same(0), block: 0 };
}

/// The numbers of messages.
#[derive(Clone, Copy)]
pub(crate) enum Numbers {
    /// All have this one. It is not in memory: a vector cannot be loaded from words just written before all instructions
    /// before those are done, and so one short message would wait for the one before.
    Same(u64),
    /// The low halves of each lane's, and the high ones.
    Each([*const u32; 2]),
}

/// A hash function over some messages side by side.
///
/// Every function is `#[inline(always)]`, so that it takes the target features of the function around [`run`].
///
/// # Safety
/// All functions: the machine has the kernel's instruction set, and pointers reach as far as is said.
pub(crate) trait Kernel {
    /// The state of all lanes.
    type State: Copy;

    /// The number of messages side by side.
    const LANES: usize;

    /// One value a message, in memory: `[T; LANES]`, or more.
    type Each<T: Copy>: Copy;

    /// The bytes of a digest that `digests` writes for each message: at least as many as any digest has.
    const DIGEST: usize;

    /// All lanes at the same state.
    unsafe fn same(words: *const u8) -> Self::State;

    /// Each lane at its own state: lanes side by side for each word.
    unsafe fn load(words: *const u8) -> Self::State;

    /// Writes what `load` reads.
    unsafe fn store(state: &Self::State, words: *mut u8);

    /// Whether `fold` has a short cut for a block that is the same in every message. Otherwise it never sees one: the
    /// few extra loads cost less than two ways into the compression function.
    const SAME: bool;

    /// Folds in one block of each message.
    unsafe fn fold(state: &mut Self::State, source: Source, place: &Place);

    /// Writes `DIGEST` bytes for each message, `stride` bytes apart.
    unsafe fn digests(state: &Self::State, out: *mut u8, stride: usize);

    /// As [`Lane::overlay`], with a message for each lane.
    #[inline(always)]
    unsafe fn overlay(overlay: Overlay) {
        let mut lane = 0;
        while lane < Self::LANES {
            // SAFETY: the caller's promise: a row, and a place.
            unsafe { u32::overlay(overlay.skip(lane)) };
            lane += 1;
        }
    }
}

/// Memory that begins at a cache line.
#[repr(align(64))]
struct Aligned<T>(T);

/// Memory for one value a message.
type Own<K, T> = MaybeUninit<<K as Kernel>::Each<T>>;

/// Does a job with one kernel.
///
/// # Safety
/// The machine has the kernel's instruction set; the job's pointers reach as far as its steps say.
#[inline(always)]
pub(crate) unsafe fn run<K: Kernel>(job: &Job<'_>) {
    const { assert!(size_of::<K::Each<u8>>() >= K::LANES && K::DIGEST <= 64) };
    let grid = job.grid;
    // All of this memory is left as it is where a kernel does not need it: a single message takes less time than clearing it.
    let (mut rows, mut other_rows) = (Own::<K, *const u8>::uninit(), Own::<K, *const u8>::uninit());
    let (mut low, mut high) = (Own::<K, u32>::uninit(), Own::<K, u32>::uninit());
    let (rows, other_rows): (*mut *const u8, *mut *const u8) =
        (rows.as_mut_ptr().cast(), other_rows.as_mut_ptr().cast());
    let numbers: [*mut u32; 2] = [low.as_mut_ptr().cast(), high.as_mut_ptr().cast()];
    // A local of a cache line's alignment that escapes has the whole frame aligned before registers are spilled to it:
    // otherwise half of all spilled vectors would cross a cache line, or not, by the accident of the caller's stack.
    let mut staged = Aligned(Own::<K, [u8; PIECE + 64]>::uninit());
    let staged: *mut u8 = hint::black_box(staged.0.as_mut_ptr()).cast();
    // While a block is hashed, the next one comes. Of chunks that lie one after another the next group's come, too: a chunk
    // is too short for the chip to see a stream in it, and a group's chunks together too long for the nearest cache. What is
    // short enough to have come through the second cache just now would only wait for it.
    let far = if grid.columns > K::LANES && job.count * grid.step > NEAR { K::LANES * grid.step } else { 0 };
    let short = job.steps.iter().all(|step| step.blocks == 1);
    let (mut row, mut column, mut done) = (grid.base, grid.first, 0);

    let mut lane = 0;
    while grid.up > 0 && lane < K::LANES {
        // SAFETY: there is a number for each lane.
        unsafe {
            *numbers[0].add(lane) = grid.counter as u32;
            *numbers[1].add(lane) = (grid.counter >> 32) as u32;
        }
        lane += 1;
    }

    while done < job.count {
        let valid = K::LANES.min(job.count - done);
        lane = 0;
        // SAFETY: there is a row and a number for each lane.
        unsafe {
            if grid.columns == 1 && valid == K::LANES {
                // The most frequent case has a number of turns that the compiler knows.
                while lane < K::LANES {
                    *rows.add(lane) = row;
                    if short {
                        // While these messages are hashed, the next ones come.
                        prefetch(row.wrapping_add(K::LANES * grid.stride));
                    }
                    row = row.wrapping_add(grid.stride);
                    lane += 1;
                }
            }
            while lane < valid {
                *rows.add(lane) = row.wrapping_add(column * grid.step);
                if grid.up > 0 {
                    let number = grid.counter.wrapping_add(grid.up * column as u64);
                    *numbers[0].add(lane) = number as u32;
                    *numbers[1].add(lane) = (number >> 32) as u32;
                }
                column += 1;
                if column == grid.columns {
                    column = 0;
                    row = row.wrapping_add(grid.stride);
                }
                lane += 1;
            }
            // Lanes without a message repeat the last one.
            while lane < K::LANES {
                *rows.add(lane) = *rows.add(valid - 1);
                lane += 1;
            }
        }
        // SAFETY: the caller's promises, and this function's own memory.
        unsafe {
            let mut state = match job.start {
                Start::Same(words) => K::same(words),
                Start::Kept(words) => K::load(words),
            };
            for step in job.steps {
                let mut place = Place {
                    counter: step.counter,
                    len: step.len,
                    flags: job.flags.0 | step.first as u32,
                    last: false,
                    numbers: match grid.up {
                        0 => Numbers::Same(grid.counter),
                        _ => Numbers::Each([numbers[0], numbers[1]]),
                    },
                    block: job.block,
                };
                let (mut from, mut offset) = (rows.cast_const(), step.offset);
                let scheduled = step.last && !job.schedule.is_null() && !(SMALL && K::LANES == 1);
                if let Rows::Overlaid(from, end) = step.rows {
                    let (template, len) = (step.template.as_ptr(), job.block);
                    K::overlay(Overlay { template, rows, offset, from, end, to: staged, len });
                }
                if step.rows != Rows::Direct {
                    let mut lane = 0;
                    while lane < K::LANES {
                        *other_rows.add(lane) = match step.rows {
                            Rows::Same => step.template.as_ptr(),
                            _ => staged.add(lane * PITCH),
                        };
                        lane += 1;
                    }
                    (from, offset) = (other_rows, 0);
                }
                // On WebAssembly, few lanes conflict little, and copying costs more than that.
                let stage = !SMALL && step.blocks > 2 && grid.conflicts();
                let (mut left, mut staged_blocks) = (step.blocks, 0);
                while left > 0 {
                    if stage && staged_blocks == 0 {
                        let blocks = left.min(PIECE / job.block);
                        let next = step.offset + ((step.blocks - left) * job.block) as isize;
                        let mut lane = 0;
                        while lane < K::LANES {
                            let to = staged.add(lane * (PIECE + 64));
                            ptr::copy_nonoverlapping((*rows.add(lane)).wrapping_offset(next), to, blocks * job.block);
                            *other_rows.add(lane) = to;
                            lane += 1;
                        }
                        (from, offset, staged_blocks) = (other_rows, 0, blocks);
                    } else if left > 1 && !stage {
                        let mut lane = 0;
                        while lane < K::LANES {
                            prefetch((*rows.add(lane)).wrapping_offset(offset).wrapping_add(job.block));
                            lane += 1;
                        }
                    }
                    if far > 0 {
                        let mut lane = 0;
                        while lane < K::LANES {
                            prefetch_far((*rows.add(lane)).wrapping_offset(offset).wrapping_add(far));
                            lane += 1;
                        }
                    }
                    // Blocks that differ only in where they lie.
                    let alike = match SMALL && K::LANES == 1 && place.flags == job.flags.0 {
                        true => (left - step.last as usize).max(1),
                        false => 1,
                    };
                    left -= alike;
                    if left == 0 && step.last {
                        place.last = true;
                        place.flags |= job.flags.1;
                    }
                    let source = match step.rows {
                        Rows::Same if scheduled => Source::Scheduled(job.schedule),
                        Rows::Overlaid(..) if scheduled => Source::Nearly(from, offset, job.schedule),
                        Rows::Same if K::SAME => Source::Same(step.template.as_ptr()),
                        _ => Source::Rows(from, offset),
                    };
                    fold::<K>(&mut state, source, &place, alike);
                    place.flags = job.flags.0;
                    place.counter = place.counter.wrapping_add((alike * job.block) as u64);
                    offset += (alike * job.block) as isize;
                    staged_blocks = staged_blocks.wrapping_sub(1);
                }
            }
            match job.end {
                End::Kept(words) => K::store(&state, words),
                End::Digests(out, size) if size == K::DIGEST && valid == K::LANES => {
                    K::digests(&state, out.add(done * size), size);
                }
                End::Digests(out, size) => {
                    K::digests(&state, staged, K::DIGEST);
                    let mut lane = 0;
                    while lane < valid {
                        ptr::copy_nonoverlapping(staged.add(lane * K::DIGEST), out.add((done + lane) * size), size);
                        lane += 1;
                    }
                }
            }
        }
        done += valid;
    }
}

/// [`Kernel::fold`], of so many blocks one after another. On WebAssembly it is out of line: V8 is slower where the
/// compression function of several lanes is a part of a longer loop; of one lane, it is faster as a part of this short one
/// (lab/js).
///
/// # Safety
/// As [`Kernel::fold`], of each block; of one lane, they are in rows.
#[cfg_attr(target_family = "wasm", inline(never))]
#[cfg_attr(not(target_family = "wasm"), inline(always))]
pub(crate) unsafe fn fold<K: Kernel>(state: &mut K::State, source: Source, place: &Place, blocks: usize) {
    if K::LANES > 1 || !SMALL {
        // SAFETY: the caller's promise.
        return unsafe { K::fold(state, source, place) };
    }
    const { assert!(!SMALL || !K::SAME) };
    // One way to the words: with a second one they would all lie in memory between reading and use.
    let Source::Rows(rows, mut offset) = source else {
        // SAFETY: the caller's promise.
        unsafe { hint::unreachable_unchecked() }
    };
    let (mut own, mut place) = (*state, *place);
    let mut left = blocks;
    while left > 0 {
        // SAFETY: the caller's promise.
        unsafe { K::fold(&mut own, Source::Rows(rows, offset), &place) };
        left -= 1;
        place.counter = place.counter.wrapping_add(place.block as u64);
        offset += place.block as isize;
    }
    *state = own;
}

/// [`Kernel::fold`], of 16 words in lanes.
///
/// # Safety
/// As [`Kernel::fold`].
#[inline(never)]
pub(crate) unsafe fn fold_lanes<K: Kernel>(state: &mut K::State, words: *const u8) {
    let source = Source::Lanes(words);
    // SAFETY: the caller's promise.
    unsafe {
        match K::LANES {
            1 => K::fold(state, source, &Place::NOWHERE),
            _ => fold::<K>(state, source, &Place::NOWHERE, 1),
        }
    }
}

/// Has the cache line at an address come nearer: any address will do, even one outside of all memory.
#[inline(always)]
fn prefetch(_at: *const u8) {
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    // SAFETY: SSE is a part of x86-64, and a prefetch does not touch memory in the language's sense.
    unsafe {
        core::arch::x86_64::_mm_prefetch::<{ core::arch::x86_64::_MM_HINT_T0 }>(_at.cast());
    }
}

/// Has the cache line at an address come to the second cache.
#[inline(always)]
fn prefetch_far(_at: *const u8) {
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    // SAFETY: as for `prefetch`.
    unsafe {
        core::arch::x86_64::_mm_prefetch::<{ core::arch::x86_64::_MM_HINT_T1 }>(_at.cast());
    }
}

/// One message's words out of those of `N` messages: see [`Start::Kept`].
///
/// # Safety
/// The words are there.
#[inline(always)]
#[allow(dead_code)] // Where there are no SHA instructions.
pub(crate) unsafe fn own_words<const N: usize, const WORDS: usize>(words: *const u8, message: usize) -> [u32; WORDS] {
    let mut own = [0; WORDS];
    let mut at = 0;
    while at < WORDS {
        // SAFETY: the caller's promise.
        own[at] = unsafe { *words.cast::<u32>().add(at * N + message) };
        at += 1;
    }
    own
}

/// Writes what [`own_words`] reads.
///
/// # Safety
/// There is room for the words.
#[inline(always)]
#[allow(dead_code)] // Where there are no SHA instructions.
pub(crate) unsafe fn put_words<const N: usize, const WORDS: usize>(own: &[u32; WORDS], words: *mut u8, message: usize) {
    let mut at = 0;
    while at < WORDS {
        // SAFETY: the caller's promise.
        unsafe { *words.cast::<u32>().add(at * N + message) = own[at] };
        at += 1;
    }
}

/// The functions of a [`Kernel`] whose state is an array of lanes `L`: so many.
macro_rules! lanes_state {
    ($words:literal) => {
        type Each<T: Copy> = L::Each<T>;

        #[inline(always)]
        unsafe fn same(words: *const u8) -> [L; $words] {
            // SAFETY: the caller's promise.
            unsafe {
                let words = words.cast::<L::Word>();
                let mut state = [L::broadcast(*words); $words];
                let mut at = 1;
                while at < $words {
                    state[at] = L::broadcast(*words.add(at));
                    at += 1;
                }
                state
            }
        }

        #[inline(always)]
        unsafe fn load(words: *const u8) -> [L; $words] {
            // SAFETY: the caller's promise.
            unsafe {
                let words = words.cast::<L::Word>();
                let mut state = [L::load(words); $words];
                let mut at = 1;
                while at < $words {
                    state[at] = L::load(words.add(at * L::LANES));
                    at += 1;
                }
                state
            }
        }

        #[inline(always)]
        unsafe fn store(state: &[L; $words], words: *mut u8) {
            let words = words.cast::<L::Word>();
            let mut at = 0;
            while at < $words {
                // SAFETY: the caller's promise.
                unsafe { state[at].store(words.add(at * L::LANES)) };
                at += 1;
            }
        }

        #[inline(always)]
        unsafe fn overlay(overlay: $crate::kernel::Overlay) {
            // SAFETY: the caller's promise.
            unsafe { L::overlay(overlay) }
        }
    };
}
pub(crate) use lanes_state;
