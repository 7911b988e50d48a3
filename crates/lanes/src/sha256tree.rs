//! SHA-256's block cipher over pairs of digests: the parents of `sha256tree`.

use crate::{
    cpu::{Cpu, active_or_detected},
    digests::digests_by,
    hash::sha256::SHA256,
    messages::Messages,
    plan::{Framing, Padding},
    scheme::Scheme,
    words::Words,
};

/// The first 32 bits of the fractional parts of the square roots of the 9th to the 16th prime (Bazel's remote execution API, `SHA256TREE`).
const START: [u32; 8] =
    [0xcbbb9d5d, 0x629a292a, 0x9159015a, 0x152fecd8, 0x67332667, 0x8eb44a87, 0xdb0c2e0d, 0x47b5481d];

/// A message of one block, which nothing follows.
static CIPHER: Scheme = Scheme::new(Framing { block: 64, padding: Padding::Zeros }, Words::of32(&START), SHA256.family);

/// Writes the parents of consecutive pairs of digests in `sha256tree`: the state after SHA-256's 64 rounds over the pair, to which the state
/// before them is not added.
///
/// # Panics
/// If `out` is not half as long as `pairs`, or no multiple of 32 bytes.
pub fn sha256tree_parents(pairs: &[u8], out: &mut [u8]) {
    sha256tree_parents_on(active_or_detected(), pairs, out);
}

/// [`sha256tree_parents`], on a given instruction set.
pub fn sha256tree_parents_on(cpu: Cpu, pairs: &[u8], out: &mut [u8]) {
    digests_by(cpu, &CIPHER, 32, &[], Messages::new(pairs, 64), out);
    // The kernels added the state, as hashes do.
    for parent in out.as_chunks_mut::<32>().0 {
        for (word, start) in parent.as_chunks_mut().0.iter_mut().zip(START) {
            *word = u32::from_be_bytes(*word).wrapping_sub(start).to_be_bytes();
        }
    }
}
