//! Jobs among items that are not hashed, in one order.

use super::hash_all;
use crate::{Error, Job, Options, Roots};
use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// A job that is done.
#[derive(Debug)]
pub struct Hashed<'a> {
    /// The job.
    pub job: &'a Job,
    /// The roots, or the error that left none.
    pub result: Result<Roots, Error>,
    /// The time it took.
    pub took: Duration,
}

/// Hashes the items that have jobs, as [`hash_all`] does, and hands all items to `each` in their order, until `each` breaks.
///
/// An item with a job comes when the job is done.
pub fn hash_items<T: Send>(
    items: impl Iterator<Item = (Option<Job>, T)> + Send,
    options: &Options,
    mut each: impl FnMut(T, Option<Hashed<'_>>) -> ControlFlow<()>,
) {
    // The items whose turn has not come, and whether each has a job.
    let waiting = Mutex::new(VecDeque::new());
    let lock = || waiting.lock().unwrap_or_else(PoisonError::into_inner);
    let jobs = items.filter_map(|(job, item)| {
        lock().push_back((job.is_some(), item));
        job
    });
    let mut flow = ControlFlow::Continue(());
    hash_all(jobs.fuse(), options, |job, result, took| {
        let mut hashed = Some(Hashed { job, result, took });
        while flow.is_continue() && hashed.is_some() {
            // Not in the condition of a match: the lock would be held by `each`.
            let next = lock().pop_front();
            let (has_job, item) = next.expect("an item for each job");
            flow = each(item, if has_job { hashed.take() } else { None });
        }
        flow
    });
    for (has_job, item) in waiting.into_inner().unwrap_or_else(PoisonError::into_inner) {
        if flow.is_continue() && !has_job {
            flow = each(item, None);
        }
    }
}
