//! Many threads answer subtrees ahead of the join, in order.

use crate::{Cover, Error, Format, NodeHash, Plan, Role, Subtree, Subtrees};
use alloc::collections::BTreeMap;
use alloc::vec::{self, Vec};
use core::cell::RefCell;
use core::iter::Peekable;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;

/// Groups that are begun before the first of them is joined, for each thread: enough that none waits for another.
const AHEAD: usize = 4;

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
        let cover = Cover::new(self.shape, top, plan.piece).starting_at(begun.1);
        let mut groups = Groups { cover: cover.clone(), size: plan.group.max(1) };
        let answer = |group: &[Subtree]| {
            let mut digests = Vec::with_capacity(group.len());
            source.digests(self, group, &mut digests).map(|()| digests)
        };
        if plan.threads <= 1 {
            let fetch = || answer(&groups.next().unwrap_or_default());
            return self.join(&Ordered::new(begun, source, cover, fetch), top, role);
        }
        let ahead = plan.threads * AHEAD;
        let (jobs, todo) = mpsc::sync_channel::<(u64, Vec<Subtree>)>(ahead);
        let (results, done) = mpsc::channel();
        let todo = Mutex::new(todo);
        let work = |results: mpsc::Sender<_>| {
            loop {
                let job = todo.lock().unwrap_or_else(PoisonError::into_inner).recv();
                let Ok((index, group)) = job else { return };
                let (result, panic) = match catch_unwind(AssertUnwindSafe(|| answer(&group))) {
                    Ok(result) => (result, None),
                    Err(panic) => (Err(Error::Missing(group[0])), Some(panic)),
                };
                let waiting = results.send((index, result)).is_ok();
                if let Some(panic) = panic {
                    resume_unwind(panic);
                }
                if !waiting {
                    return;
                }
            }
        };
        thread::scope(|scope| {
            for _ in 0..plan.threads {
                let (work, results) = (&work, results.clone());
                scope.spawn(move || work(results));
            }
            let (mut sent, mut taken, mut early) = (0, 0, BTreeMap::new());
            let fetch = move || {
                while sent < taken + ahead as u64 {
                    let Some(group) = groups.next() else { break };
                    jobs.send((sent, group)).expect("threads wait for jobs");
                    sent += 1;
                }
                while !early.contains_key(&taken) {
                    let (index, result) = done.recv().expect("a result for each job");
                    early.insert(index, result);
                }
                taken += 1;
                early.remove(&(taken - 1)).expect("it is here")
            };
            // With the source goes the jobs' sender, which ends the threads.
            self.join(&Ordered::new(begun, source, cover, fetch), top, role)
        })
    }
}

/// A cover's pieces, several at a time.
struct Groups {
    cover: Cover,
    size: usize,
}

impl Iterator for Groups {
    type Item = Vec<Subtree>;

    fn next(&mut self) -> Option<Vec<Subtree>> {
        let group: Vec<_> = self.cover.by_ref().take(self.size).collect();
        (!group.is_empty()).then_some(group)
    }
}

/// Pieces whose digests come in the order in which the join asks for them.
struct Ordered<'a, D, B, S, F> {
    /// Who answers what ends before which byte.
    begun: (&'a B, u64),
    source: &'a S,
    pieces: RefCell<Peekable<Cover>>,
    ready: RefCell<vec::IntoIter<D>>,
    fetch: RefCell<F>,
}

impl<'a, D, B, S, F: FnMut() -> Result<Vec<D>, Error>> Ordered<'a, D, B, S, F> {
    fn new(begun: (&'a B, u64), source: &'a S, cover: Cover, fetch: F) -> Self {
        let pieces = RefCell::new(cover.peekable());
        Ordered { begun, source, pieces, ready: RefCell::default(), fetch: RefCell::new(fetch) }
    }
}

impl<N: NodeHash, B: Subtrees<N>, S: Subtrees<N>, F: FnMut() -> Result<Vec<N::Digest>, Error>> Subtrees<N>
    for Ordered<'_, N::Digest, B, S, F>
{
    fn digest(&self, format: &Format<N>, node: Subtree, role: Role) -> Result<Option<N::Digest>, Error> {
        let (begun, from) = self.begun;
        if node.start < from && node.end() <= from {
            return begun.digest(format, node, role);
        }
        if self.pieces.borrow_mut().next_if_eq(&node).is_none() {
            return Ok(None);
        }
        let mut ready = self.ready.borrow_mut();
        if ready.as_slice().is_empty() {
            *ready = (self.fetch.borrow_mut())()?.into_iter();
        }
        Ok(ready.next())
    }

    fn joined(&self, node: Subtree, digest: &N::Digest) {
        self.source.joined(node, digest);
    }
}
