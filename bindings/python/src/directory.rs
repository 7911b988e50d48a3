//! Roots of directories, and proofs about their entries.

use crate::data::Data;
use crate::errors;
use crate::places::{name_of as name_given, path_of};
use crate::spec::{DirectoryFormat, Wanted};
use crate::work::{Call, Stop};
use mksum::ClaimedRoot;
use mksum::directory::{Content, DirectorySpec, EntryProof, EntryProofError};
use mksum_io::{Error, Options, hash_directory, path_from_bytes};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString, PyTuple};
use std::ffi::OsString;
use std::num::NonZero;
use std::path::{Path, PathBuf};

/// The root of a directory: a digest with its format (`spec/directory.md`).
///
/// Made by `directory_root`; or from a text that somebody wrote down, which is then a claim until a computed root equals it.
/// Roots are equal if format and digest are.
///
/// Args:
///     format: The format: `dir[+mode][+mtime][:FORMAT]`.
///     text: The root as the tool prints it: hex in either case.
///     entries: The number of entries, if it is known. It does not count in comparisons.
///
/// Raises:
///     FormatError: The format is unknown, or no root of this format is written so.
#[pyclass(frozen, from_py_object, module = "mksum")]
#[derive(Clone)]
pub struct DirectoryRoot {
    spec: DirectorySpec,
    claimed: ClaimedRoot,
    entries: Option<u64>,
}

impl DirectoryRoot {
    /// The format, and the root as text.
    pub fn parts(&self) -> (DirectorySpec, String) {
        (self.spec.clone(), self.text())
    }
}

#[pymethods]
impl DirectoryRoot {
    #[new]
    #[pyo3(signature = (format, text, entries = None))]
    fn new(py: Python<'_>, format: DirectoryFormat, text: &str, entries: Option<u64>) -> PyResult<Self> {
        let claimed = format.0.tree().claimed_root(text);
        let claimed = claimed.map_err(|reason| errors::error(py, "FormatError", reason.to_string()))?;
        Ok(DirectoryRoot { spec: format.0, claimed, entries })
    }

    /// The root in lower-case hex.
    #[getter]
    fn text(&self) -> String {
        self.claimed.text(self.spec.tree())
    }

    /// The digest: 16 to 64 bytes.
    #[getter]
    fn bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.claimed.digest().as_bytes())
    }

    /// The canonical text of the format: `dir:rfc6962:sha256:64KiB`.
    #[getter]
    fn format(&self) -> String {
        self.spec.to_string()
    }

    /// The number of entries below the directory; None if that is not known.
    #[getter]
    fn entries(&self) -> Option<u64> {
        self.entries
    }

    fn __str__(&self) -> String {
        self.text()
    }

    fn __bytes__<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        self.bytes(py)
    }

    fn __repr__(&self) -> String {
        let entries = self.entries.map_or_else(String::new, |entries| format!(", {entries}"));
        format!("DirectoryRoot('{}', '{}'{entries})", self.spec, self.text())
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        let other = other.cast::<DirectoryRoot>().map(|other| other.get());
        other.is_ok_and(|other| (&self.spec, &self.claimed) == (&other.spec, &other.claimed))
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        (PyString::new(py, &self.format()), self.bytes(py)).into_pyobject(py)?.hash()
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let (root, py) = (slf.get(), slf.py());
        Ok((slf.get_type().into_any(), (root.format(), root.text(), root.entries).into_pyobject(py)?))
    }
}

/// Returns the root of a directory: of the names, types and contents of all that is below it, and of the texts of links.
///
/// All files are read once, side by side. The directory's own name and the folder `.mksum` in it do not count, and links are not
/// followed (`spec/directory.md`).
///
/// Args:
///     path: The directory.
///     fmt: A format `dir[+mode][+mtime][:FORMAT]`, or a list of them, which share one read. FORMAT is that of the files.
///     threads, on_progress, stop: As for `file_root`.
///
/// Returns:
///     A `DirectoryRoot`, or a list of one root for each format.
///
/// Raises:
///     FormatError: A format is unknown, or one of files.
///     FileError: Something cannot be read. Like the errors below, it is the first: up to 19 others are its notes.
///     ChangedError: Something was changed while the directory was read.
///     RefusedError: There is a pipe, a socket or a device; or the path is a URL.
///     StoppedError: `stop` was used.
///     KeyboardInterrupt: Within 100 ms.
#[pyfunction]
#[pyo3(signature = (path, fmt = Wanted::One(DirectoryFormat::default()), *, threads = None, on_progress = None, stop = None),
       text_signature = "(path, fmt='dir', *, threads=None, on_progress=None, stop=None)")]
pub fn directory_root<'py>(
    py: Python<'py>,
    path: &Bound<'py, PyAny>,
    fmt: Wanted<DirectoryFormat>,
    threads: Option<NonZero<usize>>,
    on_progress: Option<Py<PyAny>>,
    stop: Option<&Bound<'py, Stop>>,
) -> PyResult<Bound<'py, PyAny>> {
    let specs: Vec<_> = fmt.formats().iter().map(|format| format.0.clone()).collect();
    let leaves = hashed(py, path, Call::new(threads, on_progress, stop), {
        let specs = specs.clone();
        move |path, options| hash_directory(path, &specs, options, &mut |_| {})
    })?;
    let roots = specs.into_iter().zip(&leaves).map(|(spec, leaves)| {
        let root = leaves.root().map_err(|reason| errors::join(py, spec.tree(), reason))?;
        Ok(DirectoryRoot { spec, claimed: (&root).into(), entries: Some(root.len()) })
    });
    fmt.answer(py, roots.collect::<PyResult<_>>()?)
}

/// Returns a proof that an entry is in a directory: the entry and O(log n) digests (`spec/directory.md`). All files are read.
///
/// Args:
///     directory: The directory.
///     path: The path of the entry below it: a file, a directory or a link.
///     fmt: The format of the root: `dir[+mode][+mtime][:FORMAT]`.
///     threads, on_progress, stop: As for `file_root`.
///
/// Raises:
///     ProofError: There is no such entry.
///     FormatError, FileError, ChangedError, RefusedError, StoppedError: As for `directory_root`.
#[pyfunction]
#[pyo3(signature = (directory, path, fmt = DirectoryFormat::default(), *, threads = None, on_progress = None, stop = None),
       text_signature = "(directory, path, fmt='dir', *, threads=None, on_progress=None, stop=None)")]
#[allow(clippy::too_many_arguments)] // Half of them are by name only.
pub fn prove_entry<'py>(
    py: Python<'py>,
    directory: &Bound<'py, PyAny>,
    path: &Bound<'py, PyAny>,
    fmt: DirectoryFormat,
    threads: Option<NonZero<usize>>,
    on_progress: Option<Py<PyAny>>,
    stop: Option<&Bound<'py, Stop>>,
) -> PyResult<Bound<'py, PyBytes>> {
    let (spec, entry) = (fmt.0, name_given(path)?);
    let wanted = bytes_of(&entry);
    let call = Call::new(threads, on_progress, stop);
    let made = hashed(py, directory, call, move |path, options| {
        let (mut index, mut found) = (0, None);
        let leaves = hash_directory(path, std::slice::from_ref(&spec), options, &mut |entry| {
            if entry.path == wanted {
                found = spec.encode(entry).ok().map(|entry| (index, entry));
            }
            index += 1;
        })?;
        Ok(found.map(|(index, entry)| EntryProof::new(&leaves[0], index, entry)))
    })?;
    match made {
        Some(Ok((_, proof))) => Ok(PyBytes::new(py, &proof.to_bytes())),
        Some(Err(reason)) => Err(refused(py, reason)),
        None => Err(errors::error(py, "ProofError", format!("there is no entry {}", entry.display()))),
    }
}

/// Checks that an entry is in the directory with the trusted root, and returns the entry.
///
/// Args:
///     proof: The bytes of a proof of `prove_entry`, or of `mksum prove DIR --path PATH`. Nothing in it is trusted.
///     root: The trusted root.
///
/// Returns:
///     A dict: `path`; `type`, which is `file`, `directory` or `link`; `index`, the place among all entries, from 0, and `entries`,
///     their number. Of a file `length` in bytes and `file_root`, its root as text; of a link `link`, its text. `mode` and
///     `mtime_ns` if the format has these attributes. A file has been checked if `file_root(path, FORMAT).text` is its root.
///
/// Raises:
///     ProofError: The proof is not valid, or is about another root: `expected` and `found`.
#[pyfunction]
pub fn check_entry<'py>(py: Python<'py>, proof: Data<'_>, root: DirectoryRoot) -> PyResult<Bound<'py, PyDict>> {
    let proof = EntryProof::parse(proof.bytes()).map_err(|reason| refused(py, reason))?;
    let entry = proof.verify(&root.spec, &root.claimed).map_err(|reason| refused(py, reason))?;
    let row = PyDict::new(py);
    row.set_item("path", name_of(entry.path))?;
    let letter = match &entry.content {
        Content::File(root) => {
            row.set_item("length", root.len())?;
            row.set_item("file_root", root.to_string())?;
            "file"
        }
        Content::Directory => "directory",
        Content::Link(text) => {
            row.set_item("link", name_of(text))?;
            "link"
        }
    };
    row.set_item("type", letter)?;
    for attribute in root.spec.attributes() {
        let (seconds, nanoseconds) = entry.modified;
        match attribute {
            "mode" => row.set_item("mode", entry.mode)?,
            _ => row.set_item("mtime_ns", i128::from(seconds) * 1_000_000_000 + i128::from(nanoseconds))?,
        }
    }
    let (index, entries) = proof.place();
    row.set_item("index", index)?;
    row.set_item("entries", entries)?;
    Ok(row)
}

/// What `work` finds in a directory whose files it reads.
fn hashed<T: Send + 'static>(
    py: Python<'_>,
    directory: &Bound<'_, PyAny>,
    mut call: Call,
    work: impl FnOnce(&Path, &Options) -> Result<T, Vec<Error>> + Send + 'static,
) -> PyResult<T> {
    let directory = path_of(directory)?;
    let result = call.run(py, move |options| work(&directory, options))?;
    result.map_err(|reasons| errors::several(py, reasons.into_iter().map(|reason| errors::io(py, reason))))
}

/// The bytes of a path below a directory, with slashes between the names.
fn bytes_of(path: &Path) -> Vec<u8> {
    let names: Vec<_> = path.iter().map(|name| name.as_encoded_bytes()).collect();
    names.join(&b'/')
}

/// A path or a text of a link with these bytes, as `os.fsdecode` has it.
pub fn name_of(bytes: &[u8]) -> OsString {
    // Bytes from another system may be no name here.
    path_from_bytes(bytes).map_or_else(|| String::from_utf8_lossy(bytes).into_owned().into(), PathBuf::into_os_string)
}

/// Why a proof about an entry is not made, or not valid.
fn refused(py: Python<'_>, reason: EntryProofError) -> PyErr {
    match reason {
        EntryProofError::Proof(reason) => errors::proof(py, reason),
        reason => errors::error(py, "ProofError", reason.to_string()),
    }
}
