//! Digests that come one after another.

use crate::lock::Lock;
use crate::{Digest, Error, Role, Spec, Subtree, Subtrees};
use core::fmt;
use core::iter::Peekable;

/// A source of subtrees that follow one another, left to right: those of the kept units of a file that others hashed.
///
/// [`Spec::join`] asks for them in this order, so no more than one is held at a time. Each must have been hashed in its role: the only
/// one of a tree as its root.
pub struct Sequence<I: Iterator<Item = Result<(Subtree, Digest), Error>>> {
    rest: Lock<Peekable<I>>,
}

impl<I: Iterator<Item = Result<(Subtree, Digest), Error>>> Sequence<I> {
    /// The digests, in the order of their subtrees.
    pub fn new(digests: impl IntoIterator<IntoIter = I>) -> Self {
        Sequence { rest: Lock::new(digests.into_iter().peekable()) }
    }
}

impl<I: Iterator<Item = Result<(Subtree, Digest), Error>>> Subtrees for Sequence<I> {
    fn digest(&self, _: &Spec, node: Subtree, _: Role) -> Result<Option<Digest>, Error> {
        let next = self.rest.lock().next_if(|next| next.as_ref().map_or(true, |(next, _)| *next == node));
        next.transpose().map(|next| next.map(|(_, digest)| digest))
    }
}

impl<I: Iterator<Item = Result<(Subtree, Digest), Error>>> fmt::Debug for Sequence<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sequence").finish_non_exhaustive()
    }
}
