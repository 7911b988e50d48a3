//! A tree cut into pieces of a bounded size, in order.

use crate::{Shape, Subtree, shape::Children};

/// The largest subtrees of at most some length, left to right: a plan for whoever computes them.
///
/// A leaf is never cut: one that is longer than asked for is a piece all the same. Memory does not grow with the tree.
#[derive(Clone, Debug)]
pub struct Cover {
    shape: Shape,
    at_most: u64,
    first: Option<Subtree>,
    /// What is left of the nodes above the next piece, the root's children first.
    open: Vec<Children>,
}

impl Cover {
    /// The pieces under `node` of at most `at_most` bytes.
    pub fn new(shape: Shape, node: Subtree, at_most: u64) -> Self {
        Cover { shape, at_most, first: Some(node), open: Vec::new() }
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
            // The only node of a flat tree is never a piece: it is as long as the input.
            if node.level == 0 || (node.len <= self.at_most && !matches!(self.shape, Shape::Flat { .. })) {
                return Some(node);
            }
            self.open.push(self.shape.children(node));
        }
    }
}
