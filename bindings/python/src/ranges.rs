//! Many parts: those that follow one another are read in one go, and whole inputs side by side.

use crate::ahead::Ahead;
use crate::ending;
use crate::errors;
use crate::parts::{no_path, part};
use crate::rows;
use crate::work::{Call, Stop};
use mksum_io::{Error, Options};
use mksum_plan::{Hashed, Part, hash_inputs, hash_parts};
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
    ahead: Ahead<Part, Option<Hashed>>,
    /// The error of the row before.
    last: Option<Py<PyAny>>,
}

/// The digest of a part, or its error; no digest if it has the error of the row before, with which it was read.
type Outcome = Result<Option<Hashed>, Error>;

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
    taken: Receiver<Part>,
    /// A part that was taken, and belongs to what comes next.
    next: Option<Part>,
    sender: Sender<Outcome>,
    options: Options,
}

impl Worker {
    fn take(&mut self) -> Option<Part> {
        self.next.take().or_else(|| self.taken.recv().ok())
    }

    /// Hashes until there are no more rows, or nobody waits for the results.
    fn run(mut self) {
        while let Some(part) = self.take() {
            let done = match part.is_input() {
                true => self.inputs(part),
                false => self.parts(part),
            };
            if done.is_break() {
                return;
            }
        }
    }

    /// Hashes whole inputs side by side, as long as they come.
    fn inputs(&mut self, first: Part) -> ControlFlow<()> {
        let mut ended = ControlFlow::Continue(());
        let (sender, options) = (self.sender.clone(), self.options.clone());
        let mut first = Some(first);
        let parts = std::iter::from_fn(|| {
            let part = first.take().or_else(|| self.take())?;
            match part.is_input() {
                true => Some(part),
                false => {
                    self.next = Some(part);
                    None
                }
            }
        });
        hash_inputs(parts.fuse(), &options, &mut |hashed| {
            ended = send(&sender, hashed.map(Some));
            ended
        });
        ended
    }

    /// Hashes a part, and those that follow it in its input.
    fn parts(&mut self, first: Part) -> ControlFlow<()> {
        let mut run = vec![first];
        while run.len() < RUN
            && let Some(part) = self.take()
        {
            if !part.follows(&run[run.len() - 1]) {
                self.next = Some(part);
                break;
            }
            run.push(part);
        }
        let mut sent = 0;
        hash_parts(&run, &self.options, &mut |hashed| {
            sent += 1;
            send(&self.sender, hashed.map(Some))
        })?;
        (sent..run.len()).try_for_each(|_| send(&self.sender, Ok(None)))
    }
}

fn send(sender: &Sender<Outcome>, outcome: Outcome) -> ControlFlow<()> {
    match sender.send(outcome) {
        Ok(()) => ControlFlow::Continue(()),
        Err(_) => ControlFlow::Break(()),
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
            Ok(Ok(Some((digest, units)))) => {
                let row = rows::read(row.bind(py).cast::<PyDict>()?)?;
                rows::dict(py, &row.hashed(&digest, &units))?.into_any()
            }
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

/// What is hashed for a row.
fn read(row: &Bound<'_, PyAny>) -> PyResult<Part> {
    let read = rows::read(row.cast::<PyDict>()?)?;
    if read.path.is_empty() {
        return Err(no_path(row.py()));
    }
    part(row.py(), &read)
}
