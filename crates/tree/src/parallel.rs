//! A tree in pieces that are answered apart: by many threads (`threads.rs`), or by one where there are none (`in_turn.rs`).

use crate::{Error, Format, NodeHash, Role, Shape, Subtree, Subtrees};
use alloc::collections::BTreeMap;

/// How a tree is cut for threads.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// The threads that answer pieces; with 1, the calling thread does.
    pub threads: usize,
    /// The largest piece, in bytes; a longer leaf is a piece all the same.
    pub piece: u64,
    /// The pieces that a thread is asked for at once, so that it can hash them side by side.
    pub group: usize,
}

impl<N: NodeHash> Format<N> {
    /// The root of `len` bytes, with pieces of the tree asked of `source` by many threads at once, from left to right.
    ///
    /// Equals [`Format::root`]; holds the digests of `4 * threads` groups, however long the input is.
    ///
    /// # Errors
    /// If the format has no root for this length, `source` fails or lacks a subtree. The leftmost failure is reported.
    pub fn root_parallel<S: Subtrees<N> + Sync>(&self, source: &S, len: u64, plan: &Plan) -> Result<N::Digest, Error> {
        self.root_by(len, |top| self.join_parallel(source, top, Role::Root, plan))
    }

    /// The same where `begun` has what lies before byte `from`, at which a piece begins: threads are asked for the rest.
    ///
    /// # Errors
    /// As [`Format::root_parallel`].
    pub fn root_resumed<B: Subtrees<N>, S: Subtrees<N> + Sync>(
        &self,
        (begun, from): (&B, u64),
        source: &S,
        len: u64,
        plan: &Plan,
    ) -> Result<N::Digest, Error> {
        self.root_by(len, |top| self.join_ahead((begun, from), source, top, Role::Root, plan))
    }

    /// The digest of `node`, with pieces of it asked of `source` by many threads at once: equals [`Format::join`].
    ///
    /// # Errors
    /// If `source` fails or lacks a subtree. The leftmost failure is reported.
    pub fn join_parallel<S: Subtrees<N> + Sync>(
        &self,
        source: &S,
        node: Subtree,
        role: Role,
        plan: &Plan,
    ) -> Result<N::Digest, Error> {
        self.join_ahead((&BTreeMap::new(), node.start), source, node, role, plan)
    }

    fn join_ahead<B: Subtrees<N>, S: Subtrees<N> + Sync>(
        &self,
        begun: (&B, u64),
        source: &S,
        top: Subtree,
        role: Role,
        plan: &Plan,
    ) -> Result<N::Digest, Error> {
        if top.level == 0 || (top.len <= plan.piece && !matches!(self.shape, Shape::Flat { .. })) {
            return self.join(source, top, role);
        }
        self.join_pieces(begun, source, top, role, plan)
    }
}
