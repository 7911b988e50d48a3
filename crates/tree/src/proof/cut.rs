//! Where a proof cuts a tree: which digests are sent, and in which order.

use super::ProofError;
use crate::cover::Walk;
use crate::{ByOffset, Shape, Spec, Subtree};
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

/// A cut of a tree by a proof: what its verifier has, and what must be sent.
///
/// The nodes that are partly in a range of bytes are *open*: their digests are to be found. Of all others the largest
/// are *sent*, except those within the range where the verifier has its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    shape: Shape,
    top: Subtree,
    part: Part,
}

/// The range of bytes, and what the verifier has in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// The bytes.
    Range { start: u64, end: u64 },
    /// The root of an older tree over them, which has another digest as a node of the newer one if it is marked.
    Older { old: Subtree, marked: bool },
}

/// The digests that a proof carries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pieces {
    /// The subtrees whose digests are sent, in their order.
    pub sent: Vec<Subtree>,
    /// Whether the older tree's root is a node of the newer tree: the verifier has its digest, so it is not sent.
    pub has_old: bool,
}

impl Cut {
    /// The cut around the bytes `range` of a tree: that of an inclusion proof.
    ///
    /// `tree` is mostly that of a whole input, `shape.root(len)`. Where roots are not marked it may begin later, wherever
    /// a node of its level begins, as if it were an input of its own.
    ///
    /// # Errors
    /// If the format has no root for this length, or the range is empty or not within the tree.
    pub fn range(spec: &Spec, tree: Subtree, range: Range<u64>) -> Result<Cut, ProofError> {
        spec.supports(ByOffset::Proof).map_err(ProofError::Unsupported)?;
        let refuse = || ProofError::Range { range: range.clone(), len: tree.len };
        if !is_tree(spec, tree) {
            return Err(refuse());
        }
        spec.shape().check(tree.len).map_err(ProofError::Length)?;
        if range.start < tree.start || range.start >= range.end || range.end > tree.end() {
            return Err(refuse());
        }
        let part = Part::Range { start: range.start, end: range.end };
        Ok(Cut { shape: spec.shape(), top: tree, part })
    }

    /// The cut at the end of an older tree within an input of `len` bytes: that of a consistency proof.
    ///
    /// `old` is mostly the tree of the shorter input, `shape.root(old_len)`; it may begin later as in [`Cut::range`].
    ///
    /// # Errors
    /// If the format has no root for one of the lengths, the old tree is empty or not within the new one, or the splits
    /// move as the input grows.
    pub fn consistency(spec: &Spec, old: Subtree, len: u64) -> Result<Cut, ProofError> {
        spec.supports(ByOffset::Proof).map_err(ProofError::Unsupported)?;
        let shape = spec.shape();
        if matches!(shape, Shape::Halved { .. }) {
            return Err(ProofError::Moves);
        }
        if !is_tree(spec, old) || old.len == 0 || old.end() > len {
            return Err(ProofError::Consistency { old: old.len, len });
        }
        for len in [old.len, len] {
            shape.check(len).map_err(ProofError::Length)?;
        }
        let part = Part::Older { old, marked: spec.marks_root() };
        Ok(Cut { shape, top: shape.root(len), part })
    }

    /// The shape of the tree that is cut.
    pub fn shape(self) -> Shape {
        self.shape
    }

    /// The top of the (newer) tree.
    pub fn top(self) -> Subtree {
        self.top
    }

    /// The range of bytes: those that the verifier has, or those of the older tree.
    pub fn bytes(self) -> Range<u64> {
        match self.part {
            Part::Range { start, end } => start..end,
            Part::Older { old, .. } => old.start..old.end(),
        }
    }

    /// The older tree's root, if there is one.
    pub(crate) fn old(self) -> Option<Subtree> {
        match self.part {
            Part::Older { old, .. } => Some(old),
            Part::Range { .. } => None,
        }
    }

    /// Whether `node` is open and has children.
    fn looks_into(self, node: Subtree) -> bool {
        node.level > 0 && self.opens(node)
    }

    /// Whether the digest of `node` is neither held nor sent: it is joined from its children's, or hashed from bytes.
    pub fn opens(self, node: Subtree) -> bool {
        let Range { start, end } = self.bytes();
        let touches = node.start < end && start < node.end();
        let within = start <= node.start && node.end() <= end;
        match self.part {
            Part::Older { old, marked: true } if node == old => old != self.top,
            _ => touches && !within,
        }
    }

    /// The bytes that are sent, left to right: the rest of the leaves that the verifier must hash. At most two ranges.
    pub(crate) fn edges(self) -> Vec<Range<u64>> {
        let (has, mut edges, mut walk) = (self.bytes(), Vec::new(), Walk::new(self.shape, Some(self.top)));
        while let Some(node) = walk.next() {
            if self.looks_into(node) {
                walk.enter(node);
                continue;
            }
            let all = node.start..node.end();
            match self.part {
                Part::Range { start, end } if self.opens(node) => {
                    edges.extend([all.start..start, end..all.end].into_iter().filter(|edge| !edge.is_empty()));
                }
                Part::Older { .. } if self.opens(node) => edges.push(all),
                // On to the child in which the range begins, or ends, or to none.
                _ if all.end <= has.start => walk.pass(has.start),
                _ if all.end <= has.end => walk.pass(has.end),
                _ => walk.pass(u64::MAX),
            }
        }
        edges
    }

    /// The digests in a proof; an error if there are more than `most`.
    ///
    /// Takes time and memory for `most` and a tree's depth, however long the input is.
    pub(crate) fn pieces(self, most: usize) -> Result<Pieces, TooMany> {
        // For each level of a node above them, and for the top, which has none above.
        let mut sent = vec![Vec::new(); 66];
        let (has, mut count, mut has_old) = (self.bytes(), 0, false);
        let mut walk = Walk::new(self.shape, Some(self.top));
        while let Some(node) = walk.next() {
            if self.looks_into(node) {
                walk.enter(node);
                continue;
            }
            let inside = has.start <= node.start && node.end() <= has.end;
            match self.part {
                _ if self.opens(node) => {}
                Part::Range { end, .. } if inside => walk.pass(end),
                Part::Older { old, .. } if node == old => has_old = true,
                _ => {
                    sent[walk.above().map_or(65, |above| above.level as usize)].push(node);
                    count += 1;
                }
            }
            if count > most {
                return Err(TooMany);
            }
        }
        // From the lowest node up, as in RFC 9162, 2.1.3.1 and 2.1.4.1.
        Ok(Pieces { sent: sent.concat(), has_old })
    }
}

/// Whether `tree` is all of an input, or might be.
fn is_tree(spec: &Spec, tree: Subtree) -> bool {
    let shape = spec.shape();
    let aligned = || !spec.marks_root() && tree.start.is_multiple_of(shape.span(shape.level(tree.len)));
    tree.start.checked_add(tree.len).is_some()
        && (tree.start == 0 || aligned())
        && tree == Subtree { start: tree.start, ..shape.root(tree.len) }
}

/// A proof would have more digests than there is place for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TooMany;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hashing::{Empty, Framed, Join, NodeHash};
    use crate::prefix::Prefix;
    use crate::{Edge, Hash, Tail};
    use alloc::format;
    use alloc::string::String;

    fn even(arity: u64, edge: Edge) -> Shape {
        Shape::Even { leaf: 1, arity, edge, tail: Tail::Short }
    }

    /// A format of this shape whose roots that are parents have a prefix; nothing is hashed here.
    fn spec(shape: Shape, root: &'static [u8]) -> Spec {
        let (hash, slot) = (Hash::Sha256, 32);
        let prefix = || Some(Prefix::from(&[][..]).into());
        let inner = (&[][..]).into();
        let framed = Framed {
            hash,
            leaf: prefix(),
            inner,
            root: root.into(),
            fill: 0,
            slot,
            join: Join::Hash,
            empty: Empty::Hash,
            descriptor: None,
        };
        Spec::unnamed(shape, NodeHash::Framed(framed))
    }

    fn format(shape: Shape) -> Spec {
        spec(shape, b"")
    }

    /// The ranges whose digests are sent, and those that are sent as bytes.
    fn sent(cut: Cut) -> String {
        let pieces = cut.pieces(1000).unwrap();
        let ranges = pieces.sent.iter().map(|node| format!("{}-{}", node.start, node.end()));
        ranges.chain(cut.edges().iter().map(|edge| format!("bytes {edge:?}"))).collect::<Vec<_>>().join(" ")
    }

    fn range(shape: Shape, len: u64, range: Range<u64>) -> String {
        sent(Cut::range(&format(shape), shape.root(len), range).unwrap())
    }

    fn consistency(shape: Shape, old: u64, len: u64) -> String {
        sent(Cut::consistency(&format(shape), shape.root(old), len).unwrap())
    }

    /// RFC 9162, 2.1.5: the tree of seven leaves.
    #[test]
    fn the_examples_of_rfc_9162() {
        let shape = even(2, Edge::Promote);
        assert_eq!(range(shape, 7, 0..1), "1-2 2-4 4-7", "[b, h, l]");
        assert_eq!(range(shape, 7, 3..4), "2-3 0-2 4-7", "[c, g, l]");
        assert_eq!(range(shape, 7, 4..5), "5-6 6-7 0-4", "[f, j, k]");
        assert_eq!(range(shape, 7, 6..7), "4-6 0-4", "[i, k]");
        assert_eq!(consistency(shape, 3, 7), "2-3 3-4 0-2 4-7", "[c, d, g, l]");
        assert_eq!(consistency(shape, 4, 7), "4-7", "[l]");
        assert_eq!(consistency(shape, 6, 7), "4-6 6-7 0-4", "[i, j, k]");
    }

    #[test]
    fn a_range_has_what_is_beside_it_on_both_sides() {
        let shape = even(2, Edge::Promote);
        assert_eq!(range(shape, 8, 3..6), "2-3 0-2 6-8");
        assert_eq!(range(shape, 8, 0..8), "");
        assert_eq!(range(even(4, Edge::PadZero), 40, 5..6), "4-5 6-7 7-8 0-4 8-12 12-16 16-32 32-40");
        assert_eq!(range(Shape::Flat { leaf: 1 }, 5, 1..4), "0-1 4-5");
        assert_eq!(range(Shape::Halved { longest: 2 }, 7, 3..5), "5-7 0-3");
    }

    #[test]
    fn leaves_at_the_edges_come_as_bytes() {
        let leaf = |leaf| Shape::Even { leaf, arity: 2, edge: Edge::Promote, tail: Tail::Short };
        assert_eq!(range(leaf(4), 18, 5..6), "0-4 8-16 16-18 bytes 4..5 bytes 6..8");
        assert_eq!(range(leaf(4), 18, 2..17), "bytes 0..2 bytes 17..18");
        assert_eq!(range(leaf(100), 18, 2..17), "bytes 0..2 bytes 17..18");
        assert_eq!(consistency(leaf(4), 6, 18), "0-4 8-16 16-18 bytes 4..8");
        assert_eq!(consistency(leaf(4), 4, 4), "");
    }

    #[test]
    fn a_marked_root_is_opened() {
        let shape = even(2, Edge::Promote);
        let marking = spec(shape, b"root");
        let marked = |old| sent(Cut::consistency(&marking, shape.root(old), 7).unwrap());
        assert_eq!(marked(4), "0-2 2-4 4-7");
        assert_eq!(marked(1), "1-2 2-4 4-7 bytes 0..1");
        assert_eq!(marked(3), consistency(shape, 3, 7));
        assert_eq!(marked(7), "");
    }

    #[test]
    fn a_long_input_takes_no_time() {
        let len = crate::MAX_LEN;
        let cut = |shape: Shape, range| Cut::range(&format(shape), shape.root(len), range).unwrap();
        let flat = Shape::Flat { leaf: 1 };
        assert_eq!(cut(flat, 1..len - 1).pieces(2).unwrap().sent.len(), 2);
        assert!(cut(flat, 1..len - 1).pieces(1).is_err());
        assert!(cut(flat, 0..1).pieces(1000).is_err());
        assert_eq!(cut(Shape::Flat { leaf: 1 << 40 }, len - 1..len).edges()[0].start, len - (1 << 40));
        assert_eq!(cut(even(2, Edge::Promote), 1..2).pieces(63).unwrap().sent.len(), 63);
    }

    #[test]
    fn what_is_no_part_is_refused() {
        let shape = even(2, Edge::Promote);
        let format = format(shape);
        for range in [0..0, 4..4, 3..8, u64::MAX - 1..u64::MAX] {
            assert!(Cut::range(&format, shape.root(7), range.clone()).is_err(), "{range:?}");
        }
        assert!(Cut::range(&format, shape.root(crate::MAX_LEN + 1), 0..1).is_err());
        assert!(Cut::range(&format, Subtree { level: 2, ..shape.root(7) }, 0..1).is_err());
        let whole = |old, len| Cut::consistency(&format, shape.root(old), len);
        assert!(whole(0, 7).is_err() && whole(8, 7).is_err() && whole(7, crate::MAX_LEN + 1).is_err());
        let part = |start, len| Cut::consistency(&format, Subtree { start, ..shape.root(len) }, 7);
        assert!(part(4, 3).is_ok() && part(2, 3).is_err() && part(8, 3).is_err() && part(u64::MAX - 1, 3).is_err());
        let halved = Shape::Halved { longest: 2 };
        assert!(Cut::consistency(&self::format(halved), halved.root(4), 7).is_err());
    }

    #[test]
    fn the_older_root_is_not_sent_where_it_is_a_node_of_the_newer_tree() {
        let shape = even(2, Edge::Promote);
        let cut = |old, len| Cut::consistency(&format(shape), shape.root(old), len).unwrap();
        let has_old = |old, len| cut(old, len).pieces(10).unwrap().has_old;
        assert!(has_old(4, 7) && has_old(7, 7));
        assert!(!has_old(3, 7) && !has_old(6, 7));
    }
}
