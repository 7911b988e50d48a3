//! Many nodes of BLAKE3's trees at a time: chunks, and parents of pairs (the BLAKE3 paper, 2.4).

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
use crate::hash::blake3::{
    few::{Few, fastest},
    pairs::hash_groups,
};
use crate::{
    cpu::Cpu,
    grid::Grid,
    hash::blake3::{
        compress::{BLAKE3, Terms},
        flags::{CHUNK_END, CHUNK_START, PARENT, ROOT},
    },
    kernel::{End, Job, Start},
    plan::Plan,
    words::Words,
};
use core::{ptr, slice};

/// The size of a chunk, in bytes: the last one may be shorter.
pub const CHUNK: usize = 1024;

/// A chaining value or, of the root, a digest.
pub type Value = [u8; 32];

/// What a node's value is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Output {
    /// A chaining value, which goes into a parent.
    ChainingValue,
    /// The digest: the node is the root.
    Digest,
}

impl Output {
    /// The flag for it.
    fn flag(self) -> u32 {
        if self == Output::Digest { ROOT } else { 0 }
    }
}

/// Chunks of equal length in a grid, each `prefix ‖ message`. Each run's first chunk has the number `counter`, the next one of the run
/// the next number.
#[derive(Clone, Copy)]
pub(crate) struct Chunks<'a> {
    pub grid: Grid,
    pub counter: u64,
    /// No more than a block.
    pub prefix: &'a [u8],
    /// The bytes of each message.
    pub len: usize,
}

/// The words with which a keyed hash begins, and the flag of its every block; `None` for the hash without a key.
pub(crate) type Key<'a> = Option<(&'a Words, u32)>;

/// Writes the values of chunks.
///
/// # Safety
/// As for [`hash_chunks_with`].
#[inline(always)]
pub(crate) unsafe fn hash_chunks(cpu: Cpu, chunks: Chunks<'_>, output: Output, out: *mut u8) {
    // SAFETY: the promises are the same.
    unsafe { hash_chunks_with(None, cpu, chunks, output, out) }
}

/// Writes the values of parents of pairs: 64 bytes each.
///
/// # Safety
/// As for [`hash_parents_with`].
#[inline(always)]
pub(crate) unsafe fn hash_parents(cpu: Cpu, grid: Grid, output: Output, out: *mut u8) {
    // SAFETY: the promises are the same.
    unsafe { hash_parents_with(None, cpu, grid, output, out) }
}

/// Writes the values of chunks, with a key or without one.
///
/// # Safety
/// Each message of the grid has `len` bytes. 32 bytes can be written for each; they may be where the messages were read from, as long
/// as no value covers a chunk that comes after its own.
#[inline(always)]
pub(crate) unsafe fn hash_chunks_with(key: Key<'_>, cpu: Cpu, chunks: Chunks<'_>, output: Output, out: *mut u8) {
    let Chunks { grid, counter, prefix, len } = chunks;
    if grid.count == 0 {
        return;
    }
    let (first, last) = (CHUNK_START, CHUNK_END | output.flag());
    let terms = Terms { first, every: flag(key), last, counter, counts: grid.run > 1 };
    // The functions for few nodes and for pairs have the initial words built in.
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    if key.is_none()
        && prefix.is_empty()
        && let Some(hash_few_nodes) = fastest(cpu, grid.count)
        && let Some((base, stride)) = grid.evenly()
    {
        let terms = Terms { counter: counter + grid.first as u64, ..terms };
        // SAFETY: `fastest` takes only functions that `cpu` has, for so many nodes; these lie `stride` bytes apart, and everything
        // else is promised.
        return unsafe { hash_few_nodes(Few { base, stride, count: grid.count, len }, &terms, out) };
    }
    let left = match key.is_none() && prefix.is_empty() && len == 64 {
        // SAFETY: these are nodes of a block, and everything else is promised.
        true => unsafe { after_groups(cpu, grid, &terms, out) },
        false => Some((grid, out)),
    };
    let Some((grid, out)) = left else { return };
    // Blocks that only the prefix fills are the same for all chunks. A chunk has no more than 16, so nothing is saved here.
    debug_assert!(prefix.len() <= 64);
    let mut plan = Plan::new(BLAKE3.framing);
    plan.rest(prefix, len, 0);
    if grid.count == 1 && grid.first == 0 {
        // SAFETY: the first message, which has `len` bytes, begins at `base`, because none of its run was left out.
        plan.include(unsafe { slice::from_raw_parts(grid.base, len) });
    }
    // SAFETY: the promises are the same.
    unsafe { hash_nodes(key, cpu, grid, &plan, &terms, out) }
}

/// Writes the values of parents of pairs, with a key or without one: 64 bytes each.
///
/// # Safety
/// Each message of the grid is a pair. 32 bytes can be written for each; they may be where the pairs were read from, as long as no
/// value covers a pair that comes after its own.
#[inline(always)]
pub(crate) unsafe fn hash_parents_with(key: Key<'_>, cpu: Cpu, grid: Grid, output: Output, out: *mut u8) {
    let every = PARENT | flag(key) | output.flag();
    let terms = Terms { first: 0, every, last: 0, counter: 0, counts: false };
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    if key.is_none()
        && let Some(hash_few_nodes) = fastest(cpu, grid.count)
        && let Some((base, stride)) = grid.evenly()
    {
        // SAFETY: as for chunks.
        return unsafe { hash_few_nodes(Few { base, stride, count: grid.count, len: 64 }, &terms, out) };
    }
    let left = match key.is_none() {
        // SAFETY: these are nodes of a block, and everything else is promised.
        true => unsafe { after_groups(cpu, grid, &terms, out) },
        false => Some((grid, out)).filter(|_| grid.count > 0),
    };
    let Some((grid, out)) = left else { return };
    // A parent is one full block that is no chunk's first or last.
    let mut plan = Plan::new(BLAKE3.framing);
    plan.blocks(0, 0, 1);
    // SAFETY: the promises are the same.
    unsafe { hash_nodes(key, cpu, grid, &plan, &terms, out) }
}

/// Writes the values of as many nodes of one full block each as fill groups of the widest kernel. Returns the others and their places, if
/// there are others.
///
/// # Safety
/// As for [`hash_parents`].
#[inline(always)]
unsafe fn after_groups(cpu: Cpu, grid: Grid, terms: &Terms, out: *mut u8) -> Option<(Grid, *mut u8)> {
    // SAFETY: the promises are the same.
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    let done = unsafe { hash_groups(cpu, grid, terms, out) };
    #[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
    let (done, _) = (0, (cpu, terms));
    (done < grid.count).then(|| (grid.part(done, grid.count - done), out.wrapping_add(32 * done)))
}

/// The flag of every block that is hashed with this key.
fn flag(key: Key<'_>) -> u32 {
    key.map_or(0, |(_, flag)| flag)
}

/// Writes the values of nodes.
///
/// # Safety
/// Each message of the grid has the bytes that the plan takes. The values can be written, as for [`hash_chunks`].
#[inline(always)]
unsafe fn hash_nodes(key: Key<'_>, cpu: Cpu, grid: Grid, plan: &Plan, terms: &Terms, out: *mut u8) {
    let start = Start::Same(key.map_or(&BLAKE3.start, |(words, _)| words));
    let (end, terms) = (End::Digests(out, 32), ptr::from_ref(terms).cast());
    // SAFETY: the messages and the room for digests are promised; the terms are BLAKE3's own. The values of a group are written after
    // the group was read.
    unsafe { BLAKE3.family.dispatch(cpu, &Job { terms, ..Job::new(plan, start, grid, end) }) }
}
