//! Geometry by pictures: a node hash whose digest is the drawing of its subtree.

use mksum::{Edge, Format, Frontier, Messages, NodeHash, Plan, Role, Shape, Tail};

/// A leaf is its bytes, a node its children in brackets, the root ends in `!`, a missing node is `0`.
struct Draw;

impl NodeHash for Draw {
    type Digest = String;
    type Leaves = Vec<String>;
    type Parent = (Role, Vec<String>);

    fn zero(&self) -> String {
        "0".into()
    }

    fn empty(&self) -> Option<String> {
        Some("nothing!".into())
    }

    fn marks_root(&self) -> bool {
        true
    }

    fn depends_on_start(&self) -> bool {
        true
    }

    fn lanes(&self) -> usize {
        4
    }

    fn leaf(&self, start: u64, bytes: &[u8], role: Role) -> String {
        // The bytes of the inputs here tell where they lie.
        assert!(bytes.first().is_none_or(|&byte| byte == b'a' + start as u8), "{bytes:?} at {start}");
        mark(String::from_utf8(bytes.into()).unwrap(), role)
    }

    fn leaves(&self, start: u64, leaves: Messages<'_>, out: &mut Vec<String>) {
        let starts = (start..).step_by(leaves.len());
        out.extend(leaves.iter().zip(starts).map(|(bytes, start)| self.leaf(start, bytes, Role::Inner)));
    }

    fn open_leaves(&self, starts: &[u64]) -> Vec<String> {
        vec![String::new(); starts.len()]
    }

    fn slices(&self, open: &mut Vec<String>, slices: Messages<'_>) {
        for (leaf, slice) in open.iter_mut().zip(slices.iter()) {
            leaf.push_str(std::str::from_utf8(slice).unwrap());
        }
    }

    fn close_leaves(&self, open: Vec<String>, ends: &[&[u8]], role: Role, out: &mut Vec<String>) {
        out.extend(open.into_iter().zip(ends).map(|(leaf, end)| mark(leaf + std::str::from_utf8(end).unwrap(), role)));
    }

    fn open_parent(&self, role: Role) -> (Role, Vec<String>) {
        (role, Vec::new())
    }

    fn children(&self, open: &mut (Role, Vec<String>), children: &[String]) {
        open.1.extend_from_slice(children);
    }

    fn close_parent(&self, (role, children): (Role, Vec<String>)) -> String {
        mark(format!("({})", children.join(" ")), role)
    }

    fn parents(&self, children: &[String], arity: usize, out: &mut Vec<String>) {
        out.extend(children.chunks(arity).map(|run| self.parent(run, Role::Inner)));
    }
}

fn mark(drawing: String, role: Role) -> String {
    if role == Role::Root { drawing + "!" } else { drawing }
}

fn even(leaf: u64, arity: u64, edge: Edge) -> Shape {
    Shape::Even { leaf, arity, edge, tail: Tail::Short }
}

/// The drawing over the first `len` letters, the same from every way to it.
fn drawn(shape: Shape, len: u64) -> String {
    let bytes: Vec<u8> = (b'a'..).take(len as usize).collect();
    let format = Format { shape, nodes: Draw };
    let drawing = format.hash(&bytes).unwrap();
    for threads in 1..4 {
        for piece in 1..=len {
            let plan = Plan { threads, piece, group: threads };
            let parallel = format.root_parallel(&mksum::Memory::new(&bytes), len, &plan).unwrap();
            assert_eq!(parallel, drawing, "{shape:?} with {plan:?}");
        }
    }
    if let Ok(mut frontier) = format.frontier() {
        for (byte, count) in bytes.iter().zip(1..) {
            frontier.update(&[*byte]).unwrap();
            let so_far = format.hash(&bytes[..count]);
            assert_eq!(frontier.root().ok(), so_far.ok(), "{shape:?} after {count} bytes");
        }
    }
    drawing
}

#[test]
fn a_lone_child_moves_up() {
    let shape = even(1, 2, Edge::Promote);
    let drawings: Vec<_> = (0..9).map(|len| drawn(shape, len)).collect();
    assert_eq!(
        drawings,
        [
            "nothing!",
            "a!",
            "(a b)!",
            "((a b) c)!",
            "((a b) (c d))!",
            "(((a b) (c d)) e)!",
            "(((a b) (c d)) (e f))!",
            "(((a b) (c d)) ((e f) g))!",
            "(((a b) (c d)) ((e f) (g h)))!",
        ]
    );
    assert_eq!(drawn(even(3, 2, Edge::Promote), 8), "((abc def) gh)!");
    assert_eq!(drawn(even(1, 3, Edge::Promote), 8), "((a b c) (d e f) (g h))!");
    assert_eq!(drawn(even(1, 3, Edge::Promote), 7), "((a b c) (d e f) g)!");
}

#[test]
fn a_missing_child_is_zero_at_every_level() {
    let shape = even(1, 3, Edge::PadZero);
    assert_eq!(drawn(shape, 1), "a!");
    assert_eq!(drawn(shape, 2), "(a b 0)!");
    assert_eq!(drawn(shape, 3), "(a b c)!");
    assert_eq!(drawn(shape, 4), "((a b c) (d 0 0) 0)!");
    assert_eq!(drawn(shape, 10), "(((a b c) (d e f) (g h i)) ((j 0 0) 0 0) 0)!");
}

#[test]
fn a_missing_subtree_is_one_of_zeros() {
    let shape = even(1, 2, Edge::PadSubtree);
    assert_eq!(drawn(shape, 1), "a!");
    assert_eq!(drawn(shape, 3), "((a b) (c 0))!");
    assert_eq!(drawn(shape, 5), "(((a b) (c d)) ((e 0) (0 0)))!");
    assert_eq!(drawn(even(2, 2, Edge::PadSubtree), 9), "(((ab cd) (ef gh)) ((i 0) (0 0)))!");
}

#[test]
fn only_a_full_tree_has_a_root_where_edges_are_rejected() {
    let shape = Shape::Even { leaf: 2, arity: 2, edge: Edge::Reject, tail: Tail::Reject };
    let full: Vec<_> = (1..=16).filter(|&len| shape.check(len).is_ok()).collect();
    assert_eq!(full, [4, 8, 16]);
    assert_eq!(drawn(shape, 8), "((ab cd) (ef gh))!");
}

#[test]
fn all_leaves_lie_under_one_flat_node() {
    let shape = Shape::Flat { leaf: 2 };
    assert_eq!(drawn(shape, 2), "(ab)!");
    assert_eq!(drawn(shape, 7), "(ab cd ef g)!");
}

#[test]
fn halving_leaves_the_odd_byte_to_the_right_and_always_splits_the_root() {
    let shape = Shape::Halved { longest: 2 };
    assert_eq!(drawn(shape, 1), "( a)!");
    assert_eq!(drawn(shape, 2), "(a b)!");
    assert_eq!(drawn(shape, 5), "(ab (c de))!");
    assert_eq!(drawn(shape, 7), "((a bc) (de fg))!");
    assert_eq!(drawn(Shape::Halved { longest: 100 }, 7), "(abc defg)!");
    assert!(Format { shape, nodes: Draw }.frontier().is_err());
}

#[test]
fn a_leaf_longer_than_the_frontier_s_buffer_is_hashed_in_slices() {
    // Letters do not reach that far: here a leaf is its length.
    let long = Frontier::<mksum::Blake3>::BUFFER * 5 / 2;
    let spec: mksum::Spec = format!("rfc6962:sha256:{long}").parse().unwrap();
    struct Streamed<'a>(&'a [u8]);
    impl mksum::Visitor for Streamed<'_> {
        type Output = Vec<u8>;

        fn visit<const N: usize, H: NodeHash<Digest = [u8; N]>>(self, format: &Format<H>) -> Vec<u8> {
            let mut frontier = format.frontier().unwrap();
            self.0.chunks(100_003).for_each(|bytes| frontier.update(bytes).unwrap());
            frontier.root().unwrap().into()
        }
    }
    for len in [long - 1, long, long + 1, 2 * long, 3 * long + 5] {
        let bytes: Vec<u8> = (0..len).map(|i| (i % 251) as u8).collect();
        assert_eq!(spec.visit(Streamed(&bytes)), spec.root(&bytes).unwrap().digest(), "{len} bytes");
    }
}

#[test]
fn a_shape_has_bounds_and_no_overflow() {
    for leaf in [1, 3, 1 << 20, 1 << 40] {
        for arity in [2, 3, 128, 1 << 20] {
            for edge in [Edge::Promote, Edge::PadZero, Edge::PadSubtree] {
                let shape = even(leaf, arity, edge);
                for len in [0, 1, leaf, leaf + 1, u64::MAX / 3, mksum::MAX_LEN - 1, mksum::MAX_LEN] {
                    shape.check(len).unwrap();
                    let mut node = shape.root(len);
                    assert!(node.level <= 64);
                    // Down the right edge, the ragged one.
                    while let Some(child) = shape.children(node).last().filter(|_| node.level < 40 || arity == 2) {
                        assert!(child.level < node.level && child.end() == len);
                        node = child;
                    }
                }
                assert!(shape.check(mksum::MAX_LEN + 1).is_err());
            }
        }
    }
    let deepest = Shape::Halved { longest: 1 };
    assert_eq!(deepest.root(mksum::MAX_LEN).level, 63);
}
