//! Paths and URLs as arguments.

use crate::ending;
use crate::errors;
use mksum_io::{Error, Input, Refusal};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::PathBuf;

/// The path or URL that an object stands for, as it is: a str, bytes or `os.PathLike`.
pub fn name_of(object: &Bound<'_, PyAny>) -> PyResult<PathBuf> {
    ending::call(object.py(), || {
        let os = object.py().import("os")?;
        let path = os.call_method1("fspath", (object,))?;
        match path.is_instance_of::<PyBytes>() {
            true => os.call_method1("fsdecode", (path,))?.extract(),
            false => path.extract(),
        }
    })
}

/// The input that an object stands for: a path, or the URL of an object, which others may write with other schemes.
pub fn input_of(object: &Bound<'_, PyAny>) -> PyResult<Input> {
    let (py, name) = (object.py(), name_of(object)?);
    let has_scheme = name.to_str().is_some_and(|text| text.contains(":/"));
    let located = || py.import("mksum._places")?.call_method1("located", (name.as_os_str(),))?.extract();
    Ok(Input::place(if has_scheme { ending::call(py, located)? } else { name }))
}

/// The path of this machine that an object stands for.
pub fn path_of(object: &Bound<'_, PyAny>) -> PyResult<PathBuf> {
    match input_of(object)? {
        Input::File(path) => Ok(path),
        input => Err(refused(object.py(), &input, "a URL, where a path of this machine is needed")),
    }
}

/// The error that something cannot be done with what is at a URL.
pub fn refused(py: Python<'_>, url: &Input, words: &str) -> PyErr {
    errors::io(py, Error::refused(url, Refusal::Url(words.into())))
}
