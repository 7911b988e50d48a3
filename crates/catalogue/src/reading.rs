//! Files read side by side, each as it is at one moment.

use mksum::{Root, Spec};
use mksum_io::{Error, Facts, Input, Job, Options, hash_all};
use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, SystemTime};

/// A file to be read.
#[derive(Clone, Debug)]
pub(crate) struct Wanted<T> {
    /// Whatever its result is for.
    pub about: T,
    pub place: PathBuf,
    pub specs: Vec<Spec>,
}

/// A file that was read: its facts, and its roots in the order of the formats.
pub(crate) type Read = Result<(Facts, Vec<Root>), Error>;

/// Hashes all of `files` in the lanes of all threads, and hands each result to `each`, in their order, until that breaks. Files for
/// which `alone` is true are handed over unread, with their facts and no roots, in their turn.
///
/// No root is handed out of a file that is another at the end than it was before it was opened, or whose time of change is so
/// near that the next change could have the same.
pub(crate) fn read_all<T: Send>(
    files: impl Iterator<Item = Wanted<T>> + Send,
    options: &Options,
    alone: &(dyn Fn(&Facts, &[Spec]) -> bool + Sync),
    mut each: impl FnMut(Wanted<T>, Read) -> ControlFlow<()>,
) {
    let waiting: Mutex<VecDeque<Next<T>>> = Mutex::default();
    let jobs = Jobs { files, waiting: &waiting, alone };
    let mut ended = ControlFlow::Continue(());
    hash_all(jobs, options, |_, result, _| {
        options.meter.finish_file();
        let mut result = Some(result);
        while ended.is_continue() && result.is_some() {
            match lock(&waiting).pop_front().expect("a file for each job") {
                Next::Result(wanted, facts) => {
                    let roots = result.take().expect("one result a job");
                    let roots = roots.and_then(|roots| roots.into_iter().collect::<Result<Vec<_>, _>>());
                    let read = roots.and_then(|roots| facts.check(&wanted.place).map(|()| (facts, roots)));
                    ended = each(wanted, read);
                }
                Next::Unread(wanted, read) => ended = each(wanted, read),
            }
        }
        ended
    });
    for next in waiting.into_inner().unwrap_or_else(PoisonError::into_inner) {
        if let Next::Unread(wanted, read) = next
            && ended.is_continue()
        {
            ended = each(wanted, read);
        }
    }
}

enum Next<T> {
    /// The next result is of this file.
    Result(Wanted<T>, Facts),
    /// This file is not hashed here.
    Unread(Wanted<T>, Read),
}

struct Jobs<'a, T, I> {
    files: I,
    waiting: &'a Mutex<VecDeque<Next<T>>>,
    alone: &'a (dyn Fn(&Facts, &[Spec]) -> bool + Sync),
}

impl<T, I: Iterator<Item = Wanted<T>>> Iterator for Jobs<'_, T, I> {
    type Item = Job;

    fn next(&mut self) -> Option<Job> {
        loop {
            let wanted = self.files.next()?;
            let facts = match Facts::of(&wanted.place) {
                Ok(facts) => facts,
                Err(error) => {
                    let error = Error::Open { path: wanted.place.clone(), error };
                    lock(self.waiting).push_back(Next::Unread(wanted, Err(error)));
                    continue;
                }
            };
            wait_until_past(&facts);
            if (self.alone)(&facts, &wanted.specs) {
                lock(self.waiting).push_back(Next::Unread(wanted, Ok((facts, Vec::new()))));
                continue;
            }
            let job = Job::new(Input::Path(wanted.place.clone()), wanted.specs.clone());
            lock(self.waiting).push_back(Next::Result(wanted, facts));
            return Some(job);
        }
    }
}

/// Waits while a change could still have the time that the file has: a change after the reading would not be seen.
fn wait_until_past(facts: &Facts) {
    // Linux's clock of files has steps of 1 to 10 ms; file systems without inodes (vfat) have steps of 2 s.
    let step = if facts.inode == 0 { Duration::from_secs(2) } else { Duration::from_millis(20) };
    let (seconds, nanoseconds) = facts.modified;
    let Ok(seconds) = u64::try_from(seconds) else { return };
    let Some(modified) = SystemTime::UNIX_EPOCH.checked_add(Duration::new(seconds, nanoseconds)) else { return };
    if let Ok(age) = SystemTime::now().duration_since(modified)
        && age < step
    {
        thread::sleep(step - age);
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
