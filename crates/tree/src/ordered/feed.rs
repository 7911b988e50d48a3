//! The jobs and results of one worker.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

/// The number of a job: whoever has it owes a result.
#[derive(Debug)]
pub struct Ticket(usize);

/// An answer to a worker that asks for a job.
pub(super) enum Next<J> {
    /// This job, and its number.
    Job(usize, J),
    /// None until earlier results are taken.
    NoRoom,
    /// None any more.
    End,
}

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
    /// Asks for a job, and waits for room only if told so.
    next: &'a mut dyn FnMut(bool) -> Next<J>,
    desk: &'a mut Desk<R>,
}

impl<'a, J, R> Feed<'a, J, R> {
    pub(super) fn new(desk: &'a mut Desk<R>, next: &'a mut dyn FnMut(bool) -> Next<J>) -> Self {
        Feed { next, desk }
    }

    /// The next job. `None` if there are no more, or no room for its result as long as the jobs under way have none.
    ///
    /// Waits only while this worker has no job under way.
    pub fn take(&mut self) -> Option<(Ticket, J)> {
        // Results that are not handed over may be those that others wait for.
        let may_wait = self.desk.held.is_empty() && self.desk.ready.is_empty();
        match (self.next)(may_wait) {
            Next::Job(number, job) => {
                self.desk.held.insert(number);
                Some((Ticket(number), job))
            }
            Next::NoRoom => None,
            Next::End => {
                self.desk.ended = true;
                None
            }
        }
    }

    /// The result of a job.
    pub fn deliver(&mut self, Ticket(number): Ticket, result: R) {
        self.desk.held.remove(&number);
        self.desk.ready.push((number, result));
    }
}
