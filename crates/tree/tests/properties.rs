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
