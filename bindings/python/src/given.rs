//! Stores and file systems of Python's, which the engine reads by ranges: the engine of `mksum.use_store`.

use crate::data::Data;
use crate::ending;
use mksum_stores::{Facts, Failed, Given, GivenObjects, GivenStore};
use pyo3::exceptions::{PyFileNotFoundError, PyOSError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyIterator};
use std::fmt;
use std::io;
use std::ops::Range;
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, PoisonError};

/// A store that is an input while this lives, or until it is closed. Made by `mksum.use_store`.
#[pyclass(frozen, module = "mksum._mksum")]
pub struct UsedStore {
    given: Mutex<Option<Given>>,
    url: String,
}

#[pymethods]
impl UsedStore {
    /// Gives an adapter of `mksum._filesystems` to the engine.
    #[new]
    fn new(adapter: Py<PyAny>) -> Self {
        let given = Given::new(Arc::new(Adapter(adapter)));
        UsedStore { url: given.url(), given: Mutex::new(Some(given)) }
    }

    /// The URL of all its objects, without a slash at the end.
    #[getter]
    fn url(&self) -> &str {
        &self.url
    }

    /// Takes the store from the engine: its URLs are unknown from now on.
    fn close(&self, py: Python<'_>) {
        let given = ending::lock(py, &self.given).take();
        ending::detach(py, || drop(given));
    }
}

/// An adapter of `mksum._filesystems`.
struct Adapter(Py<PyAny>);

impl fmt::Debug for Adapter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Adapter")
    }
}

impl Adapter {
    /// Calls Python code in a thread of the engine.
    fn call<T>(&self, code: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>) -> Result<T, Failed> {
        attached(|py| code(self.0.bind(py)))
    }
}

/// Calls Python code in a thread of the engine, in which it may raise.
fn attached<T>(code: impl FnOnce(Python<'_>) -> PyResult<T>) -> Result<T, Failed> {
    let called = Python::try_attach(|py| ending::call(py, || code(py).map_err(|error| failed(py, &error))));
    called.unwrap_or_else(|| Err(Failed::Other("the interpreter ends".into())))
}

/// An exception as what the engine does about it.
fn failed(py: Python<'_>, error: &PyErr) -> Failed {
    let is_of =
        |module: &str, name: &str| -> PyResult<bool> { Ok(error.is_instance(py, &py.import(module)?.getattr(name)?)) };
    if error.is_instance_of::<PyFileNotFoundError>(py) {
        Failed::Missing
    } else if is_of("mksum.errors", "ChangedError").unwrap_or(false) {
        Failed::Changed
    } else if is_of("mksum._filesystems", "Empty").unwrap_or(false) {
        Failed::Empty
    } else {
        // obstore's messages go on with what its developers want to know.
        let text = error.value(py).str().map(|text| text.to_string()).unwrap_or_default();
        let name = error.get_type(py).qualname().map_or_else(|_| "?".into(), |name| name.to_string());
        Failed::Other(format!("{name}: {}", text.lines().next().unwrap_or_default()))
    }
}

impl GivenStore for Adapter {
    fn facts(&self, key: &str) -> Result<Facts, Failed> {
        let (len, version) = self.call(|adapter| adapter.call_method1("facts", (key,))?.extract::<(u64, String)>())?;
        Ok(Facts { len, version })
    }

    fn read(&self, key: &str, range: Range<u64>, wanted: Option<&str>) -> Result<(Facts, Vec<u8>), Failed> {
        self.call(|adapter| {
            let found = adapter.call_method1("read", (key, range.start, range.end, wanted))?;
            let (len, version, bytes): (u64, String, Bound<'_, PyAny>) = found.extract()?;
            let bytes = Data::extract(bytes.as_borrowed())?.bytes().to_vec();
            Ok((Facts { len, version }, bytes))
        })
    }

    fn list(&self, prefix: &str) -> Result<GivenObjects, Failed> {
        let found = self.call(|adapter| Ok(adapter.call_method1("list", (prefix,))?.try_iter()?.unbind()))?;
        Ok(Box::new(Listing(Some(found))))
    }

    fn write(&self, key: &str, chunks: Receiver<io::Result<Vec<u8>>>) -> Result<(), Failed> {
        self.call(|adapter| adapter.call_method1("write", (key, Chunks(Mutex::new(chunks)))).map(drop))
    }
}

/// An iterator of Python's with rows of a listing.
struct Listing(Option<Py<PyIterator>>);

impl Iterator for Listing {
    type Item = Result<(String, Facts), Failed>;

    fn next(&mut self) -> Option<Self::Item> {
        let found = self.0.as_ref()?;
        let next = attached(|py| {
            let next = found.bind(py).clone().next().transpose()?;
            next.map(|row| row.extract::<(String, u64, String)>()).transpose()
        });
        match next {
            Ok(Some((key, len, version))) => Some(Ok((key, Facts { len, version }))),
            // An iterator that has raised has no more.
            Ok(None) => self.0.take().and(None),
            Err(why) => self.0.take().map(|_| Err(why)),
        }
    }
}

/// The chunks of an object that is written.
#[pyclass(frozen, module = "mksum._mksum")]
struct Chunks(Mutex<Receiver<io::Result<Vec<u8>>>>);

#[pymethods]
impl Chunks {
    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        match ending::detach(py, || self.0.lock().unwrap_or_else(PoisonError::into_inner).recv()) {
            Ok(Ok(bytes)) => Ok(Some(PyBytes::new(py, &bytes))),
            Ok(Err(error)) => Err(PyOSError::new_err(error.to_string())),
            Err(_) => Ok(None),
        }
    }
}
