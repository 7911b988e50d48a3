//! The map on threads: workers take jobs under one lock and deliver results under another.

use super::feed::{Desk, Feed, in_turn};
use crate::sync::{Condvar, Mutex, MutexGuard, scope, spawn};
use std::any::Any;
use std::boxed::Box;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{PoisonError, TryLockError};

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
    /// The number of results that the consumer has taken.
    taken: usize,
    /// The number of jobs, once it is known.
    count: Option<usize>,
    /// Whether no further job is to be begun.
    ended: bool,
    /// Whether no further result is wanted.
    closed: bool,
    /// The number of workers that wait for room: a wake-up that reaches no thread would still cost a system call.
    idle: usize,
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

/// The condition for which a thread waits when it asks for a job.
#[derive(Clone, Copy)]
enum Wait {
    /// The thread does not wait: it has jobs under way, and the others may be waiting for their results.
    None,
    /// The thread waits for another one to finish taking a job.
    Turn,
    /// Room for the result as well.
    Room,
}

/// [`ordered`](super::ordered) on two or more threads, the calling one among them; `ahead` is at least 1.
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
    let turn = |state: &mut S, feed: &mut Feed<'_, J, R>| {
        if let Some((ticket, job)) = feed.take() {
            let result = work(state, job);
            feed.deliver(ticket, result);
        }
    };
    let shared = Shared::new(jobs, ahead);
    scope(|scope| {
        let _ending = Ending(&shared);
        for _ in 1..threads {
            // Fewer threads than asked for do the same work.
            if spawn(scope, || Worker::new(&shared, &start, &turn).run()).is_err() {
                break;
            }
        }
        let mut own = Worker::new(&shared, &start, &turn);
        consume(&mut Results { shared: &shared, help: || own.help() })
    })
}

/// [`ordered_turns`](super::ordered_turns) on two or more threads; `ahead` is at least 1.
pub fn ordered_turns<J, S, R, T>(
    threads: usize,
    ahead: usize,
    jobs: impl Iterator<Item = J> + Send,
    start: impl Fn() -> S + Sync,
    turn: impl Fn(&mut S, &mut Feed<'_, J, R>) + Sync,
    consume: impl FnOnce(&mut dyn Iterator<Item = R>) -> T,
) -> T
where
    R: Send,
{
    let shared = Shared::new(jobs, ahead);
    let done = scope(|scope| {
        // Dropped when the consumer returns or panics, so that the scope does not wait for unwanted jobs.
        let ending = Ending(&shared);
        for spawned in 0..threads {
            // Fewer threads than asked for do the same work.
            if spawn(scope, || Worker::new(&shared, &start, &turn).run()).is_err() {
                if spawned == 0 {
                    drop(ending);
                    return Err(consume);
                }
                break;
            }
        }
        Ok(consume(&mut Results { shared: &shared, help: || false }))
    });
    done.unwrap_or_else(|consume| {
        let jobs = shared.jobs.into_inner().unwrap_or_else(PoisonError::into_inner);
        in_turn(ahead, jobs.iterator, start, turn, consume)
    })
}

/// A thread's part: its state, and the jobs that it has under way.
struct Worker<'a, I, S, R, A, F> {
    shared: &'a Shared<I, R>,
    start: A,
    turn: F,
    state: Option<S>,
    desk: Desk<R>,
}

impl<'a, J, I, S, R, A, F> Worker<'a, I, S, R, A, F>
where
    I: Iterator<Item = J>,
    A: Fn() -> S,
    F: Fn(&mut S, &mut Feed<'_, J, R>),
{
    fn new(shared: &'a Shared<I, R>, start: A, turn: F) -> Self {
        Worker { shared, start, turn, state: None, desk: Desk::new() }
    }

    /// Works until there are no more jobs, or no more results are wanted.
    fn run(mut self) {
        while !self.desk.is_done() && self.turn(|may_wait| if may_wait { Wait::Room } else { Wait::None }).is_some() {}
    }

    /// Does a job, if there is one to begin, and returns whether there was.
    fn help(&mut self) -> bool {
        // The consumer makes the room, so it must not wait for it.
        self.turn(|_| Wait::Turn) != Some(0)
    }

    /// Does one turn and returns the number of its results, or `None` if it was the last one.
    fn turn(&mut self, wait: impl Fn(bool) -> Wait) -> Option<usize> {
        let Worker { shared, start, turn, state, desk } = self;
        let mut begin = |may_wait, most, each: &mut dyn FnMut(usize, J)| shared.begin(wait(may_wait), most, each);
        let mut feed = Feed::new(desk, &mut begin);
        let outcome = catch_unwind(AssertUnwindSafe(|| turn(state.get_or_insert_with(start), &mut feed)));
        let ready = desk.ready.len();
        let results = desk.ready.drain(..).map(|(number, result)| (number, Ok(result)));
        // The panic stands for the first job that has no result now.
        let panic = outcome.err().zip(desk.held.first());
        let failed = panic.is_some();
        let wanted = shared.deliver(results.chain(panic.map(|(panic, &number)| (number, Err(panic)))));
        (!failed && wanted).then_some(ready)
    }
}

impl<I, R> Shared<I, R> {
    fn new(jobs: I, ahead: usize) -> Self {
        Shared {
            jobs: Mutex::new(Jobs { iterator: jobs, next: 0 }),
            state: Mutex::new(State {
                waiting: BTreeMap::new(),
                taken: 0,
                count: None,
                ended: false,
                closed: false,
                idle: 0,
            }),
            room: Condvar::new(),
            news: Condvar::new(),
            ahead,
        }
    }
}

impl<J, I: Iterator<Item = J>, R> Shared<I, R> {
    /// Hands up to `most` jobs and their numbers to `each`, as far as there is room for their results, and returns whether no
    /// more are to be begun.
    fn begin(&self, patience: Wait, most: usize, each: &mut dyn FnMut(usize, J)) -> bool {
        let (mut jobs, room) = loop {
            let jobs = match patience {
                Wait::Turn | Wait::Room => lock(&self.jobs),
                Wait::None => match self.jobs.try_lock() {
                    Ok(jobs) => jobs,
                    Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
                    Err(TryLockError::WouldBlock) => return false,
                },
            };
            let mut state = lock(&self.state);
            if state.ended {
                return true;
            }
            let room = state.taken + self.ahead - jobs.next;
            if room > 0 {
                break (jobs, room);
            }
            let Wait::Room = patience else { return false };
            drop(jobs);
            state.idle += 1;
            wait(&self.room, state).idle -= 1;
        };
        for _ in 0..most.min(room) {
            let number = jobs.next;
            match catch_unwind(AssertUnwindSafe(|| jobs.iterator.next())) {
                Ok(Some(job)) => {
                    jobs.next += 1;
                    each(number, job);
                }
                Ok(None) => {
                    let mut state = lock(&self.state);
                    (state.count, state.ended) = (Some(number), true);
                    drop(state);
                    self.news.notify_one();
                    return true;
                }
                Err(panic) => {
                    self.deliver([(number, Err(panic))]);
                    return true;
                }
            }
        }
        false
    }

    /// Hands results to the consumer, and returns whether it wants more. A panic is the last one.
    fn deliver(&self, outcomes: impl IntoIterator<Item = (usize, Outcome<R>)>) -> bool {
        let mut awaited = false;
        let mut state = lock(&self.state);
        for (number, outcome) in outcomes {
            state.ended |= outcome.is_err();
            awaited |= number == state.taken;
            state.waiting.insert(number, outcome);
        }
        let wanted = !state.closed;
        drop(state);
        if awaited {
            self.news.notify_one();
        }
        wanted
    }
}

/// The results in order, for the consumer.
struct Results<'a, I, R, H> {
    shared: &'a Shared<I, R>,
    /// Does a job, and returns whether there was one.
    help: H,
}

impl<I, R, H: FnMut() -> bool> Iterator for Results<'_, I, R, H> {
    type Item = R;

    fn next(&mut self) -> Option<R> {
        let Results { shared, help } = self;
        let mut idle = false;
        let mut state = lock(&shared.state);
        let outcome = loop {
            let next = state.taken;
            if state.count == Some(next) {
                return None;
            }
            if let Some(outcome) = state.waiting.remove(&next) {
                break outcome;
            }
            state = if idle {
                wait(&shared.news, state)
            } else {
                drop(state);
                idle = !help();
                lock(&shared.state)
            };
        };
        state.taken += 1;
        if outcome.is_err() {
            state.count = Some(state.taken);
        }
        let idle = state.idle;
        drop(state);
        if idle > 0 {
            shared.room.notify_one();
        }
        outcome.map_or_else(|panic| resume_unwind(panic), Some)
    }
}

/// Ends the workers when it is dropped.
struct Ending<'a, I, R>(&'a Shared<I, R>);

impl<I, R> Drop for Ending<'_, I, R> {
    fn drop(&mut self) {
        let mut state = lock(&self.0.state);
        (state.ended, state.closed) = (true, true);
        drop(state);
        self.0.room.notify_all();
    }
}
