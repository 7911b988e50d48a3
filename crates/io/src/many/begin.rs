//! A job when it is opened: done at once, to be hashed beside others, or left to all threads.

use super::queue::Numbered;
use crate::jobs::{Entry, hash_file, open_job};
use crate::open::{Opened, open_entry, open_short};
use crate::platform::is_too_many;
use crate::{Error, File, Input, Job, Mode, Options, Roots};
use std::fs;
use std::time::{Duration, Instant};

/// Files of up to this many bytes are hashed by one thread each, several at a time.
const SMALL: u64 = 1 << 20;

/// A thread's answer to a job.
pub struct Answer {
    pub job: Numbered,
    pub outcome: Outcome,
}

pub enum Outcome {
    Done(Result<Roots, Error>, Duration),
    /// A stream that has been opened, which is done only once: a process that writes to a pipe would notice.
    Stream(fs::File),
    /// An open object, which is not asked for twice.
    Object(Box<File>),
    ForAllThreads,
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
