//! BLAKE3's own tree: chunks, parents, and the root's mark on either (the BLAKE3 paper, 2.4 and 2.5).

use crate::{
    Messages,
    blake2::{Small, Variant, columns, diagonals, round},
    cpu::{Cpu, active_or_detected},
    kernel::{End, Grid, Job, Kernel, Numbers, Place, Source, Start, lanes_state},
    kernels::{Family, dispatch},
    lane::Lane,
    plan::{Padding, Plan, Scheme, Words},
};
use core::{marker::PhantomData, slice};

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
use crate::{
    kernels::few,
    rows::{Flags, Nodes},
};

mod trees;
pub(crate) use trees::{Trees, digests};

/// The size of a chunk, in bytes: the last one may be shorter.
pub const CHUNK: usize = 1024;

/// A chaining value or, of the root, a digest.
pub type Value = [u8; 32];

/// Domain flags of the compression function (the BLAKE3 paper, table 3). A [`Plan`]'s first block has `CHUNK_START`.
#[allow(dead_code)] // Where there are no rows.
pub(crate) const CHUNK_START: u32 = 1;
pub(crate) const CHUNK_END: u32 = 2;
pub(crate) const PARENT: u32 = 4;
pub(crate) const ROOT: u32 = 8;

/// The BLAKE3 paper, 2.1: a chunk as a message.
pub(crate) static BLAKE3: Scheme =
    Scheme { block: 64, padding: Padding::Zeros, start: Words::of32(&<Small as Variant>::START) };

/// Whether a node is the root.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    /// Its value is the digest.
    Root,
    /// Its value goes into a parent.
    Inner,
}

/// Writes the chaining values of consecutive chunks that are not the root; the first has the number `counter`.
///
/// # Panics
/// If the chunks are longer than [`CHUNK`], or `out` has not one place for each.
pub fn chunks(counter: u64, messages: Messages<'_>, out: &mut [Value]) {
    chunks_on(active_or_detected(), counter, messages, out);
}

/// [`chunks`] on a given instruction set.
pub(crate) fn chunks_on(cpu: Cpu, counter: u64, messages: Messages<'_>, out: &mut [Value]) {
    assert!(messages.len() <= CHUNK, "a chunk of {} bytes", messages.len());
    assert_eq!(out.len(), messages.count(), "a place for each chunk");
    let grid = Grid {
        base: messages.bytes().as_ptr(),
        stride: 0,
        columns: usize::MAX,
        step: messages.stride(),
        first: 0,
        counter,
        up: 1,
    };
    // SAFETY: `Messages` lie in their memory, and `out` has a place for each.
    unsafe { chunks_of(cpu, grid, &[], messages.len(), messages.count(), Role::Inner, out.as_mut_ptr().cast()) }
}

/// The digest of an input of one chunk.
///
/// # Panics
/// If the chunk is longer than [`CHUNK`].
pub fn root_chunk(bytes: &[u8]) -> Value {
    assert!(bytes.len() <= CHUNK, "a chunk of {} bytes", bytes.len());
    let (grid, mut out) = (Grid::column(bytes.as_ptr(), 0), [0; 32]);
    // SAFETY: one message of `bytes`, one place.
    unsafe { chunks_of(active_or_detected(), grid, &[], bytes.len(), 1, Role::Root, out.as_mut_ptr()) }
    out
}

/// Writes the parents of consecutive pairs that are not the root.
///
/// # Panics
/// If `out` is not half as long as `children`.
pub fn parents(children: &[Value], out: &mut [Value]) {
    parents_on(active_or_detected(), children, out);
}

/// [`parents`] on a given instruction set.
pub(crate) fn parents_on(cpu: Cpu, children: &[Value], out: &mut [Value]) {
    assert_eq!(children.len(), 2 * out.len(), "two children for each parent");
    let grid = Grid::column(children.as_ptr().cast(), 64);
    // SAFETY: 64 bytes for each of `out`.
    unsafe { parents_of(cpu, grid, out.len(), Role::Inner, out.as_mut_ptr().cast()) }
}

/// The digest of an input of more than one chunk.
pub fn root_parent(left: &Value, right: &Value) -> Value {
    let (pair, mut out) = ([*left, *right], [0; 32]);
    // SAFETY: one pair, one place.
    unsafe {
        parents_of(active_or_detected(), Grid::column(pair.as_ptr().cast(), 64), 1, Role::Root, out.as_mut_ptr());
    }
    out
}

/// Writes the values of chunks `prefix ‖ message`.
///
/// # Safety
/// `count` messages of `len` bytes lie in `grid`; `out` has 32 bytes for each, and may be where they were read from.
#[inline(always)]
pub(crate) unsafe fn chunks_of(
    cpu: Cpu,
    grid: Grid,
    prefix: &[u8],
    len: usize,
    count: usize,
    role: Role,
    out: *mut u8,
) {
    if count == 0 {
        return;
    }
    let root = if role == Role::Root { ROOT } else { 0 };
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    if prefix.is_empty()
        && let Some(few) = few(cpu, count)
        && let Some((base, stride, up)) = grid.line(count)
    {
        let number = grid.counter + grid.up * grid.first as u64;
        let flags = Flags { first: CHUNK_START as u8, every: 0, last: (CHUNK_END | root) as u8, up: up as u8 };
        // SAFETY: the caller's promise.
        return unsafe { few(Nodes { base, stride, len, number, flags }, count, out) };
    }
    // Blocks that only the prefix fills are the same for all: but a chunk has no more than 16, so nothing is saved here.
    debug_assert!(prefix.len() <= 64);
    let mut plan = Plan::new();
    plan.rest(&BLAKE3, prefix, len, 0);
    if count == 1 && grid.first == 0 {
        // SAFETY: the caller's promise.
        plan.include(unsafe { slice::from_raw_parts(grid.base, len) });
    }
    let start = Start::Same(BLAKE3.start.as_ptr());
    let job =
        Job { flags: (0, CHUNK_END | root), ..Job::new(&BLAKE3, &plan, start, grid, count, End::Digests(out, 32)) };
    // SAFETY: the caller's promise.
    unsafe { dispatch(cpu, Family::Blake3, &job) }
}

/// Writes the values of parents: 64 bytes each.
///
/// # Safety
/// `count` pairs lie in `grid`; `out` has 32 bytes for each, and may begin where they were read from.
#[inline(always)]
pub(crate) unsafe fn parents_of(cpu: Cpu, grid: Grid, count: usize, role: Role, out: *mut u8) {
    let root = if role == Role::Root { ROOT } else { 0 };
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    if let Some(few) = few(cpu, count)
        && let Some((base, stride, _)) = grid.line(count)
    {
        let flags = Flags { first: 0, every: (PARENT | root) as u8, last: 0, up: 0 };
        // SAFETY: the caller's promise.
        return unsafe { few(Nodes { base, stride, len: 64, number: 0, flags }, count, out) };
    }
    // A parent is one full block that is no chunk's first: as if a block went before.
    let mut plan = Plan::new();
    plan.blocks(&BLAKE3, 64, 0, 1);
    let start = Start::Same(BLAKE3.start.as_ptr());
    let job = Job { flags: (PARENT | root, 0), ..Job::new(&BLAKE3, &plan, start, grid, count, End::Digests(out, 32)) };
    // SAFETY: the caller's promise.
    unsafe { dispatch(cpu, Family::Blake3, &job) }
}

/// BLAKE3's compression function over the lanes `L`.
pub(crate) struct Blake3<L>(PhantomData<L>);

/// The order of the message's words in each round: each permutes the one before (the BLAKE3 paper, table 2).
pub(crate) const ORDER: [[usize; 16]; 7] = {
    let permutation = [2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8];
    let mut order = [[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]; 7];
    let mut round = 1;
    while round < 7 {
        let mut word = 0;
        while word < 16 {
            order[round][word] = order[round - 1][permutation[word]];
            word += 1;
        }
        round += 1;
    }
    order
};

/// The BLAKE3 paper, 2.2. The block's second half is read when the first one is mixed in: so the shuffles that reading is
/// made of run beside the mixing.
///
/// # Safety
/// The machine has the instruction set; 16 words of each message lie in `rows`.
#[inline(always)]
unsafe fn compress<L: Lane<Word = u32>>(
    cv: &mut [L; 8],
    rows: *const *const u8,
    offset: isize,
    numbers: [L; 2],
    len: u32,
    flags: u32,
) {
    let one = cv[0];
    let iv = <Small as Variant>::START;
    let mut v = [
        cv[0],
        cv[1],
        cv[2],
        cv[3],
        cv[4],
        cv[5],
        cv[6],
        cv[7],
        one.splat(iv[0]),
        one.splat(iv[1]),
        one.splat(iv[2]),
        one.splat(iv[3]),
        numbers[0],
        numbers[1],
        one.splat(len),
        one.splat(flags),
    ];
    let turns = <Small as Variant>::TURNS;
    let mut m = [one; 16];
    // SAFETY: the caller's promise.
    put(&mut m, 0, unsafe { L::rows8::<false>(rows, offset) });
    columns(&mut v, &m, &ORDER[0], turns);
    // SAFETY: the caller's promise.
    put(&mut m, 8, unsafe { L::rows8::<false>(rows, offset + 32) });
    diagonals(&mut v, &m, &ORDER[0], turns);
    macro_rules! rounds {
        ($($round:literal)*) => { $(round(&mut v, &m, &ORDER[$round], turns);)* };
    }
    rounds!(1 2 3 4 5 6);
    let mut at = 0;
    while at < 8 {
        cv[at] = v[at].xor(v[at + 8]);
        at += 1;
    }
}

/// Puts half a block in its place.
#[inline(always)]
fn put<L: Lane>(m: &mut [L; 16], from: usize, half: [L; 8]) {
    let mut at = 0;
    while at < 8 {
        m[from + at] = half[at];
        at += 1;
    }
}

impl<L: Lane<Word = u32>> Kernel for Blake3<L> {
    type State = [L; 8];
    const LANES: usize = L::LANES;
    const DIGEST: usize = 32;
    const SAME: bool = false;
    lanes_state!(8);

    #[inline(always)]
    unsafe fn fold(state: &mut [L; 8], source: Source, place: &Place) {
        // SAFETY: the caller's promise, and there are numbers for each lane.
        unsafe {
            let numbers = match place.numbers {
                Numbers::Same(number) => [L::broadcast(number as u32), L::broadcast((number >> 32) as u32)],
                Numbers::Each([low, high]) => [L::load(low), L::load(high)],
            };
            let (rows, offset) = source.rows();
            compress(state, rows, offset, numbers, place.len, place.flags);
        }
    }

    #[inline(always)]
    unsafe fn digests(state: &[L; 8], out: *mut u8, stride: usize) {
        // SAFETY: the caller's promise.
        unsafe { L::store8::<false>(state, out, stride) }
    }
}
