//! BLAKE3's own tree: its chunks, their parents, and its root (the BLAKE3 paper, 2.4 and 2.5).

use crate::{
    cpu::{Cpu, active_or_detected},
    grid::Grid,
    messages::Messages,
    words::Words,
};
use flags::{DERIVE_KEY_CONTEXT, DERIVE_KEY_MATERIAL, KEYED_HASH};
use nodes::{Chunks, Output, hash_chunks, hash_chunks_with, hash_parents};

mod compress;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod few;
pub mod flags;
mod nodes;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod pairs;
mod trees;

pub(crate) use compress::BLAKE3;
pub use nodes::{CHUNK, Value};
pub(crate) use trees::Trees;

/// Writes the chaining values of consecutive chunks that are not the root; the first has the number `counter`.
///
/// # Panics
/// If the chunks are longer than [`CHUNK`], or `out` does not have one place for each.
pub fn chunks(counter: u64, messages: Messages<'_>, out: &mut [Value]) {
    assert!(messages.len() <= CHUNK, "a chunk of {} bytes", messages.len());
    assert_eq!(out.len(), messages.count(), "a place for each chunk");
    let grid = Grid::runs(messages.bytes().as_ptr(), 0, usize::MAX, messages.stride(), messages.count());
    let chunks = Chunks { grid, counter, prefix: &[], len: messages.len() };
    // SAFETY: `Messages` have their bytes, and `out` has a place for each, in other memory.
    unsafe { hash_chunks(active_or_detected(), chunks, Output::ChainingValue, out.as_mut_ptr().cast()) }
}

/// The digest of an input of one chunk.
///
/// # Panics
/// If the chunk is longer than [`CHUNK`].
pub fn root_chunk(bytes: &[u8]) -> Value {
    assert!(bytes.len() <= CHUNK, "a chunk of {} bytes", bytes.len());
    let chunks = Chunks { grid: Grid::apart(bytes.as_ptr(), 0, 1), counter: 0, prefix: &[], len: bytes.len() };
    let mut out = [0; 32];
    // SAFETY: there is one message, `bytes`, and a place for its digest.
    unsafe { hash_chunks(active_or_detected(), chunks, Output::Digest, out.as_mut_ptr()) }
    out
}

/// Writes the chaining values of the parents of consecutive pairs that are not the root.
///
/// # Panics
/// If `out` is not half as long as `children`.
pub fn parents(children: &[Value], out: &mut [Value]) {
    assert_eq!(children.len(), 2 * out.len(), "two children for each parent");
    let grid = Grid::apart(children.as_ptr().cast(), 64, out.len());
    // SAFETY: `children` are two values of 32 bytes for each of `out`, which is other memory.
    unsafe { hash_parents(active_or_detected(), grid, Output::ChainingValue, out.as_mut_ptr().cast()) }
}

/// The digest of an input of more than one chunk, from the chaining values of the root's two children.
pub fn root_parent(left: &Value, right: &Value) -> Value {
    let (pair, mut out) = ([*left, *right], [0; 32]);
    let grid = Grid::apart(pair.as_ptr().cast(), 64, 1);
    // SAFETY: there is one pair, and a place for its digest.
    unsafe { hash_parents(active_or_detected(), grid, Output::Digest, out.as_mut_ptr()) }
    out
}

/// The keyed hash of a message (the BLAKE3 paper, 2.3), which lies in memory whole: its chaining values do too, 32 bytes for each KiB.
pub fn keyed_digest(key: &[u8; 32], message: &[u8]) -> Value {
    keyed_digest_on(active_or_detected(), key, message)
}

/// The same on an instruction set, for tests.
#[doc(hidden)]
pub fn keyed_digest_on(cpu: Cpu, key: &[u8; 32], message: &[u8]) -> Value {
    let (words, mut out) = (words_of(key), [0; 32]);
    let key = Some((&words, KEYED_HASH));
    if message.len() > CHUNK {
        trees::digests(key, cpu, &[], Messages::one(message), &mut out);
        return out;
    }
    let chunks = Chunks { grid: Grid::apart(message.as_ptr(), 0, 1), counter: 0, prefix: &[], len: message.len() };
    // SAFETY: there is one message, and a place for its digest.
    unsafe { hash_chunks_with(key, cpu, chunks, Output::Digest, out.as_mut_ptr()) }
    out
}

/// The words with which a hash with this key begins.
fn words_of(key: &Value) -> Words {
    Words::of32(&core::array::from_fn::<u32, 8, _>(|at| u32::from_le_bytes(key.as_chunks().0[at])))
}

/// The keyed hash of a message that comes slice by slice, or a key that is derived from one (the BLAKE3 paper, 2.3).
///
/// ```
/// use mksum_lanes::blake3::{Keyed, keyed_digest};
/// let key = [7; 32];
/// let mut keyed = Keyed::new(&key);
/// keyed.update(b"some ");
/// keyed.update(b"bytes");
/// assert_eq!(keyed.finish(), keyed_digest(&key, b"some bytes"));
/// ```
#[derive(Clone)]
pub struct Keyed(Trees);

impl Keyed {
    /// The hash with a key, before the first byte.
    pub fn new(key: &[u8; 32]) -> Self {
        Self::on(active_or_detected(), words_of(key), KEYED_HASH)
    }

    /// The key that is derived from the bytes, its material, for a context: a text that is used for nothing else.
    pub fn derive(context: &str) -> Self {
        let mut hash = Self::on(active_or_detected(), BLAKE3.start, DERIVE_KEY_CONTEXT);
        hash.update(context.as_bytes());
        Self::on(active_or_detected(), words_of(&hash.finish()), DERIVE_KEY_MATERIAL)
    }

    fn on(cpu: Cpu, words: Words, flag: u32) -> Self {
        Keyed(Trees::with_key(Some((words, flag)), cpu, 1))
    }

    /// Appends bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(Messages::one(bytes));
    }

    /// The digest of the bytes.
    pub fn finish(self) -> Value {
        let mut out = [0; 32];
        self.0.finish(&mut out);
        out
    }
}

impl core::fmt::Debug for Keyed {
    /// Without the key.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Keyed").field("len", &self.0.len()).finish_non_exhaustive()
    }
}

/// Writes the digests of messages `prefix ‖ message`: of one chunk side by side, of longer ones by their trees.
pub(crate) fn digests(cpu: Cpu, prefix: &[u8], messages: Messages<'_>, mut out: &mut [u8]) {
    let total = prefix.len() + messages.len();
    if total <= CHUNK && prefix.len() <= 64 {
        let grid = Grid::apart(messages.bytes().as_ptr(), messages.stride(), messages.count());
        let chunks = Chunks { grid, counter: 0, prefix, len: messages.len() };
        assert_eq!(out.len(), 32 * messages.count());
        // SAFETY: `Messages` have their bytes, and `out` has a place for each digest.
        unsafe { hash_chunks(cpu, chunks, Output::Digest, out.as_mut_ptr()) };
        return;
    }
    // So many trees at a time that their values stay in the cache; of longer messages, so much of each.
    let batch = (4096 * CHUNK / total).clamp(1, 256);
    let mut left = messages;
    while left.count() > 0 {
        let (some, rest) = left.split_at(batch.min(left.count()));
        let (own, others) = out.split_at_mut(32 * some.count());
        if total <= 4096 * CHUNK && prefix.len() <= 64 {
            trees::digests(None, cpu, prefix, some, own);
        } else {
            let mut trees = Trees::new(cpu, some.count());
            trees.append(prefix);
            trees.update(some);
            trees.finish(own);
        }
        (left, out) = (rest, others);
    }
}
