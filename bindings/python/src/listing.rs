//! Objects as a store lists them.

use crate::ahead::Results;
use crate::ending;
use crate::errors;
use crate::objects::client;
use crate::places::{input_of, refused};
use crate::work::Call;
use mksum_io::{Error, Input, Listed};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Mutex;
use std::sync::mpsc;

/// Objects that are listed before they are taken.
const AHEAD: usize = 1000;

/// The iterator of `list_objects`. When it is deleted, the listing ends.
#[pyclass(frozen, module = "mksum")]
pub struct Objects {
    listed: Mutex<Results<Result<Listed, Error>>>,
}

/// Yields the objects below a URL as the store lists them, without a request for each.
///
/// Args:
///     url: The URL of a bucket, or of a prefix that ends at a slash: `s3://bucket/prefix/`.
///
/// Yields:
///     Dicts: `path`, the object's URL; `size` in bytes; `version`, its ETag without quotes. They are what `plan` takes.
///
/// Raises:
///     RefusedError: This is not the URL of a store that can be listed.
///     FetchError: The store does not answer.
///     KeyboardInterrupt: Within 100 ms.
#[pyfunction]
pub fn list_objects(py: Python<'_>, url: &Bound<'_, PyAny>) -> PyResult<Objects> {
    let input = input_of(url)?;
    let call = Call::new(None, None, None);
    let Input::Url(url) = input else { return Err(refused(py, &input, "not the URL of objects")) };
    let stores = client(py, &call, &url)?;
    let (sender, results) = mpsc::sync_channel(AHEAD);
    let listed = Results::of(call, results, move |_| match stores.list(&url) {
        // Once nobody listens, the listing ends.
        Ok(mut listing) => drop(listing.try_for_each(|found| sender.send(found))),
        Err(error) => drop(sender.send(Err(error))),
    })?;
    Ok(Objects { listed: Mutex::new(listed) })
}

#[pymethods]
impl Objects {
    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let mut listed = ending::lock(py, &self.listed);
        let Some(found) = listed.next_value(py, errors::io)? else { return Ok(None) };
        let row = PyDict::new(py);
        row.set_item("path", found.url.as_str())?;
        row.set_item("size", found.len)?;
        row.set_item("version", found.version)?;
        Ok(Some(row))
    }
}
