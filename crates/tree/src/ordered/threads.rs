//! The map on threads: workers take jobs under one lock and deliver results under another.

use crate::sync::{Condvar, Mutex, MutexGuard, scope, spawn};
use std::any::Any;
use std::boxed::Box;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::PoisonError;

/// The result of a job, or the panic that ended it.
type Outcome<R> = Result<R, Box<dyn Any + Send>>;

/// Jobs that no worker has begun.
struct Jobs<I> {
    iterator: I,
    /// The number of the next one.
    next: usize,
}

/// The state that workers and the consumer share.
struct State<R> {
    /// Results that wait for those before them, by the number of the job.
    waiting: BTreeMap<usize, Outcome<R>>,
    /// How many results the consumer has taken.
    taken: usize,
    /// How many jobs there are, once that is known.
    count: Option<usize>,
    /// Whether no further job is to be begun.
    ended: bool,
}

struct Shared<I, R> {
    jobs: Mutex<Jobs<I>>,
    state: Mutex<State<R>>,
    /// Workers wait here until the consumer has taken enough.
    room: Condvar,
    /// The consumer waits here for the next result.
    news: Condvar,
    ahead: usize,
}

/// Locks a mutex. Its value is consistent after each step, so a panic elsewhere does not matter.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn wait<'a, T>(condvar: &Condvar, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
    condvar.wait(guard).unwrap_or_else(PoisonError::into_inner)
}

/// [`ordered`](super::ordered) on two or more threads; `ahead` is at least 1.
pub fn ordered<J, S, R, T>(
    threads: usize,
    ahead: usize,
    jobs: impl Iterator<Item = J> + Send,
    start: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, J) -> R + Sync,
    consume: impl FnOnce(&mut dyn Iterator<Item = R>) -> T,
) -> T
where
    R: Send,
{
    let shared = Shared {
        jobs: Mutex::new(Jobs { iterator: jobs, next: 0 }),
        state: Mutex::new(State { waiting: BTreeMap::new(), taken: 0, count: None, ended: false }),
        room: Condvar::new(),
        news: Condvar::new(),
        ahead,
    };
    let worker = || shared.run(&start, &work);
    let done = scope(|scope| {
        // Dropped when the consumer returns or panics, so that the scope does not wait for unwanted jobs.
        let ending = Ending(&shared);
        for spawned in 0..threads {
            // Fewer threads than asked for do the same work.
            if spawn(scope, worker).is_err() {
                if spawned == 0 {
                    drop(ending);
                    return Err(consume);
                }
                break;
            }
        }
        Ok(consume(&mut Results(&shared)))
    });
    done.unwrap_or_else(|consume| {
        let jobs = shared.jobs.into_inner().unwrap_or_else(PoisonError::into_inner);
        super::in_turn(jobs.iterator, start, work, consume)
    })
}

impl<J, I: Iterator<Item = J>, R> Shared<I, R> {
    /// Takes jobs and delivers results until there are no more.
    fn run<S>(&self, start: impl Fn() -> S, work: impl Fn(&mut S, J) -> R) {
        let mut own = None;
        while let Some((number, job)) = self.next_job() {
            let outcome = catch_unwind(AssertUnwindSafe(|| work(own.get_or_insert_with(&start), job)));
            self.deliver(number, outcome);
        }
    }

    /// The next job and its number, once there is room for its result.
    fn next_job(&self) -> Option<(usize, J)> {
        let mut jobs = lock(&self.jobs);
        let number = jobs.next;
        let mut state = lock(&self.state);
        while !state.ended && number >= state.taken + self.ahead {
            state = wait(&self.room, state);
        }
        if state.ended {
            return None;
        }
        drop(state);
        match catch_unwind(AssertUnwindSafe(|| jobs.iterator.next())) {
            Ok(Some(job)) => {
                jobs.next += 1;
                Some((number, job))
            }
            Ok(None) => {
                let mut state = lock(&self.state);
                (state.count, state.ended) = (Some(number), true);
                drop(state);
                self.news.notify_one();
                None
            }
            Err(panic) => {
                self.deliver(number, Err(panic));
                None
            }
        }
    }

    /// Hands a result to the consumer. A panic is the last one.
    fn deliver(&self, number: usize, outcome: Outcome<R>) {
        let mut state = lock(&self.state);
        state.ended |= outcome.is_err();
        let awaited = number == state.taken;
        state.waiting.insert(number, outcome);
        drop(state);
        if awaited {
            self.news.notify_one();
        }
    }
}

/// The results in order, for the consumer.
struct Results<'a, I, R>(&'a Shared<I, R>);

impl<I, R> Iterator for Results<'_, I, R> {
    type Item = R;

    fn next(&mut self) -> Option<R> {
        let Results(shared) = self;
        let mut state = lock(&shared.state);
        let outcome = loop {
            let next = state.taken;
            if state.count == Some(next) {
                return None;
            }
            if let Some(outcome) = state.waiting.remove(&next) {
                break outcome;
            }
            state = wait(&shared.news, state);
        };
        state.taken += 1;
        if outcome.is_err() {
            state.count = Some(state.taken);
        }
        drop(state);
        shared.room.notify_one();
        outcome.map_or_else(|panic| resume_unwind(panic), Some)
    }
}

/// Ends the workers when it is dropped.
struct Ending<'a, I, R>(&'a Shared<I, R>);

impl<I, R> Drop for Ending<'_, I, R> {
    fn drop(&mut self) {
        lock(&self.0.state).ended = true;
        self.0.room.notify_all();
    }
}
