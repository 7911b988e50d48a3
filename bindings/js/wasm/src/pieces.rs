//! A tree cut into pieces that are hashed one by one, anywhere, and joined once.

use crate::refusal::{Class, Refusal};
use alloc::format;
use alloc::vec::Vec;
use mksum::{Digests, Pieces, Root, Spec, Subtree};

/// The most pieces that a tree is cut into: their digests lie in memory.
const MOST: usize = 1 << 20;

/// The pieces of a tree over `len` bytes, of at most `at_most` bytes unless a leaf is longer: start, length and level of
/// each, left to right, as three `f64`.
pub fn cover(spec: &Spec, len: u64, at_most: u64) -> Result<Vec<u8>, Refusal> {
    let mut out = Vec::new();
    for (index, piece) in spec.plan(len, at_most)?.enumerate() {
        if index == MOST {
            let words = format!("{spec} cuts {len} bytes into more than {MOST} pieces: ask for longer ones");
            return Err(Refusal::new(Class::Length, words));
        }
        for number in [piece.start as f64, piece.len as f64, f64::from(piece.level)] {
            out.extend(number.to_le_bytes());
        }
    }
    Ok(out)
}

/// The digest of a piece of a tree over `len` bytes, from its bytes.
pub fn subtree(spec: &Spec, len: u64, node: Subtree, bytes: &[u8]) -> Result<Vec<u8>, Refusal> {
    if node.len != bytes.len() as u64 {
        let words = format!("expected the {} bytes of the subtree, found {}", node.len, bytes.len());
        return Err(Refusal::new(Class::Length, words));
    }
    Ok(spec.map(len, node, bytes)?.as_bytes().into())
}

/// The digests of the pieces of [`cover`], one after the other.
pub fn pieces(spec: &Spec, len: u64, at_most: u64, digests: &[u8]) -> Result<Pieces, Refusal> {
    let size = spec.hash().size();
    if !digests.len().is_multiple_of(size) {
        return Err(Refusal::new(Class::Argument, "the last digest is not whole"));
    }
    Ok(Pieces::new(spec, len, at_most, &Digests::from_bytes(size, digests.into()))?)
}

/// The root of `len` bytes whose pieces have these digests.
pub fn join(spec: &Spec, len: u64, at_most: u64, digests: &[u8]) -> Result<Root, Refusal> {
    Ok(pieces(spec, len, at_most, digests)?.root()?)
}
