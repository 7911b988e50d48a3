//! Where the digests of subtrees come from: computed, stored, received or remembered.

use crate::{Error, Format, NodeHash, Role, Subtree};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// A source of subtree digests.
///
/// Bytes in memory, a file and a device compute them; an outboard stores them; a proof and a worker's results carry them.
pub trait Subtrees<N: NodeHash> {
    /// The digest of `node`, or `None` to have it joined from its children.
    ///
    /// # Errors
    /// If the source has the subtree but cannot answer: a failed read, a damaged store.
    fn digest(&self, format: &Format<N>, node: Subtree, role: Role) -> Result<Option<N::Digest>, Error>;

    /// Appends the digests of several inner subtrees that follow one another, which a source may hash side by side.
    ///
    /// # Errors
    /// As [`Subtrees::digest`]; a subtree that must be joined is joined.
    fn digests(&self, format: &Format<N>, nodes: &[Subtree], out: &mut Vec<N::Digest>) -> Result<(), Error>
    where
        Self: Sized,
    {
        for &node in nodes {
            out.push(format.join(self, node, Role::Inner)?);
        }
        Ok(())
    }

    /// Is told each digest that [`Format::join`] gets from the source or joins, children before parents.
    fn joined(&self, _node: Subtree, _digest: &N::Digest) {}
}

/// A source of subtrees in every format: bytes, wherever they are.
pub trait Source {
    /// The source for one format.
    fn subtrees<N: NodeHash>(&self) -> &(impl Subtrees<N> + Sync);
}

/// Digests kept by node: results sent back by workers, a proof.
impl<N: NodeHash> Subtrees<N> for BTreeMap<Subtree, N::Digest> {
    fn digest(&self, _: &Format<N>, node: Subtree, role: Role) -> Result<Option<N::Digest>, Error> {
        // A root is never taken on trust: it is what the join is to find.
        Ok(self.get(&node).filter(|_| role == Role::Inner).cloned())
    }
}

/// Digests of nodes beside each other, from left to right: the frontier of a stream, the pieces of a file.
impl<N: NodeHash> Subtrees<N> for Vec<(Subtree, N::Digest)> {
    fn digest(&self, _: &Format<N>, node: Subtree, role: Role) -> Result<Option<N::Digest>, Error> {
        let found = self.binary_search_by_key(&(node.start, node.len), |(known, _)| (known.start, known.len)).ok();
        let found = found.map(|place| &self[place]).filter(|(known, _)| *known == node && role == Role::Inner);
        Ok(found.map(|(_, digest)| digest.clone()))
    }
}

/// The first source's digest, else the second's.
impl<N: NodeHash, A: Subtrees<N> + ?Sized, B: Subtrees<N> + ?Sized> Subtrees<N> for (&A, &B) {
    fn digest(&self, format: &Format<N>, node: Subtree, role: Role) -> Result<Option<N::Digest>, Error> {
        match self.0.digest(format, node, role)? {
            None => self.1.digest(format, node, role),
            known => Ok(known),
        }
    }

    fn joined(&self, node: Subtree, digest: &N::Digest) {
        self.0.joined(node, digest);
        self.1.joined(node, digest);
    }
}
