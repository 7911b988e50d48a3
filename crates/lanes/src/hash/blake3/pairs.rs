//! Many nodes of one block, such as the pairs that parents are made of, without the loop for any messages, which takes a tenth of the time.

use crate::{
    cpu::{Cpu, Features},
    dispatch::{Entry, featured},
    grid::Grid,
    hash::{
        blake3::compress::{BLAKE3, Terms, compress},
        roots::ROOTS32,
    },
    interleaved::Two,
    isa::{avx2, avx512},
    lane::Lane,
    run::prefetch::prefetch,
};
use core::{hint, ptr};

/// [`hash_pairs`] on an instruction set.
type HashPairs = unsafe fn(pairs: *const u8, groups: usize, flags: u32, out: *mut u8);

/// Writes the values of as many nodes as fill groups of the widest kernel, and returns their number: 0 if there is no function for that.
///
/// # Safety
/// Each node of the grid has 64 bytes, and 32 bytes can be written for each; they may be where the nodes were read from, as long as no value
/// covers a node that comes after its own.
pub(crate) unsafe fn hash_groups(cpu: Cpu, grid: Grid, terms: &Terms, out: *mut u8) -> usize {
    // The number is a constant: of parents and of messages of a block it is 0.
    if grid.count < FEWEST || terms.counts || terms.counter > 0 {
        return 0;
    }
    let entry = BLAKE3.family.pick(cpu, grid.count);
    let (Some(hash_pairs), Some((pairs, 64))) = (with_lanes_of(entry), grid.evenly()) else { return 0 };
    let groups = grid.count / entry.lanes;
    // SAFETY: `pick` takes only kernels that `cpu` has. There are as many nodes in all groups, one after another, and everything else is
    // promised.
    unsafe { hash_pairs(pairs, groups, terms.first | terms.every | terms.last, out) };
    groups * entry.lanes
}

/// The fewest lanes of [`with_lanes_of`].
const FEWEST: usize = 8;

/// The function that has the instruction set and the lanes of a kernel.
fn with_lanes_of(entry: &Entry) -> Option<HashPairs> {
    macro_rules! by {
        ($set:ident $lane:ty) => {
            Some(featured! {
                $set unsafe fn by(pairs: *const u8, groups: usize, flags: u32, out: *mut u8) {
                    // SAFETY: the same promises. The instruction set is the one that these lanes need.
                    unsafe { hash_pairs::<$lane>(pairs, groups, flags, out) }
                }
            })
        };
    }
    match (entry.needs, entry.lanes) {
        (Features::AVX512, 32) => by!(AVX512 Two<avx512::Z32>),
        (Features::AVX2, 16) => by!(AVX2 Two<avx2::Y32>),
        (Features::AVX2, 8) => by!(AVX2 avx2::Y32),
        _ => None,
    }
}

/// Memory that begins at a cache line: it has the compiler align the frame, as in [`run`](crate::run::run).
#[repr(align(64))]
struct Line(#[allow(dead_code)] u8);

/// Writes the values of nodes that lie one after another, as many at a time as `L` has lanes. All of them have these flags and the number 0.
///
/// # Safety
/// The machine has the instruction set. There are so many groups of nodes of 64 bytes, and 32 bytes can be written for each node; they may be
/// where the nodes were read from, as long as no value covers a node that comes after its own.
#[inline(always)]
unsafe fn hash_pairs<L: Lane<Word = u32>>(mut pairs: *const u8, groups: usize, flags: u32, mut out: *mut u8) {
    let line = Line(0);
    hint::black_box(&line);
    for _ in 0..groups {
        let (mut pointers, mut lane) = ([ptr::null(); MOST], 0);
        while lane < L::LANES {
            pointers[lane] = pairs.wrapping_add(64 * lane);
            // While these nodes are hashed, the next ones are fetched.
            prefetch(pairs.wrapping_add(64 * (lane + L::LANES)));
            lane += 1;
        }
        // SAFETY: the instruction set is promised; there is a pointer for each lane, with 64 bytes behind it, and room for the values. All
        // nodes of a group are read before a value is written.
        unsafe {
            let (mut state, mut at) = ([L::broadcast(0); 8], 0);
            while at < 8 {
                state[at] = L::broadcast(ROOTS32[at]);
                at += 1;
            }
            compress::<true, L>(&mut state, pointers.as_ptr(), 0, [L::broadcast(0); 2], [64, flags]);
            L::write8::<false>(&state, out, 32);
        }
        pairs = pairs.wrapping_add(64 * L::LANES);
        out = out.wrapping_add(32 * L::LANES);
    }
}

/// The most lanes.
const MOST: usize = 32;
