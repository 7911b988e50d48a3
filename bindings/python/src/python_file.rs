//! File objects of Python's.

use crate::data::Data;
use crate::ending;
use crate::errors;
use crate::root::{self, Root};
use crate::work::Call;
use mksum::Spec;
use mksum_io::hash_reader;
use pyo3::exceptions::{PyBlockingIOError, PyTypeError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver};

/// The bytes that are asked of a file object at once.
const CHUNK: usize = 1 << 20;
/// The chunks that wait to be hashed.
const WAITING: usize = 4;

/// The name of a file object for errors: its `name`, or its type's.
fn name_of(object: &Bound<'_, PyAny>) -> PathBuf {
    let name = object.getattr(intern!(object.py(), "name")).ok().and_then(|name| name.extract::<PathBuf>().ok());
    let type_name = || object.get_type().qualname().map_or_else(|_| "?".into(), |name| name.to_string());
    name.unwrap_or_else(|| format!("<{}>", type_name()).into())
}

/// Gives an exception about a descriptor the name of its file object.
pub fn name_in(error: &PyErr, object: &Bound<'_, PyAny>) {
    let value = error.value(object.py());
    // Without a name the exception has that of the descriptor.
    if value.hasattr("path").unwrap_or(false) {
        let _ = value.setattr("path", name_of(object).as_os_str());
    }
}

/// An ordinary open file of Python's, which the engine can read at any offset by its descriptor.
pub struct Descriptor {
    pub path: PathBuf,
    /// The offset at which the file object is, in bytes.
    pub position: u64,
}

impl Descriptor {
    /// The descriptor of `io.FileIO`, and of the buffered files over one; `None` of all others and outside of Linux, where
    /// opening a descriptor's path does not open the file anew.
    pub fn of(object: &Bound<'_, PyAny>) -> PyResult<Option<Descriptor>> {
        if !cfg!(target_os = "linux") {
            return Ok(None);
        }
        let py = object.py();
        let io = py.import(intern!(py, "io"))?;
        let raw_type = io.getattr(intern!(py, "FileIO"))?;
        let is_exactly = |object: &Bound<'_, PyAny>, class: &Bound<'_, PyAny>| object.get_type().as_any().is(class);
        let buffered = ["BufferedReader", "BufferedRandom"].map(|name| io.getattr(name));
        for class in buffered {
            if is_exactly(object, &class?) && is_exactly(&object.getattr(intern!(py, "raw"))?, &raw_type) {
                object.call_method0(intern!(py, "flush"))?;
                return Descriptor::open(object);
            }
        }
        if is_exactly(object, &raw_type) { Descriptor::open(object) } else { Ok(None) }
    }

    fn open(object: &Bound<'_, PyAny>) -> PyResult<Option<Descriptor>> {
        let readable: bool = object.call_method0("readable")?.extract()?;
        let number: i32 = object.call_method0("fileno")?.extract()?;
        let path = PathBuf::from(format!("/proc/self/fd/{number}"));
        // A file that was opened by another user, or that is not regular, is read as the object reads it.
        let Some(metadata) = std::fs::File::open(&path).ok().and_then(|file| file.metadata().ok()) else {
            return Ok(None);
        };
        if !readable || !metadata.is_file() {
            return Ok(None);
        }
        let position: u64 = object.call_method0("tell")?.extract()?;
        Ok((position <= metadata.len()).then_some(Descriptor { path, position }))
    }
}

/// Leaves a file object where reading it would have: at its end.
pub fn leave(object: &Bound<'_, PyAny>) -> PyResult<()> {
    object.call_method1(intern!(object.py(), "seek"), (0, 2)).map(drop)
}

/// The roots of what a file object still has. The calling thread reads it, and others hash.
pub fn roots(object: &Bound<'_, PyAny>, call: &mut Call, specs: Vec<Spec>) -> PyResult<Vec<Root>> {
    let (py, name) = (object.py(), name_of(object));
    let (sender, chunks) = mpsc::sync_channel(WAITING);
    let outcome = call.spawn(move |options| {
        let mut reader = Chunks { chunks, current: None };
        hash_reader(&mut reader, &(&name).into(), &specs, options)
    })?;
    let mut feed = || -> PyResult<()> {
        while let Some(chunk) = read(object)? {
            // The thread that hashes has ended: every format has refused the input.
            if ending::detach(py, || sender.send(chunk)).is_err() {
                break;
            }
            call.attend(py)?;
        }
        Ok(())
    };
    // The end of the sender means the end of the bytes: after an error there is to be no root.
    feed().inspect_err(|_| call.options.stop.stop())?;
    drop(sender);
    let roots = call.wait(py, outcome)?;
    root::all(py, roots.map_err(|error| errors::io(py, error))?)
}

/// Some bytes of a file object.
enum Chunk {
    Lent(PyBackedBytes),
    Copied(Vec<u8>),
}

/// The next bytes; `None` at the end.
fn read(object: &Bound<'_, PyAny>) -> PyResult<Option<Chunk>> {
    let py = object.py();
    let found = ending::call(py, || object.call_method1(intern!(py, "read"), (CHUNK,)))?;
    if found.is_none() {
        return Err(PyBlockingIOError::new_err("the file object does not block and has no bytes now"));
    }
    let data: Data<'_> = found.extract().map_err(|error: PyErr| match error.is_instance_of::<PyTypeError>(py) {
        true => PyTypeError::new_err("the file object does not read bytes: open it in binary mode"),
        false => error,
    })?;
    Ok(match data {
        data if data.bytes().is_empty() => None,
        Data::Bytes(bytes) => Some(Chunk::Lent(bytes.into())),
        data => Some(Chunk::Copied(data.bytes().to_vec())),
    })
}

/// Chunks as a reader.
struct Chunks {
    chunks: Receiver<Chunk>,
    /// The chunk that is being read, and how much of it was.
    current: Option<(Chunk, usize)>,
}

impl Read for Chunks {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some((chunk, done)) = &mut self.current {
                let bytes = match chunk {
                    Chunk::Lent(bytes) => &bytes[*done..],
                    Chunk::Copied(bytes) => &bytes[*done..],
                };
                let len = bytes.len().min(buffer.len());
                if len > 0 {
                    buffer[..len].copy_from_slice(&bytes[..len]);
                    *done += len;
                    return Ok(len);
                }
            }
            match self.chunks.recv() {
                Ok(chunk) => self.current = Some((chunk, 0)),
                Err(_) => return Ok(0),
            }
        }
    }
}
