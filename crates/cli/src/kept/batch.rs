//! Outboards that are computed, but not at their places yet: many are made safe against a crash at once.

use crate::print::report;
use crate::tool::Tool;
use mksum_io::Url;
use mksum_io::outboard::{Kept, Pending, Remote, commit};
use std::mem;
use std::time::{Duration, Instant};

/// An outboard for the batch: its path is that of a file.
pub struct Waiting<T> {
    pub pending: Pending,
    /// Where it belongs, if that is in a store.
    pub remote: Option<Remote>,
    /// What its owner wants to know when it is at its place.
    pub about: T,
}

/// Outboards that wait for others.
pub struct Batch<'a, T> {
    tool: &'a Tool,
    waiting: Vec<Waiting<T>>,
    /// The time of the first of them.
    since: Instant,
    placed: &'a dyn Fn(T, Option<&Url>, &Kept),
}

impl<'a, T> Batch<'a, T> {
    /// The files in a batch at most: each is open until then.
    const MANY: usize = 128;
    /// The time that a tree waits for others.
    const WAIT: Duration = Duration::from_millis(500);

    /// `placed` receives each outboard that is at its place, in their order, with its URL if it has one; a failure is reported.
    pub fn new(tool: &'a Tool, placed: &'a dyn Fn(T, Option<&Url>, &Kept)) -> Self {
        Batch { tool, waiting: Vec::new(), since: Instant::now(), placed }
    }

    pub fn add(&mut self, waiting: Waiting<T>) {
        if self.waiting.is_empty() {
            self.since = Instant::now();
        }
        self.waiting.push(waiting);
        if self.waiting.len() >= Self::MANY || self.since.elapsed() >= Self::WAIT {
            self.commit();
        }
    }

    /// Puts them at their places.
    pub fn commit(&mut self) {
        let (pending, owners): (Vec<_>, Vec<_>) =
            mem::take(&mut self.waiting).into_iter().map(|one| (one.pending, (one.remote, one.about))).unzip();
        if pending.is_empty() {
            return;
        }
        for (kept, (remote, about)) in commit(pending).into_iter().zip(owners) {
            let put = |kept| remote.as_ref().map_or(Ok(()), |remote| remote.put()).map(|()| kept);
            match kept.and_then(put) {
                Ok(kept) => (self.placed)(about, remote.as_ref().map(Remote::url), &kept),
                Err(error) => report(&self.tool.console, &error.into()),
            }
        }
    }
}
