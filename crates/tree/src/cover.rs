//! A tree cut into pieces, in order.

use crate::proof::Cut;
use crate::{Shape, Subtree, shape::Children};
use alloc::vec::Vec;

/// The largest subtrees of at most some length, left to right: a plan for whoever computes them.
///
/// A leaf is never cut: one that is longer than asked for is a piece all the same. Memory does not grow with the tree.
#[derive(Clone, Debug)]
pub struct Cover {
    shape: Shape,
    until: Until,
    from: u64,
    first: Option<Subtree>,
    /// What is left of the nodes above the next piece, the root's children first.
    open: Vec<Children>,
}

/// What a piece is.
#[derive(Clone, Copy, Debug)]
enum Until {
    /// A node of at most this many bytes.
    AtMost(u64),
    /// A node that a proof does not look into.
    Closed(Cut),
}

impl Cover {
    /// The pieces under `node` of at most `at_most` bytes.
    pub fn new(shape: Shape, node: Subtree, at_most: u64) -> Self {
        Cover { shape, until: Until::AtMost(at_most), from: 0, first: Some(node), open: Vec::new() }
    }

    /// The largest subtrees that `cut` does not look into, and the leaves that it does.
    pub(crate) fn along(cut: Cut) -> Self {
        Cover { shape: cut.shape(), until: Until::Closed(cut), from: 0, first: Some(cut.top()), open: Vec::new() }
    }

    /// The node right above the piece that came last, if it is not the tree's top.
    pub(crate) fn above(&self) -> Option<Subtree> {
        self.open.last().map(Children::node)
    }

    /// Passes over the pieces with the same parent as the last one that end at or before byte `end`.
    pub(crate) fn pass(&mut self, end: u64) {
        if let Some(children) = self.open.last_mut() {
            children.pass(end);
        }
    }

    pub(crate) fn is_piece(&self, node: Subtree) -> bool {
        node.level == 0
            || match self.until {
                // The only node of a flat tree is never a piece: it is as long as the input.
                Until::AtMost(len) => node.len <= len && !matches!(self.shape, Shape::Flat { .. }),
                Until::Closed(cut) => !cut.opens(node),
            }
    }

    /// Without those before byte `from`, where a piece begins.
    #[allow(dead_code)] // Where one thread answers in turn.
    pub(crate) fn starting_at(self, from: u64) -> Self {
        Cover { from, ..self }
    }
}

impl Iterator for Cover {
    type Item = Subtree;

    fn next(&mut self) -> Option<Subtree> {
        loop {
            let node = match self.first.take() {
                Some(root) => root,
                None => match self.open.last_mut()?.next() {
                    Some(node) => node,
                    None => {
                        self.open.pop();
                        continue;
                    }
                },
            };
            if node.start < self.from && node.end() <= self.from {
                continue;
            }
            if self.is_piece(node) {
                return Some(node);
            }
            let mut children = self.shape.children(node);
            children.pass(self.from);
            self.open.push(children);
        }
    }
}
