//! Subtrees computed from bytes in memory, level by level, as many nodes at once as a kernel has lanes.

use crate::{Edge, Error, Format, Messages, NodeHash, Role, Shape, Source, Subtree, Subtrees};
use alloc::vec;
use alloc::vec::Vec;
use core::mem;

/// Bytes in memory: those of the input from `start` on.
#[derive(Clone, Copy, Debug)]
pub struct Memory<'a> {
    start: u64,
    bytes: &'a [u8],
}

impl<'a> Memory<'a> {
    /// Subtrees of at most this many bytes are hashed level by level, larger ones split: what a second-level cache holds.
    const BATCH: u64 = 1 << 18;

    /// The bytes of a whole input.
    pub fn new(bytes: &'a [u8]) -> Self {
        Memory { start: 0, bytes }
    }

    /// The bytes of an input from offset `start` on.
    pub fn from(start: u64, bytes: &'a [u8]) -> Self {
        Memory { start, bytes }
    }

    fn bytes(&self, node: Subtree) -> Option<&'a [u8]> {
        let from = usize::try_from(node.start.checked_sub(self.start)?).ok()?;
        self.bytes.get(from..)?.get(..usize::try_from(node.len).ok()?)
    }
}

impl Source for Memory<'_> {
    fn subtrees<N: NodeHash>(&self) -> &(impl Subtrees<N> + Sync) {
        self
    }
}

impl<N: NodeHash> Subtrees<N> for Memory<'_> {
    fn digest(&self, format: &Format<N>, node: Subtree, role: Role) -> Result<Option<N::Digest>, Error> {
        let Some(bytes) = self.bytes(node) else { return Ok(None) };
        Ok(match format.shape {
            _ if node.level == 0 => Some(format.nodes.leaf(node.start, bytes, role)),
            Shape::Even { leaf, .. } if node.len <= format.shape.batch(Self::BATCH).max(leaf) => {
                let leaf = leaf as usize;
                let (whole, tail) = bytes.split_at(bytes.len() - bytes.len() % leaf);
                let leaves = Messages::new(whole, leaf);
                Some(format.level_by_level(node, role, leaves, tail, &mut Scratch::default()))
            }
            _ => None,
        })
    }
}

/// Two levels of digests, kept between subtrees so that they are allocated once.
#[derive(Debug)]
pub struct Scratch<D>(Vec<D>, Vec<D>);

impl<D> Default for Scratch<D> {
    fn default() -> Self {
        Scratch(Vec::new(), Vec::new())
    }
}

impl<N: NodeHash> Format<N> {
    /// The digest of a subtree of an even shape over `leaves` of the shape's length and then a shorter `tail`, perhaps none.
    ///
    /// # Panics
    /// If the shape is not even, or `node` is not over exactly these bytes.
    pub fn level_by_level(
        &self,
        node: Subtree,
        role: Role,
        leaves: Messages<'_>,
        tail: &[u8],
        Scratch(level, above): &mut Scratch<N::Digest>,
    ) -> N::Digest {
        let Shape::Even { leaf, arity, edge, .. } = self.shape else { panic!("the shape is not even") };
        let arity = arity as usize;
        assert_eq!(leaves.count() as u64 * leaf + tail.len() as u64, node.len, "the bytes of the subtree");
        if node.level == 0 {
            let bytes = if tail.is_empty() { leaves.get(0) } else { tail };
            return self.nodes.leaf(node.start, bytes, role);
        }
        level.clear();
        self.nodes.leaves(node.start, leaves, level);
        if !tail.is_empty() {
            level.push(self.nodes.leaf(node.start + leaves.count() as u64 * leaf, tail, Role::Inner));
        }
        let mut zero = self.nodes.zero();
        for height in 1..=node.level {
            if matches!(edge, Edge::PadZero | Edge::PadSubtree) {
                level.resize(level.len().next_multiple_of(arity), zero.clone());
            }
            if height == node.level {
                break;
            }
            let (whole, rest) = level.split_at(level.len() - level.len() % arity);
            above.clear();
            self.nodes.parents(whole, arity, above);
            match rest {
                [] => {}
                // A lone child moves up unchanged.
                [lone] => above.push(lone.clone()),
                rest => above.push(self.nodes.parent(rest, Role::Inner)),
            }
            mem::swap(level, above);
            if edge == Edge::PadSubtree {
                zero = self.nodes.parent(&vec![zero; arity], Role::Inner);
            }
        }
        self.nodes.parent(level, role)
    }

    /// Appends the digests of equal full subtrees of an even shape, `height` levels above `leaves`, the first of which
    /// begins at byte `start`: many side by side.
    ///
    /// # Panics
    /// If the shape is not even, or the leaves are not those of whole subtrees.
    pub fn full_level_by_level(
        &self,
        start: u64,
        height: u32,
        leaves: Messages<'_>,
        Scratch(level, above): &mut Scratch<N::Digest>,
        out: &mut Vec<N::Digest>,
    ) {
        let Shape::Even { arity, .. } = self.shape else { panic!("the shape is not even") };
        level.clear();
        self.nodes.leaves(start, leaves, level);
        for _ in 0..height {
            assert!(level.len().is_multiple_of(arity as usize), "whole subtrees");
            above.clear();
            self.nodes.parents(level, arity as usize, above);
            mem::swap(level, above);
        }
        out.append(level);
    }
}
