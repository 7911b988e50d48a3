//! The jobs and results of one worker.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::iter;

/// The number of a job; its holder owes a result.
#[derive(Debug)]
pub struct Ticket(usize);

/// Begins jobs for a worker and returns whether none are left.
///
/// The arguments: whether it may wait for room, the number of jobs wanted, and a function that takes each number and job.
pub(super) type Begin<'a, J> = dyn FnMut(bool, usize, &mut dyn FnMut(usize, J)) -> bool + 'a;

/// The jobs under way of one worker, and the results that it has not handed over.
pub(super) struct Desk<R> {
    /// The numbers of the jobs without a result.
    pub held: BTreeSet<usize>,
    /// Results, by the number of the job.
    pub ready: Vec<(usize, R)>,
    /// Whether there are no more jobs.
    pub ended: bool,
}

impl<R> Desk<R> {
    pub fn new() -> Self {
        Desk { held: BTreeSet::new(), ready: Vec::new(), ended: false }
    }

    /// Whether nothing is under way, and nothing more comes.
    pub fn is_done(&self) -> bool {
        self.ended && self.held.is_empty()
    }
}

/// Gives a worker its jobs and takes the results: see [`ordered_turns`](super::ordered_turns).
pub struct Feed<'a, J, R> {
    begin: &'a mut Begin<'a, J>,
    desk: &'a mut Desk<R>,
}

impl<'a, J, R> Feed<'a, J, R> {
    pub(super) fn new(desk: &'a mut Desk<R>, begin: &'a mut Begin<'a, J>) -> Self {
        Feed { begin, desk }
    }

    /// The next job. `None` if there are no more, or no room for its result as long as the jobs under way have none.
    ///
    /// Waits only while this worker has no job under way.
    pub fn take(&mut self) -> Option<(Ticket, J)> {
        let mut taken = None;
        self.take_each(1, |ticket, job| taken = Some((ticket, job)));
        taken
    }

    /// Hands up to `most` jobs to `each`, the first of them as [`Feed::take`] does; the others are there already.
    ///
    /// One turn among the workers serves for all of them.
    pub fn take_each(&mut self, most: usize, mut each: impl FnMut(Ticket, J)) {
        // Results that are not handed over may be those that others wait for.
        let may_wait = self.desk.held.is_empty() && self.desk.ready.is_empty();
        let held = &mut self.desk.held;
        self.desk.ended = (self.begin)(may_wait, most, &mut |number, job| {
            held.insert(number);
            each(Ticket(number), job);
        });
    }

    /// The result of a job.
    pub fn deliver(&mut self, Ticket(number): Ticket, result: R) {
        self.desk.held.remove(&number);
        self.desk.ready.push((number, result));
    }
}

/// [`ordered_turns`](super::ordered_turns) on the calling thread; `ahead` is at least 1.
pub(super) fn in_turn<J, S, R, T>(
    ahead: usize,
    mut jobs: impl Iterator<Item = J>,
    start: impl Fn() -> S,
    turn: impl Fn(&mut S, &mut Feed<'_, J, R>),
    consume: impl FnOnce(&mut dyn Iterator<Item = R>) -> T,
) -> T {
    let (mut begun, mut taken) = (0, 0);
    let (mut desk, mut state) = (Desk::new(), None);
    let mut waiting = BTreeMap::new();
    let mut results = iter::from_fn(|| {
        loop {
            if let Some(result) = waiting.remove(&taken) {
                taken += 1;
                return Some(result);
            }
            if desk.is_done() {
                return None;
            }
            let mut begin = |_: bool, most: usize, each: &mut dyn FnMut(usize, J)| {
                for _ in 0..most.min(taken + ahead - begun) {
                    let Some(job) = jobs.next() else { return true };
                    begun += 1;
                    each(begun - 1, job);
                }
                false
            };
            turn(state.get_or_insert_with(&start), &mut Feed::new(&mut desk, &mut begin));
            waiting.extend(desk.ready.drain(..));
        }
    });
    consume(&mut results)
}
