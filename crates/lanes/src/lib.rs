//! The digests of many messages of equal length that lie one after another.
//!
//! A Merkle tree hands a hash function thousands of independent messages of equal length: its leaves, and the pairs of
//! nodes on each level. This crate is the one contract for hashing them: [`digests`] when the messages lie in memory
//! whole, [`Streams`] when they come slice by slice.
//!
//! ```
//! use mksum_lanes::{Hash, Messages, digests};
//!
//! let leaves = [7; 4 * 1024];
//! let mut out = [0; 4 * 32];
//! digests(Hash::Sha256, b"\x00", Messages::new(&leaves, 1024), &mut out);
//! assert_eq!(out[..32], out[96..]);
//! ```
#![no_std]

extern crate alloc;

pub mod blake3;
mod hash;
mod messages;
mod streams;

pub use hash::Hash;
pub use messages::Messages;
pub use streams::Streams;

/// Writes the digest of `prefix ‖ message` for each message, left to right.
///
/// # Panics
/// If `out` is not exactly `messages.count() * hash.size()` bytes.
pub fn digests(hash: Hash, prefix: &[u8], messages: Messages<'_>, out: &mut [u8]) {
    let mut streams = Streams::new(hash, prefix, messages.count());
    streams.update(messages);
    streams.finish(out);
}

/// The digest of one message in its first `hash.size()` bytes; the rest is zero.
pub fn digest(hash: Hash, parts: &[&[u8]]) -> [u8; Hash::MAX_SIZE] {
    let mut stream = Streams::new(hash, &[], 1);
    for part in parts {
        stream.append(part);
    }
    let mut out = [0; Hash::MAX_SIZE];
    stream.finish(&mut out[..hash.size()]);
    out
}
