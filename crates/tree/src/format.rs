//! A tree format, and the one recursion that joins its subtrees.

use crate::shape::Children;
use crate::{Edge, Error, LengthError, Memory, NodeHash, Role, Shape, Subtree, Subtrees};
use alloc::vec;
use alloc::vec::Vec;

/// A tree format: where it splits and what it hashes.
#[derive(Clone, Debug)]
pub struct Format<N> {
    /// Where the tree splits.
    pub shape: Shape,
    /// What is hashed for a node.
    pub nodes: N,
}

impl<N: NodeHash> Format<N> {
    /// The root of bytes in memory.
    ///
    /// # Errors
    /// If the format has no root for this length.
    pub fn hash(&self, bytes: &[u8]) -> Result<N::Digest, Error> {
        self.root(&Memory::new(bytes), bytes.len() as u64)
    }

    /// The root of `len` bytes from the subtrees that `source` has.
    ///
    /// # Errors
    /// If the format has no root for this length, `source` fails or lacks a subtree.
    pub fn root(&self, source: &dyn Subtrees<N>, len: u64) -> Result<N::Digest, Error> {
        self.root_by(len, |top| self.join(source, top, Role::Root))
    }

    /// The root of `len` bytes from what `top` answers for the top node: the frame around every join of a whole tree.
    pub(crate) fn root_by(
        &self,
        len: u64,
        top: impl FnOnce(Subtree) -> Result<N::Digest, Error>,
    ) -> Result<N::Digest, Error> {
        self.shape.check(len)?;
        let digest = match len {
            0 => self.nodes.empty().ok_or_else(|| LengthError { len, rule: "at least one byte".into() })?,
            _ => top(self.shape.root(len))?,
        };
        Ok(self.nodes.seal(digest, len))
    }

    /// The digest of `node`: from `source`, or else joined from its children's.
    ///
    /// Joins at most 64 levels, one child after the other: a source that computes in parallel runs ahead of the join.
    ///
    /// # Errors
    /// If `source` fails, or lacks a leaf.
    pub fn join(&self, source: &dyn Subtrees<N>, node: Subtree, role: Role) -> Result<N::Digest, Error> {
        let digest = match source.digest(self, node, role)? {
            Some(digest) => digest,
            None if node.level == 0 => return Err(Error::Missing(node)),
            None => {
                let mut parent = self.nodes.open_parent(role);
                self.join_children(source, &mut parent, self.shape.children(node))?;
                for pad in self.padding(node) {
                    self.nodes.children(&mut parent, &[pad]);
                }
                self.nodes.close_parent(parent)
            }
        };
        source.joined(node, &digest);
        Ok(digest)
    }

    /// Joins each of `children` and appends it to `parent`.
    pub(crate) fn join_children(
        &self,
        source: &dyn Subtrees<N>,
        parent: &mut N::Parent,
        mut children: Children,
    ) -> Result<(), Error> {
        children.try_for_each(|child| {
            let digest = self.join(source, child, Role::Inner)?;
            self.nodes.children(parent, &[digest]);
            Ok(())
        })
    }

    /// The digests that stand in for the children that `node` lacks at the right edge.
    pub(crate) fn padding(&self, node: Subtree) -> Vec<N::Digest> {
        let missing = self.shape.missing(node) as usize;
        if missing == 0 {
            return Vec::new();
        }
        let pad = match self.shape {
            Shape::Even { arity, edge: Edge::PadSubtree, .. } => (1..node.level)
                .fold(self.nodes.zero(), |below, _| self.nodes.parent(&vec![below; arity as usize], Role::Inner)),
            _ => self.nodes.zero(),
        };
        vec![pad; missing]
    }
}
