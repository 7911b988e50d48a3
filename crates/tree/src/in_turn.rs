//! One thread answers pieces as the join comes to them: for WebAssembly, where code for threads would only take room.

use crate::{Cover, Error, Format, NodeHash, Plan, Role, Subtree, Subtrees};

impl<N: NodeHash> Format<N> {
    /// The digest of `top`, which is more than a piece.
    pub(crate) fn join_pieces<B: Subtrees<N>, S: Subtrees<N> + Sync>(
        &self,
        begun: (&B, u64),
        source: &S,
        top: Subtree,
        role: Role,
        plan: &Plan,
    ) -> Result<N::Digest, Error> {
        self.join(&Within { begun: (begun.0, begun.1), source, piece: plan.piece }, top, role)
    }
}

/// A source that is asked for pieces and what is below them, one after the other.
struct Within<'a, N> {
    /// Who answers what ends before which byte.
    begun: (&'a dyn Subtrees<N>, u64),
    source: &'a dyn Subtrees<N>,
    /// The length of the longest piece, in bytes.
    piece: u64,
}

impl<N: NodeHash> Subtrees<N> for Within<'_, N> {
    fn digest(&self, format: &Format<N>, node: Subtree, role: Role) -> Result<Option<N::Digest>, Error> {
        let (begun, from) = self.begun;
        if node.start < from && node.end() <= from {
            return begun.digest(format, node, role);
        }
        if Cover::new(format.shape, node, self.piece).is_piece(node) {
            return self.source.digest(format, node, role);
        }
        Ok(None)
    }

    fn joined(&self, node: Subtree, digest: &N::Digest) {
        self.source.joined(node, digest);
    }
}
