//! Trees of other programs, compared with the programs' own libraries.

use bao_tree::BlockSize;
use bao_tree::io::outboard::PreOrderMemOutboard;
use mksum::outboard::{Foreign, ForeignFormat, Outboard, OutboardError};
use mksum_io::outboard::{Keeping, Stored, keep_foreign};
use mksum_io::{File, Options};
use std::fs;

/// The bytes of a chunk group of iroh.
const GROUP: u64 = 16 << 10;

/// The lengths around chunks, groups and full trees of them, and others spread over a megabyte: 131 of them.
fn lengths() -> Vec<u64> {
    let around = |edge: u64| [edge - 1, edge, edge + 1];
    let mut lengths = vec![0];
    let edges = [1024, GROUP, 2 * GROUP, 3 * GROUP, 4 * GROUP, 7 * GROUP, 8 * GROUP, 64 * GROUP];
    lengths.extend(edges.map(around).iter().flatten());
    lengths.extend((0..106).map(|step: u64| 1 + step.wrapping_mul(0x9e37_79b9_7f4a_7c15) % (1 << 20)));
    lengths
}

#[test]
fn outboards_of_iroh_equal_those_of_bao_tree() {
    let folder = tempfile::tempdir().unwrap();
    let (path, target) = (folder.path().join("file"), folder.path().join("file.obao4"));
    let format: ForeignFormat = "obao4".parse().unwrap();
    let noise: Vec<u8> =
        (0..(1_u64 << 20) + 1).map(|at| (at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect();
    assert_eq!(lengths().len(), 131);
    for len in lengths() {
        let bytes = &noise[..len as usize];
        let theirs = PreOrderMemOutboard::create(bytes, BlockSize::from_chunk_log(4));
        fs::write(&path, bytes).unwrap();
        // The tree of a file of another length could be anything, and is not replaced.
        fs::remove_file(&target).unwrap_or_default();
        let file = File::open(&path, &Options::new()).unwrap();
        let kept = keep_foreign(file, &format, [0; 16], &Keeping::new(GROUP, &target)).unwrap();
        assert_eq!(kept.root.digest().as_bytes(), theirs.root.as_bytes(), "{len}");
        assert!(fs::read(&target).unwrap() == theirs.data, "{len}");
        // What they wrote is read, and a flipped bit is found.
        match Foreign::open(theirs.data.clone(), format.layout(len).unwrap()) {
            Ok(foreign) => {
                let outboard = Outboard::open(foreign).unwrap();
                assert_eq!((outboard.root(), outboard.damaged_in(bytes).unwrap().len()), (kept.root, 0), "{len}");
                if len > 0 {
                    let mut changed = bytes.to_vec();
                    let at = len as usize / 2;
                    changed[at] ^= 1;
                    let found = outboard.damaged_in(&changed).unwrap();
                    let start = at as u64 / GROUP * GROUP;
                    assert_eq!(
                        (found.len(), found[0].start, found[0].end()),
                        (1, start, (start + GROUP).min(len)),
                        "{len}"
                    );
                }
            }
            Err(mksum::Error::Source(error)) => {
                assert!((1..=GROUP).contains(&len), "{len}: {error}");
                assert_eq!(error.downcast_ref(), Some(&OutboardError::NoDigests));
            }
            Err(error) => panic!("{len}: {error}"),
        }
        let longer = format.layout(len + GROUP).unwrap();
        assert!(Foreign::open(Stored::open(&target).unwrap(), longer).is_err(), "{len}");
    }
}

#[test]
fn trees_are_named_by_format_or_extension() {
    let of = |text: &str| text.parse::<ForeignFormat>().map(|format| (format.spec().to_string(), format.extension()));
    assert_eq!(of("blake3").unwrap(), ("blake3".into(), "obao"));
    assert_eq!(of("obao4").unwrap(), ("blake3".into(), "obao4"));
    assert_eq!(of("obao").unwrap(), ("blake3".into(), "obao"));
    assert_eq!(of("fsverity:sha512").unwrap().1, "fsverity");
    for wrong in ["sha256", "obao5", "", "mkt"] {
        assert!(of(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn every_digest_of_a_tree_in_levels_is_checked() {
    let folder = tempfile::tempdir().unwrap();
    let (path, target) = (folder.path().join("file"), folder.path().join("file.tree"));
    // Sixteen digests a block: 17 and 257 leaves end in nodes with a single child, one below the other.
    for (format, leaf) in [("dmverity:sha256:512:salt=0102", 512), ("fsverity:sha512:1KiB", 1024)] {
        let format: ForeignFormat = format.parse().unwrap();
        for leaves in [2, 15, 16, 17, 18, 33, 257, 273] {
            let bytes = vec![0x5a; leaf * leaves];
            let layout = format.layout(bytes.len() as u64).unwrap();
            fs::write(&path, &bytes).unwrap();
            fs::remove_file(&target).unwrap_or_default();
            let file = File::open(&path, &Options::new()).unwrap();
            let root = keep_foreign(file, &format, [7; 16], &Keeping::new(leaf as u64, &target)).unwrap().root;
            let tree = fs::read(&target).unwrap();
            let size = format.spec().hash().size();
            for at in (layout.head([7; 16]).len()..tree.len()).step_by(size).filter(|&at| tree[at] != 0) {
                let mut changed = tree.clone();
                changed[at] ^= 1;
                let outboard = Outboard::open(Foreign::open(changed, layout.clone()).unwrap()).unwrap();
                if outboard.root() != root {
                    continue;
                }
                assert!(outboard.damaged_in(&bytes).is_err(), "byte {at} of the tree over {leaves} leaves");
            }
        }
    }
}
