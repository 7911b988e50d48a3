//! Pieces of a file in two formats from one read: the digests of each are those of the bytes in memory.

use mksum::{Memory, Role, Spec, Subtree};
use mksum_io::{File, Options, hash_pieces};

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
            std::fs::write(&path, bytes).unwrap();
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
