//! Whole objects, read into memory and written from it.

use crate::ahead::Results;
use crate::data::Data;
use crate::ending;
use crate::errors;
use crate::places::{input_of, refused};
use crate::work::Call;
use mksum_io::{Error, File, Input, Objects, Options, Url};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::num::NonZero;
use std::sync::{Arc, Mutex, mpsc};

/// Objects that are opened before they are read, and those whose bytes wait.
const AHEAD: usize = 32;
const WAITING: usize = 4;

/// The iterator of `get_objects`. When it is deleted, the reading ends.
#[pyclass(frozen, module = "mksum")]
pub struct Contents {
    read: Mutex<Results<Result<Vec<u8>, Error>>>,
}

/// Yields the bytes of objects in stores, in their order, over the same connections: all of one version, or an error.
///
/// Args:
///     urls: The URLs of the objects.
///
/// Raises:
///     RefusedError: One is not the URL of an object.
///     NotFoundError: There is no such object.
///     FetchError: The store does not answer.
///     ChangedError: The object was replaced while it was read.
///     KeyboardInterrupt: Within 100 ms.
#[pyfunction]
pub fn get_objects(py: Python<'_>, urls: &Bound<'_, PyAny>) -> PyResult<Contents> {
    let urls = urls.try_iter()?.map(|url| of_object(py, &url?)).collect::<PyResult<Vec<_>>>()?;
    let (sender, results) = mpsc::sync_channel(WAITING);
    let read = Results::of(Call::new(NonZero::new(1), None, None), results, move |options| {
        let mut coming = urls.iter();
        for (index, url) in urls.iter().enumerate() {
            if let Some(stores) = &options.objects {
                let begun = urls.len() - coming.len();
                coming.by_ref().take((index + AHEAD).saturating_sub(begun)).for_each(|url| stores.expect(url));
            }
            // Once nobody listens, the reading ends.
            if sender.send(content(url, options)).is_err() {
                return;
            }
        }
    })?;
    Ok(Contents { read: Mutex::new(read) })
}

fn content(url: &Url, options: &Options) -> Result<Vec<u8>, Error> {
    let file = File::open(url, options)?;
    let bytes = file.bytes(0..file.len())?;
    file.finish().map(|()| bytes)
}

#[pymethods]
impl Contents {
    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let bytes = ending::lock(py, &self.read).next_value(py, errors::io)?;
        Ok(bytes.map(|bytes| PyBytes::new(py, &bytes)))
    }
}

/// Writes an object to a store: all of its bytes, or the object is as it was.
///
/// Args:
///     url: The URL of the object: in S3, Google Cloud Storage, Azure or HDFS.
///     data: Its bytes.
///
/// Raises:
///     RefusedError: This is not the URL of an object that can be written.
///     FileError: The store does not take it.
///     KeyboardInterrupt: Within 100 ms. The object may be written then.
#[pyfunction]
pub fn put_object(py: Python<'_>, url: &Bound<'_, PyAny>, data: Data<'_>) -> PyResult<()> {
    let url = of_object(py, url)?;
    // The thread that sends may outlive an interrupted call, and so the caller's buffer.
    let bytes = data.bytes().to_vec();
    let mut call = Call::new(NonZero::new(1), None, None);
    let stores = client(py, &call, &url)?;
    let put = move |_: &Options| stores.put(&url, &mut &bytes[..], bytes.len() as u64);
    call.run(py, put)?.map_err(|error| errors::io(py, error))
}

fn of_object(py: Python<'_>, url: &Bound<'_, PyAny>) -> PyResult<Url> {
    match input_of(url)? {
        Input::Url(url) => Ok(url),
        input => Err(refused(py, &input, "not the URL of an object")),
    }
}

/// The client of the stores, for what is at a URL.
pub fn client(py: Python<'_>, call: &Call, url: &Url) -> PyResult<Arc<dyn Objects>> {
    let words = "this build of mksum has no network client: install one with the feature 'stores'";
    call.options.objects.clone().ok_or_else(|| refused(py, &url.into(), words))
}
