//! Where a proof cuts a tree: which digests are sent, and in which order.

use crate::{Cover, Format, NodeHash, ProofError, Shape, Subtree};
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

/// Where a proof cuts a tree: what its verifier has, and what must be sent besides.
///
/// The nodes that are partly in a range of bytes are *open*: their digests are to be found. Of all others the largest
/// are *sent*, except those within the range where the verifier has its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    shape: Shape,
    top: Subtree,
    part: Part,
}

/// The range of bytes, and what the verifier has of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// The bytes.
    Range { start: u64, end: u64 },
    /// The root of an older tree over them, which has another digest as a node of the newer one if it is marked.
    Growth { old: Subtree, marked: bool },
}

/// The digests that a proof carries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pieces {
    /// The subtrees whose digests are sent, in their order.
    pub sent: Vec<Subtree>,
    /// Whether the older tree's root is a node of the newer tree: its digest is told, and not sent.
    pub told: bool,
}

impl<N: NodeHash> Format<N> {
    /// The cut around the bytes `range` of a tree: that of an inclusion proof.
    ///
    /// `tree` is mostly that of a whole input, `shape.root(len)`. Where roots are not marked it may begin later, wherever
    /// a node of its level begins, as if it were an input of its own.
    ///
    /// # Errors
    /// If the format has no root for this length, or the range is empty or not within the tree.
    pub fn range(&self, tree: Subtree, range: Range<u64>) -> Result<Cut, ProofError> {
        let refuse = || ProofError::Range { range: range.clone(), len: tree.len };
        self.is_tree(tree).ok_or_else(refuse)?;
        self.shape.check(tree.len).map_err(ProofError::Length)?;
        if range.start < tree.start || range.start >= range.end || range.end > tree.end() {
            return Err(refuse());
        }
        let part = Part::Range { start: range.start, end: range.end };
        Ok(Cut { shape: self.shape, top: tree, part })
    }

    /// The cut at the end of an older tree within an input of `len` bytes: that of a consistency proof.
    ///
    /// `old` is mostly the tree of the shorter input, `shape.root(old_len)`; it may begin later as in [`Format::range`].
    ///
    /// # Errors
    /// If the format has no root for one of the lengths, the old tree is empty or not within the new one, or the splits
    /// move as the input grows.
    pub fn growth(&self, old: Subtree, len: u64) -> Result<Cut, ProofError> {
        if matches!(self.shape, Shape::Halved { .. }) {
            return Err(ProofError::Moves);
        }
        let refuse = || ProofError::Growth { old: old.len, len };
        self.is_tree(old).filter(|()| old.len > 0 && old.end() <= len).ok_or_else(refuse)?;
        for len in [old.len, len] {
            self.shape.check(len).map_err(ProofError::Length)?;
        }
        let part = Part::Growth { old, marked: self.nodes.marks_root() };
        Ok(Cut { shape: self.shape, top: self.shape.root(len), part })
    }

    /// Whether `tree` is all of an input, or might be.
    fn is_tree(&self, tree: Subtree) -> Option<()> {
        let shape = self.shape;
        tree.start.checked_add(tree.len)?;
        let aligned = || !self.nodes.marks_root() && tree.start.is_multiple_of(shape.span(shape.level(tree.len)));
        ((tree.start == 0 || aligned()) && tree == Subtree { start: tree.start, ..shape.root(tree.len) }).then_some(())
    }
}

impl Cut {
    /// Where the tree splits.
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
            Part::Growth { old, .. } => old.start..old.end(),
        }
    }

    /// The older tree's root, if there is one.
    pub(crate) fn old(self) -> Option<Subtree> {
        match self.part {
            Part::Growth { old, .. } => Some(old),
            Part::Range { .. } => None,
        }
    }

    /// Whether the digest of `node` is neither held nor sent: it is joined from its children's, or hashed from bytes.
    pub fn opens(self, node: Subtree) -> bool {
        let Range { start, end } = self.bytes();
        let touches = node.start < end && start < node.end();
        let within = start <= node.start && node.end() <= end;
        match self.part {
            Part::Growth { old, marked: true } if node == old => old != self.top,
            _ => touches && !within,
        }
    }

    /// The bytes that are sent, left to right: what the verifier lacks of leaves that it must hash. At most two ranges.
    pub(crate) fn edges(self) -> Vec<Range<u64>> {
        let (has, mut edges, mut cover) = (self.bytes(), Vec::new(), Cover::along(self));
        while let Some(piece) = cover.next() {
            let all = piece.start..piece.end();
            match self.part {
                Part::Range { start, end } if self.opens(piece) => {
                    edges.extend([all.start..start, end..all.end].into_iter().filter(|edge| !edge.is_empty()));
                }
                Part::Growth { .. } if self.opens(piece) => edges.push(all),
                // On to the child in which the range begins, or ends, or to none.
                _ if all.end <= has.start => cover.pass(has.start),
                _ if all.end <= has.end => cover.pass(has.end),
                _ => cover.pass(u64::MAX),
            }
        }
        edges
    }

    /// What a proof carries; an error if it has more than `most` digests.
    ///
    /// Takes time and memory for `most` and a tree's depth, however long the input is said to be.
    pub(crate) fn pieces(self, most: usize) -> Result<Pieces, TooMany> {
        // For each level of a node above them, and for the top, which has none above.
        let mut sent = vec![Vec::new(); 66];
        let (has, mut count, mut told, mut cover) = (self.bytes(), 0, false, Cover::along(self));
        while let Some(piece) = cover.next() {
            let inside = has.start <= piece.start && piece.end() <= has.end;
            match self.part {
                _ if self.opens(piece) => {}
                Part::Range { end, .. } if inside => cover.pass(end),
                Part::Growth { old, .. } if piece == old => told = true,
                _ => {
                    sent[cover.above().map_or(65, |above| above.level as usize)].push(piece);
                    count += 1;
                }
            }
            if count > most {
                return Err(TooMany);
            }
        }
        // From the lowest node up, as in RFC 9162, 2.1.3.1 and 2.1.4.1.
        Ok(Pieces { sent: sent.concat(), told })
    }
}

/// A proof would have more digests than there is place for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TooMany;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Edge, Framed, Hash, Tail};
    use alloc::format;
    use alloc::string::String;

    fn even(arity: u64, edge: Edge) -> Shape {
        Shape::Even { leaf: 1, arity, edge, tail: Tail::Short }
    }

    /// A format of this shape; what it hashes is not asked for here.
    fn format(shape: Shape) -> Format<Framed<32>> {
        Format { shape, nodes: Framed::new(Hash::Sha256, b"", b"", b"") }
    }

    /// The ranges whose digests are sent, and those that are sent as bytes.
    fn sent(cut: Cut) -> String {
        let pieces = cut.pieces(1000).unwrap();
        let ranges = pieces.sent.iter().map(|node| format!("{}-{}", node.start, node.end()));
        ranges.chain(cut.edges().iter().map(|edge| format!("bytes {edge:?}"))).collect::<Vec<_>>().join(" ")
    }

    fn range(shape: Shape, len: u64, range: Range<u64>) -> String {
        sent(format(shape).range(shape.root(len), range).unwrap())
    }

    fn growth(shape: Shape, old: u64, len: u64) -> String {
        sent(format(shape).growth(shape.root(old), len).unwrap())
    }

    /// RFC 9162, 2.1.5: the tree of seven leaves.
    #[test]
    fn the_examples_of_rfc_9162() {
        let shape = even(2, Edge::Promote);
        assert_eq!(range(shape, 7, 0..1), "1-2 2-4 4-7", "[b, h, l]");
        assert_eq!(range(shape, 7, 3..4), "2-3 0-2 4-7", "[c, g, l]");
        assert_eq!(range(shape, 7, 4..5), "5-6 6-7 0-4", "[f, j, k]");
        assert_eq!(range(shape, 7, 6..7), "4-6 0-4", "[i, k]");
        assert_eq!(growth(shape, 3, 7), "2-3 3-4 0-2 4-7", "[c, d, g, l]");
        assert_eq!(growth(shape, 4, 7), "4-7", "[l]");
        assert_eq!(growth(shape, 6, 7), "4-6 6-7 0-4", "[i, j, k]");
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
        assert_eq!(growth(leaf(4), 6, 18), "0-4 8-16 16-18 bytes 4..8");
        assert_eq!(growth(leaf(4), 4, 4), "");
    }

    #[test]
    fn a_marked_root_is_opened() {
        let shape = even(2, Edge::Promote);
        let marking = Format { shape, nodes: Framed::<32>::new(Hash::Sha256, b"", b"", b"root") };
        let marked = |old| sent(marking.growth(shape.root(old), 7).unwrap());
        assert_eq!(marked(4), "0-2 2-4 4-7");
        assert_eq!(marked(1), "1-2 2-4 4-7 bytes 0..1");
        assert_eq!(marked(3), growth(shape, 3, 7));
        assert_eq!(marked(7), "");
    }

    #[test]
    fn a_long_input_takes_no_time() {
        let len = crate::MAX_LEN;
        let cut = |shape: Shape, range| format(shape).range(shape.root(len), range).unwrap();
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
            assert!(format.range(shape.root(7), range.clone()).is_err(), "{range:?}");
        }
        assert!(format.range(shape.root(crate::MAX_LEN + 1), 0..1).is_err());
        assert!(format.range(Subtree { level: 2, ..shape.root(7) }, 0..1).is_err());
        let whole = |old, len| format.growth(shape.root(old), len);
        assert!(whole(0, 7).is_err() && whole(8, 7).is_err() && whole(7, crate::MAX_LEN + 1).is_err());
        let part = |start, len| format.growth(Subtree { start, ..shape.root(len) }, 7);
        assert!(part(4, 3).is_ok() && part(2, 3).is_err() && part(8, 3).is_err() && part(u64::MAX - 1, 3).is_err());
        let halved = Shape::Halved { longest: 2 };
        assert!(self::format(halved).growth(halved.root(4), 7).is_err());
    }

    #[test]
    fn told_is_only_a_node_of_the_newer_tree() {
        let shape = even(2, Edge::Promote);
        let told = |old, len| format(shape).growth(shape.root(old), len).unwrap().pieces(10).unwrap().told;
        assert!(told(4, 7) && told(7, 7));
        assert!(!told(3, 7) && !told(6, 7));
    }
}
