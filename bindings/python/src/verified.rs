//! Files whose bytes are verified when they are read: the engine of `mksum.VerifiedFile`.

use crate::data::{Memory, Room, filled};
use crate::ending;
use crate::errors;
use crate::get::{expected, places};
use crate::outboard::places_of;
use crate::root::Root;
use crate::spec::Foreign;
use crate::work::Call;
use mksum::outboard::ForeignFormat;
use mksum_io::outboard::EXTENSION;
use mksum_io::{Error, Opening, VerifiedReader, WriteBack};
use pyo3::exceptions::{PyMemoryError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMemoryView};
use std::ffi::OsStr;
use std::io::{Seek, SeekFrom};
use std::num::NonZero;
use std::sync::{Arc, Mutex, PoisonError};

type Reader = VerifiedReader<Arc<mksum_io::Verified>>;

/// A file at a position. Only bytes that were verified come out of it.
#[pyclass(frozen, module = "mksum._mksum")]
pub struct VerifiedBytes {
    verified: Arc<mksum_io::Verified>,
    reader: Mutex<Reader>,
}

/// The bytes that are read between two looks at signals, at most.
const PIECE: usize = 16 << 20;

/// Buffers of fewer bytes are filled at once, or, by an error, not at all.
const AT_ONCE: usize = 1 << 20;

impl VerifiedBytes {
    fn reader(&self) -> Reader {
        self.reader.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The number of bytes from `start` on that a read of `size` bytes has; all, if it is `None`.
    fn count(&self, start: u64, size: Option<u64>) -> PyResult<usize> {
        let there = self.verified.len().saturating_sub(start);
        let count =
            usize::try_from(size.unwrap_or(there).min(there)).ok().filter(|&count| isize::try_from(count).is_ok());
        count.ok_or_else(|| PyMemoryError::new_err("the bytes do not fit into memory"))
    }

    /// Fills `out` with the next bytes of a reader, without the GIL.
    fn fill(&self, py: Python<'_>, reader: &mut Reader, out: &mut [u8]) -> PyResult<()> {
        for out in out.chunks_mut(PIECE) {
            let read = match self.verified.input().url() {
                None => ending::detach(py, || reader.read_next(out)),
                // A server may need long: a signal ends the waiting.
                Some(_) if !reader.read_kept(out) => {
                    let (mut fetching, mut bytes) = (reader.clone(), vec![0; out.len()]);
                    let fetch = move |_: &_| fetching.read_next(&mut bytes).map(|count| (fetching, bytes, count));
                    Call::new(None, None, None).run(py, fetch)?.map(|(fetched, bytes, count)| {
                        *reader = fetched;
                        out.copy_from_slice(&bytes);
                        count
                    })
                }
                Some(_) => Ok(out.len()),
            };
            read.map_err(|error| errors::io(py, error))?;
            ending::call(py, || py.check_signals())?;
        }
        Ok(())
    }

    /// Fills `out` with the bytes from `start` on, after which nothing is read ahead.
    fn fill_from(&self, py: Python<'_>, start: u64, out: &mut [u8]) -> PyResult<()> {
        for (start, out) in (start..).step_by(PIECE).zip(out.chunks_mut(PIECE)) {
            self.fill(py, &mut VerifiedReader::at(self.verified.clone(), start), out)?;
        }
        Ok(())
    }

    fn bytes<'py>(&self, py: Python<'py>, reader: &mut Reader, size: Option<u64>) -> PyResult<Bound<'py, PyBytes>> {
        let count = self.count(reader.position(), size)?;
        filled(py, count, |out| self.fill(py, reader, out))
    }

    fn advance(&self, reader: Reader) {
        *self.reader.lock().unwrap_or_else(PoisonError::into_inner) = reader;
    }
}

#[pymethods]
impl VerifiedBytes {
    #[staticmethod]
    #[pyo3(signature = (path, root, fmt, length, outboard, foreign, replicas, repair, threads))]
    #[allow(clippy::too_many_arguments)] // `mksum.open` has names for them.
    fn open(
        py: Python<'_>,
        path: &Bound<'_, PyAny>,
        root: Option<&Bound<'_, PyAny>>,
        fmt: Option<&str>,
        length: Option<u64>,
        outboard: Option<&Bound<'_, PyAny>>,
        foreign: Option<Foreign>,
        replicas: &Bound<'_, PyAny>,
        repair: bool,
        threads: Option<NonZero<usize>>,
    ) -> PyResult<Self> {
        let foreign = foreign.map(|Foreign(format)| format);
        let (file, place) = places_of(path, outboard, foreign.as_ref().map_or(EXTENSION, ForeignFormat::extension))?;
        let mut opening = Opening::new(file, place);
        opening.foreign = foreign;
        opening.expected = root.map(|root| expected(root, fmt)).transpose()?;
        opening.len = length.or_else(|| Some(root?.cast::<Root>().ok()?.get().len));
        opening.replicas = places(replicas)?;
        opening.write_back = if repair { WriteBack::Yes } else { WriteBack::No };
        let opened = Call::new(threads, None, None)
            .run(py, move |options| mksum_io::Verified::open(opening, options))?
            .map_err(|error: Error| errors::io(py, error))?;
        let verified = Arc::new(opened);
        Ok(VerifiedBytes { reader: Mutex::new(VerifiedReader::new(verified.clone())), verified })
    }

    fn read<'py>(&self, py: Python<'py>, size: Option<u64>) -> PyResult<Bound<'py, PyBytes>> {
        let mut reader = self.reader();
        let bytes = self.bytes(py, &mut reader, size)?;
        self.advance(reader);
        Ok(bytes)
    }

    fn readinto(&self, py: Python<'_>, mut buffer: Room) -> PyResult<usize> {
        let (mut reader, out) = (self.reader(), buffer.bytes_mut());
        let count = self.count(reader.position(), Some(out.len() as u64))?;
        let out = &mut out[..count];
        match count {
            ..AT_ONCE => {
                let mut bytes = vec![0; count];
                self.fill(py, &mut reader, &mut bytes)?;
                out.copy_from_slice(&bytes);
            }
            _ => self.fill(py, &mut reader, out)?,
        }
        self.advance(reader);
        Ok(count)
    }

    fn read_at<'py>(&self, py: Python<'py>, offset: u64, size: u64) -> PyResult<Bound<'py, PyBytes>> {
        let count = self.count(offset, Some(size))?;
        filled(py, count, |out| self.fill_from(py, offset, out))
    }

    fn map<'py>(&self, py: Python<'py>, offset: u64, length: Option<u64>) -> PyResult<Bound<'py, PyMemoryView>> {
        let size = self.verified.len();
        let length = length.unwrap_or(size.saturating_sub(offset));
        if offset.checked_add(length).is_none_or(|end| end > size) {
            let range =
                format!("expected a range within the {size} bytes of the file, found {length} bytes from {offset} on");
            return Err(PyValueError::new_err(range));
        }
        let mut memory = Memory::zeroed(self.count(offset, Some(length))?, offset)?;
        self.fill_from(py, offset, memory.bytes_mut())?;
        memory.lend(py)
    }

    fn peek<'py>(&self, py: Python<'py>, size: u64) -> PyResult<Bound<'py, PyBytes>> {
        self.bytes(py, &mut self.reader(), Some(size))
    }

    fn seek(&self, offset: i128, whence: u8) -> PyResult<u64> {
        let refuse = || PyValueError::new_err(format!("negative or too large seek position {offset}"));
        let by = i64::try_from(offset).map_err(|_| refuse());
        let to = match whence {
            0 => SeekFrom::Start(u64::try_from(offset).map_err(|_| refuse())?),
            1 => SeekFrom::Current(by?),
            2 => SeekFrom::End(by?),
            _ => return Err(PyValueError::new_err(format!("invalid whence ({whence}, should be 0, 1 or 2)"))),
        };
        let mut reader = self.reader();
        let at = reader.seek(to).map_err(|_| refuse())?;
        self.advance(reader);
        Ok(at)
    }

    fn tell(&self) -> u64 {
        self.reader().position()
    }

    #[getter]
    fn name(&self) -> &OsStr {
        self.verified.input().as_os_str()
    }

    #[getter]
    fn size(&self) -> u64 {
        self.verified.len()
    }

    #[getter]
    fn root(&self) -> Root {
        Root::from(&self.verified.root())
    }

    #[getter]
    fn unit(&self) -> u64 {
        self.verified.unit()
    }

    #[getter]
    fn replaced(&self) -> u64 {
        self.verified.replaced()
    }
}
