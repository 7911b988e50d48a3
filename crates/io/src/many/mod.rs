//! Many inputs: short ones and those of one chain side by side in the lanes of each thread, the others one after the other.

mod begin;
mod bench;
mod items;
mod queue;

pub use items::{Hashed, hash_items};

use crate::jobs::{Entry, hash_opened};
use crate::{Error, Job, Options, Roots, hash};
use begin::{Answer, Outcome};
use bench::{Bench, CLAIM, Shared};
use mksum::ordered::{Feed, ordered_turns};
use queue::{Numbered, Queue};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// Results that wait for those before them.
const AHEAD: usize = 4096;
/// The most jobs that [`hash_all`] takes from its iterator before the first one whose result was not handed over.
///
/// Whoever sends jobs through a channel and waits for results must send so many, if there are, before a wait that has no end: one thread
/// may be in the first file while the others do all the jobs after it.
pub fn jobs_ahead(threads: usize) -> usize {
    room(threads) + Queue::<std::iter::Empty<Job>>::window(threads) + 2
}

/// The jobs that are begun before the first one whose result was not taken.
fn room(threads: usize) -> usize {
    AHEAD.max(threads * CLAIM)
}

/// Hashes many inputs and hands each result, and the time it took, to `each` in the order of the jobs, until `each` breaks.
///
/// Files that are hashed as one chain, plain sums and single leaves, are hashed side by side on each thread, as many as the
/// hash has lanes. Other small files are hashed by one thread each, and other large ones one after the other by all threads.
pub fn hash_all<J: Iterator<Item = Job> + Send>(
    jobs: J,
    options: &Options,
    mut each: impl FnMut(&Job, Result<Roots, Error>, Duration) -> ControlFlow<()>,
) {
    let mut jobs = jobs.peekable();
    let Some(first) = jobs.next() else { return };
    if jobs.peek().is_none() && first.entry == Entry::No {
        let begin = Instant::now();
        let result = hash(&first, options);
        let _ = each(&first, result, begin.elapsed());
        return;
    }
    let shared = Shared::new(options);
    let queue = Queue::new([first].into_iter().chain(jobs), options, &shared.waiting);
    let turn = |bench: &mut Bench<'_>, feed: &mut Feed<'_, Numbered, Answer>| bench.turn(feed);
    ordered_turns(
        options.threads,
        room(options.threads),
        queue,
        || Bench::new(&shared),
        turn,
        |answers| {
            // The queue hands out its last jobs in another order.
            let (mut early, mut next) = (BTreeMap::new(), 0);
            for answer in answers {
                early.insert(answer.job.number, answer);
                while let Some(Answer { job: Numbered { job, .. }, outcome }) = early.remove(&next) {
                    next += 1;
                    let begin = Instant::now();
                    let (result, took) = match outcome {
                        Outcome::Done(result, took) => (result, took),
                        Outcome::ForAllThreads(None) => (hash(&job, options), begin.elapsed()),
                        Outcome::ForAllThreads(Some(opened)) => {
                            (hash_opened(opened.with_options(options), &job, options), begin.elapsed())
                        }
                    };
                    if each(&job, result, took).is_break() {
                        return;
                    }
                }
            }
        },
    );
}
