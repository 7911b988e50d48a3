//! Waiting for some files at once.

use crate::error::Error;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Does `work` for each of some items, at most `threads` at a time. An error ends the work of its thread.
pub(crate) fn side_by_side<T: Sync>(
    threads: usize,
    items: &[T],
    work: impl Fn(&T) -> Result<(), Error> + Sync,
) -> Result<(), Error> {
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
            work(item)?;
        }
        Ok(())
    };
    thread::scope(|scope| {
        // Where there are no more threads, this one does what they would have.
        let others: Vec<_> = (1..threads.min(items.len()))
            .map_while(|_| thread::Builder::new().spawn_scoped(scope, work).ok())
            .collect();
        let own = work();
        others.into_iter().fold(own, |outcome, other| outcome.and(other.join().expect("no panic")))
    })
}
