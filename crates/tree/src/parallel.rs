//! A tree in pieces that threads answer ahead of the join.

use crate::layout::Cuts;
use crate::ordered::ordered;
use crate::scan::Stitched;
use crate::{Cover, Digest, Digests, Error, Layout, Role, Root, Spec, Subtree, Subtrees};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::cell::RefCell;
use core::iter::Peekable;

/// A division of a tree into pieces for threads.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// The threads that answer pieces; with 1, the calling thread does.
    pub threads: usize,
    /// The largest piece, in bytes; a longer leaf is a piece all the same.
    pub piece: u64,
    /// The pieces that a thread is asked for at once, so that it can hash them side by side.
    pub group: usize,
}

/// Groups that are begun before the first of them is joined, for each thread: enough that none waits for another.
const AHEAD: usize = 4;

/// The sources that a join takes its pieces from.
#[derive(Clone, Copy)]
struct Sources<'a> {
    /// Answers for all that ends at or before byte `from`, at which a piece begins.
    begun: &'a dyn Subtrees,
    from: u64,
    /// Answers for the rest, in pieces.
    source: &'a (dyn Subtrees + Sync),
    plan: &'a Plan,
}

impl Spec {
    /// The root of `len` bytes, with pieces of the tree asked of `source` by many threads at once, left to right.
    ///
    /// Equals [`Spec::root_from`]; holds the digests of `4 * threads` groups, however long the input is.
    ///
    /// # Errors
    /// If the format has no root for this length, or `source` fails or lacks a leaf. The leftmost failure is reported.
    pub fn root_parallel(&self, source: &(dyn Subtrees + Sync), len: u64, plan: &Plan) -> Result<Root, Error> {
        self.root_by(len, |top| self.join_parallel(source, top, Role::Root, plan))
    }

    /// The root of `len` bytes where `begun` has all that ends at or before byte `from`, at which a piece begins: threads
    /// ask `source` for the rest.
    ///
    /// # Errors
    /// As [`Spec::root_parallel`].
    pub fn root_resumed(
        &self,
        (begun, from): (&dyn Subtrees, u64),
        source: &(dyn Subtrees + Sync),
        len: u64,
        plan: &Plan,
    ) -> Result<Root, Error> {
        self.root_by(len, |top| self.join_pieces(Sources { begun, from, source, plan }, top, Role::Root))
    }

    /// The digest of `node`, with pieces of it asked of `source` by many threads at once: equals [`Spec::join`].
    ///
    /// # Errors
    /// If `source` fails or lacks a leaf. The leftmost failure is reported.
    pub fn join_parallel(
        &self,
        source: &(dyn Subtrees + Sync),
        node: Subtree,
        role: Role,
        plan: &Plan,
    ) -> Result<Digest, Error> {
        let begun = BTreeMap::new();
        self.join_pieces(Sources { begun: &begun, from: node.start, source, plan }, node, role)
    }

    fn join_pieces(&self, sources: Sources<'_>, top: Subtree, role: Role) -> Result<Digest, Error> {
        let Sources { source, plan, .. } = sources;
        if let Layout::Found(cuts) = self.layout()
            && top.len > plan.piece
            && let Some(digest) = self.join_found(source, top.len, cuts, plan)?
        {
            source.joined(top, &digest);
            return Ok(digest);
        }
        if self.shape().is_piece(top, plan.piece) {
            return self.join(&source, top, role);
        }
        let cover = Cover::new(self.shape(), top, plan.piece).starting_at(sources.from);
        let groups = Groups { cover: cover.clone(), size: plan.group.max(1) };
        let answer = |(): &mut (), group: Vec<Subtree>| {
            let mut digests = Digests::new(self.hash().size());
            source.digests(self, &group, &mut digests).map(|()| digests)
        };
        ordered(
            plan.threads,
            plan.threads * AHEAD,
            groups,
            || (),
            answer,
            |results| {
                let none = Digests::new(self.hash().size());
                let state = Answers { pieces: cover.peekable(), group: none, used: 0, results };
                self.join(&InOrder { sources, state: RefCell::new(state) }, top, role)
            },
        )
    }

    /// The digest of all `len` bytes, whose parts are scanned by many threads at once; `None` if `source` has no bytes to scan.
    fn join_found(
        &self,
        source: &(dyn Subtrees + Sync),
        len: u64,
        cuts: Cuts,
        plan: &Plan,
    ) -> Result<Option<Digest>, Error> {
        let first = |at| source.scan(self, cuts.first(at, len)).map(Option::unwrap_or_default);
        let scan = |(): &mut (), part| source.scan(self, part);
        ordered(
            plan.threads,
            plan.threads * AHEAD,
            Cuts::parts(len, plan.piece),
            || (),
            scan,
            |results| {
                let mut stitched = Stitched::default();
                for found in results {
                    let Some(found) = found? else { return Ok(None) };
                    stitched.append::<Error>(&found, first)?;
                }
                stitched.finish(len, first)
            },
        )
    }
}

/// The pieces of a cover, several at a time.
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
struct InOrder<'a, 'r> {
    sources: Sources<'a>,
    state: RefCell<Answers<'r>>,
}

struct Answers<'r> {
    pieces: Peekable<Cover>,
    /// The digests of the group that the join is in.
    group: Digests,
    /// The number of pieces that the join has asked for.
    used: usize,
    results: &'r mut dyn Iterator<Item = Result<Digests, Error>>,
}

impl Subtrees for InOrder<'_, '_> {
    fn digest(&self, spec: &Spec, node: Subtree, role: Role) -> Result<Option<Digest>, Error> {
        let Sources { begun, from, .. } = self.sources;
        if node.start < from && node.end() <= from {
            return begun.digest(spec, node, role);
        }
        let mut state = self.state.borrow_mut();
        if state.pieces.next_if_eq(&node).is_none() {
            return Ok(None);
        }
        if state.used == state.group.len() {
            let next = state.results.next();
            (state.group, state.used) = (next.unwrap_or(Err(Error::Missing(node)))?, 0);
        }
        state.used += 1;
        Ok(state.group.get(state.used - 1))
    }

    fn joined(&self, node: Subtree, digest: &Digest) {
        self.sources.source.joined(node, digest);
    }
}
