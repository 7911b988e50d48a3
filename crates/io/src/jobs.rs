//! Inputs to be hashed, one at a time.

use crate::buffer::Buffer;
use crate::holes::Sparse;
use crate::open::{Opened, SHORT, Waiting, open_with};
use crate::platform::{uninterrupted, waits, widen_pipe};
use crate::route::{Order, Traits};
use crate::stream::{Bytes, Roots, hash_stream};
use crate::{Error, Facts, File, Input, Options, Refusal, Window};
use mksum::accelerator::Accelerated;
use mksum::{Plan, Root, Spec};
use std::io::Read;
use std::path::PathBuf;

/// An input and the formats wanted of it, which share one read.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Job {
    /// The input.
    pub input: Input,
    /// The formats of the roots: one or more.
    pub specs: Vec<Spec>,
    /// The part of the input that is hashed; all of it if this is `None`.
    pub window: Option<Window>,
    /// The [version](File::version) and length that the input must have, if any other is an error.
    pub version: Option<(String, u64)>,
    pub(crate) entry: Entry,
}

/// Whether a job is about a short entry of a directory, whose facts are wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Entry {
    #[default]
    No,
    Wanted,
    /// The metadata when the file was open and had not been read.
    Opened(Facts),
}

impl Job {
    /// A job that hashes a whole input in each format of `specs`.
    pub fn new(input: Input, specs: Vec<Spec>) -> Self {
        Job { input, specs, window: None, version: None, entry: Entry::No }
    }

    /// A file of a directory with at most [`Job::SHORT`] bytes, for [`hash_all`](crate::hash_all): it is not followed if it is a link by
    /// now, its [facts](Job::facts) are given back, and it is not read while a change of it could have the same time.
    ///
    /// A file that is longer or of another kind when it is opened is an error.
    pub fn short_entry(path: PathBuf, specs: Vec<Spec>) -> Self {
        Job { entry: Entry::Wanted, ..Job::new(path.into(), specs) }
    }

    /// Files of up to this many bytes are read in one go: every question to the system takes as long as hashing some of that.
    pub const SHORT: u64 = SHORT;

    /// The metadata of a [short entry](Job::short_entry) before it was read; if the job has roots, it was unchanged at the end.
    pub fn facts(&self) -> Option<Facts> {
        match self.entry {
            Entry::Opened(facts) => Some(facts),
            Entry::No | Entry::Wanted => None,
        }
    }
}

/// The roots of one input, computed by all threads of the options.
///
/// # Errors
/// If the input cannot be read, or changes while it is read: then there is no root in any format.
pub fn hash(job: &Job, options: &Options) -> Result<Roots, Error> {
    hash_opened(open_job(job, options)?, job, options)
}

/// Opens what a job is about, if it has the version that the job wants.
pub(crate) fn open_job(job: &Job, options: &Options) -> Result<Opened, Error> {
    let waiting = if options.pipes { Waiting::ForWriter } else { Waiting::Never };
    let opened = open_with(&job.input, job.window, waiting, options)?;
    match (&opened, &job.version) {
        (Opened::File(file), Some(planned)) => file.check_version(planned)?,
        (Opened::Stream(file), _) if !options.pipes && job.input != Input::Stdin && waits(file) => {
            return Err(Error::refused(&job.input, Refusal::Pipe));
        }
        _ => {}
    }
    Ok(opened)
}

pub(crate) fn hash_opened(opened: Opened, job: &Job, options: &Options) -> Result<Roots, Error> {
    let input = &job.input;
    match opened {
        Opened::File(file) => hash_file(*file, &job.specs),
        Opened::Stream(mut stream) => {
            widen_pipe(&stream);
            let mut stream = Stream::new(&mut stream, input, options);
            let len = job.window.map_or(Ok(None), |window| stream.enter(window))?;
            let roots = hash_stream(&mut stream, None, input, &job.specs, options)?;
            stream.check(len)?;
            Ok(roots.expect("a stream is read once"))
        }
    }
}

/// The roots of all bytes that `reader` has, read once by the calling thread and hashed by those of the options; `name` is for
/// errors.
///
/// ```
/// use mksum_io::{Input, Options, hash_reader};
///
/// let spec: mksum::Spec = "blake3".parse()?;
/// let roots = hash_reader(&mut &b"some bytes"[..], &Input::place("memory"), &[spec.clone()], &Options::new())?;
/// assert_eq!(*roots[0].as_ref().unwrap(), spec.root(b"some bytes")?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If a read fails, or the work is [stopped](crate::Stop): then there is no root in any format.
pub fn hash_reader(
    reader: &mut (dyn Read + Send),
    name: &Input,
    specs: &[Spec],
    options: &Options,
) -> Result<Roots, Error> {
    let roots = hash_stream(&mut Stream::new(reader, name, options), None, name, specs, options)?;
    Ok(roots.expect("a stream is read once"))
}

/// What decides about the hashing of a file.
pub(crate) fn traits(file: &File, specs: &[Spec]) -> Traits {
    let mut messages = specs.iter().map(|spec| spec.single_leaf(file.len()));
    // All formats share the bytes that are read, and so the zeros after them.
    let is_chain = match messages.next().flatten() {
        None => false,
        Some(first) => messages.all(|message| message.is_some_and(|message| message.zeros == first.zeros)),
    };
    Traits {
        len: file.len(),
        is_chain,
        formats: specs.len(),
        is_in_order: file.is_in_order(),
        is_object: file.is_object(),
        mode: file.options().mode,
    }
}

pub(crate) fn hash_file(file: File, specs: &[Spec]) -> Result<Roots, Error> {
    let specs = &specs.iter().map(|spec| file.format(spec)).collect::<Vec<_>>();
    let roots = match traits(&file, specs).order() {
        Order::Pieces => None,
        Order::Once => {
            let options = file.options().clone();
            let mut bytes = InOrder { file: &file, done: 0, buffer: Buffer::default() };
            hash_stream(&mut bytes, Some(file.len()), file.input(), specs, &options)?
        }
    };
    let roots = match roots {
        Some(roots) => roots,
        None => {
            // Without threads for all formats at once, the file is read once for each.
            file.options().meter.expect(file.len() * (specs.len() as u64 - 1));
            specs.iter().map(|spec| hash_pieces(&file, spec)).collect::<Result<_, _>>()?
        }
    };
    file.finish()?;
    Ok(roots)
}

/// The root of a file in one format, or why that format has none: its pieces are read by many threads.
fn hash_pieces(file: &File, spec: &Spec) -> Result<Result<Root, Error>, Error> {
    let sparse = Sparse::of(file, spec);
    let read = |offset, buffer: &mut [u8]| Ok(file.fill(offset, buffer)?);
    let device = file.options().accelerator.as_deref();
    let root = match device.and_then(|device| Accelerated::new(device, spec, &read).zip(Some(device))) {
        None => spec.root_parallel(&sparse, file.len(), &file.plan(spec)),
        Some((large, device)) => {
            let plan = Plan { threads: device.threads(), piece: large.longest(), group: 1 };
            spec.root_parallel(&(large, sparse), file.len(), &plan)
        }
    };
    match root.map_err(|error| Error::from_join(error, file.input(), spec)) {
        Err(error) if !matches!(error, Error::Format { .. }) => Err(error),
        root => Ok(root),
    }
}

/// A stream with its path, for errors.
pub(crate) struct Stream<'a> {
    stream: &'a mut (dyn Read + Send),
    input: &'a Input,
    /// The bytes read so far.
    done: u64,
    /// The offset at which it is left.
    end: u64,
    options: &'a Options,
}

impl<'a> Stream<'a> {
    /// A stream that is hashed to its end.
    pub fn new(stream: &'a mut (dyn Read + Send), input: &'a Input, options: &'a Options) -> Self {
        Stream { stream, input, done: 0, end: u64::MAX, options }
    }

    /// Reads up to the beginning of a part of it, at whose end it is left: the length of the part, if it has one.
    fn enter(&mut self, window: Window) -> Result<Option<u64>, Error> {
        let mut skipped = vec![0; 1 << 20];
        while self.done < window.start {
            let most = (window.start - self.done).min(skipped.len() as u64) as usize;
            if self.fill(&mut skipped[..most])? < most {
                return Err(Error::refused(self.input, Refusal::Range { window, len: self.done }));
            }
        }
        self.end = window.end.unwrap_or(u64::MAX);
        Ok(window.end)
    }

    /// Refuses a stream that ended before byte `end`.
    fn check(&self, end: Option<u64>) -> Result<(), Error> {
        match end {
            Some(end) if self.done < end => {
                let window = Window { start: 0, end: Some(end) };
                Err(Error::refused(self.input, Refusal::Range { window, len: self.done }))
            }
            _ => Ok(()),
        }
    }
}

impl Bytes for Stream<'_> {
    fn fill(&mut self, buffer: &mut [u8]) -> Result<usize, Error> {
        let most = (self.end - self.done).min(buffer.len() as u64) as usize;
        let (buffer, mut len) = (&mut buffer[..most], 0);
        while len < buffer.len() {
            self.options.stop.check(self.input)?;
            match uninterrupted(|| self.stream.read(&mut buffer[len..])) {
                Ok(0) => break,
                Ok(more) => {
                    len += more;
                    self.options.meter.add(more as u64);
                    if let Some(throttle) = &self.options.throttle {
                        throttle.wait(more as u64);
                    }
                }
                Err(error) => {
                    return Err(Error::Read { path: self.input.clone(), offset: self.done + len as u64, error });
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
        if self.file.is_object() {
            self.file.reader.read_through(self.done, &mut buffer[..len])?;
        } else if len > 0 {
            let (bytes, _) = self.file.reader.read(self.done, len, len, &mut self.buffer)?;
            buffer[..len].copy_from_slice(bytes.get(0));
        }
        self.done += len as u64;
        Ok(len)
    }
}
