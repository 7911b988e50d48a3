//! Kept trees: damage is found, repaired and proven against the digests beside a file.

use crate::ending;
use crate::errors;
use crate::places::input_of;
use crate::records::pairs;
use crate::root::Root;
use crate::spec::Format;
use crate::work::{Call, Stop};
use mksum::Spec;
use mksum::outboard::KeptLayout;
use mksum::proof::Claim;
use mksum_io::outboard::{self, Changes, EXTENSION, Keeping, Remote, Repair, Stored, append, is_unchanged};
use mksum_io::{Error, File, HeldFile, Input, Prover, Refusal, Unproven, open_replica};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::ffi::OsStr;
use std::num::NonZero;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

type Opened = mksum::outboard::Outboard<Stored>;

/// The kept tree of a file: the digests of its nodes, in a file of their own beside it (`spec/outboard.md`).
///
/// It proves as much as its root: compare `root` with one that you trust. Made by `Outboard.keep` and `Outboard.open`.
#[pyclass(frozen, module = "mksum")]
pub struct Outboard {
    file: Input,
    place: Input,
    opened: Arc<Opened>,
}

/// What `damaged` finds.
struct Place {
    kind: &'static str,
    range: Range<u64>,
}

/// The file and the place of its tree, of which the usual one is beside it: for an object, in the working directory.
pub fn places_of(
    file: &Bound<'_, PyAny>,
    place: Option<&Bound<'_, PyAny>>,
    extension: &str,
) -> PyResult<(Input, Input)> {
    let file = input_of(file)?;
    let place = place.map_or_else(|| Ok(outboard::place_of(&file, extension)), input_of)?;
    Ok((file, place))
}

impl Outboard {
    fn at(py: Python<'_>, mut call: Call, (file, place): (Input, Input)) -> PyResult<Self> {
        let tree = place.clone();
        let opened = call.run(py, move |options| outboard::open_with(&tree, options))?;
        Ok(Outboard { file, place, opened: Arc::new(opened.map_err(|error| errors::io(py, error))?) })
    }

    /// The places in which the file differs, left to right; neighbours of one kind are one.
    fn places(&self, py: Python<'_>, call: &mut Call, start: u64, end: Option<u64>) -> PyResult<Vec<Place>> {
        let (path, place, opened) = (self.file.clone(), self.place.clone(), self.opened.clone());
        let range = start..end.unwrap_or(opened.len());
        let found = call.run(py, move |options| {
            let mut found: Vec<Place> = Vec::new();
            outboard::verify(File::open(&path, options)?, (&opened, &place), range, &mut |finding| {
                let (kind, range) = (finding.kind(), finding.range());
                match found.last_mut() {
                    Some(last) if last.kind == kind && last.range.end == range.start => last.range.end = range.end,
                    _ => found.push(Place { kind, range }),
                }
                Ok(())
            })?;
            Ok(found)
        })?;
        found.map_err(|error| errors::io(py, error))
    }
}

#[pymethods]
impl Outboard {
    /// Hashes a file, writes its tree beside it, and returns it. A run that was ended is resumed.
    ///
    /// Args:
    ///     path: The file, or the URL of an object.
    ///     fmt: The format. Its leaves say how exactly damage can be found later.
    ///     outboard: The path of the tree, or its URL in a store: the file's with `.mkt` behind it, if None; for an object, a file of that
    ///         name in the working directory.
    ///     unit: The longest subtrees whose digests are kept, in bytes, so that damage is found to within one; a leaf at the
    ///         least. If None, so many that the tree takes about 0.1 % of the file or less.
    ///     accept_changes: Whether the file may have other bytes than its old tree says, although its size, mtime and inode are
    ///         the same. Without it such a file is damaged, and the old tree is kept as the evidence.
    ///     threads, on_progress, stop: As for `file_root`.
    ///
    /// Raises:
    ///     DamagedError: The file is damaged, by its old tree.
    ///     RefusedError: There is another file at the place of the tree.
    ///     FileError, ChangedError, LengthError, StoppedError: As for `file_root`.
    #[staticmethod]
    #[pyo3(signature = (path, fmt = Format(Spec::default()), *, outboard = None, unit = None, accept_changes = false,
                        threads = None, on_progress = None, stop = None),
           text_signature = "(path, fmt='rfc6962', *, outboard=None, unit=None, accept_changes=False, threads=None, on_progress=None, stop=None)")]
    #[allow(clippy::too_many_arguments)] // All but two are by name only.
    fn keep(
        py: Python<'_>,
        path: &Bound<'_, PyAny>,
        fmt: Format,
        outboard: Option<&Bound<'_, PyAny>>,
        unit: Option<u64>,
        accept_changes: bool,
        threads: Option<NonZero<usize>>,
        on_progress: Option<Py<PyAny>>,
        stop: Option<&Bound<'_, Stop>>,
    ) -> PyResult<Self> {
        let (path, place) = places_of(path, outboard, EXTENSION)?;
        let (file, target, spec) = (path.clone(), place.clone(), fmt.0);
        let mut call = Call::new(threads, on_progress, stop);
        let kept = call.run(py, move |options| {
            let (file, remote) = (File::open(&file, options)?, Remote::of(&target, options)?);
            let copy = remote.as_ref().map_or_else(|| PathBuf::from(target.as_os_str()), Remote::copy);
            let mut keeping = Keeping::new(KeptLayout::unit_of(&spec, unit), &copy);
            keeping.changes = if accept_changes { Changes::Accept } else { Changes::Refuse };
            outboard::keep(file, &spec, &keeping).map_err(|error| error_at(error, &copy, &target))?;
            remote.map_or(Ok(()), |remote| remote.put())
        })?;
        kept.map_err(|error| errors::io(py, error))?;
        Outboard::at(py, call, (path, place))
    }

    /// Opens the tree of a file.
    ///
    /// Args:
    ///     path: The file, or the URL of an object. It is not read.
    ///     outboard: The path or URL of the tree: as for `keep`, if None.
    ///
    /// Raises:
    ///     NotFoundError: There is no tree.
    ///     OutboardError: It is not a tree, or is unfinished or damaged in its header.
    #[staticmethod]
    #[pyo3(signature = (path, *, outboard = None))]
    fn open(py: Python<'_>, path: &Bound<'_, PyAny>, outboard: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        Outboard::at(py, Call::new(None, None, None), places_of(path, outboard, EXTENSION)?)
    }

    /// The path of the file.
    #[getter]
    fn path(&self) -> &OsStr {
        self.file.as_os_str()
    }

    /// The path of the tree.
    #[getter]
    fn outboard(&self) -> &OsStr {
        self.place.as_os_str()
    }

    /// The root of the file as it was when the tree was written.
    #[getter]
    fn root(&self) -> Root {
        Root::from(&self.opened.root())
    }

    /// The canonical text of the format.
    #[getter]
    fn format(&self) -> String {
        self.opened.spec().to_string()
    }

    /// The length of the file when the tree was written, in bytes.
    #[getter]
    fn length(&self) -> u64 {
        self.opened.len()
    }

    /// The length of the subtrees that digests are kept of, in bytes: damage is found to within one.
    #[getter]
    fn unit(&self) -> u64 {
        self.opened.layout().unit()
    }

    /// Returns whether the file has the size, mtime and inode that it had when the tree was written. It is not read.
    ///
    /// Raises:
    ///     FileError: The file cannot be opened.
    fn is_unchanged(&self, py: Python<'_>) -> PyResult<bool> {
        let (file, opened) = (self.file.clone(), self.opened.clone());
        let opening = Call::new(NonZero::new(1), None, None)
            .run(py, move |options| File::open(&file, options).map(|file| is_unchanged(&file, opened.header())))?;
        opening.map_err(|error| errors::io(py, error))
    }

    /// Verifies bytes of the file, and raises if they are damaged.
    ///
    /// Args:
    ///     start, end: The bytes `start..end`: all, if they are not given. Only the units that have one of them are read.
    ///     threads, on_progress, stop: As for `file_root`.
    ///
    /// Raises:
    ///     DamagedError: Some bytes differ, are missing, were appended or cannot be read: `ranges`.
    ///     OutboardError: A digest of the tree itself is damaged.
    ///     FileError, ChangedError, StoppedError: As for `file_root`.
    #[pyo3(signature = (start = 0, end = None, *, threads = None, on_progress = None, stop = None))]
    fn verify(
        &self,
        py: Python<'_>,
        start: u64,
        end: Option<u64>,
        threads: Option<NonZero<usize>>,
        on_progress: Option<Py<PyAny>>,
        stop: Option<&Bound<'_, Stop>>,
    ) -> PyResult<()> {
        let places = self.places(py, &mut Call::new(threads, on_progress, stop), start, end)?;
        let mut ranges = Vec::new();
        places
            .iter()
            .filter(|place| place.kind != "outboard")
            .for_each(|place| append(&mut ranges, place.range.clone()));
        let bytes: u64 = ranges.iter().map(|range| range.end - range.start).sum();
        if let (true, Some(node)) = (ranges.is_empty(), places.first()) {
            let Range { start, end } = node.range;
            let message = format!("{}: the digest over bytes {start}..{end} of the file is damaged", self.place);
            return Err(errors::error(py, "OutboardError", message));
        }
        match ranges.is_empty() {
            true => Ok(()),
            false => {
                let (count, file) = (ranges.len(), &self.file);
                let message = format!("{file}: {bytes} of {} bytes are damaged ({count} ranges)", self.opened.len());
                let ranges = ranges.into_iter().map(|range| (range.start, range.end)).collect();
                Err(errors::damaged(py, &self.file.shown_path(), message, ranges))
            }
        }
    }

    /// Returns where the file differs from its tree.
    ///
    /// Args:
    ///     start, end: The bytes `start..end`: all, if they are not given. Only the units that have one of them are read.
    ///     threads, on_progress, stop: As for `file_root`.
    ///
    /// Returns:
    ///     Dicts, left to right, with `kind`, `start` and `end` (bytes of the file, half-open) as in `spec/json.md`: `damaged`,
    ///     `missing`, `grown`, `unreadable`, and `outboard` for a damaged digest of the tree. Empty if nothing is wrong.
    ///
    /// Raises:
    ///     FileError, ChangedError, OutboardError, StoppedError: As for `verify`.
    #[pyo3(signature = (start = 0, end = None, *, threads = None, on_progress = None, stop = None))]
    fn damaged<'py>(
        &self,
        py: Python<'py>,
        start: u64,
        end: Option<u64>,
        threads: Option<NonZero<usize>>,
        on_progress: Option<Py<PyAny>>,
        stop: Option<&Bound<'py, Stop>>,
    ) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let places = self.places(py, &mut Call::new(threads, on_progress, stop), start, end)?;
        let row = |place: Place| {
            let row = PyDict::new(py);
            row.set_item("kind", place.kind)?;
            row.set_item("start", place.range.start)?;
            row.set_item("end", place.range.end)?;
            Ok(row)
        };
        places.into_iter().map(row).collect()
    }

    /// Repairs the file: fetches the damaged ranges from a copy, and nothing else. Every unit is checked before it is written.
    ///
    /// Args:
    ///     source: The copy: a path, or with a package that has a network client a URL (`https://…`, `s3://BUCKET/KEY`).
    ///     threads, on_progress, stop: As for `file_root`.
    ///
    /// Returns:
    ///     A dict: `whole`, whether the file has the root of its tree now; `repaired` and `failed`, lists of `(start, end)` in
    ///     bytes; `written` and `fetched`, numbers of bytes; `resumed`, whether an interrupted repair was completed.
    ///
    /// Raises:
    ///     DamagedError: What was written is damaged when it is read: the disk may be failing.
    ///     RefusedError: Another process repairs the file, or it is longer than it was.
    ///     FileError, ChangedError, OutboardError, StoppedError: As for `verify`.
    #[pyo3(signature = (source, *, threads = None, on_progress = None, stop = None))]
    fn repair<'py>(
        &self,
        py: Python<'py>,
        source: &Bound<'py, PyAny>,
        threads: Option<NonZero<usize>>,
        on_progress: Option<Py<PyAny>>,
        stop: Option<&Bound<'py, Stop>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let (source, path, place, opened) =
            (input_of(source)?, self.file.clone(), self.place.clone(), self.opened.clone());
        let result = Call::new(threads, on_progress, stop).run(py, move |options| {
            let mut replica = open_replica(&source, options)?;
            let (mut done, mut failed) = (Vec::new(), Vec::new());
            let mut report = |repair: Repair| match repair {
                Repair::Done(range, _) => append(&mut done, range),
                Repair::Passed(..) => {}
                Repair::Failed(range, _) => append(&mut failed, range),
            };
            let Input::File(path) = &path else {
                return Err(Error::refused(&path, Refusal::Url("an object: only files are repaired".into())));
            };
            let mut file = HeldFile::open(path)?;
            let repaired = outboard::repair(&mut file, (&opened, &place), &mut *replica, options, &mut report)?;
            Ok((repaired, done, failed))
        })?;
        let (repaired, done, failed) = result.map_err(|error| errors::io(py, error))?;
        let row = PyDict::new(py);
        row.set_item("whole", repaired.whole)?;
        row.set_item("repaired", pairs(&done))?;
        row.set_item("failed", pairs(&failed))?;
        row.set_item("written", repaired.written)?;
        row.set_item("fetched", repaired.fetched)?;
        row.set_item("resumed", repaired.resumed)?;
        Ok(row)
    }

    /// Returns a proof that bytes lie in the file: reads the leaves at its edges and O(log n) digests (`spec/proofs.md`).
    ///
    /// Args:
    ///     start: The offset of the first byte.
    ///     end: The offset after the last byte.
    ///
    /// Raises:
    ///     ProofError: The range is empty or not within the file, or the file differs from its tree there.
    ///     ChangedError: The file has another size, mtime or inode than when the tree was written.
    #[pyo3(signature = (start, end))]
    fn prove<'py>(&self, py: Python<'py>, start: u64, end: u64) -> PyResult<Bound<'py, PyBytes>> {
        self.proof(py, Claim::Range(start..end))
    }

    /// Returns a proof that the file begins with its first `old` bytes as they were before it grew (RFC 9162, 2.1.4).
    ///
    /// Args:
    ///     old: The older length in bytes: 1 or more.
    ///
    /// Raises:
    ///     ProofError, ChangedError: As for `prove`.
    #[pyo3(signature = (old))]
    fn prove_consistency<'py>(&self, py: Python<'py>, old: u64) -> PyResult<Bound<'py, PyBytes>> {
        self.proof(py, Claim::Consistency(old))
    }

    /// Returns the ranges in which the file of this tree and that of another differ, as `(start, end)` in bytes. No file is read.
    ///
    /// Args:
    ///     other: A tree in the same format.
    ///
    /// Raises:
    ///     OutboardError: The trees have different formats, or one is damaged where they differ.
    fn diff(&self, py: Python<'_>, other: &Bound<'_, Self>) -> PyResult<Vec<(u64, u64)>> {
        let (ours, theirs) = (self.opened.clone(), other.get().opened.clone());
        let ranges = ending::detach(py, move || {
            let mut ranges = Vec::new();
            let differ = ours.diff(&theirs, &mut |range| {
                append(&mut ranges, range);
                Ok(())
            });
            differ.map(|()| ranges)
        });
        let ranges = ranges.map_err(|error| errors::io(py, Error::from_outboard(error, &self.place)))?;
        Ok(ranges.into_iter().map(|range| (range.start, range.end)).collect())
    }

    fn __repr__(&self) -> String {
        format!("<Outboard {} of {}>", self.opened.spec(), self.file)
    }
}

impl Outboard {
    fn proof<'py>(&self, py: Python<'py>, claim: Claim) -> PyResult<Bound<'py, PyBytes>> {
        let (path, opened) = (self.file.clone(), self.opened.clone());
        let made = Call::new(None, None, None)
            .run(py, move |options| Prover::Kept(&opened).prove(File::open(&path, options)?, claim))?;
        let (_, proof) = made.map_err(|error| match error {
            Unproven::File(error) => errors::io(py, error),
            Unproven::Proof(error) => errors::proof(py, error),
        })?;
        Ok(PyBytes::new(py, &proof.to_bytes()))
    }
}

/// An error that is about the copy of a tree in a store, as one about the tree: the copy has a path that nobody knows.
fn error_at(error: Error, copy: &Path, target: &Input) -> Error {
    match error {
        Error::Refused { path, refusal } if path == *copy => Error::refused(target, refusal),
        error => error,
    }
}
