//! Roots of many files.

use crate::ending;
use crate::errors;
use crate::files::path_of;
use crate::spec::{Format, Wanted};
use crate::work::{Call, Stop, TICK};
use mksum::Spec;
use mksum_io::{Error, Input, Job, Roots, hash_all};
use pyo3::prelude::*;
use pyo3::types::PyIterator;
use std::collections::VecDeque;
use std::num::NonZero;
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;

/// The files that are begun before the first of them is taken: more than the engine keeps in hand.
const AHEAD: usize = 1024;

/// The iterator of `hash_files`. When it is deleted, the work ends.
#[pyclass(frozen, module = "mksum")]
pub struct Files {
    state: Mutex<State>,
}

struct State {
    wanted: Wanted,
    call: Call,
    /// The paths that were not taken yet; `None` when there are no more.
    paths: Option<Py<PyIterator>>,
    /// What ended the paths too early: raised after the results before it.
    failure: Option<PyErr>,
    /// The paths of files that are begun, as they were given; one that is no path has an error instead of a job.
    begun: VecDeque<(Py<PyAny>, Option<PyErr>)>,
    jobs: Option<Sender<Job>>,
    results: Option<Receiver<Result<Roots, Error>>>,
}

impl Drop for State {
    fn drop(&mut self) {
        self.call.options.stop.stop();
    }
}

/// Hashes many files and yields a pair for each, in the order of the paths: small ones side by side, large ones on all cores.
///
/// Args:
///     paths: Any iterable of paths. About 1000 of them are taken ahead.
///     fmts: A format, or a list of them, which share one read of each file.
///     threads: The threads that read and hash: as many as the process may run on, if None.
///     on_progress: Called with the number of bytes since the last call, as `tqdm.update` wants it.
///     stop: Ends the iteration from another thread.
///
/// Yields:
///     `(path, result)`: the path as it was given, and a `Root`, a list of roots, or the `MksumError` for which the file has
///     none. A file that fails does not end the others.
///
/// Raises:
///     FormatError: A format is unknown.
///     StoppedError: `stop` was used.
///     KeyboardInterrupt: Within 100 ms.
#[pyfunction]
#[pyo3(signature = (paths, fmts = Wanted::One(Format(Spec::default())), *, threads = None, on_progress = None, stop = None),
       text_signature = "(paths, fmts='rfc6962', *, threads=None, on_progress=None, stop=None)")]
pub fn hash_files(
    paths: &Bound<'_, PyAny>,
    fmts: Wanted,
    threads: Option<NonZero<usize>>,
    on_progress: Option<Py<PyAny>>,
    stop: Option<&Bound<'_, Stop>>,
) -> PyResult<Files> {
    let call = Call::new(threads, on_progress, stop);
    let (jobs, taken) = mpsc::channel::<Job>();
    let (sender, results) = mpsc::channel();
    let options = call.options.clone();
    let work = move || {
        hash_all(taken.into_iter(), &options, |_, result, _| match sender.send(result) {
            Ok(()) => ControlFlow::Continue(()),
            // The iterator is gone.
            Err(_) => ControlFlow::Break(()),
        });
    };
    let paths = Some(paths.try_iter()?.unbind());
    thread::Builder::new().name("mksum".into()).spawn(work)?;
    let begun = VecDeque::new();
    let state = State { wanted: fmts, call, paths, failure: None, begun, jobs: Some(jobs), results: Some(results) };
    Ok(Files { state: Mutex::new(state) })
}

#[pymethods]
impl Files {
    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<(Py<PyAny>, Bound<'py, PyAny>)>> {
        let mut state = ending::lock(py, &self.state);
        state.begin(py);
        let Some((path, refused)) = state.begun.pop_front() else {
            state.call.attend(py)?;
            return state.failure.take().map_or(Ok(None), Err);
        };
        let result = match refused {
            Some(error) => Err(error),
            None => {
                let roots = state.next(py)?;
                roots.map_err(|error| errors::io(py, error)).and_then(|roots| errors::all(py, roots))
            }
        };
        state.call.attend(py)?;
        let result = match result {
            Ok(roots) => state.wanted.answer(py, roots)?,
            Err(error) => error.into_value(py).into_bound(py).into_any(),
        };
        Ok(Some((path, result)))
    }
}

impl State {
    /// Takes paths until enough files are begun.
    fn begin(&mut self, py: Python<'_>) {
        while self.begun.len() < AHEAD
            && let Some(paths) = &self.paths
        {
            match ending::call(py, || paths.bind(py).clone().next()) {
                Some(Ok(object)) => {
                    let path = path_of(&object);
                    let refused = match path {
                        Ok(path) => {
                            let job = Job::new(Input::Path(path), self.wanted.specs());
                            // The other end is gone only after a stop, which `next` reports.
                            let _ = self.jobs.as_ref().map(|jobs| jobs.send(job));
                            None
                        }
                        Err(error) => Some(error),
                    };
                    self.begun.push_back((object.unbind(), refused));
                }
                end => {
                    self.failure = end.and_then(Result::err);
                    (self.paths, self.jobs) = (None, None);
                }
            }
        }
    }

    /// The next result. After an error there are no more.
    fn next(&mut self, py: Python<'_>) -> PyResult<Result<Roots, Error>> {
        let ended = || errors::error(py, "StoppedError", "the iteration was ended");
        let mut results = self.results.take().ok_or_else(ended)?;
        let result = loop {
            let received;
            (results, received) = ending::detach(py, move || {
                let received = results.recv_timeout(TICK);
                (results, received)
            });
            match received {
                Ok(Err(error @ Error::Stopped { .. })) => break Err(errors::io(py, error)),
                Ok(result) => break Ok(result),
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
                (self.paths, self.jobs) = (None, None);
                self.begun.clear();
                self.call.options.stop.stop();
            }
        }
        result
    }
}
