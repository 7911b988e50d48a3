//! Inputs to be hashed, many at a time.

use crate::buffer::Buffer;
use crate::holes::Sparse;
use crate::open::{Opened, STDIN, open, opened};
use crate::platform::widen_pipe;
use crate::stream::{Bytes, hash_stream};
use crate::{Error, File, Options};
use mksum::{Accelerated, Format, NodeHash, Plan, Root, Spec, Visitor};
use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Read};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

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

/// What an input is in each of its formats, in their order: a root, or why that format has none for it.
pub type Roots = Vec<Result<Root, Error>>;

/// The roots of one input, computed by all threads of the options.
///
/// # Errors
/// If the input cannot be read, or changes while it is read: then there is no root in any format.
pub fn hash(job: &Job, options: &Options) -> Result<Roots, Error> {
    let opened = match &job.input {
        Input::Path(path) => open(path, options)?,
        Input::Stdin => {
            let path = Path::new(STDIN);
            let stdin = stdin().map_err(|error| Error::Open { path: path.into(), error })?;
            opened(stdin, path, options)?
        }
    };
    hash_opened(opened, job, options)
}

fn hash_opened(opened: Opened, job: &Job, options: &Options) -> Result<Roots, Error> {
    let path = match &job.input {
        Input::Path(path) => path,
        Input::Stdin => Path::new(STDIN),
    };
    match opened {
        Opened::File(file) => hash_file(*file, path, &job.specs),
        Opened::Stream(stream) => {
            widen_pipe(&stream);
            hash_stream(&mut Stream { stream, path, done: 0, options }, None, path, &job.specs, options)
        }
    }
}

#[cfg(unix)]
pub(crate) fn stdin() -> io::Result<std::fs::File> {
    std::os::fd::AsFd::as_fd(&io::stdin()).try_clone_to_owned().map(Into::into)
}

#[cfg(windows)]
pub(crate) fn stdin() -> io::Result<std::fs::File> {
    std::os::windows::io::AsHandle::as_handle(&io::stdin()).try_clone_to_owned().map(Into::into)
}

fn hash_file(file: File, path: &Path, specs: &[Spec]) -> Result<Roots, Error> {
    struct Whole<'a>(&'a File);
    impl Visitor for Whole<'_> {
        type Output = Result<Vec<u8>, mksum::Error>;

        fn visit<const N: usize, H: NodeHash<Digest = [u8; N]>>(self, format: &Format<H>) -> Self::Output {
            let (file, sparse) = (self.0, Sparse::of(self.0, format));
            let read = |offset, buffer: &mut [u8]| file.fill(offset, buffer).map_err(crate::file::source);
            let device = file.reader.options.accelerator.as_deref();
            let digest = match device.and_then(|device| Accelerated::new(device, format, &read).zip(Some(device))) {
                None => format.root_parallel(&sparse, file.len(), &file.plan(format)),
                Some((large, device)) => {
                    let plan = Plan { threads: device.threads(), piece: large.longest(), group: 1 };
                    format.root_parallel(&(&large, &sparse), file.len(), &plan)
                }
            };
            Ok(digest?.into())
        }
    }
    let len = file.len();
    let roots = match specs {
        [spec] if !file.is_rotating() => {
            match spec.visit(Whole(&file)).map_err(|error| Error::from_join(error, path, spec)) {
                Ok(digest) => vec![Ok(spec.sealed(len, digest))],
                Err(error @ Error::Format { .. }) => vec![Err(error)],
                Err(error) => return Err(error),
            }
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

/// A stream with its path, for errors.
pub(crate) struct Stream<'a> {
    pub stream: std::fs::File,
    pub path: &'a Path,
    pub done: u64,
    pub options: &'a Options,
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
const AHEAD: usize = 512;
/// Jobs that a thread takes at a time.
const CLAIM: usize = 16;

/// Hashes many inputs and tells each result, and how long it took, in the order of the jobs, until `each` breaks.
///
/// Small files are hashed side by side, large ones one after the other with all threads.
pub fn hash_all<J: Iterator<Item = Job> + Send>(
    jobs: J,
    options: &Options,
    mut each: impl FnMut(&Job, Result<Roots, Error>, Duration) -> ControlFlow<()>,
) {
    enum Answer {
        Told(Result<Roots, Error>, Duration),
        /// It has been opened, which is done only once: whoever writes to a pipe would notice.
        Stream(std::fs::File),
        ForAllThreads,
    }
    struct Shared<J> {
        jobs: J,
        claimed: usize,
        told: usize,
        /// By the number of the first of them: a lock and a wake for each would cost as much as a small file does.
        answers: BTreeMap<usize, Vec<(Answer, Job)>>,
        ended: bool,
    }
    let alone = Options { threads: 1, ..options.clone() };
    let mut jobs = jobs.peekable();
    let Some(first) = jobs.next() else { return };
    if options.threads == 1 || jobs.peek().is_none() {
        for job in [first].into_iter().chain(jobs) {
            let begin = Instant::now();
            let result = hash(&job, options);
            if each(&job, result, begin.elapsed()).is_break() {
                return;
            }
        }
        return;
    }
    let jobs = [first].into_iter().chain(jobs);
    let shared = Mutex::new(Shared { jobs, claimed: 0, told: 0, answers: BTreeMap::new(), ended: false });
    let answer = |job: &Job| {
        let Input::Path(path) = &job.input else { return Answer::ForAllThreads };
        let begin = Instant::now();
        let result = match open(path, &alone) {
            Ok(Opened::File(file)) if file.len() <= SMALL => hash_file(*file, path, &job.specs),
            Ok(Opened::File(_)) => return Answer::ForAllThreads,
            Ok(Opened::Stream(stream)) => return Answer::Stream(stream),
            Err(error) => Err(error),
        };
        Answer::Told(result, begin.elapsed())
    };
    let (room, news) = (Condvar::new(), Condvar::new());
    let lock = || shared.lock().unwrap_or_else(PoisonError::into_inner);
    let work = || {
        loop {
            let mut state = lock();
            while !state.ended && state.claimed + CLAIM > state.told + AHEAD {
                state = room.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            let jobs: Vec<Job> = if state.ended { Vec::new() } else { state.jobs.by_ref().take(CLAIM).collect() };
            let first = state.claimed;
            state.claimed += jobs.len();
            state.ended |= jobs.is_empty();
            let ended = state.ended;
            drop(state);
            let answers: Vec<_> = jobs.into_iter().map(|job| (answer(&job), job)).collect();
            if !answers.is_empty() {
                lock().answers.insert(first, answers);
            }
            news.notify_one();
            if ended {
                return;
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..options.threads {
            scope.spawn(work);
        }
        loop {
            let mut state = lock();
            let index = state.told;
            let answers = loop {
                match state.answers.remove(&index) {
                    Some(answers) => break answers,
                    None if state.ended && state.claimed == index => return,
                    None => state = news.wait(state).unwrap_or_else(PoisonError::into_inner),
                }
            };
            state.told += answers.len();
            drop(state);
            room.notify_all();
            for (answer, job) in answers {
                let begin = Instant::now();
                let (result, took) = match answer {
                    Answer::Told(result, took) => (result, took),
                    Answer::Stream(stream) => (hash_opened(Opened::Stream(stream), &job, options), begin.elapsed()),
                    Answer::ForAllThreads => (hash(&job, options), begin.elapsed()),
                };
                if each(&job, result, took).is_break() {
                    lock().ended = true;
                    room.notify_all();
                    return;
                }
            }
        }
    });
}
