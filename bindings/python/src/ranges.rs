//! Many parts: those that follow one another are read in one go, and whole inputs side by side.

use crate::ending;
use crate::errors;
use crate::parts::subtree;
use crate::rows::{Planned, Row, hashed, planned};
use crate::work::{Call, Stop, TICK};
use mksum::Digest;
use mksum_io::{Error, File, Input, Job, Options, hash_all, is_url};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyIterator};
use std::collections::VecDeque;
use std::num::NonZero;
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;

/// The rows that are taken before the first result is handed out.
const AHEAD: usize = 1024;

/// The longest run of parts that is read in one go; fewer than [`AHEAD`], so that the run's end is known.
const RUN: usize = 256;

/// The iterator of `map_ranges`. When it is deleted, the work ends.
#[pyclass(frozen, module = "mksum")]
pub struct Ranges {
    state: Mutex<State>,
}

struct State {
    call: Call,
    /// The rows that were not taken yet; `None` when there are no more.
    rows: Option<Py<PyIterator>>,
    /// What ended the rows too early: raised after the results before it.
    failure: Option<PyErr>,
    /// The rows that are begun, and why one of them cannot be hashed.
    begun: VecDeque<(Py<PyAny>, Option<PyErr>)>,
    work: Option<Sender<Work>>,
    results: Option<Receiver<Outcome>>,
    /// The error of the row before.
    last: Option<Py<PyAny>>,
}

/// A row and its input.
type Work = (Row, Planned);

/// The digest of a part, or its error; `None` if it has the error of the row before, with which it was read.
type Outcome = Option<Result<Digest, Error>>;

impl Drop for State {
    fn drop(&mut self) {
        self.call.options.stop.stop();
    }
}

/// Hashes many rows of `plan` and yields a pair for each, in their order: a worker's task.
///
/// Parts of one input that follow one another are read in one go, and whole inputs are hashed side by side, over the same
/// connections to stores.
///
/// Args:
///     rows: Any iterable of rows of `plan`. About 1000 of them are taken ahead.
///     threads: The threads that read and hash: as many as the process may run on, if None.
///     on_progress: Called with the number of bytes since the last call.
///     stop: Ends the iteration from another thread.
///
/// Yields:
///     `(row, result)`: the row as it was given, and what `map_range` returns for it or the `MksumError` that it raises. A row
///     that fails ends only those with which it is read.
///
/// Raises:
///     StoppedError: `stop` was used.
///     KeyboardInterrupt: Within 100 ms.
#[pyfunction]
#[pyo3(signature = (rows, *, threads = None, on_progress = None, stop = None))]
pub fn map_ranges(
    rows: &Bound<'_, PyAny>,
    threads: Option<NonZero<usize>>,
    on_progress: Option<Py<PyAny>>,
    stop: Option<&Bound<'_, Stop>>,
) -> PyResult<Ranges> {
    let call = Call::new(threads, on_progress, stop);
    let (work, taken) = mpsc::channel::<Work>();
    let (sender, results) = mpsc::channel();
    let options = call.options.clone();
    let rows = Some(rows.try_iter()?.unbind());
    thread::Builder::new().name("mksum".into()).spawn(move || Worker { taken, next: None, sender, options }.run())?;
    let begun = VecDeque::new();
    let state = State { call, rows, failure: None, begun, work: Some(work), results: Some(results), last: None };
    Ok(Ranges { state: Mutex::new(state) })
}

/// The thread that hashes.
struct Worker {
    taken: Receiver<Work>,
    /// A row that was taken, and belongs to what comes next.
    next: Option<Work>,
    sender: Sender<Outcome>,
    options: Options,
}

impl Worker {
    fn take(&mut self) -> Option<Work> {
        self.next.take().or_else(|| self.taken.recv().ok())
    }

    /// Hashes until there are no more rows, or nobody waits for the results.
    fn run(mut self) {
        while let Some((row, input)) = self.take() {
            let done = match row.is_whole() {
                true => self.inputs((row, input)),
                false => self.parts(row, input),
            };
            if done.is_break() {
                return;
            }
        }
    }

    fn send(&self, outcome: Outcome) -> ControlFlow<()> {
        match self.sender.send(outcome) {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    }

    /// Hashes whole inputs side by side, as long as they come.
    fn inputs(&mut self, first: Work) -> ControlFlow<()> {
        let mut ended = ControlFlow::Continue(());
        let (sender, options) = (self.sender.clone(), self.options.clone());
        let mut first = Some(first);
        let jobs = std::iter::from_fn(|| {
            let (row, input) = first.take().or_else(|| self.take())?;
            if !row.is_whole() {
                self.next = Some((row, input));
                return None;
            }
            let mut job = Job::new(Input::Path(input.path), vec![row.spec]);
            job.version = Some((input.version, input.size));
            Some(job)
        });
        hash_all(jobs.fuse(), &options, |_, roots, _| {
            let digest = roots.and_then(|mut roots| roots.remove(0)).map(|root| root.digest());
            ended = match sender.send(Some(digest)) {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            };
            ended
        });
        ended
    }

    /// Hashes a part, and those that follow it in its input.
    fn parts(&mut self, first: Row, input: Planned) -> ControlFlow<()> {
        let mut run = vec![first];
        while run.len() < RUN
            && let Some((row, other)) = self.take()
        {
            let last = &run[run.len() - 1];
            let follows = !row.is_whole()
                && row.node.start == last.node.end()
                && (&row.spec, row.size) == (&last.spec, last.size)
                && (&other.path, &other.version) == (&input.path, &input.version);
            if !follows {
                self.next = Some((row, other));
                break;
            }
            run.push(row);
        }
        let range = run[0].node.start..run[run.len() - 1].node.end();
        let opened = || {
            let file = File::open_part(&input.path, range.clone(), &self.options)?;
            file.check_version(&(input.version.clone(), input.size)).map(|()| file)
        };
        let is_object = is_url(&input.path);
        let mut file = None;
        for (index, row) in run.iter().enumerate() {
            // A file of this machine is compared with itself after each part; the bytes of an object have their version.
            let digest = file.take().map_or_else(opened, Ok).and_then(|open| {
                let digest = subtree(&open, row)?;
                match is_object {
                    true => file = Some(open),
                    false => open.finish()?,
                }
                Ok(digest)
            });
            let failed = digest.is_err();
            self.send(Some(digest))?;
            if failed {
                for _ in index + 1..run.len() {
                    self.send(None)?;
                }
                break;
            }
        }
        ControlFlow::Continue(())
    }
}

#[pymethods]
impl Ranges {
    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<(Py<PyAny>, Bound<'py, PyAny>)>> {
        let mut state = ending::lock(py, &self.state);
        state.begin(py);
        let Some((row, refused)) = state.begun.pop_front() else {
            state.call.attend(py)?;
            return state.failure.take().map_or(Ok(None), Err);
        };
        let result = match refused {
            Some(error) => error.into_value(py).into_bound(py).into_any(),
            None => match state.next(py)? {
                Some(Ok(digest)) => hashed(row.bind(py).cast::<PyDict>()?, &digest)?.into_any(),
                Some(Err(error)) => {
                    let error = errors::io(py, error).into_value(py).into_any();
                    state.last = Some(error.clone_ref(py));
                    error.into_bound(py)
                }
                None => {
                    let last = state.last.as_ref().map(|error| error.clone_ref(py));
                    last.unwrap_or_else(|| py.None()).into_bound(py)
                }
            },
        };
        state.call.attend(py)?;
        Ok(Some((row, result)))
    }
}

impl State {
    /// Takes rows until enough are begun.
    fn begin(&mut self, py: Python<'_>) {
        while self.begun.len() < AHEAD
            && let Some(rows) = &self.rows
        {
            match ending::call(py, || rows.bind(py).clone().next()) {
                Some(Ok(object)) => {
                    let refused = match read(&object) {
                        Ok(work) => {
                            // The other end is gone only after a stop, which `next` reports.
                            let _ = self.work.as_ref().map(|sender| sender.send(work));
                            None
                        }
                        Err(error) => Some(error),
                    };
                    self.begun.push_back((object.unbind(), refused));
                }
                end => {
                    self.failure = end.and_then(Result::err);
                    (self.rows, self.work) = (None, None);
                }
            }
        }
    }

    /// The next outcome. After a stop there are no more.
    fn next(&mut self, py: Python<'_>) -> PyResult<Outcome> {
        let ended = || errors::error(py, "StoppedError", "the iteration was ended");
        let mut results = self.results.take().ok_or_else(ended)?;
        let result = loop {
            let received;
            (results, received) = ending::detach(py, move || {
                let received = results.recv_timeout(TICK);
                (results, received)
            });
            match received {
                Ok(Some(Err(error @ Error::Stopped { .. }))) => break Err(errors::io(py, error)),
                Ok(outcome) => break Ok(outcome),
                Err(RecvTimeoutError::Disconnected) => break Err(ended()),
                Err(RecvTimeoutError::Timeout) => {
                    if let Err(error) = self.call.attend(py) {
                        break Err(error);
                    }
                }
            }
        };
        match result {
            Ok(_) => self.results = Some(results),
            Err(_) => {
                (self.rows, self.work) = (None, None);
                self.begun.clear();
                self.call.options.stop.stop();
            }
        }
        result
    }
}

/// The part and the input of a row.
fn read(row: &Bound<'_, PyAny>) -> PyResult<Work> {
    let row = row.cast::<PyDict>()?;
    let part = Row::of(row)?;
    part.check(row.py())?;
    Ok((part, planned(row)?))
}
