//! Roots, and the roots of bytes in memory.

use crate::data::Data;
use crate::errors;
use crate::growing;
use crate::spec::{Format, Wanted};
use mksum::ClaimedRoot;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString, PyTuple};

/// The root of an input: a digest with its format and the input's length.
///
/// Made by the functions of this package; or from a text that somebody wrote down, which is then a claim until a computed root
/// equals it. Roots are equal if format, length and digest are.
///
/// Args:
///     format: The format.
///     text: The root as the tools of the format print it: hex in either case, or as S3 writes it.
///     length: The input's length in bytes.
///
/// Raises:
///     FormatError: The format is unknown.
///     ValueError: No root of this format is written so.
#[pyclass(frozen, eq, from_py_object, module = "mksum")]
#[derive(Clone, PartialEq)]
pub struct Root {
    pub spec: mksum::Spec,
    pub claimed: ClaimedRoot,
    pub len: u64,
}

impl From<&mksum::Root> for Root {
    fn from(root: &mksum::Root) -> Self {
        Root { spec: root.spec().clone(), claimed: root.into(), len: root.len() }
    }
}

impl Root {
    /// The facts that a verifier trusts.
    pub fn trusted(&self) -> mksum::proof::Trusted {
        mksum::proof::Trusted { spec: self.spec.clone(), root: self.claimed.clone(), len: Some(self.len) }
    }
}

#[pymethods]
impl Root {
    #[new]
    fn new(py: Python<'_>, format: Format, text: &str, length: u64) -> PyResult<Self> {
        let claimed =
            format.0.claimed_root(text).map_err(|reason| errors::error(py, "FormatError", reason.to_string()))?;
        Ok(Root { spec: format.0, claimed, len: length })
    }

    /// The root as the tools of its format print it: lower-case hex, or as S3 does.
    #[getter]
    fn text(&self) -> String {
        self.claimed.text(&self.spec)
    }

    /// The digest: 16 to 64 bytes.
    #[getter]
    fn bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.claimed.digest().as_bytes())
    }

    /// The canonical text of the format: `rfc6962:sha256:64KiB`.
    #[getter]
    fn format(&self) -> String {
        self.spec.to_string()
    }

    /// The input's length in bytes.
    #[getter]
    fn length(&self) -> u64 {
        self.len
    }

    fn __str__(&self) -> String {
        self.text()
    }

    fn __bytes__<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        self.bytes(py)
    }

    fn __repr__(&self) -> String {
        format!("Root('{}', '{}', {})", self.spec, self.text(), self.len)
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        (PyString::new(py, &self.format()), self.bytes(py), self.len).into_pyobject(py)?.hash()
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let (root, py) = (slf.get(), slf.py());
        Ok((slf.get_type().into_any(), (root.format(), root.text(), root.len).into_pyobject(py)?))
    }
}

/// Returns the root of bytes in memory, computed on all cores if there are many bytes.
///
/// Args:
///     data: Any contiguous object with the buffer protocol: bytes, bytearray, memoryview, mmap, a NumPy array.
///     fmt: A format, or a list of them.
///
/// Returns:
///     A `Root`, or a list of one root for each format.
///
/// Raises:
///     FormatError: A format is unknown.
///     LengthError: A format has no root for this length.
///
/// Example:
///     >>> str(root(b"", "blake3"))[:16]
///     'af1349b9f5f9a1a6'
#[pyfunction]
#[pyo3(signature = (data, fmt = Wanted::One(Format(mksum::Spec::default()))), text_signature = "(data, fmt='rfc6962')")]
pub fn root<'py>(py: Python<'py>, data: Data<'py>, fmt: Wanted) -> PyResult<Bound<'py, PyAny>> {
    let root = |spec: mksum::Spec| {
        let root = data
            .watched(py, |bytes, stop| growing::root(&spec, bytes, stop))?
            .map_err(|reason| errors::join(py, &spec, reason))?;
        Ok(Root::from(&root))
    };
    let roots = fmt.specs().into_iter().map(root).collect::<PyResult<Vec<_>>>()?;
    fmt.answer(py, roots)
}

/// The roots of an input, if every format has one.
pub fn all(py: Python<'_>, roots: mksum_io::Roots) -> PyResult<Vec<Root>> {
    let root = |root: Result<mksum::Root, mksum_io::Error>| {
        root.map(|root| Root::from(&root)).map_err(|error| errors::io(py, error))
    };
    roots.into_iter().map(root).collect()
}
