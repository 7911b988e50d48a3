//! Roots of many files.

use crate::ahead::Ahead;
use crate::ending;
use crate::errors;
use crate::places::input_of;
use crate::root;
use crate::spec::{Format, Wanted};
use crate::work::{Call, Stop};
use mksum::Spec;
use mksum_io::{Job, Roots, hash_all};
use pyo3::prelude::*;
use std::num::NonZero;
use std::ops::ControlFlow;
use std::sync::Mutex;

/// The iterator of `hash_files`. When it is deleted, the work ends.
#[pyclass(frozen, module = "mksum")]
pub struct Files {
    wanted: Wanted,
    ahead: Mutex<Ahead<Job, Roots>>,
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
    let ahead = Ahead::of(Call::new(threads, on_progress, stop), paths, |jobs, sender, options| {
        hash_all(jobs.into_iter(), options, |_, result, _| match sender.send(result) {
            Ok(()) => ControlFlow::Continue(()),
            // The iterator is gone.
            Err(_) => ControlFlow::Break(()),
        });
    })?;
    Ok(Files { wanted: fmts, ahead: Mutex::new(ahead) })
}

#[pymethods]
impl Files {
    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<(Py<PyAny>, Bound<'py, PyAny>)>> {
        let job = |path: &Bound<'_, PyAny>| Ok(Job::new(input_of(path)?, self.wanted.specs()));
        let Some((path, result)) = ending::lock(py, &self.ahead).next(py, job)? else { return Ok(None) };
        let result = result.and_then(|roots| root::all(py, roots.map_err(|error| errors::io(py, error))?));
        let result = match result {
            Ok(roots) => self.wanted.answer(py, roots)?,
            Err(error) => error.into_value(py).into_bound(py).into_any(),
        };
        Ok(Some((path, result)))
    }
}
