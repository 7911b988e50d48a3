//! A tree in parts: planned once, hashed anywhere, joined once. Parts are rows of plain values.

use crate::data::Data;
use crate::errors;
use crate::files::path_of;
use crate::growing;
use crate::root::Root;
use crate::spec::Format;
use crate::work::{Call, Stop};
use mksum::{Digest, Error, Plan, Role, Spec, Subtree, Subtrees};
use mksum_io::File;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::BTreeMap;
use std::fs;
use std::num::NonZero;
use std::path::PathBuf;
use std::time::UNIX_EPOCH;

/// The length of a part if none is given, in bytes.
const PART: u64 = 64 << 20;

/// Returns the parts of a tree: rows for `map_range`, to be hashed anywhere and joined by `join`.
///
/// Args:
///     source: A path; or the length of an input that workers read by themselves, in bytes.
///     fmt: The format. Unlike a stream, parts need no format that streams.
///     part: The longest part, in bytes. A longer leaf is a part all the same.
///
/// Returns:
///     Dicts of plain values, left to right: `format`; `size`, the input's length; `offset` and `length`, the bytes of the part;
///     `level`, the levels above its leaves; of a path also `path` and `mtime_ns`. An empty input has none.
///
/// Raises:
///     FormatError: The format is unknown.
///     LengthError: The format has no root for this length.
///     FileError: The file cannot be found.
#[pyfunction]
#[pyo3(signature = (source, fmt = Format(Spec::default()), *, part = PART),
       text_signature = "(source, fmt='rfc6962', *, part=67108864)")]
pub fn plan<'py>(
    py: Python<'py>,
    source: &Bound<'py, PyAny>,
    fmt: Format,
    part: u64,
) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let (size, place) = match source.extract::<u64>() {
        Ok(size) => (size, None),
        Err(_) => {
            let path = path_of(source)?;
            let fail = |error| errors::io(py, mksum_io::Error::Open { path: path.clone(), error });
            let metadata = fs::metadata(&path).map_err(fail)?;
            (metadata.len(), Some((path, mtime(&metadata))))
        }
    };
    let spec = fmt.0;
    let fail = |reason: mksum::LengthError| errors::join(py, &spec, reason.into());
    let row = |node: Subtree| {
        let row = PyDict::new(py);
        row.set_item("format", spec.to_string())?;
        row.set_item("size", size)?;
        row.set_item("offset", node.start)?;
        row.set_item("length", node.len)?;
        row.set_item("level", node.level)?;
        if let Some((path, mtime)) = &place {
            row.set_item("path", path.as_os_str())?;
            row.set_item("mtime_ns", mtime)?;
        }
        Ok(row)
    };
    spec.plan(size, part.max(1)).map_err(fail)?.map(row).collect()
}

/// A file's mtime in nanoseconds since 1970, if the system has it.
fn mtime(metadata: &fs::Metadata) -> Option<i128> {
    let time = metadata.modified().ok()?;
    Some(match time.duration_since(UNIX_EPOCH) {
        Ok(after) => after.as_nanos() as i128,
        Err(before) => -(before.duration().as_nanos() as i128),
    })
}

/// A row, and the subtree that it is about.
struct Row {
    spec: Spec,
    size: u64,
    node: Subtree,
}

impl Row {
    fn of(row: &Bound<'_, PyDict>) -> PyResult<Row> {
        let py = row.py();
        let spec = field::<Format>(row, "format")?.0;
        let size = field(row, "size")?;
        let node = Subtree { start: field(row, "offset")?, len: field(row, "length")?, level: field(row, "level")? };
        let within = node.start.checked_add(node.len).is_some_and(|end| end <= size && size <= mksum::MAX_LEN);
        match within && node.len > 0 && node.level <= 64 {
            true => Ok(Row { spec, size, node }),
            false => Err(wrong(py, &node, "the part is not within the input")),
        }
    }
}

/// The value of a row at `key`.
fn field<'py, T>(row: &Bound<'py, PyDict>, key: &str) -> PyResult<T>
where
    T: for<'a> FromPyObject<'a, 'py, Error: Into<PyErr>>,
{
    let found =
        row.get_item(key)?.ok_or_else(|| errors::error(row.py(), "RowError", format!("the row has no '{key}'")))?;
    found.extract::<T>().map_err(|error| {
        let error: PyErr = error.into();
        errors::error(row.py(), "RowError", format!("the row's '{key}' is wrong: {}", error.value(row.py())))
    })
}

/// Rows that are not one tree, because of the part at `node`.
fn wrong(py: Python<'_>, node: &Subtree, reason: &str) -> PyErr {
    let error = errors::error(
        py,
        "RowError",
        format!("bytes {}..{}: {reason}", node.start, node.start.saturating_add(node.len)),
    );
    match error.value(py).setattr("offset", node.start) {
        Ok(()) => error,
        Err(other) => other,
    }
}

/// Returns a row of `plan` with its digest.
///
/// Args:
///     row: A row of `plan`.
///     data: The bytes of the part, `length` of them. If None, they are read from the file at `path`.
///     threads: The threads that read and hash: as many as the process may run on, if None.
///     on_progress: Called with the number of bytes since the last call. Not used with `data`.
///     stop: Ends the call from another thread.
///
/// Returns:
///     The row, without `path` and `mtime_ns`, and with `digest` in lower-case hex. Its `offset`, `length`, `level` and `digest`
///     are what `mksum join` reads.
///
/// Raises:
///     RowError: The row is not one of `plan`, or `data` has another length.
///     FileError: The file cannot be opened or read.
///     ChangedError: The file has another length or mtime than when it was planned, or was changed while it was read.
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
    let Row { spec, size, node } = Row::of(row)?;
    if !spec.has_part(size, node) {
        return Err(wrong(py, &node, &format!("not a subtree of {size} bytes in {spec}")));
    }
    let digest = match data {
        Some(data) if data.bytes().len() as u64 != node.len => {
            return Err(wrong(py, &node, &format!("the data has {} bytes", data.bytes().len())));
        }
        Some(data) => data
            .with(py, |bytes| growing::subtree(&spec, size, node, bytes))
            .map_err(|error| errors::join(py, &spec, error))?,
        None => {
            let mut call = Call::new(threads, on_progress, stop);
            let path: PathBuf = field(row, "path")?;
            let planned = match row.get_item("mtime_ns")? {
                Some(time) => time.extract::<Option<i128>>()?,
                None => None,
            };
            let metadata = fs::metadata(&path)
                .map_err(|error| errors::io(py, mksum_io::Error::Open { path: path.clone(), error }))?;
            if metadata.len() != size {
                let found = format!("it had {size} bytes when it was planned and has {} now", metadata.len());
                return Err(errors::changed(py, &path, &found));
            }
            if planned.is_some() && planned != mtime(&metadata) {
                return Err(errors::changed(py, &path, "its mtime is another than when it was planned"));
            }
            let format = spec.clone();
            let hashed = call.run(py, move |options| {
                let file = File::open(&path, options)?;
                let whole = file.plan(&format);
                let plan = Plan { threads: whole.threads.min(node.len.div_ceil(whole.piece).max(1) as usize), ..whole };
                let digest = format.join_parallel(&file, node, format.role(size, node), &plan);
                let digest = digest.map_err(|error| mksum_io::Error::from_join(error, &path, &format))?;
                file.finish().map(|()| digest)
            })?;
            hashed.map_err(|error| errors::io(py, error))?
        }
    };
    let result = PyDict::new(py);
    result.set_item("format", spec.to_string())?;
    result.set_item("size", size)?;
    result.set_item("offset", node.start)?;
    result.set_item("length", node.len)?;
    result.set_item("level", node.level)?;
    result.set_item("digest", digest.to_string())?;
    Ok(result)
}

/// Returns the root of an input from the digests of its parts.
///
/// Args:
///     rows: The rows of `map_range`, in any order.
///
/// Raises:
///     RowError: There are no rows; they are not of one input; one is missing, twice there or not a subtree; `offset` is that of
///         the wrong row.
#[pyfunction]
pub fn join(py: Python<'_>, rows: &Bound<'_, PyAny>) -> PyResult<Root> {
    let mut known: BTreeMap<u64, (Subtree, Digest)> = BTreeMap::new();
    let mut input: Option<(Spec, u64)> = None;
    for row in rows.try_iter()? {
        let row = row?.cast_into::<PyDict>()?;
        let Row { spec, size, node } = Row::of(&row)?;
        let text: String = field(&row, "digest")?;
        let digest = decode(&text).filter(|digest| digest.len() == spec.hash().size());
        let Some(digest) = digest else {
            return Err(wrong(py, &node, &format!("'{text}' is not a digest of {}", spec.hash().name())));
        };
        match &input {
            None => input = Some((spec, size)),
            Some((expected, len)) if *expected != spec || *len != size => {
                return Err(wrong(
                    py,
                    &node,
                    &format!("it is of {size} bytes in {spec}, others of {len} in {expected}"),
                ));
            }
            Some(_) => {}
        }
        if known.insert(node.start, (node, Digest::new(&digest))).is_some() {
            return Err(wrong(py, &node, "there are two rows of this offset"));
        }
    }
    let Some((spec, size)) = input else { return Err(errors::error(py, "RowError", "there are no rows")) };
    let mut end = 0;
    for (node, _) in known.values() {
        if node.start != end {
            let reason =
                if node.start > end { "the bytes before it are missing" } else { "it overlaps the part before it" };
            return Err(wrong(py, node, reason));
        }
        if !spec.has_part(size, *node) {
            return Err(wrong(py, node, &format!("not a subtree of {size} bytes in {spec}")));
        }
        end = node.end();
    }
    if end != size {
        return Err(wrong(py, &Subtree { start: end, len: size - end, level: 0 }, "there is no row of them"));
    }
    let known = Known(known.into_values().collect());
    let root = spec.root_from(&known, size).map_err(|reason| errors::join(py, &spec, reason))?;
    Ok(Root::from(&root))
}

fn decode(hex: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| (byte as char).to_digit(16).map(|digit| digit as u8);
    let pair = |pair: &[u8]| Some(digit(pair[0])? << 4 | digit(*pair.get(1)?)?);
    hex.as_bytes().chunks(2).map(pair).collect()
}

/// Digests that were computed elsewhere. A part that is the whole input was hashed as its root.
struct Known(BTreeMap<Subtree, Digest>);

impl Subtrees for Known {
    fn digest(&self, _: &Spec, node: Subtree, _: Role) -> Result<Option<Digest>, Error> {
        Ok(self.0.get(&node).copied())
    }
}
