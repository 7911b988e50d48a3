//! The kept nodes of a join while it runs.

use super::PostOrder;
use crate::lock::Lock;
use crate::{Error, Format, NodeHash, Role, Subtree, Subtrees};
use alloc::vec::Vec;
use core::iter::Peekable;
use core::sync::atomic::{AtomicBool, Ordering};

/// A source that tells a listener the digest of each kept node, in post-order, as a join over it finds them.
///
/// That is how an outboard is written, and how a file is compared with one. A join whose pieces are the units
/// ([`Plan::piece`](crate::Plan) is [`Kept::unit`](super::Kept::unit)) tells them all.
#[derive(Debug)]
pub struct Telling<'a, S, F> {
    source: &'a S,
    listener: Lock<Listener<F>>,
    failed: AtomicBool,
}

#[derive(Debug)]
struct Listener<F> {
    awaited: Peekable<PostOrder>,
    tell: F,
    failure: Option<Error>,
}

impl<'a, S, F> Telling<'a, S, F> {
    /// Tells the nodes `awaited`, of [`post_order`](super::Kept::post_order) or [`post_order_under`](super::Kept::post_order_under).
    pub fn new(source: &'a S, awaited: PostOrder, tell: F) -> Self {
        let listener = Listener { awaited: awaited.peekable(), tell, failure: None };
        Telling { source, listener: Lock::new(listener), failed: AtomicBool::new(false) }
    }

    /// What a join over this source came to.
    ///
    /// # Errors
    /// If the listener failed, which ended the join; if the join failed, or did not tell every node.
    pub fn finish<D>(self, joined: Result<D, Error>) -> Result<D, Error> {
        let mut listener = self.listener.into_inner();
        match (listener.failure, joined) {
            (Some(failure), _) => Err(failure),
            (None, Err(error)) => Err(error),
            (None, Ok(digest)) => match listener.awaited.next() {
                Some(node) => Err(Error::Missing(node)),
                None => Ok(digest),
            },
        }
    }

    /// Ends a join whose listener has failed; the failure itself is kept for [`Telling::finish`].
    fn check(&self, node: Subtree) -> Result<(), Error> {
        if self.failed.load(Ordering::Relaxed) { Err(Error::Missing(node)) } else { Ok(()) }
    }
}

impl<N, S, F> Subtrees<N> for Telling<'_, S, F>
where
    N: NodeHash,
    S: Subtrees<N>,
    F: FnMut(Subtree, &N::Digest) -> Result<(), Error>,
{
    fn digest(&self, format: &Format<N>, node: Subtree, role: Role) -> Result<Option<N::Digest>, Error> {
        self.check(node)?;
        self.source.digest(format, node, role)
    }

    fn digests(&self, format: &Format<N>, nodes: &[Subtree], out: &mut Vec<N::Digest>) -> Result<(), Error> {
        // What threads join below a unit is nobody's business here: the source is asked itself.
        nodes.first().map_or(Ok(()), |&node| self.check(node))?;
        self.source.digests(format, nodes, out)
    }

    fn joined(&self, node: Subtree, digest: &N::Digest) {
        let mut listener = self.listener.lock();
        if listener.failure.is_none() && listener.awaited.next_if_eq(&node).is_some() {
            listener.failure = (listener.tell)(node, digest).err();
            self.failed.store(listener.failure.is_some(), Ordering::Relaxed);
        }
        drop(listener);
        self.source.joined(node, digest);
    }
}
