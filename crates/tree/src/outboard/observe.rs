//! The kept nodes of a join while it runs.

use super::PostOrder;
use crate::lock::Lock;
use crate::{Digest, Digests, Error, Role, Spec, Subtree, Subtrees};
use core::fmt;
use core::iter::Peekable;
use core::sync::atomic::{AtomicBool, Ordering};

/// A source whose join is observed: a listener gets the digest of each kept node, in post-order, as the join finds it.
///
/// This writes outboards and compares files with them. A join whose pieces are the units
/// ([`Plan::piece`](crate::Plan) is [`KeptLayout::unit`](super::KeptLayout::unit)) finds them all.
pub struct Observed<'a> {
    source: &'a (dyn Subtrees + Sync),
    state: Lock<State<'a>>,
    failed: AtomicBool,
}

/// Receives the digest of a node.
type Listener<'a> = &'a mut (dyn FnMut(Subtree, &Digest) -> Result<(), Error> + Send);

struct State<'a> {
    awaited: Peekable<PostOrder>,
    listener: Listener<'a>,
    failure: Option<Error>,
}

impl<'a> Observed<'a> {
    /// `listener` gets the nodes `awaited`: [`post_order`](super::KeptLayout::post_order) or
    /// [`post_order_under`](super::KeptLayout::post_order_under).
    pub fn new(source: &'a (dyn Subtrees + Sync), awaited: PostOrder, listener: Listener<'a>) -> Self {
        let state = State { awaited: awaited.peekable(), listener, failure: None };
        Observed { source, state: Lock::new(state), failed: AtomicBool::new(false) }
    }

    /// The result of a join over this source.
    ///
    /// # Errors
    /// If the listener failed, which ended the join; if the join failed, or did not find every node.
    pub fn finish<T>(self, joined: Result<T, Error>) -> Result<T, Error> {
        let mut state = self.state.into_inner();
        match (state.failure, joined) {
            (Some(failure), _) => Err(failure),
            (None, Err(error)) => Err(error),
            (None, Ok(digest)) => match state.awaited.next() {
                Some(node) => Err(Error::Missing(node)),
                None => Ok(digest),
            },
        }
    }

    /// Ends a join whose listener has failed; the failure itself is kept for [`Observed::finish`].
    fn check(&self, node: Subtree) -> Result<(), Error> {
        if self.failed.load(Ordering::Relaxed) { Err(Error::Missing(node)) } else { Ok(()) }
    }
}

impl Subtrees for Observed<'_> {
    fn digest(&self, spec: &Spec, node: Subtree, role: Role) -> Result<Option<Digest>, Error> {
        self.check(node)?;
        self.source.digest(spec, node, role)
    }

    fn digests(&self, spec: &Spec, nodes: &[Subtree], out: &mut Digests) -> Result<(), Error> {
        // Nodes that threads join below a unit are not kept: the source itself is asked.
        nodes.first().map_or(Ok(()), |&node| self.check(node))?;
        self.source.digests(spec, nodes, out)
    }

    fn joined(&self, node: Subtree, digest: &Digest) {
        let mut state = self.state.lock();
        if state.failure.is_none() && state.awaited.next_if_eq(&node).is_some() {
            state.failure = (state.listener)(node, digest).err();
            self.failed.store(state.failure.is_some(), Ordering::Relaxed);
        }
        drop(state);
        self.source.joined(node, digest);
    }
}

impl fmt::Debug for Observed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Observed").finish_non_exhaustive()
    }
}
