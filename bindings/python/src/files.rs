//! Roots of files.

use crate::ending;
use crate::errors;
use crate::places::input_of;
use crate::python_file::{self, Descriptor};
use crate::root::{self, Root};
use crate::spec::{Format, Wanted};
use crate::work::{Call, Stop, TICK};
use mksum::Spec;
use mksum_io::{Error, Input, Job, Options, Roots, Window, hash, hash_reader};
use pyo3::prelude::*;
use std::fs;
use std::num::NonZero;
use std::path::Path;

/// Files of up to this many bytes are hashed before a signal could matter.
const SHORT: u64 = 1 << 20;

/// Returns the root of a file, read in parallel and hashed on all cores.
///
/// Args:
///     source: A path, or an object with `read`, from its position to its end: an open file, an fsspec file, an obstore reader
///         (`obstore.open_reader`), a socket's file. It is read in the calling thread and left at its end.
///     fmt: A format, or a list of them, which share one read.
///     threads: The threads that read and hash: as many as the process may run on, if None.
///     on_progress: Called about 40 times a second with the number of bytes since the last call, as `tqdm.update` wants it.
///         If it raises, the work is stopped.
///     stop: Ends the call from another thread.
///
/// Returns:
///     A `Root`, or a list of one root for each format.
///
/// Raises:
///     FormatError: A format is unknown.
///     LengthError: A format has no root for this length.
///     FileError: The file cannot be opened (`NotFoundError`, `DeniedError`, `DirectoryError`) or read, from byte `offset` on.
///     ChangedError: The file was changed while it was read.
///     RefusedError: The device never ends.
///     StoppedError: `stop` was used.
///     KeyboardInterrupt: Within 100 ms.
#[pyfunction]
#[pyo3(signature = (source, fmt = Wanted::One(Format(Spec::default())), *, threads = None, on_progress = None, stop = None),
       text_signature = "(source, fmt='rfc6962', *, threads=None, on_progress=None, stop=None)")]
pub fn file_root<'py>(
    py: Python<'py>,
    source: Bound<'py, PyAny>,
    fmt: Wanted,
    threads: Option<NonZero<usize>>,
    on_progress: Option<Py<PyAny>>,
    stop: Option<&Bound<'py, Stop>>,
) -> PyResult<Bound<'py, PyAny>> {
    let (mut call, specs) = (Call::new(threads, on_progress, stop), fmt.specs());
    let roots = if source.hasattr("read")? {
        match ending::call(py, || Descriptor::of(&source))? {
            Some(open) => {
                let window = Window { start: open.position, end: None };
                let roots = file(py, &mut call, open.path.into(), Some(window), specs);
                let roots = roots.inspect_err(|error| python_file::name_in(error, &source))?;
                ending::call(py, || python_file::leave(&source))?;
                roots
            }
            None => python_file::roots(&source, &mut call, specs)?,
        }
    } else {
        file(py, &mut call, input_of(&source)?, None, specs)?
    };
    fmt.answer(py, roots)
}

/// The roots of a part of what is at a path, or all of it.
fn file(
    py: Python<'_>,
    call: &mut Call,
    input: Input,
    window: Option<Window>,
    specs: Vec<Spec>,
) -> PyResult<Vec<Root>> {
    let metadata = input.file().and_then(|path| fs::metadata(path).ok());
    let is_short = match (&input, &call.options.objects) {
        // To begin a thread takes as long as to fetch a small object from a server nearby.
        (Input::Url(url), Some(stores)) if call.is_unwatched() => ending::detach(py, || stores.fetched(url, TICK)),
        _ => metadata.as_ref().is_some_and(|found| found.is_file() && found.len() <= SHORT),
    };
    let is_pipe = metadata.is_some_and(|found| is_pipe(&found));
    let mut job = Job::new(input, specs);
    job.window = window;
    let work = move |options: &Options| match &job.input {
        Input::File(path) if is_pipe => pipe(path, &job.specs, options),
        _ => hash(&job, options),
    };
    let roots = if is_short && call.is_unwatched() {
        let options = call.options.clone();
        ending::detach(py, move || work(&options))
    } else {
        call.run(py, work)?
    };
    root::all(py, roots.map_err(|error| errors::io(py, error))?)
}

/// The roots of what a named pipe has. Unlike other files it is read as a reader, which can be stopped between reads.
fn pipe(path: &Path, specs: &[Spec], options: &Options) -> Result<Roots, Error> {
    let mut pipe = fs::File::open(path).map_err(|error| Error::Open { path: path.into(), error })?;
    hash_reader(&mut pipe, &path.into(), specs, options)
}

#[cfg(unix)]
fn is_pipe(metadata: &fs::Metadata) -> bool {
    std::os::unix::fs::FileTypeExt::is_fifo(&metadata.file_type())
}

#[cfg(not(unix))]
fn is_pipe(_: &fs::Metadata) -> bool {
    false
}
