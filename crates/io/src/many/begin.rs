//! A job when it is opened: done at once, to be hashed beside others, or left to all threads.

use super::queue::Numbered;
use crate::jobs::{Entry, hash_file, open_job, traits};
use crate::open::{Opened, open_entry, open_short};
use crate::platform::is_too_many;
use crate::route::Route;
use crate::{Error, File, Input, Job, Options, Roots};
use std::fs;
use std::time::{Duration, Instant};

/// A thread's answer to a job.
pub struct Answer {
    pub job: Numbered,
    pub outcome: Outcome,
}

pub enum Outcome {
    Done(Result<Roots, Error>, Duration),
    /// All threads hash it in its turn; perhaps it is open already.
    ForAllThreads(Option<Opened>),
}

/// A job when it is opened.
pub enum Begun {
    /// A file to be hashed in the lanes beside others.
    Chain(Box<File>),
    Ended(Outcome),
    /// Too many files are open.
    NoRoom(Error),
}

/// Opens a job; does it if it is small.
pub fn begin(job: &mut Job, options: &Options) -> Begun {
    // Only regular files are opened here: a pipe may keep whoever opens it waiting, and the other files in the lanes with it.
    let begin = Instant::now();
    let opened = match (&job.input, job.entry) {
        (Input::Stdin, _) => return Begun::Ended(Outcome::ForAllThreads(None)),
        (Input::Url(_), _) => open_job(job, options),
        (Input::File(path), Entry::No) => match fs::metadata(path).ok().filter(fs::Metadata::is_file) {
            None => return Begun::Ended(Outcome::ForAllThreads(None)),
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
        Ok(Opened::File(file)) => match traits(&file, &job.specs).route() {
            Route::Lanes => return Begun::Chain(file),
            Route::Here => hash_file(*file, &job.specs),
            Route::Open => return Begun::Ended(Outcome::ForAllThreads(Some(Opened::File(file)))),
            Route::Closed => return Begun::Ended(Outcome::ForAllThreads(None)),
        },
        Ok(stream) => return Begun::Ended(Outcome::ForAllThreads(Some(stream))),
        Err(Error::Open { path, error }) if is_too_many(&error) => return Begun::NoRoom(Error::Open { path, error }),
        Err(error) => Err(error),
    };
    Begun::Ended(Outcome::Done(result, begin.elapsed()))
}
