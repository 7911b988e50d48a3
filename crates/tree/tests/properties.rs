//! Properties of all shapes, inputs and ways of cutting them.

mod inputs;

use inputs::{bytes, spec};
use mksum::{Digest, Error, Memory, Role, Root, Shape, Spec, Subtree};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// The root joined from the digests of some subtrees, whichever a coin chooses, computed one by one.
fn joined(spec: &Spec, bytes: &[u8], mut coin: u64) -> Result<Root, Error> {
    let (mut known, shape, memory) = (BTreeMap::new(), spec.shape(), Memory::new(bytes));
    let root = shape.root(bytes.len() as u64);
    if root.level == 0 {
        return spec.root(bytes);
    }
    let mut open: Vec<Subtree> = shape.children(root).collect();
    while let Some(node) = open.pop() {
        coin = coin.wrapping_mul(6364136223846793005).wrapping_add(1);
        if node.level == 0 || coin >> 62 == 0 {
            known.insert(node, spec.join(&memory, node, Role::Inner)?);
        } else {
            open.extend(shape.children(node));
        }
    }
    spec.root_from(&known, bytes.len() as u64)
}

/// BLAKE3 hashes a short input in one call of its own, which must end where the batches begin.
#[test]
fn blake3_alone_and_by_its_tree_are_the_same_at_every_boundary() {
    let spec: Spec = "blake3".parse().unwrap();
    let bytes: Vec<u8> = (0..(1_usize << 20) + 2048).map(|place| (place * 7919 / 32) as u8).collect();
    for chunks in [1, 2, 3, 15, 16, 17, 31, 33, 64, 255, 256, 257, 1023, 1024, 1025] {
        for len in [chunks * 1024 - 1, chunks * 1024, chunks * 1024 + 1] {
            let bytes = &bytes[..len];
            let root = spec.root_from(&Memory::new(bytes), len as u64).unwrap();
            assert_eq!(spec.root(bytes).unwrap(), root, "{len} bytes");
            assert_eq!(spec.root_digest(bytes).unwrap(), root.digest(), "{len} bytes");
        }
    }
}

proptest! {
    #[test]
    fn any_partition_into_subtrees_joins_to_the_same_root(spec in spec(), bytes in bytes(1..20_000), coin: u64) {
        let root = spec.root(&bytes).unwrap();
        prop_assert_eq!(joined(&spec, &bytes, coin).unwrap(), root);
    }

    #[test]
    fn one_flipped_bit_changes_the_root(spec in spec(), mut bytes in bytes(1..20_000), at: prop::sample::Index, bit in 0..8_u32) {
        let before = spec.root(&bytes).unwrap();
        let at = at.index(bytes.len());
        bytes[at] ^= 1_u8 << bit;
        let after = spec.root(&bytes).unwrap();
        prop_assert_ne!(after.digest(), before.digest());
    }

    #[test]
    fn one_byte_more_or_less_changes_the_root(spec in spec(), mut bytes in bytes(1..20_000)) {
        let before = spec.root(&bytes).unwrap();
        bytes.push(0);
        let longer = spec.root(&bytes).unwrap();
        // A padded tree of zeros is the one exception that BEP 52 knows: its leaves are not padded, so not here.
        prop_assert_ne!(longer.digest(), before.digest());
    }

    #[test]
    fn a_piece_that_nobody_has_is_an_error(spec in spec(), bytes in bytes(1..5_000)) {
        let nothing = BTreeMap::<Subtree, Digest>::new();
        prop_assert!(matches!(spec.root_from(&nothing, bytes.len() as u64), Err(Error::Missing(_))));
    }

    #[test]
    fn children_lie_one_after_the_other_and_fill_their_parent(
        leaf in 1_u64..1 << 40, arity in 2_u64..300, kind in 0..5_usize, len in 1..=mksum::MAX_LEN,
    ) {
        use mksum::{Edge::*, Tail::Short};
        let even = |edge| Shape::Even { leaf, arity, edge, tail: Short };
        let shape = [even(Promote), even(PadZero), even(PadSubtree), Shape::Flat { leaf }, Shape::Halved { longest: leaf }][kind];
        let mut node = shape.root(len);
        prop_assert!(node.level <= 64);
        while node.level > 0 {
            let children = shape.children(node).take(1000);
            let mut end = node.start;
            let mut last = node;
            for child in children {
                prop_assert!(child.start == end && child.level < node.level);
                (end, last) = (child.end(), child);
            }
            prop_assert!(end == node.end() || shape.children(node).nth(1000).is_some());
            node = last;
        }
    }

    #[test]
    fn a_spec_s_text_is_read_back(spec in spec()) {
        prop_assert_eq!(&spec.to_string().parse::<Spec>().unwrap(), &spec);
    }

    #[test]
    fn no_text_is_too_strange_to_be_refused(text in "\\PC{0,60}", len: u64, parts: u64) {
        let _ = text.parse::<Spec>();
        let _ = mksum::parse_size(&text);
        for name in ["rfc6962", "s3:md5", "s3:sha1"] {
            let spec: Spec = name.parse().unwrap();
            let _ = spec.claimed_root(&text);
            for size in spec.part_sizes(len, parts) {
                prop_assert_eq!(len.div_ceil(size.leaf()).max(1), parts);
            }
        }
    }
}

/// Subtrees hashed elsewhere, pushed between updates, at every boundary of the frontier's own buffer.
#[test]
fn a_pushed_subtree_may_follow_a_whole_unit_of_bytes() {
    let bytes: Vec<u8> = (0..5_u32 << 18).map(|index| (index % 251) as u8).collect();
    // Units of many leaves, a unit of one leaf that the buffer holds, leaves that are hashed slice by slice, a flat tree.
    for text in ["blake3", "rfc6962:sha256:100", "rfc6962:sha256:256KiB", "rfc6962:sha256:512KiB", "s3:md5:300KiB"] {
        let spec: Spec = text.parse().unwrap();
        let (unit, memory) = (spec.shape().unit(mksum::Frontier::BUFFER).unwrap(), Memory::new(&bytes));
        let whole = bytes.len() as u64 / unit.len - 1;
        for pushed in 1..1 << whole {
            let mut frontier = spec.frontier().unwrap();
            for index in 0..whole {
                let node = Subtree { start: index * unit.len, ..unit };
                match pushed >> index & 1 {
                    1 => frontier.push(node, spec.join(&memory, node, Role::Inner).unwrap()).unwrap(),
                    _ => frontier.update(&bytes[node.start as usize..node.end() as usize]).unwrap(),
                }
                // More bytes must follow a pushed subtree; bytes may end with a whole unit.
                let so_far = &bytes[..node.end() as usize];
                if pushed >> index & 1 == 0 {
                    assert_eq!(frontier.root().unwrap(), spec.root(so_far).unwrap(), "{text} {pushed:b} {index}");
                }
            }
            frontier.update(&bytes[(whole * unit.len) as usize..]).unwrap();
            assert_eq!(frontier.root().unwrap(), spec.root(&bytes).unwrap(), "{text} {pushed:b}");
        }
        // Within a unit nothing can follow, and a refused push changes nothing.
        let mut frontier = spec.frontier().unwrap();
        frontier.update(&bytes[..unit.len as usize]).unwrap();
        let short = Subtree { start: unit.len, len: unit.len - 1, level: unit.level };
        frontier.push(short, spec.root(b"").unwrap().digest()).unwrap_err();
        assert_eq!(frontier.root().unwrap(), spec.root(&bytes[..unit.len as usize]).unwrap(), "{text}");
        frontier.update(b"more").unwrap();
        let next = Subtree { start: unit.len + 4, ..unit };
        frontier.push(next, spec.root(b"").unwrap().digest()).unwrap_err();
    }
}

proptest! {
    /// Also single leaves where a unit has many, before bytes that fill several units.
    #[test]
    fn subtrees_of_any_size_are_pushed_between_bytes(
        text in 0..4_usize, steps in proptest::collection::vec((any::<bool>(), 0..9_u32), 1..12), tail in 1..700_000_usize,
    ) {
        let text = ["blake3", "rfc6962:sha256:100", "btv2", "plain:sha256:4"][text];
        let spec: Spec = text.parse().unwrap();
        let bytes: Vec<u8> = (0..4_u32 << 20).map(|index| (index % 251) as u8).collect();
        let (shape, memory) = (spec.shape(), Memory::new(&bytes));
        let (mut frontier, mut at) = (spec.frontier().unwrap(), 0);
        let unit = shape.unit(mksum::Frontier::BUFFER).unwrap();
        for (push, level) in steps {
            // The largest subtree of at most that level that begins here.
            let node = shape.unit((shape.leaf() << level).min(unit.len)).unwrap();
            let mut len = node.len;
            while at % len != 0 {
                len /= 2;
            }
            let node = Subtree { start: at, len, level: (len / shape.leaf()).ilog2() };
            let digest = spec.join(&memory, node, Role::Inner).unwrap();
            if !push || frontier.push(node, digest).is_err() {
                frontier.update(&bytes[at as usize..node.end() as usize]).unwrap();
            }
            at = node.end();
        }
        let astray = Subtree { start: at, len: 2 * shape.leaf(), level: 1 };
        if at % astray.len != 0 {
            prop_assert!(frontier.push(astray, spec.root(b"some").unwrap().digest()).is_err(), "no such subtree");
        }
        let end = at as usize + tail;
        frontier.update(&bytes[at as usize..end]).unwrap();
        prop_assert_eq!(frontier.root().unwrap(), spec.root(&bytes[..end]).unwrap());
    }

    /// Long and short updates in any order: bytes are hashed where they lie or buffered, and every prefix has its root.
    #[test]
    fn any_updates_are_the_bytes_in_one(
        text in 0..7_usize, lens in proptest::collection::vec(prop_oneof![0..3_000_usize, (0..5_usize).prop_map(|n| n << 17), 0..600_000_usize], 1..9),
    ) {
        let formats = ["blake3", "rfc6962:sha256:100", "btv2", "s3:md5:300KiB", "glacier", "rfc6962:sha256:64KiB", "rfc6962:sha256:768KiB"];
        let spec: Spec = formats[text].parse().unwrap();
        let bytes: Vec<u8> = (0..lens.iter().sum::<usize>() as u32).map(|index| (index % 251) as u8).collect();
        let (mut frontier, mut at) = (spec.frontier().unwrap(), 0);
        for len in lens {
            frontier.update(&bytes[at..at + len]).unwrap();
            at += len;
            prop_assert_eq!(frontier.position(), at as u64);
            prop_assert_eq!(frontier.root().ok(), spec.root(&bytes[..at]).ok());
        }
    }

    #[test]
    fn leaves_in_memory_side_by_side_are_those_alone(spec in spec(), bytes in bytes(1..20_000), group in 1..40_usize) {
        let (memory, plan) = (Memory::new(&bytes), mksum::Plan { threads: 1, piece: spec.shape().leaf(), group });
        let len = bytes.len() as u64;
        prop_assert_eq!(spec.root_parallel(&memory, len, &plan).unwrap(), spec.root(&bytes).unwrap());
    }
}
