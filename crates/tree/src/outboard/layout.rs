//! The kept nodes of a tree and their order: arithmetic, no digests.

use crate::cover::Walk;
use crate::shape::Children;
use crate::{MAX_LEN, Shape, Spec, Subtree};
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

/// The kept nodes of a tree over `len` bytes: its *units*, and every node above them.
///
/// A unit is the first node on the way down that has at most `unit` bytes, or a leaf: a piece of [`Cover`](crate::Cover).
/// KeptLayout nodes are numbered in post-order, children before parents and left before right: the order in which
/// [`Spec::join`](crate::Spec::join) finds them. So the nodes that an append does not change come first, and the first `n`
/// nodes are a partial tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeptLayout {
    shape: Shape,
    len: u64,
    unit: u64,
}

impl KeptLayout {
    /// The nodes kept of a tree over `len` bytes, down to units of `unit` bytes.
    ///
    /// `None` unless `unit` is the length of a full subtree of this shape: see [`KeptLayout::unit_within`].
    pub fn new(shape: Shape, len: u64, unit: u64) -> Option<Self> {
        (unit <= MAX_LEN && Self::unit_within(shape, unit) == unit).then_some(KeptLayout { shape, len, unit })
    }

    /// The longest unit of at most `at_most` bytes; at least a leaf.
    pub fn unit_within(shape: Shape, at_most: u64) -> u64 {
        Self::units(shape).take_while(|&unit| unit <= at_most).last().unwrap_or(shape.leaf())
    }

    /// The shortest unit with which the kept digests, of `size` bytes each, take at most a thousandth of the file.
    pub fn default_unit(shape: Shape, size: usize) -> u64 {
        let (parts, whole) = match shape {
            Shape::Even { arity, .. } => (arity, arity - 1),
            Shape::Flat { .. } => (1, 1),
            Shape::Halved { .. } => (2, 1),
        };
        // Nodes above units are 1/arity of them, and so on.
        let enough = |unit: &u64| u128::from(*unit) * u128::from(whole) >= 1000 * size as u128 * u128::from(parts);
        Self::units(shape).find(enough).or(Self::units(shape).last()).unwrap_or(shape.leaf())
    }

    /// The usual unit of a format; if the caller wants one of at most `at_most` bytes, that.
    pub fn unit_of(spec: &Spec, at_most: Option<u64>) -> u64 {
        match at_most {
            Some(most) => Self::unit_within(spec.shape(), most),
            None => Self::default_unit(spec.shape(), spec.hash().size()),
        }
    }

    /// The lengths that a unit can have, ascending.
    fn units(shape: Shape) -> impl Iterator<Item = u64> {
        let (leaf, factor, most) = match shape {
            Shape::Even { leaf, arity, .. } => (leaf, arity, 64),
            Shape::Flat { leaf } => (leaf, 1, 1),
            Shape::Halved { longest } => (longest, 2, 64),
        };
        let next = move |unit: &u64| unit.checked_mul(factor).filter(|&unit| unit <= MAX_LEN);
        core::iter::successors(Some(leaf), next).take(most)
    }

    /// The shape of the tree.
    pub fn shape(self) -> Shape {
        self.shape
    }

    /// The length of the input, in bytes.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(self) -> u64 {
        self.len
    }

    /// The longest that a unit is, in bytes.
    pub fn unit(self) -> u64 {
        self.unit
    }

    /// The root; `None` of an empty input, which has no nodes.
    pub fn root(self) -> Option<Subtree> {
        (self.len > 0).then(|| self.shape.root(self.len))
    }

    /// The number of kept nodes, saturating.
    pub fn count(self) -> u64 {
        self.root().map_or(0, |root| self.under(root))
    }

    /// Whether nothing below `node`, a kept node, is kept.
    pub fn is_unit(self, node: Subtree) -> bool {
        self.shape.is_piece(node, self.unit)
    }

    /// The kept children of a kept node, left to right.
    pub fn children(self, node: Subtree) -> Children {
        let children = self.shape.children(node);
        if self.is_unit(node) { children.starting_at(u64::MAX) } else { children }
    }

    /// The kept nodes of the subtree of a kept node, itself included: saturating.
    pub fn under(self, mut node: Subtree) -> u64 {
        if let Shape::Halved { .. } = self.shape {
            return if self.is_unit(node) {
                1
            } else {
                1 + self.halved(node.len / 2) + self.halved(node.len - node.len / 2)
            };
        }
        let mut count: u64 = 0;
        while !self.is_unit(node) {
            let (others, last) = self.last_child(node);
            let full = self.full(node.level - 1);
            count = count.saturating_add(1).saturating_add(others.saturating_mul(full));
            node = last;
        }
        count.saturating_add(1)
    }

    /// The last child of an inner node, and how many lie before it.
    fn last_child(self, node: Subtree) -> (u64, Subtree) {
        let mut children = self.shape.children(node);
        let others = children.remaining() - 1;
        children.skip_ahead(others);
        (others, children.next().expect("an inner node has children"))
    }

    /// The kept nodes under a full node of an even tree.
    fn full(self, level: u32) -> u64 {
        let Shape::Even { leaf, arity, .. } = self.shape else { return 1 };
        let (mut below, mut span) = (1_u64, leaf);
        for _ in 0..level {
            span = span.saturating_mul(arity);
            if span > self.unit {
                below = below.saturating_mul(arity).saturating_add(1);
            }
        }
        below
    }

    /// The kept nodes under an inner node of `len` bytes of a halved tree.
    fn halved(self, len: u64) -> u64 {
        self.halved_pair(len).0
    }

    /// The kept nodes under inner nodes of `len` and of `len + 1` bytes: the two lengths that halving meets at each depth.
    fn halved_pair(self, len: u64) -> (u64, u64) {
        // Leaves are never longer than units.
        if len < self.unit {
            return (1, 1);
        }
        let (low, high) = self.halved_pair(len / 2);
        let pair = if len.is_multiple_of(2) { (1 + 2 * low, 1 + low + high) } else { (1 + low + high, 1 + 2 * high) };
        if len == self.unit { (1, pair.1) } else { pair }
    }

    /// Returns the index of `node` among the kept nodes, in post-order from 0; `None` if it is not kept.
    pub fn place(self, node: Subtree) -> Option<u64> {
        let (mut at, mut before) = (self.root()?, 0);
        while at != node {
            if self.is_unit(at) || node.level >= at.level || node.start < at.start || node.end() > at.end() {
                return None;
            }
            let (skipped, child) = self.shape.child_over(at, node);
            before += self.under_first(at, skipped);
            at = child;
        }
        Some(before + self.under(at) - 1)
    }

    /// The kept nodes under the first `children` children of `node`.
    fn under_first(self, node: Subtree, children: u64) -> u64 {
        match self.shape {
            _ if children == 0 => 0,
            // One that others follow is full.
            Shape::Even { .. } => children * self.full(node.level - 1),
            _ => children * self.shape.children(node).next().map_or(0, |first| self.under(first)),
        }
    }

    /// The kept nodes in post-order, from the one at `place` on.
    pub fn post_order(self, place: u64) -> PostOrder {
        let (mut stack, mut left) = (Vec::new(), place);
        let mut at = self.root().filter(|&root| left < self.under(root));
        while let Some(node) = at {
            let (done, used) = self.children_within(node, left);
            left -= used;
            let mut children = self.children(node);
            children.skip_ahead(done);
            // Into the next child only if it was begun.
            at = if left > 0 { children.next() } else { None };
            stack.push((node, children));
        }
        PostOrder { kept: self, stack }
    }

    /// The kept nodes of a kept node's subtree, in post-order.
    pub fn post_order_under(self, node: Subtree) -> PostOrder {
        PostOrder { kept: self, stack: vec![(node, self.children(node))] }
    }

    /// The units of a kept node's subtree, left to right.
    pub fn units_under(self, node: Subtree) -> impl Iterator<Item = Subtree> {
        self.post_order_under(node).filter(move |&node| self.is_unit(node))
    }

    /// The largest kept subtrees of the units that have a byte of `range`, left to right.
    pub fn within(self, range: Range<u64>) -> impl Iterator<Item = Subtree> {
        let mut walk = Walk::new(self.shape, self.root());
        core::iter::from_fn(move || {
            loop {
                let node = walk.next()?;
                if node.start >= range.end {
                    walk.pass(u64::MAX);
                } else if node.end() <= range.start {
                    walk.pass(range.start);
                } else if self.is_unit(node) || (range.start <= node.start && node.end() <= range.end) {
                    return Some(node);
                } else {
                    walk.enter(node);
                }
            }
        })
    }

    /// The unit that has byte `offset`; `None` behind the last byte.
    pub fn unit_over(self, offset: u64) -> Option<Subtree> {
        let mut at = self.root().filter(|_| offset < self.len)?;
        // The way down a deep tree takes time. The last unit may be a node above it that has no more bytes.
        if let Shape::Even { .. } = self.shape
            && let start = offset / self.unit * self.unit
            && self.len - start > self.unit
        {
            return Some(Subtree { start, len: self.unit, level: self.shape.level(self.unit) });
        }
        while !self.is_unit(at) {
            let mut children = self.children(at);
            children.pass(offset);
            at = children.find(|child| child.end() > offset)?;
        }
        Some(at)
    }

    /// The largest subtrees whose kept nodes are all among the first `count`, left to right: the frontier of that many.
    pub fn frontier(self, count: u64) -> Vec<Subtree> {
        let (mut tops, mut left) = (Vec::new(), count);
        let mut at = self.root();
        while let Some(node) = at {
            if self.under(node) <= left {
                tops.push(node);
                break;
            }
            let (done, used) = self.children_within(node, left);
            left -= used;
            let mut children = self.children(node);
            tops.extend(children.by_ref().take(usize::try_from(done).unwrap_or(usize::MAX)));
            at = if left > 0 { children.next() } else { None };
        }
        tops
    }

    /// Returns the number of children of `node` whose kept nodes are all among the next `left`, and the number of these nodes.
    fn children_within(self, node: Subtree, left: u64) -> (u64, u64) {
        let (mut done, mut used) = (0, 0);
        let mut children = self.children(node);
        let Some(first) = children.next() else { return (0, 0) };
        // All but the last have as many as the first; of two halves, either may differ.
        let full = self.under(first);
        if full <= left {
            let equal = (left / full).min(self.children(node).remaining() - 1).max(1);
            (done, used) = (equal, equal * full);
            children.skip_ahead(equal - 1);
        }
        if done > 0
            && let Some(last) = children.next()
            && used + self.under(last) <= left
        {
            (done, used) = (done + 1, used + self.under(last));
        }
        (done, used)
    }

    /// Returns the number of leading kept nodes that a tree over `len` bytes keeps too, with equal digests at the same
    /// places, if the bytes that both have are equal.
    pub fn shared(self, len: u64) -> u64 {
        if len == self.len {
            return self.count();
        }
        if let Shape::Halved { .. } = self.shape {
            return 0;
        }
        let shorter = KeptLayout { len: self.len.min(len), ..self };
        // Ragged nodes come last of all; the root is marked in some formats, so it is not shared either.
        let stable = |node| self.shape.is_perfect(node) && node.len >= self.unit && Some(node) != shorter.root();
        let Some(mut at) = shorter.root() else { return 0 };
        let mut count = 0;
        while !stable(at) {
            if self.is_unit(at) {
                return count;
            }
            let (others, last) = self.last_child(at);
            count += self.under_first(at, others);
            at = last;
        }
        count + self.under(at)
    }
}

/// The kept nodes in post-order: see [`KeptLayout::post_order`].
#[derive(Clone, Debug)]
pub struct PostOrder {
    kept: KeptLayout,
    /// The nodes above the next, the root first, and what is left of their children.
    stack: Vec<(Subtree, Children)>,
}

impl Iterator for PostOrder {
    type Item = Subtree;

    fn next(&mut self) -> Option<Subtree> {
        loop {
            let (_, children) = self.stack.last_mut()?;
            match children.next() {
                Some(child) if self.kept.is_unit(child) => return Some(child),
                Some(child) => self.stack.push((child, self.kept.children(child))),
                None => return self.stack.pop().map(|(node, _)| node),
            }
        }
    }
}
