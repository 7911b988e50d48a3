//! A tree in parts: planned once, hashed anywhere, joined once.

use crate::data::Data;
use crate::errors;
use crate::growing;
use crate::places::input_of;
use crate::root::Root;
use crate::rows::{self, refused, wrong};
use crate::spec::Format;
use crate::work::{Call, Stop};
use mksum::{ByOffset, Spec};
use mksum_io::{Error, Input, Options};
use mksum_plan::{Hashed, NoRoot, Part, Row, facts, hash_inputs, hash_parts, join_rows};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::num::NonZero;
use std::ops::ControlFlow;

/// The length of a part if none is given, in bytes.
const PART: u64 = 64 << 20;

/// Returns the parts of a tree: rows for `map_range`, to be hashed anywhere and joined by `join`.
///
/// Args:
///     source: A path or URL; or the length of an input that workers read by themselves, in bytes.
///     fmt: The format. Unlike a stream, parts need no format that streams.
///     part: The longest part, in bytes. A longer leaf is a part all the same.
///     size: The input's length in bytes, if it is known, as of a listing. Then nothing is opened, and `version` is needed.
///     version: The input's version: of an object its ETag without quotes, of a file as `spec/plan.md` says.
///
/// Returns:
///     Dicts of plain values, left to right, as `spec/plan.md` has them: `kind` and `schema`; `path`, `version`, `size` and
///     `format` of the input; `offset` and `length`, the bytes of the part; `level`, the levels above its leaves. If only the
///     length is known, path and version are empty. An empty input has one part of no bytes.
///
/// Raises:
///     FormatError: The format is unknown, or not hashed in parts (`xet`).
///     LengthError: The format has no root for this length.
///     FileError: The input cannot be opened.
///     TypeError: Of `size` and `version` only one is given.
#[pyfunction]
#[pyo3(signature = (source, fmt = Format(Spec::default()), *, part = PART, size = None, version = None),
       text_signature = "(source, fmt='rfc6962', *, part=67108864, size=None, version=None)")]
pub fn plan<'py>(
    py: Python<'py>,
    source: &Bound<'py, PyAny>,
    fmt: Format,
    part: u64,
    size: Option<u64>,
    version: Option<String>,
) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let (path, version, size) = match (source.extract::<u64>(), size, version) {
        (Ok(size), None, None) => (Input::place(""), String::new(), size),
        (Err(_), Some(size), Some(version)) => (input_of(source)?, version, size),
        (Err(_), None, None) => opened(py, input_of(source)?)?,
        _ => return Err(pyo3::exceptions::PyTypeError::new_err("size and version belong together, and to a path")),
    };
    let spec = fmt.0;
    spec.supports(ByOffset::Parts).map_err(|reason| errors::error(py, "FormatError", reason.to_string()))?;
    let parts = mksum_plan::parts(&spec, size, part.max(1)).map_err(|error| errors::join(py, &spec, error.into()))?;
    parts.map(|node| rows::dict(py, &Row::new(&path, (&version, size), &spec, node))).collect()
}

/// The version and length of an input, which is opened for them.
fn opened(py: Python<'_>, path: Input) -> PyResult<(Input, String, u64)> {
    let mut call = Call::new(NonZero::new(1), None, None);
    let work = move |options: &Options| facts(&path, options).map(|(size, version)| (path, version, size));
    call.run(py, work)?.map_err(|error| errors::io(py, error))
}

/// Returns a row of `plan` with its digest.
///
/// Args:
///     row: A row of `plan`.
///     data: The bytes of the part, `length` of them. If None, they are read from the input at `path`.
///     threads: The threads that read and hash: as many as the process may run on, if None.
///     on_progress: Called with the number of bytes since the last call. Not used with `data`.
///     stop: Ends the call from another thread.
///
/// Returns:
///     The row as one of a ledger (`spec/plan.md`): its `kind` is `digest`, it has `digest` in lower-case hex, and `crc32`, the
///     check of its fields. If the part is the whole input, the digest is that of its root.
///
/// Raises:
///     RowError: The row is not one of `plan`, or `data` has another length.
///     FileError: The input cannot be opened or read.
///     ChangedError: The input has another length or version than when it was planned, or was changed while it was read.
#[pyfunction]
#[pyo3(signature = (row, data = None, *, threads = None, on_progress = None, stop = None))]
pub fn map_range<'py>(
    row: &Bound<'py, PyDict>,
    data: Option<Data<'py>>,
    threads: Option<NonZero<usize>>,
    on_progress: Option<Py<PyAny>>,
    stop: Option<&Bound<'py, Stop>>,
) -> PyResult<Bound<'py, PyDict>> {
    let py = row.py();
    let mut row = rows::read(row)?;
    let part = part(py, &row)?;
    let (digest, units) = match data {
        Some(data) if data.bytes().len() as u64 != row.length => {
            let reason =
                format!("bytes {}..{}: the data has {} bytes", row.offset, part.node.end(), data.bytes().len());
            return Err(wrong(py, row.range(), &reason));
        }
        Some(data) => {
            // Without the digests of its units.
            row.unit = None;
            let digest = data.watched(py, |bytes, stop| match part.is_whole() {
                true => growing::root(&part.spec, bytes, stop).map(|root| root.digest()),
                false => growing::subtree(&part.spec, row.size, part.node, bytes, stop),
            })?;
            (digest.map_err(|error| errors::join(py, &part.spec, error))?, Vec::new())
        }
        None if row.path.is_empty() => return Err(no_path(py)),
        None => {
            let hashed = Call::new(threads, on_progress, stop).run(py, move |options| hashed(part, options))?;
            hashed.map_err(|error| errors::io(py, error))?
        }
    };
    rows::dict(py, &row.hashed(&digest, &units))
}

/// What is hashed for a row.
pub fn part(py: Python<'_>, row: &Row<'_>) -> PyResult<Part> {
    Part::new(row).map_err(refused(row, py))
}

/// The error of a row that was planned by its length alone.
pub fn no_path(py: Python<'_>) -> PyErr {
    errors::error(py, "RowError", "the row has no path: pass its bytes")
}

/// The digest of a part, from its input.
fn hashed(part: Part, options: &Options) -> Result<Hashed, Error> {
    let mut result = None;
    let mut each = |hashed| {
        result = Some(hashed);
        ControlFlow::Continue(())
    };
    match part.is_input() {
        true => hash_inputs([part].into_iter(), options, &mut each),
        false => drop(hash_parts(&[part], options, &mut each)),
    }
    result.expect("one part has one result")
}

/// Returns the root of an input from the digests of its parts.
///
/// Args:
///     rows: The rows of `map_range`, in any order.
///
/// Raises:
///     RowError: There are no rows; they are not of one input; one is missing, twice there or not a subtree; `offset` is that of
///         the wrong row. Or one has no `crc32`, or another one than its fields: it was changed.
#[pyfunction]
pub fn join(py: Python<'_>, rows: &Bound<'_, PyAny>) -> PyResult<Root> {
    let rows = rows.try_iter()?.map(|row| rows::read(row?.cast::<PyDict>()?)).collect::<PyResult<Vec<_>>>()?;
    let spec = rows.first().and_then(|row| row.spec().ok()).unwrap_or_default();
    let root = join_rows(rows).map_err(|error| match error.why {
        NoRoot::Tree(reason) => errors::join(py, &spec, reason),
        _ => wrong(py, error.range.clone(), &error),
    })?;
    Ok(Root::from(&root))
}

/// Returns whether a row of a ledger is as it was written: whether its `crc32` is that of its fields. One that is not counts as
/// missing.
///
/// Args:
///     row: A row of a ledger, as a dict. Fields that rows do not have are ignored.
#[pyfunction]
pub fn is_intact(py: Python<'_>, row: &Bound<'_, PyDict>) -> PyResult<bool> {
    match rows::read(row) {
        Ok(row) => Ok(row.digest.is_some()),
        Err(error) if error.is_instance(py, &errors::class(py, "RowError")?) => Ok(false),
        Err(error) => Err(error),
    }
}
