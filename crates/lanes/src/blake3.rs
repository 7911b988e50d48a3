//! BLAKE3's own tree: chunks, parents, and the root's mark on either (the BLAKE3 paper, 2.4 and 2.5).

use crate::Messages;
use blake3::hazmat::{HasherExt, Mode, merge_subtrees_non_root, merge_subtrees_root};

/// The size of a chunk, in bytes: the last one may be shorter.
pub const CHUNK: usize = 1024;

/// A chaining value or, of the root, a digest.
pub type Value = [u8; 32];

/// Writes the chaining values of consecutive chunks that are not the root; the first has the number `counter`.
///
/// # Panics
/// If the chunks are longer than [`CHUNK`], or `out` has not one place for each.
pub fn chunks(counter: u64, messages: Messages<'_>, out: &mut [Value]) {
    assert!(messages.len() <= CHUNK, "a chunk of {} bytes", messages.len());
    assert_eq!(out.len(), messages.count(), "a place for each chunk");
    for ((value, chunk), counter) in out.iter_mut().zip(messages.iter()).zip(counter..) {
        let mut hasher = blake3::Hasher::new();
        hasher.set_input_offset(counter * CHUNK as u64);
        *value = hasher.update(chunk).finalize_non_root();
    }
}

/// The digest of an input of one chunk.
///
/// # Panics
/// If the chunk is longer than [`CHUNK`].
pub fn root_chunk(bytes: &[u8]) -> Value {
    assert!(bytes.len() <= CHUNK, "a chunk of {} bytes", bytes.len());
    blake3::hash(bytes).into()
}

/// Writes the parents of consecutive pairs that are not the root.
///
/// # Panics
/// If `out` is not half as long as `children`.
pub fn parents(children: &[Value], out: &mut [Value]) {
    assert_eq!(children.len(), 2 * out.len(), "two children for each parent");
    for (value, pair) in out.iter_mut().zip(children.chunks_exact(2)) {
        *value = merge_subtrees_non_root(&pair[0], &pair[1], Mode::Hash);
    }
}

/// The digest of an input of more than one chunk.
pub fn root_parent(left: &Value, right: &Value) -> Value {
    merge_subtrees_root(left, right, Mode::Hash).into()
}
