//! Proofs: every one is valid, and no other.

use merkle::{Proof, Prover, Tree};
use mksum::{Digest, Spec};
use std::io::{Read, Write};

/// Bytes that do not repeat on a power of two.
fn sample(size: usize) -> Vec<u8> {
    (0..size).map(|i| (i * 131 + (i >> 8) * 17) as u8).collect()
}

fn formats(leaf: u64) -> [Spec; 2] {
    ["plain", "rfc6962"].map(|name| format!("{name}:sha256:{leaf}").parse().unwrap())
}

fn digest(format: &Spec, bytes: &[u8]) -> Digest {
    format.root(bytes).unwrap().digest()
}

fn prove(format: &Spec, index: u64, bytes: &[u8]) -> Proof {
    let mut prover = Prover::new(format, index).unwrap();
    prover.write_all(b"forgotten").unwrap();
    prover.reset();
    for piece in bytes.chunks(bytes.len() / 3 + 1) {
        prover.write_all(piece).unwrap();
        prover.proof().unwrap(); // on the way: disturbs nothing
    }
    prover.proof().unwrap().expect("the leaf has begun")
}

#[test]
fn every_proof_and_no_other() {
    let leaf = 3;
    for format in formats(leaf) {
        for leaves in 1..=20 {
            let bytes = sample((leaves * leaf) as usize - 1);
            let root = digest(&format, &bytes);
            for (index, segment) in (0..).zip(bytes.chunks(leaf as usize)) {
                let proof = prove(&format, index, &bytes);
                let context = format!("leaf {index} of {leaves}");
                assert!(proof.verify(&format, root, segment), "{context}");
                assert!(!proof.verify(&format, root, &segment[1..]), "{context}: another leaf");
                for level in 0..proof.path.len() {
                    let mut changed = proof.clone();
                    let mut bytes = changed.path[level].as_bytes().to_vec();
                    bytes[level % 32] ^= 1;
                    changed.path[level] = Digest::new(&bytes);
                    assert!(!changed.verify(&format, root, segment), "{context}: a flipped bit");
                }
                let mut longer = proof.clone();
                longer.path.push(root);
                assert!(!longer.verify(&format, root, segment), "{context}: a longer path");
                let mut shorter = proof.clone();
                if shorter.path.pop().is_some() {
                    assert!(!shorter.verify(&format, root, segment), "{context}: a shorter path");
                }
                for other in 0..=leaves {
                    let elsewhere = Proof { index: other, ..proof.clone() };
                    assert_eq!(elsewhere.verify(&format, root, segment), other == index, "{context}: as leaf {other}");
                }
            }
        }
    }
}

#[test]
fn proofs_of_large_trees() {
    for leaf in [1, 7, 64, 1000] {
        for format in formats(leaf) {
            for size in [leaf as usize * 257, 9_999, 65_537] {
                let bytes = sample(size);
                let root = digest(&format, &bytes);
                let leaves = (size as u64).div_ceil(leaf);
                for index in [0, 1, leaves / 3, leaves / 2, leaves - 1].into_iter().filter(|&index| index < leaves) {
                    let start = (index * leaf) as usize;
                    let segment = &bytes[start..size.min(start + leaf as usize)];
                    assert!(prove(&format, index, &bytes).verify(&format, root, segment), "leaf {index} of {leaves}");
                }
            }
        }
    }
}

#[test]
fn no_proof_before_the_leaf() {
    for format in formats(4) {
        let mut prover = Prover::new(&format, 2).unwrap();
        prover.write_all(&sample(8)).unwrap();
        assert_eq!(prover.proof().unwrap(), None);
        prover.write_all(b"x").unwrap();
        let proof = prover.proof().unwrap().unwrap();
        let root = digest(&format, &[&sample(8)[..], b"x"].concat());
        assert!(proof.verify(&format, root, b"x"));
    }
}

/// The forgery that `spec/plain.md` warns of: the two digests below a root are a leaf of a shorter file with the same root.
#[test]
fn a_forgery_in_plain_only() {
    let bytes = sample(128);
    for (format, forged) in formats(64).into_iter().zip([true, false]) {
        let [left, right] = [&bytes[..64], &bytes[64..]].map(|half| digest(&format, half));
        let proof = Proof { index: 0, len: 64, path: vec![] };
        let children = [left.as_bytes(), right.as_bytes()].concat();
        assert_eq!(proof.verify(&format, digest(&format, &bytes), &children), forged);
    }
}

#[test]
fn a_tree_is_a_writer() {
    for format in formats(64) {
        let bytes = sample(100_000);
        let mut tree = Tree::new(&format).unwrap();
        tree.write_all(b"forgotten").unwrap();
        tree.reset();
        for (piece, so_far) in bytes.chunks(12_345).zip(1..) {
            tree.write_all(piece).unwrap();
            let end = bytes.len().min(so_far * 12_345);
            assert_eq!(tree.position(), end as u64);
            assert_eq!(tree.root().unwrap(), format.root(&bytes[..end]).unwrap());
        }
    }
}

/// Leaves that are hashed side by side have the digests that they have in a stream: one leaf and many, a frontier's unit of one leaf
/// and of several, a begun leaf and a begun unit before them, and a short leaf after them.
#[test]
fn a_tree_reads_an_input_at_many_places() {
    let bytes = sample(40 * 20_000 + 777);
    for leaf in [64, 5_000, 16_384, 16_385, 20_000, 65_536, 140_000, 300_000, 1 << 20] {
        for format in formats(leaf) {
            for begun in [0, 1, leaf as usize, 3 * leaf as usize, 60_001].into_iter().filter(|&begun| begun < 100_000) {
                for end in [begun, begun + leaf as usize, 262_144, 327_680, 600_000, 640_000, bytes.len()] {
                    if end < begun || end > bytes.len() {
                        continue;
                    }
                    let mut tree = Tree::new(&format).unwrap();
                    tree.write_all(&bytes[..begun]).unwrap();
                    let read = |slice: &mut [u8], offset: u64| (&bytes[offset as usize..end]).read_exact(slice);
                    tree.update_from(read, begun as u64, (end - begun) as u64).unwrap();
                    let context = format!("{format}, bytes {begun}..{end}");
                    assert_eq!(tree.position(), end as u64, "{context}");
                    assert_eq!(tree.root().unwrap(), format.root(&bytes[..end]).unwrap(), "{context}");
                    tree.write_all(b"").unwrap();
                    tree.write_all(b"more").unwrap();
                    let longer = [&bytes[..end], b"more"].concat();
                    assert_eq!(tree.root().unwrap(), format.root(&longer).unwrap(), "{context}, and more");
                    tree.reset();
                    assert_eq!(tree.root().unwrap(), format.root(b"").unwrap(), "{context}, and a reset");
                }
            }
        }
    }
}

/// An error of the input is returned as it is.
#[test]
fn an_input_that_ends_too_soon() {
    let bytes = sample(200_000);
    let mut tree = Tree::new(&"plain:sha256:20000".parse().unwrap()).unwrap();
    let read = |slice: &mut [u8], offset: u64| bytes.get(offset as usize..).unwrap_or_default().read_exact(slice);
    let error = tree.update_from(read, 0, 200_001).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::UnexpectedEof);
}

/// 2^22 + 32 zero bytes.
#[test]
fn zeros() {
    let [plain, _] = formats(64);
    let mut tree = Tree::new(&plain).unwrap();
    std::io::copy(&mut std::io::Read::take(std::io::repeat(0), (1 << 22) + 32), &mut tree).unwrap();
    assert_eq!(tree.root().unwrap().to_string()[..16], *"e9683665a90bd70a");
}
