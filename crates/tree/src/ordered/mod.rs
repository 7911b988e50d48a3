//! The one parallel map: many threads, results in order, bounded memory.

#[cfg(feature = "std")]
mod threads;

/// Calls `work` for each of `jobs` on up to `threads` threads, and `consume` with the results in the order of the jobs.
///
/// Jobs are taken from their iterator as room allows: at most `ahead` are begun before the first result that `consume` has
/// not taken. Each thread makes a state with `start` and hands it to each of its jobs.
///
/// - With fewer than two threads, the calling thread works itself, one job at a time, as `consume` asks for results. The
///   same happens where the system has no thread to give. With some of the threads asked for, those do all the work.
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
    let _ = (threads, ahead);
    in_turn(jobs, start, work, consume)
}

/// The same on the calling thread.
fn in_turn<J, S, R, T>(
    jobs: impl Iterator<Item = J>,
    start: impl Fn() -> S,
    work: impl Fn(&mut S, J) -> R,
    consume: impl FnOnce(&mut dyn Iterator<Item = R>) -> T,
) -> T {
    let mut state = None;
    consume(&mut jobs.map(|job| work(state.get_or_insert_with(&start), job)))
}
