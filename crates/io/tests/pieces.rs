//! Pieces of a file in two formats from one read: the digests of each are those of the bytes in memory.
#![cfg(unix)]

use mksum::{Memory, Role, Spec, Subtree};
use mksum_io::{File, Options, hash_pieces};
use std::fs;
use std::os::unix::fs::FileExt;
use std::path::Path;

fn spec(text: &str) -> Spec {
    text.parse().unwrap()
}

#[test]
fn the_pieces_are_those_of_the_bytes_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f");
    let bytes: Vec<u8> = (0..3_000_000_u32).map(|at| (at * 31 % 251) as u8 ^ (at >> 13) as u8).collect();
    let tree = spec("btv2");
    for piece in [16 << 10, 32 << 10, 256 << 10, 1 << 20] {
        let flat = spec(&format!("s3:sha1:{piece}"));
        let level = (piece as u64 / tree.leaf()).ilog2();
        let borders = [1, piece - 1, piece, piece + 1, 2 * piece, 2 * piece + 20_000, 5 * piece / 2];
        for len in borders.into_iter().chain([40 * (16 << 10), 2_345_678, 3_000_000]).filter(|&len| len <= bytes.len())
        {
            let bytes = &bytes[..len];
            fs::write(&path, bytes).unwrap();
            for threads in [1, 2, 5] {
                let file = || File::open(&path, &Options { threads, ..Options::new() }).unwrap();
                let found = hash_pieces(file(), &tree, piece as u64, Some(&flat)).unwrap();
                let alone = hash_pieces(file(), &tree, piece as u64, None).unwrap();
                let second = hash_pieces(file(), &flat, piece as u64, None).unwrap();
                let what = format!("{len} bytes in pieces of {piece}, {threads} threads");
                assert_eq!(found.root, tree.root(bytes).unwrap(), "{what}");
                assert_eq!(alone.root, found.root, "{what}");
                assert_eq!(second.root, flat.root(bytes).unwrap(), "{what}");
                let sums: Vec<_> = bytes
                    .chunks(piece)
                    .flat_map(|piece| spec("sha1").root(piece).unwrap().digest().as_bytes().to_vec())
                    .collect();
                assert!(found.flat == sums && second.digests == sums && alone.flat.is_empty(), "{what}");
                if len > piece {
                    let node = |(at, bytes): (usize, &[u8])| {
                        let (start, len) = ((at * piece) as u64, bytes.len() as u64);
                        let node = Subtree { start, len, level };
                        tree.join(&Memory::from(start, bytes), node, Role::Inner).unwrap().as_bytes().to_vec()
                    };
                    let layer: Vec<_> = bytes.chunks(piece).enumerate().flat_map(node).collect();
                    assert!(found.digests == layer && alone.digests == layer, "{what}");
                }
            }
        }
    }
}

/// The holes are not read; whole pieces, parts of one, and one at the end.
#[test]
fn the_pieces_of_a_sparse_file_are_those_of_its_zeros() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f");
    let (piece, len) = (128 << 10, 3_000_000);
    let mut bytes = vec![0; len];
    for (start, end) in [(0, 70_000), (1_000_000, 1_400_000), (2_500_000, 2_500_001)] {
        bytes[start..end].fill(7);
    }
    let file = fs::File::create(&path).unwrap();
    file.set_len(len as u64).unwrap();
    for (at, chunk) in bytes.chunks(4096).enumerate().filter(|(_, chunk)| chunk.contains(&7)) {
        file.write_all_at(chunk, at as u64 * 4096).unwrap();
    }
    let (tree, flat) = (spec("btv2"), spec(&format!("s3:sha1:{piece}")));
    let whole = folder.path().join("whole");
    fs::write(&whole, &bytes).unwrap();
    for flat in [None, Some(&flat)] {
        let of = |path: &Path| hash_pieces(File::open(path, &Options::new()).unwrap(), &tree, piece, flat).unwrap();
        let (sparse, whole) = (of(&path), of(&whole));
        assert_eq!((&sparse.root, &sparse.digests, &sparse.flat), (&whole.root, &whole.digests, &whole.flat));
        assert_eq!(sparse.root, tree.root(&bytes).unwrap());
    }
}
