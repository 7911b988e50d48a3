//! The one parallel map: many threads, results in order, bounded memory.

mod feed;
#[cfg(feature = "std")]
mod threads;

pub use feed::{Feed, Ticket};

use feed::in_turn;

/// Calls `work` for each of `jobs` on up to `threads` threads, and `consume` with the results in the order of the jobs.
///
/// Jobs are taken from their iterator as room allows: at most `ahead` are begun before the first result that `consume` has
/// not taken. Each thread makes a state with `start` and hands it to each of its jobs.
///
/// - The calling thread is one of the `threads`: it does jobs while `consume` waits for a result that is not there yet. With
///   fewer threads than asked for, down to the calling one alone, those do all the work.
/// - If `consume` returns without having taken all results, no further job is begun.
/// - If `work` or `jobs` panics, `consume` gets the results before that job's, and then the panic goes on in it: nothing
///   waits for ever.
///
/// ```
/// let squares = mksum::ordered::ordered(4, 16, 1..=5, || (), |(), n: u64| n * n, |results| results.collect::<Vec<_>>());
/// assert_eq!(squares, [1, 4, 9, 16, 25]);
/// ```
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
    #[cfg(feature = "std")]
    if threads > 1 {
        return threads::ordered(threads, ahead.max(1), jobs, start, work, consume);
    }
    // One after the other: nothing is to be kept in order.
    let _ = (threads, ahead);
    let mut state = None;
    consume(&mut jobs.map(|job| work(state.get_or_insert_with(&start), job)))
}

/// A parallel map like [`ordered`], for threads that work on several jobs at a time.
///
/// The calling thread only consumes, so that results go on their way at once however long `jobs` takes to give the next
/// one; it works itself with fewer than two threads, or if the system has none to give.
///
/// A thread calls `turn` again and again until all its jobs have results. Each turn takes as many jobs as it likes, works a
/// while, and delivers the results that are ready, in any order. A turn that neither takes a job nor delivers a result
/// must have some job under way.
///
/// The consumer gets results at the end of each turn.
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
    let ahead = ahead.max(1);
    #[cfg(feature = "std")]
    if threads > 1 {
        return threads::ordered_turns(threads, ahead, jobs, start, turn, consume);
    }
    let _ = threads;
    in_turn(ahead, jobs, start, turn, consume)
}
