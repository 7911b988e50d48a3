//! Roots of streams.

use crate::data::Data;
use crate::ending;
use crate::errors;
use crate::growing::Growing;
use crate::root::Root;
use crate::spec::Format;
use pyo3::prelude::*;
use std::sync::{Mutex, MutexGuard};

/// Hashes a stream into a root: O(log n) digests and at most 256 KiB of bytes, however long the stream is.
///
/// Usable from several threads at once. Many bytes at a time are hashed without the GIL, those of trees on all cores.
///
/// Args:
///     fmt: The format.
///
/// Raises:
///     FormatError: The format is unknown.
///     LengthError: The format needs the input's length first (`mtsum`).
///
/// Example:
///     >>> frontier = Frontier("blake3")
///     >>> frontier.update(b"some")
///     >>> frontier.update(b" bytes")
///     >>> frontier.root() == root(b"some bytes", "blake3")
///     True
#[pyclass(frozen, module = "mksum")]
pub struct Frontier {
    spec: mksum::Spec,
    /// `None` after a panic or an error: then the bytes so far are not known.
    growing: Mutex<Option<Growing>>,
}

// Python's memory for objects begins at multiples of 16 bytes.
const _: () = assert!(align_of::<Frontier>() <= 16);

impl Frontier {
    fn lock(&self, py: Python<'_>) -> MutexGuard<'_, Option<Growing>> {
        ending::lock(py, &self.growing)
    }

    fn broken(py: Python<'_>) -> PyErr {
        errors::error(py, "MksumError", "an earlier update failed: begin anew")
    }
}

#[pymethods]
impl Frontier {
    #[new]
    #[pyo3(signature = (fmt = Format(mksum::Spec::default())), text_signature = "(fmt='rfc6962')")]
    fn new(py: Python<'_>, fmt: Format) -> PyResult<Self> {
        let growing = Growing::new(&fmt.0).map_err(|reason| errors::join(py, &fmt.0, reason.into()))?;
        Ok(Frontier { spec: fmt.0, growing: Mutex::new(Some(growing)) })
    }

    /// Appends bytes.
    ///
    /// Args:
    ///     data: Any contiguous object with the buffer protocol.
    ///
    /// Raises:
    ///     LengthError: There are more than 2^63 bytes in all.
    #[pyo3(signature = (data, /))]
    fn update(&self, py: Python<'_>, data: Data<'_>) -> PyResult<()> {
        let mut state = self.lock(py);
        let mut growing = state.take().ok_or_else(|| Self::broken(py))?;
        data.watched(py, |bytes, stop| growing.update(bytes, stop))?
            .map_err(|reason| errors::join(py, &self.spec, reason))?;
        *state = Some(growing);
        Ok(())
    }

    /// Returns the root of the bytes so far; more may be appended afterwards.
    ///
    /// Raises:
    ///     LengthError: The format has no root for this length.
    fn root(&self, py: Python<'_>) -> PyResult<Root> {
        let state = self.lock(py);
        let root = state.as_ref().ok_or_else(|| Self::broken(py))?.root();
        root.map(|root| Root::from(&root)).map_err(|reason| errors::join(py, &self.spec, reason))
    }

    /// The number of bytes so far.
    #[getter]
    fn position(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.lock(py).as_ref().ok_or_else(|| Self::broken(py))?.position())
    }

    /// The canonical text of the format.
    #[getter]
    fn format(&self) -> String {
        self.spec.to_string()
    }

    /// Returns another frontier with the same bytes so far.
    fn copy(&self, py: Python<'_>) -> Self {
        Frontier { spec: self.spec.clone(), growing: Mutex::new(self.lock(py).clone()) }
    }

    fn __copy__(&self, py: Python<'_>) -> Self {
        self.copy(py)
    }

    fn __repr__(&self) -> String {
        format!("<Frontier of {}>", self.spec)
    }
}
