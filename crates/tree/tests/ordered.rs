//! The parallel map under many schedules: results in order, nothing lost, nothing that waits for ever.

extern crate alloc;

/// The map itself, compiled once more with the model checker's threads and locks.
#[path = "../src/ordered/mod.rs"]
mod ordered;

/// The model checker's threads and locks, as `src/sync.rs` has the system's.
mod sync {
    pub use shuttle::sync::{Condvar, Mutex, MutexGuard};
    pub use shuttle::thread::{Scope, scope};
    use std::cell::Cell;
    use std::io;

    thread_local! {
        /// How many threads the system still has.
        pub static THREADS: Cell<usize> = const { Cell::new(usize::MAX) };
    }

    pub fn spawn<'scope>(scope: &'scope Scope<'scope, '_>, work: impl FnOnce() + Send + 'scope) -> io::Result<()> {
        let left = THREADS.get().checked_sub(1).ok_or(io::ErrorKind::WouldBlock)?;
        THREADS.set(left);
        scope.spawn(work);
        Ok(())
    }
}

use ordered::{Feed, Ticket, ordered, ordered_turns};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use sync::THREADS;

/// Runs a test under random schedules, and under those in which few preemptions reveal a fault.
fn explore(test: impl Fn() + Send + Sync + Copy + 'static) {
    shuttle::check_random(test, 1000);
    shuttle::check_pct(test, 1000, 3);
}

/// The squares of the first `jobs` numbers.
fn squares(threads: usize, ahead: usize, jobs: usize) {
    let (begun, taken) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let square = |made: &mut usize, job: usize| {
        *made += 1;
        let begun = begun.fetch_add(1, Ordering::SeqCst);
        // A result counts as taken a moment before the consumer says so here.
        assert!(begun <= taken.load(Ordering::SeqCst) + ahead, "more is begun than there is room for");
        shuttle::thread::yield_now();
        job * job
    };
    let results = ordered(
        threads,
        ahead,
        0..jobs,
        || 0,
        square,
        |results| {
            let count = |result| {
                taken.fetch_add(1, Ordering::SeqCst);
                result
            };
            results.map(count).collect::<Vec<_>>()
        },
    );
    assert!(results.into_iter().eq((0..jobs).map(|job| job * job)));
}

#[test]
fn results_come_in_order_and_room_is_bounded() {
    explore(|| squares(2, 1, 4));
    explore(|| squares(3, 2, 5));
    explore(|| squares(2, 100, 3));
    explore(|| squares(4, 3, 0));
}

#[test]
fn a_consumer_that_stops_ends_the_map() {
    explore(|| {
        let begun = AtomicUsize::new(0);
        let work = |(): &mut (), _: usize| begun.fetch_add(1, Ordering::SeqCst);
        ordered(3, 2, 0.., || (), work, |results| assert!(results.take(3).count() == 3));
        assert!(begun.load(Ordering::SeqCst) <= 3 + 2 + 1);
    });
}

#[test]
fn threads_that_the_system_lacks_are_done_without() {
    let with = |threads| {
        move || {
            THREADS.set(threads);
            squares(3, 2, 5);
            THREADS.set(usize::MAX);
        }
    };
    // On one thread there is one schedule.
    shuttle::check_random(with(0), 1);
    explore(with(1));
    explore(with(2));
}

/// Holds up to `width` jobs at a time and answers the latest first.
fn latest_first(threads: usize, ahead: usize, width: usize, jobs: usize) {
    let begun_ahead = AtomicUsize::new(0);
    let turn = |held: &mut Vec<(Ticket, usize)>, feed: &mut Feed<'_, usize, usize>| {
        while held.len() < width {
            let Some(job) = feed.take() else { break };
            begun_ahead.fetch_max(job.1, Ordering::SeqCst);
            held.push(job);
        }
        shuttle::thread::yield_now();
        if let Some((ticket, job)) = held.pop() {
            feed.deliver(ticket, job * job);
        }
    };
    let check = |results: &mut dyn Iterator<Item = usize>| {
        for (job, result) in results.enumerate() {
            assert_eq!(result, job * job);
            assert!(begun_ahead.load(Ordering::SeqCst) < jobs);
        }
    };
    ordered_turns(threads, ahead, 0..jobs, Vec::new, turn, check);
    assert_eq!(begun_ahead.into_inner(), jobs.saturating_sub(1));
}

#[test]
fn workers_that_hold_several_jobs_do_not_wait_for_each_other() {
    explore(|| latest_first(2, 1, 3, 4));
    explore(|| latest_first(2, 3, 2, 6));
    explore(|| latest_first(3, 8, 3, 7));
    // On one thread there is one schedule.
    shuttle::check_random(|| latest_first(1, 2, 3, 5), 1);
    shuttle::check_random(|| latest_first(1, 9, 3, 0), 1);
}

#[test]
fn a_worker_that_panics_with_several_jobs_ends_the_map() {
    std::panic::set_hook(Box::new(|_| {}));
    explore(|| {
        let turn = |held: &mut Vec<(Ticket, usize)>, feed: &mut Feed<'_, usize, usize>| {
            while held.len() < 2 {
                let Some(job) = feed.take() else { break };
                held.push(job);
            }
            for (ticket, job) in held.drain(..).rev() {
                if job == 3 {
                    panic!("of a job")
                }
                feed.deliver(ticket, job);
            }
        };
        let (got, words) = until(|consume| ordered_turns(2, 4, 0..9, Vec::new, turn, consume));
        assert!(got.iter().copied().eq(0..got.len()) && got.len() <= 3, "{got:?}");
        assert_eq!(words, "of a job");
    });
}

/// The results before a panic, and its words.
fn until_panic(
    jobs: impl Iterator<Item = usize> + Send,
    work: impl Fn(&mut (), usize) -> usize + Sync,
) -> (Vec<usize>, String) {
    until(|consume| ordered(2, 2, jobs, || (), work, consume))
}

/// The results that a map gives to its consumer before a panic, and its words.
fn until(
    map: impl FnOnce(&mut dyn FnMut(&mut dyn Iterator<Item = usize>) -> &'static str) -> &'static str,
) -> (Vec<usize>, String) {
    let mut got = Vec::new();
    let mut consume = |results: &mut dyn Iterator<Item = usize>| {
        loop {
            match catch_unwind(AssertUnwindSafe(|| results.next())) {
                Ok(Some(result)) => got.push(result),
                Ok(None) => panic!("the end came before the panic"),
                Err(panic) => {
                    // A consumer that continues finds the end, and not a result.
                    assert_eq!(results.next(), None);
                    return *panic.downcast::<&str>().unwrap();
                }
            }
        }
    };
    let words = map(&mut consume).to_string();
    (got, words)
}

#[test]
fn a_panic_comes_in_its_turn_and_ends_the_map() {
    std::panic::set_hook(Box::new(|_| {}));
    explore(|| {
        let work = |(): &mut (), job| if job == 2 { panic!("of a job") } else { job };
        assert_eq!(until_panic(0..9, work), (vec![0, 1], "of a job".into()));
        let jobs = (0..9).inspect(|&job| {
            if job == 3 {
                panic!("of the jobs")
            }
        });
        assert_eq!(until_panic(jobs, |(), job| job), (vec![0, 1, 2], "of the jobs".into()));
    });
}
