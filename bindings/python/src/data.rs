//! Bytes that Python objects lend, and that are lent to them.

#![allow(unsafe_code)]

use crate::ending;
use memmap2::MmapMut;
use pyo3::buffer::PyUntypedBuffer;
use pyo3::exceptions::{PyBufferError, PyMemoryError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMemoryView, PyString};
use std::ffi::c_int;
use std::ops::Range;
use std::slice;

/// The bytes of an object with the buffer protocol (PEP 3118): contiguous, of any item type and any number of dimensions.
pub enum Data<'py> {
    /// Immutable bytes.
    Bytes(Bound<'py, PyBytes>),
    /// The object keeps this memory in place as long as this lives. Others may write to it.
    Buffer(PyUntypedBuffer),
    /// No data was passed.
    Nothing,
}

impl Data<'_> {
    /// Data of up to this many bytes is hashed without releasing the GIL: to release it costs as much as to hash it.
    const SHORT: usize = 8 << 10;

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Data::Bytes(bytes) => bytes.as_bytes(),
            Data::Nothing => &[],
            Data::Buffer(buffer) if buffer.len_bytes() == 0 => &[],
            Data::Buffer(buffer) => {
                // SAFETY: the exporter guarantees `len_bytes` readable bytes at `buf_ptr` until the buffer is released, which
                // happens when `self` is dropped, and `extract` has checked that they are contiguous. Another thread may write
                // to them meanwhile, which no exporter can rule out (hashlib has the same gap). The kernels only load these
                // bytes as data: no branch, index or length depends on them, so a concurrent write changes the digest and
                // nothing else.
                unsafe { slice::from_raw_parts(buffer.buf_ptr().cast(), buffer.len_bytes()) }
            }
        }
    }

    /// Calls `work` with the bytes, without the GIL if there are many.
    pub fn with<T: Send>(&self, py: Python<'_>, work: impl FnOnce(&[u8]) -> T + Send) -> T {
        let bytes = self.bytes();
        if bytes.len() <= Self::SHORT { work(bytes) } else { ending::detach(py, || work(bytes)) }
    }
}

impl<'py> FromPyObject<'_, 'py> for Data<'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(bytes) = object.cast_exact::<PyBytes>() {
            return Ok(Data::Bytes(bytes.to_owned()));
        }
        if object.is_instance_of::<PyString>() {
            return Err(PyTypeError::new_err("a str has no bytes: encode it first"));
        }
        let buffer = PyUntypedBuffer::get(&object).map_err(|error| {
            let py = object.py();
            if error.is_instance_of::<PyBufferError>(py) {
                return error;
            }
            let name = object.get_type().qualname().map_or_else(|_| "?".into(), |name| name.to_string());
            PyTypeError::new_err(format!("expected an object with the buffer protocol, such as bytes, not {name}"))
        })?;
        if !buffer.is_c_contiguous() {
            return Err(PyBufferError::new_err("the buffer is not contiguous (in C's order): copy it first"));
        }
        Ok(Data::Buffer(buffer))
    }
}

/// Returns `len` bytes that `fill` writes, which are zero before.
///
/// `PyBytes::new_with` clears them one by one on this thread, in memory that the system has just cleared if there are many. Python's own
/// constructor leaves that out.
pub fn filled<'py>(
    py: Python<'py>,
    len: usize,
    fill: impl FnOnce(&mut [u8]) -> PyResult<()>,
) -> PyResult<Bound<'py, PyBytes>> {
    // Others share the objects of no byte and of one.
    if len <= 1 {
        return PyBytes::new_with(py, len, fill);
    }
    let bytes = py.get_type::<PyBytes>().call1((len,))?.cast_into::<PyBytes>()?;
    // SAFETY: the object is new and has `len` bytes, all of them zero; nobody else has it before this function returns it.
    fill(unsafe { slice::from_raw_parts_mut(ffi::PyBytes_AsString(bytes.as_ptr()).cast(), len) })?;
    Ok(bytes)
}

/// Bytes of an object with the buffer protocol that are written to: contiguous, of any item type and any number of dimensions.
pub struct Room(PyUntypedBuffer);

impl Room {
    /// The bytes.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        match self.0.len_bytes() {
            0 => &mut [],
            len => {
                // SAFETY: the exporter guarantees `len` bytes at `buf_ptr`, until the buffer is released, which happens when `self` is
                // dropped; `extract` has checked that they are contiguous and may be written to. Another thread may use them
                // meanwhile, which no exporter can rule out (every `readinto` has the same gap), and which the documentation forbids.
                // They are stored to and hashed; no length, index or address depends on what is in them.
                unsafe { slice::from_raw_parts_mut(self.0.buf_ptr().cast(), len) }
            }
        }
    }
}

impl<'py> FromPyObject<'_, 'py> for Room {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match object.extract()? {
            Data::Buffer(buffer) if !buffer.readonly() => Ok(Room(buffer)),
            _ => Err(PyTypeError::new_err("the buffer is read-only")),
        }
    }
}

/// Memory that is filled once, and then lent to Python objects, which cannot write to it.
#[pyclass(frozen, module = "mksum._mksum")]
pub struct Memory {
    pages: MmapMut,
    /// What is lent of them.
    lent: Range<usize>,
}

impl Memory {
    /// A page of the usual size, in bytes.
    const PAGE: u64 = 4096;

    /// `len` zero bytes, which begin where the bytes from `offset` on of a mapped file would: at as many bytes after a multiple of a page.
    pub fn zeroed(len: usize, offset: u64) -> PyResult<Self> {
        let start = (offset % Self::PAGE) as usize;
        let refuse = || PyMemoryError::new_err(format!("{len} bytes do not fit into memory"));
        let end = start.checked_add(len).ok_or_else(refuse)?;
        // No mapping is empty.
        let pages = MmapMut::map_anon(end.max(1)).map_err(|_| refuse())?;
        Ok(Memory { pages, lent: start..end })
    }

    /// The bytes, before they are lent.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.pages[self.lent.clone()]
    }

    /// Lends the bytes, until nothing uses them any more.
    pub fn lend(self, py: Python<'_>) -> PyResult<Bound<'_, PyMemoryView>> {
        PyMemoryView::from(Bound::new(py, self)?.as_any())
    }
}

#[pymethods]
impl Memory {
    unsafe fn __getbuffer__(slf: &Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        let bytes = &slf.get().pages[slf.get().lent.clone()];
        let (start, len) = (bytes.as_ptr().cast_mut().cast(), bytes.len().cast_signed());
        // SAFETY: Python passes a view to be filled in (PEP 3118). The object is frozen and owns the pages, so the bytes stay in place and
        // unchanged as long as the view lives, which holds a reference to the object; as read-only, nobody may write to them.
        match unsafe { ffi::PyBuffer_FillInfo(view, slf.as_ptr(), start, len, 1, flags) } {
            0 => Ok(()),
            _ => Err(PyErr::fetch(slf.py())),
        }
    }
}
