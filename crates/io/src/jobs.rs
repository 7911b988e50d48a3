//! Inputs to be hashed, many at a time.

use crate::buffer::Buffer;
use crate::holes::Holes;
use crate::open::{Opened, STDIN, open, opened};
use crate::stream::{Bytes, hash_stream};
use crate::{Error, File, Options};
use mksum::{Format, NodeHash, Root, Spec, Visitor};
use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Read};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;

/// What is to be hashed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// The standard input.
    Stdin,
    /// A file, a block device, a named pipe.
    Path(PathBuf),
}

/// An input and the formats wanted of it, which share one read.
#[derive(Clone, Debug)]
pub struct Job {
    /// What is to be hashed.
    pub input: Input,
    /// One format or more.
    pub specs: Vec<Spec>,
}

/// The roots of one input, in the order of its formats, computed by all threads of the options.
///
/// # Errors
/// If the input cannot be read, changes while it is read, or one of the formats has no root for it.
pub fn hash(job: &Job, options: &Options) -> Result<Vec<Root>, Error> {
    match open_input(&job.input, options)? {
        (Opened::File(file), path) => hash_file(*file, path, &job.specs),
        (Opened::Stream(stream), path) => {
            hash_stream(&mut Stream { stream, path, done: 0, options }, None, path, &job.specs, options)
        }
    }
}

fn open_input<'a>(input: &'a Input, options: &Options) -> Result<(Opened, &'a Path), Error> {
    match input {
        Input::Path(path) => Ok((open(path, options)?, path)),
        Input::Stdin => {
            let path = Path::new(STDIN);
            let stdin = stdin().map_err(|error| Error::Open { path: path.into(), error })?;
            Ok((opened(stdin, path, options)?, path))
        }
    }
}

#[cfg(unix)]
fn stdin() -> io::Result<std::fs::File> {
    std::os::fd::AsFd::as_fd(&io::stdin()).try_clone_to_owned().map(Into::into)
}

#[cfg(windows)]
fn stdin() -> io::Result<std::fs::File> {
    std::os::windows::io::AsHandle::as_handle(&io::stdin()).try_clone_to_owned().map(Into::into)
}

fn hash_file(file: File, path: &Path, specs: &[Spec]) -> Result<Vec<Root>, Error> {
    struct Whole<'a>(&'a File);
    impl Visitor for Whole<'_> {
        type Output = Result<Vec<u8>, mksum::Error>;

        fn visit<const N: usize, H: NodeHash<Digest = [u8; N]>>(self, format: &Format<H>) -> Self::Output {
            let (file, plan) = (self.0, self.0.plan(format));
            let digest = match Holes::of(file, format) {
                None => format.root_parallel(file, file.len(), &plan),
                Some(holes) => format.root_parallel(&(&holes, file), file.len(), &plan),
            };
            Ok(digest?.into())
        }
    }
    let len = file.len();
    let roots = match specs {
        [spec] if !file.is_rotating() => {
            let digest = spec.visit(Whole(&file)).map_err(|error| from_join(error, path, spec))?;
            vec![spec.sealed(len, digest)]
        }
        _ => {
            let options = file.reader.options.clone();
            let mut bytes = InOrder { file: &file, done: 0, buffer: Buffer::default() };
            hash_stream(&mut bytes, Some(len), path, specs, &options)?
        }
    };
    file.finish()?;
    Ok(roots)
}

/// The read error that a join passed on, or why the format has no root.
fn from_join(error: mksum::Error, path: &Path, spec: &Spec) -> Error {
    match error {
        mksum::Error::Source(error) => match error.downcast::<Error>() {
            Ok(error) => *error,
            Err(error) => Error::Format { path: path.into(), spec: spec.clone(), error },
        },
        error => Error::Format { path: path.into(), spec: spec.clone(), error: error.into() },
    }
}

/// A stream with its path, for errors.
struct Stream<'a> {
    stream: std::fs::File,
    path: &'a Path,
    done: u64,
    options: &'a Options,
}

impl Bytes for Stream<'_> {
    fn fill(&mut self, buffer: &mut [u8]) -> Result<usize, Error> {
        let mut len = 0;
        while len < buffer.len() {
            match self.stream.read(&mut buffer[len..]) {
                Ok(0) => break,
                Ok(more) => {
                    len += more;
                    if let Some(throttle) = &self.options.throttle {
                        throttle.wait(more as u64);
                    }
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    return Err(Error::Read { path: self.path.into(), offset: self.done + len as u64, error });
                }
            }
        }
        self.done += len as u64;
        Ok(len)
    }
}

/// A file read from the beginning to the end.
struct InOrder<'a> {
    file: &'a File,
    done: u64,
    buffer: Buffer,
}

impl Bytes for InOrder<'_> {
    fn fill(&mut self, buffer: &mut [u8]) -> Result<usize, Error> {
        let len = (self.file.len() - self.done).min(buffer.len() as u64) as usize;
        if len > 0 {
            let (bytes, _) = self.file.reader.read(self.done, len, len, &mut self.buffer)?;
            buffer[..len].copy_from_slice(bytes.get(0));
        }
        self.done += len as u64;
        Ok(len)
    }
}

/// Files of up to this many bytes are hashed by one thread each, several at a time.
const SMALL: u64 = 1 << 20;
/// Results that wait for those before them.
const AHEAD: usize = 256;

/// Hashes many inputs and tells each result in the order of the jobs, until `each` breaks.
///
/// Small files are hashed side by side, large ones one after the other with all threads.
pub fn hash_all<J: Iterator<Item = Job> + Send>(
    jobs: J,
    options: &Options,
    mut each: impl FnMut(&Job, Result<Vec<Root>, Error>) -> ControlFlow<()>,
) {
    /// A result, or a job for all threads.
    type Answer = (Job, Option<Result<Vec<Root>, Error>>);
    struct Shared<J> {
        jobs: J,
        claimed: usize,
        told: usize,
        answers: BTreeMap<usize, Answer>,
        ended: bool,
    }
    let alone = Options { threads: 1, ..options.clone() };
    let mut jobs = jobs.peekable();
    let Some(first) = jobs.next() else { return };
    if options.threads == 1 || jobs.peek().is_none() {
        for job in [first].into_iter().chain(jobs) {
            let result = hash(&job, options);
            if each(&job, result).is_break() {
                return;
            }
        }
        return;
    }
    let jobs = [first].into_iter().chain(jobs);
    let shared = Mutex::new(Shared { jobs, claimed: 0, told: 0, answers: BTreeMap::new(), ended: false });
    let (room, news) = (Condvar::new(), Condvar::new());
    let lock = || shared.lock().unwrap_or_else(PoisonError::into_inner);
    let work = || {
        loop {
            let mut state = lock();
            while !state.ended && state.claimed >= state.told + AHEAD {
                state = room.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            let job = if state.ended { None } else { state.jobs.next() };
            let Some(job) = job else {
                state.ended = true;
                news.notify_one();
                return;
            };
            let index = state.claimed;
            state.claimed += 1;
            drop(state);
            let small = match &job.input {
                Input::Path(path) => match open(path, &alone) {
                    Ok(Opened::File(file)) if file.len() <= SMALL => Some(hash_file(*file, path, &job.specs)),
                    Ok(_) => None,
                    Err(error) => Some(Err(error)),
                },
                Input::Stdin => None,
            };
            lock().answers.insert(index, (job, small));
            news.notify_one();
        }
    };
    thread::scope(|scope| {
        for _ in 0..options.threads {
            scope.spawn(work);
        }
        loop {
            let mut state = lock();
            let index = state.told;
            let (job, small) = loop {
                match state.answers.remove(&index) {
                    Some(answer) => break answer,
                    None if state.ended && state.claimed == index => return,
                    None => state = news.wait(state).unwrap_or_else(PoisonError::into_inner),
                }
            };
            state.told += 1;
            drop(state);
            room.notify_one();
            let result = small.unwrap_or_else(|| hash(&job, options));
            if each(&job, result).is_break() {
                lock().ended = true;
                room.notify_all();
                return;
            }
        }
    });
}
