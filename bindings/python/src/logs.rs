//! Append-only logs: the writer, readers, mirrors, and the check of all files.

use crate::data::Data;
use crate::ending;
use crate::errors;
use crate::notes::{Checkpoint, ConsistencyProof, Note, Proof, Trusted, verifier};
use crate::places::{input_of, path_of};
use crate::work::{Call, Stop};
use mksum_io::{Input, Options, open_bytes};
use mksum_log::{Error, Folder, Source};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyRange};
use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::{ErrorKind, Read};
use std::sync::{Arc, Mutex};

/// The entries that are appended, or read, between two looks at signals.
const STEP: usize = 4096;
/// The entries of a bundle, which is read and verified as a whole.
const BUNDLE: u64 = 256;

/// The files of a log at a path or URL, until the call that reads them is stopped.
struct Place {
    input: Input,
    options: Options,
}

impl Source for Place {
    fn read(&self, name: &str, at_most: usize) -> Result<Option<Vec<u8>>, Error> {
        let failed = |why: String| Error::Source { name: name.into(), why };
        if self.options.stop.is_stopped() {
            return Err(failed("stopped".into()));
        }
        if let Input::File(path) = &self.input {
            return Folder::new(path).read(name, at_most);
        }
        let reader = match open_bytes(&self.input.join(name.as_ref()), &self.options) {
            Err(mksum_io::Error::Open { error, .. }) if error.kind() == ErrorKind::NotFound => return Ok(None),
            opened => opened.map_err(|error| failed(error.to_string()))?,
        };
        let mut bytes = Vec::new();
        reader.take(at_most as u64 + 1).read_to_end(&mut bytes).map_err(|error| failed(error.to_string()))?;
        match bytes.len() > at_most {
            true => Err(failed(format!("longer than {at_most} bytes"))),
            false => Ok(Some(bytes)),
        }
    }
}

/// Runs `work` on a log in a thread of its own, and ends its reads if the call is stopped or interrupted.
fn run<T: Send + 'static>(
    py: Python<'_>,
    stop: Option<&Bound<'_, Stop>>,
    work: impl FnOnce(&Options) -> Result<T, Error> + Send + 'static,
) -> PyResult<T> {
    let mut call = Call::new(None, None, stop);
    let result = call.run(py, work)?;
    match call.options.stop.is_stopped() {
        true => Err(errors::error(py, "StoppedError", "the work on the log was stopped")),
        false => result.map_err(|error| errors::log(py, error)),
    }
}

/// A log that is open to be written, in a folder of files that any web server can serve (`spec/log.md`).
///
/// `create` makes one, and `open` opens it again. One process writes at a time: `close` it, or use it in a `with` block, which makes no
/// checkpoint at its end. `.mksum` in the folder has the secret key, and is never to be served.
///
/// Example:
///     >>> import tempfile
///     >>> with tempfile.TemporaryDirectory() as folder, Log.create(folder, "example.com/ledger") as log:
///     ...     log.append([b"one", b"two"]), log.checkpoint().size
///     (range(0, 2), 2)
#[pyclass(frozen, module = "mksum.log")]
pub struct Log {
    log: Mutex<Option<mksum_log::Log>>,
}

impl Log {
    /// Calls `work` with the open log, without the GIL.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut mksum_log::Log) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        let mut log = ending::lock(py, &self.log);
        let Some(log) = log.as_mut() else {
            return Err(errors::error(py, "RefusedError", "this log is closed: open it again"));
        };
        ending::detach(py, || work(log)).map_err(|error| errors::log(py, error))
    }
}

#[pymethods]
impl Log {
    /// Makes an empty log in a new or empty folder, with a new key, and publishes its first checkpoint.
    ///
    /// Args:
    ///     path: The folder.
    ///     origin: The name of the log and its key: mostly the URL where it will be served, without the scheme. It has no spaces and no `+`.
    ///
    /// Raises:
    ///     RefusedError: The folder has files, or the origin is none.
    ///     FileError: A file cannot be written.
    #[staticmethod]
    fn create(py: Python<'_>, path: &Bound<'_, PyAny>, origin: &str) -> PyResult<Self> {
        let path = path_of(path)?;
        let log = ending::detach(py, || mksum_log::Log::create(&path, origin));
        log.map(|log| Log { log: Mutex::new(Some(log)) }).map_err(|error| errors::log(py, error))
    }

    /// Opens a log to append to it. After a crash it goes on from the last checkpoint that was signed.
    ///
    /// Args:
    ///     path: The folder.
    ///
    /// Raises:
    ///     RefusedError: There is no log; another process writes to it; others can read its key; or its tree does not extend the last
    ///         checkpoint that was signed, as after an incomplete restore.
    ///     FileError: A file cannot be read or written.
    #[staticmethod]
    fn open(py: Python<'_>, path: &Bound<'_, PyAny>) -> PyResult<Self> {
        let path = path_of(path)?;
        let log = ending::detach(py, || mksum_log::Log::open(&path));
        log.map(|log| Log { log: Mutex::new(Some(log)) }).map_err(|error| errors::log(py, error))
    }

    /// The public key as `NAME+ID+KEY`: give it to those who check.
    #[getter]
    fn verifier(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |log| Ok(log.verifier().to_string()))
    }

    /// The folder.
    #[getter]
    fn path(&self, py: Python<'_>) -> PyResult<OsString> {
        self.with(py, |log| Ok(log.path().as_os_str().to_owned()))
    }

    /// The number of entries, with those that no checkpoint covers yet.
    #[getter]
    fn size(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |log| Ok(log.size()))
    }

    /// The last checkpoint, with its signatures.
    #[getter]
    fn note(&self, py: Python<'_>) -> PyResult<Note> {
        self.with(py, |log| Ok(Note { note: log.note().clone() }))
    }

    /// Appends entries, and returns their indices.
    ///
    /// They are in the log once `checkpoint` returns: after a crash before that, they are not. Batches are fast, and each `checkpoint`
    /// waits for the disk.
    ///
    /// Args:
    ///     entries: Any iterable of objects with the buffer protocol, each of 0 to 65,535 bytes. They are read into memory first.
    ///
    /// Raises:
    ///     RefusedError: An entry is too long: then none is appended.
    ///     FileError: A file cannot be written: open the log again.
    ///     KeyboardInterrupt: `size` says how many of the entries were appended.
    fn append<'py>(&self, py: Python<'py>, entries: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyRange>> {
        let copied = |entry: PyResult<Bound<'py, PyAny>>| -> PyResult<Vec<u8>> {
            // A copy: what another thread writes meanwhile must not come between an entry and its hash.
            Ok(entry?.extract::<Data>()?.bytes().to_vec())
        };
        let entries = ending::call(py, || entries.try_iter()?.map(copied).collect::<PyResult<Vec<_>>>())?;
        if let Some((at, entry)) = entries.iter().enumerate().find(|(_, entry)| entry.len() > mksum_log::LONGEST_ENTRY)
        {
            return Err(errors::log(py, Error::TooLong { number: at as u64 + 1, len: entry.len() as u64 }));
        }
        let mut indices = self.with(py, |log| log.append(entries.iter().take(STEP)))?;
        for entries in entries.chunks(STEP).skip(1) {
            ending::call(py, || py.check_signals())?;
            indices.end = self.with(py, |log| log.append(entries))?.end;
        }
        PyRange::new(py, indices.start.try_into()?, indices.end.try_into()?)
    }

    /// Signs and publishes a checkpoint of all entries, and returns it. When it returns, they are on the disk and in the log for good.
    ///
    /// Raises:
    ///     FileError: A file cannot be written: open the log again.
    fn checkpoint(&self, py: Python<'_>) -> PyResult<Checkpoint> {
        self.with(py, |log| log.checkpoint().cloned()).map(Checkpoint::from)
    }

    /// Adds a witness's signature to the last checkpoint, and publishes it so (C2SP tlog-cosignature).
    ///
    /// Args:
    ///     line: The signature line: an em dash, the witness's name, and base64.
    ///     witness: The witness's verifier key, `NAME+ID+KEY`.
    ///
    /// Raises:
    ///     ProofError: It is not a valid signature of that checkpoint by the key.
    ///     FileError: A file cannot be written.
    fn add_cosignature(&self, py: Python<'_>, line: &str, witness: &str) -> PyResult<()> {
        let witness = verifier(py, witness)?;
        self.with(py, |log| log.add_cosignature(line, &witness))
    }

    /// Releases the log for other writers. Entries that no checkpoint covers are not in it.
    fn close(&self, py: Python<'_>) {
        drop(ending::lock(py, &self.log).take());
    }

    fn __enter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __exit__(
        &self,
        py: Python<'_>,
        _type: &Bound<'_, PyAny>,
        _value: &Bound<'_, PyAny>,
        _traceback: &Bound<'_, PyAny>,
    ) {
        self.close(py);
    }
}

/// A log as everyone can read it: a folder or a URL. Whatever a method returns was verified against the checkpoint's root.
#[pyclass(frozen, module = "mksum.log")]
pub struct Published {
    log: Arc<mksum_log::Published<Place>>,
}

/// Opens a log whose checkpoint is signed as wanted.
fn opened(input: Input, trusted: Option<Trusted>, options: &Options) -> Result<mksum_log::Published<Place>, Error> {
    let place = Place { input, options: options.clone() };
    match trusted {
        Some(trusted) => mksum_log::Published::verified(place, &trusted.0),
        None => mksum_log::Published::unverified(place),
    }
}

impl Published {
    /// Runs `work` on the log, with the checkpoint that was read when it was opened.
    fn run<T: Send + 'static>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mksum_log::Published<Place>) -> Result<T, Error> + Send + 'static,
    ) -> PyResult<T> {
        let log = self.log.clone();
        run(py, None, move |_| work(&log))
    }
}

#[pymethods]
impl Published {
    /// Reads the newest checkpoint of a log.
    ///
    /// Args:
    ///     place: The folder or URL.
    ///     trusted: A `Policy`; or the text of one, such as a verifier key. If None, signatures are not looked at: proofs are made so, and
    ///         whoever checks them verifies the signatures.
    ///
    /// Raises:
    ///     LogError: There is no checkpoint.
    ///     ProofError: It is not signed as wanted.
    ///     FileError: It cannot be read.
    #[staticmethod]
    #[pyo3(signature = (place, trusted = None))]
    fn open(py: Python<'_>, place: &Bound<'_, PyAny>, trusted: Option<Trusted>) -> PyResult<Self> {
        let input = input_of(place)?;
        let log = run(py, None, move |options| opened(input, trusted, options))?;
        Ok(Published { log: Arc::new(log) })
    }

    /// The checkpoint.
    #[getter]
    fn checkpoint(&self) -> Checkpoint {
        self.log.checkpoint().clone().into()
    }

    /// The checkpoint with its signatures.
    #[getter]
    fn note(&self) -> Note {
        Note { note: self.log.note().clone() }
    }

    /// Returns a proof that the entry at `index`, from 0, is in the log.
    ///
    /// Raises:
    ///     RefusedError: There is no such entry.
    ///     LogError: A tile is missing or damaged.
    fn inclusion(&self, py: Python<'_>, index: u64) -> PyResult<Proof> {
        self.run(py, move |log| log.inclusion(index)).map(|proof| Proof { proof })
    }

    /// Returns a proof that the log has only grown since it had `old` entries.
    ///
    /// Raises:
    ///     RefusedError: It has fewer now.
    ///     LogError: A tile is missing or damaged.
    fn consistency(&self, py: Python<'_>, old: u64) -> PyResult<ConsistencyProof> {
        self.run(py, move |log| log.consistency(old)).map(|proof| ConsistencyProof { proof })
    }

    /// Returns the entry at `index`, from 0.
    ///
    /// Raises:
    ///     RefusedError: There is no such entry.
    ///     LogError: A file is missing or damaged.
    fn entry<'py>(&self, py: Python<'py>, index: u64) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.run(py, move |log| log.entry(index))?))
    }

    /// Yields the entries from `start` to before `end`, in order; to the last one if `end` is None.
    ///
    /// Raises:
    ///     LogError: A file is missing or damaged. The entries before it were yielded.
    #[pyo3(signature = (start = 0, end = None))]
    fn entries(&self, start: u64, end: Option<u64>) -> LogEntries {
        let size = self.log.checkpoint().size();
        let end = end.unwrap_or(size).min(size);
        LogEntries { log: Published { log: self.log.clone() }, state: Mutex::new((start, VecDeque::new())), end }
    }
}

/// The iterator over a log's entries.
#[pyclass(frozen, module = "mksum.log")]
pub struct LogEntries {
    log: Published,
    /// The next index that is to be read, and the entries before it that were read.
    state: Mutex<(u64, VecDeque<Vec<u8>>)>,
    end: u64,
}

#[pymethods]
impl LogEntries {
    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let mut state = ending::lock(py, &self.state);
        if state.1.is_empty() && state.0 < self.end {
            let start = state.0;
            // Whole bundles at a time, since each is read and verified as a whole.
            let end = self.end.min((start / BUNDLE).saturating_add(STEP as u64 / BUNDLE) * BUNDLE);
            let read = self.log.run(py, move |log| log.entries(start..end).collect::<Result<_, _>>())?;
            *state = (end, read);
        }
        Ok(state.1.pop_front().map(|entry| PyBytes::new(py, &entry)))
    }
}

/// Brings the mirror of a log in a folder up to date: verifies each step before it is written, and catches a log that contradicts itself.
///
/// Args:
///     source: The log: a folder or a URL.
///     path: The folder of the mirror; it may be new.
///     trusted: A `Policy`; or the text of one, such as a verifier key.
///     stop: A `mksum.Stop` with which another thread ends the work. The mirror stays at its last checkpoint, and can go on.
///
/// Returns:
///     A dict (`mksum.log.Followed`): `before`, the number of entries that the mirror had, and `checkpoint`, the one that it has now.
///
/// Raises:
///     ContradictionError: The log shows an older tree than before, or another one. The mirror stays as it was, and both signed
///         checkpoints are in the folder `path` of the exception.
///     ProofError: The new checkpoint is not signed as wanted.
///     LogError: Files of the log are missing or damaged.
///     RefusedError: The folder is that of another log, or of the log itself.
///     FileError: A file cannot be read or written.
///     StoppedError: `stop` was used.
///     KeyboardInterrupt: Within 100 ms.
#[pyfunction]
#[pyo3(signature = (source, path, trusted, *, stop = None))]
pub fn follow<'py>(
    py: Python<'py>,
    source: &Bound<'py, PyAny>,
    path: &Bound<'py, PyAny>,
    trusted: Trusted,
    stop: Option<&Bound<'py, Stop>>,
) -> PyResult<Bound<'py, PyDict>> {
    let (input, path) = (input_of(source)?, path_of(path)?);
    let followed = run(py, stop, move |options| {
        mksum_log::follow(Place { input, options: options.clone() }, &path, &trusted.0, &mut |_| {})
    })?;
    let row = PyDict::new(py);
    row.set_item("before", followed.before)?;
    row.set_item("checkpoint", Checkpoint::from(followed.checkpoint))?;
    Ok(row)
}

/// Reads every file of a log, and compares entries, tiles and the checkpoint's root.
///
/// Args:
///     place: The folder or URL.
///     trusted: A `Policy`; or the text of one, such as a verifier key. If None, signatures are not looked at.
///     stop: A `mksum.Stop` with which another thread ends the work.
///
/// Returns:
///     A dict (`mksum.log.Report`): `entries` and `files`, the numbers that were checked, and `problems`, a list of at most 1,000
///     errors; it is empty if all is well.
///
/// Raises:
///     LogError, ProofError, FileError: There is no checkpoint that can be read and is signed as wanted.
///     StoppedError: `stop` was used.
///     KeyboardInterrupt: Within 100 ms.
#[pyfunction]
#[pyo3(signature = (place, trusted = None, *, stop = None))]
pub fn fsck<'py>(
    py: Python<'py>,
    place: &Bound<'py, PyAny>,
    trusted: Option<Trusted>,
    stop: Option<&Bound<'py, Stop>>,
) -> PyResult<Bound<'py, PyDict>> {
    let input = input_of(place)?;
    let report = run(py, stop, move |options| Ok(mksum_log::fsck(&opened(input, trusted, options)?, &mut |_| {})))?;
    let problems: Vec<_> = report.problems.into_iter().map(|problem| errors::log(py, problem)).collect();
    let row = PyDict::new(py);
    row.set_item("entries", report.entries)?;
    row.set_item("files", report.files)?;
    row.set_item("problems", problems)?;
    Ok(row)
}
