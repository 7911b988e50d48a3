//! Many inputs: short ones and those of one chain side by side in the lanes of each thread, the others one after the other.

mod bench;
mod items;
mod queue;

pub use items::{Hashed, hash_items};

use crate::jobs::{Entry, hash_file, hash_opened, open_job};
use crate::open::{Opened, open_entry, open_short};
use crate::platform::is_too_many;
use crate::{Error, File, Input, Job, Mode, Options, Roots, hash};
use bench::{Bench, Shared};
use mksum::ordered::{Feed, ordered_turns};
use queue::{Numbered, Queue};
use std::collections::BTreeMap;
use std::fs;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// Files of up to this many bytes are hashed by one thread each, several at a time.
const SMALL: u64 = 1 << 20;
/// Results that wait for those before them.
const AHEAD: usize = 4096;
/// Small files that a thread hashes before it hands over their results: a wake for each would cost as much as a file does.
const CLAIM: usize = 16;

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
                        Outcome::Stream(stream) => {
                            (hash_opened(Opened::Stream(stream), &job, options), begin.elapsed())
                        }
                        Outcome::Object(file) => {
                            let file = Box::new(file.with_options(options));
                            (hash_opened(Opened::File(file), &job, options), begin.elapsed())
                        }
                        Outcome::ForAllThreads => (hash(&job, options), begin.elapsed()),
                    };
                    if each(&job, result, took).is_break() {
                        return;
                    }
                }
            }
        },
    );
}

/// A thread's answer to a job.
struct Answer {
    job: Numbered,
    outcome: Outcome,
}

enum Outcome {
    Done(Result<Roots, Error>, Duration),
    /// It has been opened, which is done only once: a process that writes to a pipe would notice.
    Stream(fs::File),
    /// An open object, which is not asked for twice.
    Object(Box<File>),
    ForAllThreads,
}

/// A job when it is opened.
enum Begun {
    /// Its bytes are a chain, to be hashed beside others.
    Chain(Box<File>),
    Ended(Outcome),
    /// Too many files are open.
    NoRoom(Error),
}

/// Opens a job; does it if it is small.
fn begin(job: &mut Job, options: &Options) -> Begun {
    // Only regular files are opened here: a pipe may keep whoever opens it waiting, and the other files in the lanes with it.
    let begin = Instant::now();
    let opened = match (&job.input, job.entry) {
        (Input::Stdin, _) => return Begun::Ended(Outcome::ForAllThreads),
        (Input::Url(_), _) => open_job(job, options),
        (Input::File(path), Entry::No) => match fs::metadata(path).ok().filter(fs::Metadata::is_file) {
            None => return Begun::Ended(Outcome::ForAllThreads),
            Some(metadata) if metadata.len() <= Job::SHORT && job.version.is_none() => {
                open_short(path, &metadata, job.window, options)
            }
            Some(_) => open_job(job, options),
        },
        (Input::File(path), Entry::Wanted | Entry::Opened(_)) => open_entry(path, options).map(|(opened, facts)| {
            job.entry = Entry::Opened(facts);
            opened
        }),
    };
    let result = match opened {
        Ok(Opened::File(file)) if is_chain(&file, job) => return Begun::Chain(file),
        Ok(Opened::File(file)) if file.len() <= SMALL => hash_file(*file, &job.specs),
        Ok(Opened::File(file)) if file.is_object() => return Begun::Ended(Outcome::Object(file)),
        Ok(Opened::File(_)) => return Begun::Ended(Outcome::ForAllThreads),
        Ok(Opened::Stream(stream)) => return Begun::Ended(Outcome::Stream(stream)),
        Err(Error::Open { path, error }) if is_too_many(&error) => return Begun::NoRoom(Error::Open { path, error }),
        Err(error) => Err(error),
    };
    Begun::Ended(Outcome::Done(result, begin.elapsed()))
}

/// Whether a file is hashed as one chain in each format, and best read in slices between those of other files.
fn is_chain(file: &File, job: &Job) -> bool {
    let mut messages = job.specs.iter().map(|spec| spec.single_leaf(file.len()));
    // All formats share the bytes that are read, and so the zeros after them.
    let Some(Some(first)) = messages.next() else { return false };
    messages.all(|message| message.is_some_and(|message| message.zeros == first.zeros))
        && !file.is_rotating()
        && file.options().mode != Mode::Direct
}

/// The length of a file, 0 for whatever else an input is.
fn length(input: &Input) -> u64 {
    let metadata = input.file().and_then(|path| fs::metadata(path).ok());
    metadata.filter(fs::Metadata::is_file).map_or(0, |metadata| metadata.len())
}
