//! Many parts: those that follow one another are read in one go, and whole inputs side by side.

use crate::ahead::Ahead;
use crate::ending;
use crate::errors;
use crate::parts::subtree;
use crate::rows::{Planned, Row, hashed, planned};
use crate::work::{Call, Stop};
use mksum::Digest;
use mksum_io::{Error, File, Input, Job, Options, hash_all};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::num::NonZero;
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender};

/// The longest run of parts that is read in one go; fewer than [`AHEAD`](crate::ahead::AHEAD), so that the run's end is known.
const RUN: usize = 256;

/// The iterator of `map_ranges`. When it is deleted, the work ends.
#[pyclass(frozen, module = "mksum")]
pub struct Ranges {
    state: Mutex<State>,
}

struct State {
    ahead: Ahead<Work, Option<Digest>>,
    /// The error of the row before.
    last: Option<Py<PyAny>>,
}

/// A row and its input.
type Work = (Row, Planned);

/// The digest of a part, or its error; no digest if it has the error of the row before, with which it was read.
type Outcome = Result<Option<Digest>, Error>;

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
    let ahead = Ahead::of(Call::new(threads, on_progress, stop), rows, |taken, sender, options| {
        Worker { taken, next: None, sender, options: options.clone() }.run();
    })?;
    Ok(Ranges { state: Mutex::new(State { ahead, last: None }) })
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
            let mut job = Job::new(input.path, vec![row.spec]);
            job.version = Some((input.version, input.size));
            Some(job)
        });
        hash_all(jobs.fuse(), &options, |_, roots, _| {
            let digest = roots.and_then(|mut roots| roots.remove(0)).map(|root| root.digest());
            ended = match sender.send(digest.map(Some)) {
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
        let is_object = input.path.url().is_some();
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
            self.send(digest.map(Some))?;
            if failed {
                for _ in index + 1..run.len() {
                    self.send(Ok(None))?;
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
        let Some((row, result)) = state.ahead.next(py, read)? else { return Ok(None) };
        let result = match result {
            Err(error) => error.into_value(py).into_bound(py).into_any(),
            Ok(Ok(Some(digest))) => hashed(row.bind(py).cast::<PyDict>()?, &digest)?.into_any(),
            Ok(Ok(None)) => {
                let last = state.last.as_ref().map(|error| error.clone_ref(py));
                last.unwrap_or_else(|| py.None()).into_bound(py)
            }
            Ok(Err(error)) => {
                let error = errors::io(py, error).into_value(py).into_any();
                state.last = Some(error.clone_ref(py));
                error.into_bound(py)
            }
        };
        Ok(Some((row, result)))
    }
}

/// The part and the input of a row.
fn read(row: &Bound<'_, PyAny>) -> PyResult<Work> {
    let row = row.cast::<PyDict>()?;
    let part = Row::of(row)?;
    part.check(row.py())?;
    Ok((part, planned(row)?))
}
