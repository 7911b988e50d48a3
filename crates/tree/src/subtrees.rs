//! Sources of subtree digests: computed, stored, received or remembered.

use crate::{Digest, Digests, Error, Found, Part, Role, Spec, Subtree};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// A source of subtree digests.
///
/// Bytes in memory, a file and a device compute them; an outboard stores them; a proof and a worker's results carry them.
pub trait Subtrees {
    /// The digest of `node`, or `None` to have it joined from its children's.
    ///
    /// # Errors
    /// If the source has the subtree but cannot answer: a failed read, a damaged store.
    fn digest(&self, spec: &Spec, node: Subtree, role: Role) -> Result<Option<Digest>, Error>;

    /// Appends the digests of several inner subtrees that follow one another: a source may hash them side by side.
    ///
    /// # Errors
    /// As [`Subtrees::digest`], and if a leaf is missing.
    fn digests(&self, spec: &Spec, nodes: &[Subtree], out: &mut Digests) -> Result<(), Error> {
        for &node in nodes {
            out.push(spec.join(&self, node, Role::Inner)?);
        }
        Ok(())
    }

    /// The leaves that a scan of a part finds, in a format whose leaves end where the content says. `None` if this source has no bytes.
    ///
    /// # Errors
    /// As [`Subtrees::digest`].
    fn scan(&self, _spec: &Spec, _part: Part) -> Result<Option<Found>, Error> {
        Ok(None)
    }

    /// Receives each digest that [`Spec::join`] takes from this source or joins, children before parents.
    fn joined(&self, _node: Subtree, _digest: &Digest) {}
}

impl<S: Subtrees + ?Sized> Subtrees for &S {
    fn digest(&self, spec: &Spec, node: Subtree, role: Role) -> Result<Option<Digest>, Error> {
        (**self).digest(spec, node, role)
    }

    fn digests(&self, spec: &Spec, nodes: &[Subtree], out: &mut Digests) -> Result<(), Error> {
        (**self).digests(spec, nodes, out)
    }

    fn scan(&self, spec: &Spec, part: Part) -> Result<Option<Found>, Error> {
        (**self).scan(spec, part)
    }

    fn joined(&self, node: Subtree, digest: &Digest) {
        (**self).joined(node, digest);
    }
}

/// Digests by node: results sent back by workers, a proof.
impl Subtrees for BTreeMap<Subtree, Digest> {
    fn digest(&self, _: &Spec, node: Subtree, role: Role) -> Result<Option<Digest>, Error> {
        // A root is never taken on trust: the join is to find it.
        Ok(self.get(&node).filter(|_| role == Role::Inner).copied())
    }
}

/// Digests of nodes beside each other, left to right: the frontier of a stream, the pieces of a file.
impl Subtrees for Vec<(Subtree, Digest)> {
    fn digest(&self, _: &Spec, node: Subtree, role: Role) -> Result<Option<Digest>, Error> {
        let found = self.binary_search_by_key(&(node.start, node.len), |(known, _)| (known.start, known.len)).ok();
        let found = found.map(|place| &self[place]).filter(|(known, _)| *known == node && role == Role::Inner);
        Ok(found.map(|(_, digest)| *digest))
    }
}

/// The first source's digest, else the second's.
impl<A: Subtrees, B: Subtrees> Subtrees for (A, B) {
    fn digest(&self, spec: &Spec, node: Subtree, role: Role) -> Result<Option<Digest>, Error> {
        match self.0.digest(spec, node, role)? {
            None => self.1.digest(spec, node, role),
            known => Ok(known),
        }
    }

    fn scan(&self, spec: &Spec, part: Part) -> Result<Option<Found>, Error> {
        match self.0.scan(spec, part)? {
            None => self.1.scan(spec, part),
            known => Ok(known),
        }
    }

    fn joined(&self, node: Subtree, digest: &Digest) {
        self.0.joined(node, digest);
        self.1.joined(node, digest);
    }
}
