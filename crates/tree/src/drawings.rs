//! Geometry by pictures: the drawing of a tree, evaluated by its definition, has the root that every way to it computes.

use crate::hashing::{Empty, Framed, Join, NodeHash};
use crate::prefix::Prefix;
use crate::{Digest, Edge, Frontier, Hash, Memory, Plan, Shape, Spec, Tail};
use alloc::format;
use alloc::vec::Vec;

/// The prefixes of a leaf, of a parent and of a root that is a parent.
const PREFIXES: [&[u8]; 3] = [&[0], &[1], &[2]];

/// SHA-256 over this shape.
fn spec(shape: Shape) -> Spec {
    let [leaf, inner, root] = PREFIXES.map(Prefix::from);
    let (hash, empty) = (Hash::Sha256, Empty::Hash);
    let leaf = Some(leaf.into());
    Spec::unnamed(
        shape,
        NodeHash::Framed(Framed {
            hash,
            leaf,
            inner,
            root,
            fill: 0,
            slot: 32,
            join: Join::Hash,
            empty,
            descriptor: None,
        }),
    )
}

fn sha256(parts: &[&[u8]]) -> Digest {
    Digest::new(&mksum_lanes::digest(Hash::Sha256, parts)[..32])
}

/// The root of a drawing: a leaf is its letters, a parent its children in brackets, a missing node is `0`.
fn evaluate(drawing: &str) -> Digest {
    if drawing == "nothing" {
        return sha256(&[]);
    }
    let (top, rest) = node(drawing, PREFIXES[2]);
    assert_eq!(rest, "", "all of {drawing}");
    top
}

/// The digest of the node that `drawing` begins with, and the rest; `prefix` is a parent's.
fn node<'a>(drawing: &'a str, prefix: &[u8]) -> (Digest, &'a str) {
    if let Some(rest) = drawing.strip_prefix('0') {
        return (Digest::new(&[0; 32]), rest);
    }
    let Some(mut rest) = drawing.strip_prefix('(') else {
        let end = drawing.find([' ', ')']).unwrap_or(drawing.len());
        return (sha256(&[PREFIXES[0], &drawing.as_bytes()[..end]]), &drawing[end..]);
    };
    let mut body = prefix.to_vec();
    loop {
        let (child, after) = node(rest, PREFIXES[1]);
        body.extend_from_slice(child.as_bytes());
        match after.split_at(1) {
            (" ", more) => rest = more,
            (")", more) => return (sha256(&[&body]), more),
            other => panic!("{other:?} after a node"),
        }
    }
}

fn even(leaf: u64, arity: u64, edge: Edge) -> Shape {
    Shape::Even { leaf, arity, edge, tail: Tail::Short }
}

/// Checks that the tree over the first `len` letters is the one that is drawn, by every way to it.
fn draws(shape: Shape, len: u64, drawing: &str) {
    let bytes: Vec<u8> = (b'a'..).take(len as usize).collect();
    let spec = spec(shape);
    let root = spec.root(&bytes).unwrap();
    assert_eq!(root.digest(), evaluate(drawing), "{drawing}");
    for threads in 1..4 {
        for piece in 1..=len {
            let plan = Plan { threads, piece, group: threads };
            let parallel = spec.root_parallel(&Memory::new(&bytes), len, &plan).unwrap();
            assert_eq!(parallel, root, "{drawing} with {plan:?}");
        }
    }
    if let Ok(mut frontier) = spec.frontier() {
        for (byte, count) in bytes.iter().zip(1..) {
            frontier.update(&[*byte]).unwrap();
            let so_far = spec.root(&bytes[..count]);
            assert_eq!(frontier.root().ok(), so_far.ok(), "{drawing} after {count} bytes");
        }
    }
}

#[test]
fn a_lone_child_moves_up() {
    let shape = even(1, 2, Edge::Promote);
    let drawings = [
        "nothing",
        "a",
        "(a b)",
        "((a b) c)",
        "((a b) (c d))",
        "(((a b) (c d)) e)",
        "(((a b) (c d)) (e f))",
        "(((a b) (c d)) ((e f) g))",
        "(((a b) (c d)) ((e f) (g h)))",
    ];
    drawings.into_iter().zip(0..).for_each(|(drawing, len)| draws(shape, len, drawing));
    draws(even(3, 2, Edge::Promote), 8, "((abc def) gh)");
    draws(even(1, 3, Edge::Promote), 8, "((a b c) (d e f) (g h))");
    draws(even(1, 3, Edge::Promote), 7, "((a b c) (d e f) g)");
}

#[test]
fn a_missing_child_is_zero_at_every_level() {
    let shape = even(1, 3, Edge::PadZero);
    draws(shape, 1, "a");
    draws(shape, 2, "(a b 0)");
    draws(shape, 3, "(a b c)");
    draws(shape, 4, "((a b c) (d 0 0) 0)");
    draws(shape, 10, "(((a b c) (d e f) (g h i)) ((j 0 0) 0 0) 0)");
}

#[test]
fn a_missing_subtree_is_one_of_zeros() {
    let shape = even(1, 2, Edge::PadSubtree);
    draws(shape, 1, "a");
    draws(shape, 3, "((a b) (c 0))");
    draws(shape, 5, "(((a b) (c d)) ((e 0) (0 0)))");
    draws(even(2, 2, Edge::PadSubtree), 9, "(((ab cd) (ef gh)) ((i 0) (0 0)))");
}

#[test]
fn only_a_full_tree_has_a_root_where_edges_are_rejected() {
    let shape = Shape::Even { leaf: 2, arity: 2, edge: Edge::Reject, tail: Tail::Reject };
    let full: Vec<u64> = (1..=16).filter(|&len| shape.check(len).is_ok()).collect();
    assert_eq!(full, [4, 8, 16]);
    draws(shape, 8, "((ab cd) (ef gh))");
}

#[test]
fn all_leaves_lie_under_one_flat_node() {
    let shape = Shape::Flat { leaf: 2 };
    draws(shape, 2, "(ab)");
    draws(shape, 7, "(ab cd ef g)");
}

#[test]
fn halving_leaves_the_odd_byte_to_the_right_and_always_splits_the_root() {
    let shape = Shape::Halved { longest: 2 };
    draws(shape, 1, "( a)");
    draws(shape, 2, "(a b)");
    draws(shape, 5, "(ab (c de))");
    draws(shape, 7, "((a bc) (de fg))");
    draws(Shape::Halved { longest: 100 }, 7, "(abc defg)");
    assert!(spec(shape).frontier().is_err());
}

#[test]
fn a_leaf_longer_than_the_frontier_s_buffer_is_hashed_in_slices() {
    let long = Frontier::BUFFER * 5 / 2;
    let spec: Spec = format!("rfc6962:sha256:{long}").parse().unwrap();
    for len in [long - 1, long, long + 1, 2 * long, 3 * long + 5] {
        let bytes: Vec<u8> = (0..len).map(|i| (i % 251) as u8).collect();
        let mut frontier = spec.frontier().unwrap();
        bytes.chunks(100_003).for_each(|bytes| frontier.update(bytes).unwrap());
        assert_eq!(frontier.root().unwrap(), spec.root(&bytes).unwrap(), "{len} bytes");
    }
}

#[test]
fn a_shape_has_bounds_and_no_overflow() {
    for leaf in [1, 3, 1 << 20, 1 << 40] {
        for arity in [2, 3, 128, 1 << 20] {
            for edge in [Edge::Promote, Edge::PadZero, Edge::PadSubtree] {
                let shape = even(leaf, arity, edge);
                for len in [0, 1, leaf, leaf + 1, u64::MAX / 3, crate::MAX_LEN - 1, crate::MAX_LEN] {
                    shape.check(len).unwrap();
                    let mut node = shape.root(len);
                    assert!(node.level <= 64);
                    // Down the right edge, the ragged one.
                    while let Some(child) = shape.children(node).last().filter(|_| node.level < 40 || arity == 2) {
                        assert!(child.level < node.level && child.end() == len);
                        node = child;
                    }
                }
                assert!(shape.check(crate::MAX_LEN + 1).is_err());
            }
        }
    }
    let deepest = Shape::Halved { longest: 1 };
    assert_eq!(deepest.root(crate::MAX_LEN).level, 63);
}
