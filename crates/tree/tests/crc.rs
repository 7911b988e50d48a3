//! Checksums in parts: any cut of the tree joins to the sum of the whole. There are no proofs in them, and no kept trees; nor in `xet`.

use mksum::outboard::{OutboardError, keep};
use mksum::proof::{Proof, ProofError};
use mksum::{Digests, Error, Memory, Pieces, Plan, Role, Spec, Subtree};

const LEAF: u64 = 256 << 10;
const FORMATS: [&str; 4] = ["crc32", "crc32c", "crc64nvme", "quickxor"];

fn specs() -> impl Iterator<Item = Spec> {
    FORMATS.iter().map(|name| name.parse().unwrap())
}

fn input(len: u64) -> Vec<u8> {
    (0..len).map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect()
}

#[test]
fn a_part_is_the_sum_of_its_bytes_and_all_parts_join() {
    for spec in specs() {
        for len in [1, LEAF - 1, LEAF, LEAF + 1, 5 * LEAF + 7, 8 * LEAF] {
            let bytes = input(len);
            let whole = spec.leaf_digest(0, &bytes, Role::Root);
            assert_eq!(spec.root(&bytes).unwrap().digest(), whole, "{spec} of {len} bytes");
            for at_most in [1, LEAF, 2 * LEAF, 4 * LEAF, u64::MAX] {
                let mut digests = Digests::new(spec.hash().size());
                for piece in spec.plan(len, at_most).unwrap() {
                    let part = &bytes[piece.start as usize..piece.end() as usize];
                    let digest = spec.map(len, piece, part).unwrap();
                    assert_eq!(digest, spec.root(part).unwrap().digest(), "{spec}: {piece:?}");
                    digests.push(digest);
                }
                assert_eq!(Pieces::new(&spec, len, at_most, &digests).unwrap().root().unwrap().digest(), whole);
                let plan = Plan { threads: 3, piece: at_most, group: 2 };
                assert_eq!(spec.root_parallel(&Memory::new(&bytes), len, &plan).unwrap().digest(), whole);
            }
        }
    }
}

#[test]
fn a_frontier_takes_sums_of_parts() {
    let bytes = input(7 * LEAF + 5);
    for spec in specs() {
        let mut frontier = spec.frontier().unwrap();
        for (level, leaves) in [(1, 0..2), (0, 2..3), (0, 3..4), (1, 4..6)] {
            let (start, end) = (leaves.start * LEAF, leaves.end * LEAF);
            let digest = spec.root(&bytes[start as usize..end as usize]).unwrap().digest();
            frontier.push(Subtree { start, len: end - start, level }, digest).unwrap();
        }
        frontier.update(&bytes[6 * LEAF as usize..]).unwrap();
        assert_eq!(frontier.root().unwrap(), spec.root(&bytes).unwrap());
    }
}

#[test]
fn there_are_no_proofs_and_no_kept_trees() {
    let bytes = input(3 * LEAF);
    for name in FORMATS.iter().chain(&["s3:crc32:64KiB", "s3:crc32c:64KiB", "xet"]) {
        let spec: Spec = name.parse().unwrap();
        assert!(matches!(Proof::of_range(&spec, &bytes, 5..9), Err(ProofError::Unsupported(_))), "{name}");
        assert!(matches!(Proof::of_consistency(&spec, &bytes, LEAF), Err(ProofError::Unsupported(_))), "{name}");
        let Err(Error::Source(error)) = keep(&spec, LEAF, &bytes) else { panic!("{name} is kept") };
        assert!(matches!(error.downcast_ref(), Some(OutboardError::Unsupported(_))), "{name}: {error}");
    }
}
