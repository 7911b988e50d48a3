//! Every hash on a few messages, small enough for Miri: whole, in slices, split, and BLAKE3's trees.

mod reference;

use mksum_lanes::{Hash, Messages, Streams, digests, sha256_pairs};
use reference::{bytes, reference};

#[test]
fn every_hash() {
    let memory = bytes(2600);
    for &hash in Hash::ALL {
        for (prefix, len, stride, count) in [(0, 64, 65, 1), (1, 150, 151, 2), (145, 1, 1, 1), (0, 1100, 1100, 1)] {
            // Miri takes a second for a few blocks: only BLAKE3's trees are worth long messages.
            if len > 1000 && hash != Hash::Blake3 {
                continue;
            }
            let (prefix, messages) = (&memory[..prefix], Messages::strided(&memory, len, stride, count));
            let mut whole = vec![0; count * hash.size()];
            digests(hash, prefix, messages, &mut whole);
            // On other machines the tests without Miri compare them, and the definitions take as long here as what is tested.
            if cfg!(target_endian = "big") {
                for (message, digest) in messages.iter().zip(whole.chunks(hash.size())) {
                    assert_eq!(digest, reference(hash, &[prefix, message]), "{} of {len} bytes", hash.name());
                }
            }
            let mut streams = Streams::new(hash, prefix, count);
            let cut = len / 3;
            streams.update(Messages::strided(&memory, cut, stride, count));
            let mut sliced = vec![0; count * hash.size()];
            for (index, mut stream) in streams.split().enumerate() {
                stream.append(&messages.get(index)[cut..]);
                stream.finish(&mut sliced[index * hash.size()..][..hash.size()]);
            }
            assert_eq!(whole, sliced, "{} in slices", hash.name());
        }
    }
}

/// Digests in the place of the messages.
#[test]
fn pairs_in_place() {
    let mut memory = bytes(3 * 64);
    let expected: Vec<_> = memory.chunks(64).flat_map(|pair| reference(Hash::Sha256, &[pair])).collect();
    let pairs = memory.as_mut_ptr();
    // SAFETY: there are three pairs, and the digests go where they begin.
    unsafe { sha256_pairs(pairs, 3, pairs) };
    assert_eq!(&memory[..3 * 32], expected);
}
