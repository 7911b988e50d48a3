//! The hashes of many entries at once: those of equal length side by side.

use crate::tile::HASH;
use crate::tree::{TREE, array, leaf};
use mksum::{Digests, Messages};

/// The most entries that are put in order at a time.
const MOST: usize = 4096;
/// The most bytes that are copied to lie side by side: they stay in the cache.
const SCRATCH: usize = 1 << 18;

/// The hash of each entry as a leaf (RFC 6962, 2.1), as [`entry_hash`](crate::entry_hash) gives it. Entries of equal length are hashed
/// side by side.
///
/// ```
/// use mksum_log::{entry_hash, entry_hashes};
///
/// assert_eq!(entry_hashes(&["one", "two"]), [entry_hash(b"one"), entry_hash(b"two")]);
/// ```
pub fn entry_hashes<E: AsRef<[u8]>>(entries: &[E]) -> Vec<[u8; HASH]> {
    leaves(entries).iter().map(array).collect()
}

/// The same as digests of the engine.
pub(crate) fn leaves<E: AsRef<[u8]>>(entries: &[E]) -> Digests {
    let mut hashes = vec![0; entries.len() * HASH];
    let (mut order, mut scratch, mut found) = (Vec::new(), Vec::new(), Digests::new(HASH));
    for (entries, hashes) in entries.chunks(MOST).zip(hashes.chunks_mut(MOST * HASH)) {
        let len = |at: u32| entries[at as usize].as_ref().len();
        order.clear();
        order.extend(0..entries.len() as u32);
        order.sort_by_key(|at| len(*at));
        for group in order.chunk_by(|one, other| len(*one) == len(*other)) {
            let len = len(group[0]);
            for group in group.chunks((SCRATCH / len.max(1)).max(1)) {
                found.clear();
                if len == 0 || group.len() == 1 {
                    found.extend(group.iter().map(|at| leaf(entries[*at as usize].as_ref())));
                } else {
                    scratch.clear();
                    group.iter().for_each(|at| scratch.extend_from_slice(entries[*at as usize].as_ref()));
                    TREE.leaf_digests(0, Messages::new(&scratch, len), &mut found);
                }
                for (at, hash) in group.iter().zip(found.as_bytes().chunks_exact(HASH)) {
                    hashes[*at as usize * HASH..][..HASH].copy_from_slice(hash);
                }
            }
        }
    }
    Digests::from_bytes(HASH, hashes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn many_at_once_are_as_each_alone(
            lens in proptest::collection::vec(prop_oneof![Just(100_usize), 0..130_usize, 0..3000_usize], 0..300),
            seed in any::<u8>(),
        ) {
            let entry = |(at, len): (usize, &usize)| (0..*len).map(|byte| (byte * 7 + at * 13) as u8 ^ seed).collect::<Vec<_>>();
            let entries: Vec<_> = lens.iter().enumerate().map(entry).collect();
            let alone: Vec<_> = entries.iter().map(|entry| crate::entry_hash(entry)).collect();
            prop_assert_eq!(entry_hashes(&entries), alone);
        }
    }

    #[test]
    fn more_than_fit_into_memory_for_them() {
        let of = |len: usize, count: usize| (0..count).map(move |at| vec![at as u8; len]);
        let entries: Vec<_> = of(1, MOST + 5).chain(of(65_535, 9)).chain(of(0, 3)).chain(of(1, 7)).collect();
        let alone: Vec<_> = entries.iter().map(|entry| crate::entry_hash(entry)).collect();
        assert_eq!(entry_hashes(&entries), alone);
    }
}
