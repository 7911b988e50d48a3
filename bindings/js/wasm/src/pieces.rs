//! Pieces of a tree, which are hashed one by one, in any thread, and joined once.

use crate::refusal::{Class, Refusal};
use alloc::format;
use alloc::vec::Vec;
use mksum::{Digests, Pieces, Root, Spec, Subtree};

/// The limit of pieces of a tree, whose digests are held in memory.
const MOST: usize = 1 << 20;

/// Returns the pieces of a tree over `len` bytes, left to right, each as three `f64`: start, length and level. A piece has at
/// most `at_most` bytes, unless a leaf is longer.
pub fn cover(spec: &Spec, len: u64, at_most: u64) -> Result<Vec<u8>, Refusal> {
    let mut out = Vec::new();
    for (index, piece) in spec.plan(len, at_most)?.enumerate() {
        if index == MOST {
            let message = format!("{spec} splits {len} bytes into more than {MOST} pieces: use longer pieces");
            return Err(Refusal::new(Class::Length, message));
        }
        for number in [piece.start as f64, piece.len as f64, f64::from(piece.level)] {
            out.extend(number.to_le_bytes());
        }
    }
    Ok(out)
}

/// Returns the digest of a piece of a tree over `len` bytes, from the piece's bytes.
pub fn subtree(spec: &Spec, len: u64, node: Subtree, bytes: &[u8]) -> Result<Vec<u8>, Refusal> {
    if node.len != bytes.len() as u64 {
        let message = format!("expected the {} bytes of the subtree, found {}", node.len, bytes.len());
        return Err(Refusal::new(Class::Length, message));
    }
    Ok(spec.map(len, node, bytes)?.as_bytes().into())
}

/// Returns the pieces of [`cover`] with their concatenated digests.
pub fn pieces(spec: &Spec, len: u64, at_most: u64, digests: &[u8]) -> Result<Pieces, Refusal> {
    let size = spec.hash().size();
    if !digests.len().is_multiple_of(size) {
        return Err(Refusal::new(Class::Argument, "the last digest is incomplete"));
    }
    Ok(Pieces::new(spec, len, at_most, &Digests::from_bytes(size, digests.into()))?)
}

/// Returns the root of `len` bytes whose pieces have these digests.
pub fn join(spec: &Spec, len: u64, at_most: u64, digests: &[u8]) -> Result<Root, Refusal> {
    Ok(pieces(spec, len, at_most, digests)?.root()?)
}
