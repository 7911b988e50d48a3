//! Rows of plans and ledgers (`spec/plan.md`) as Python's dicts of plain values.

use crate::ending;
use crate::errors;
use crate::spec::Format;
use mksum::{Digest, Spec, Subtree};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use mksum_io::Input;
use std::path::PathBuf;

/// The version of the schema.
const SCHEMA: u64 = 1;

/// The input of a row: its path, and the version and length that it had when it was planned.
pub struct Planned {
    pub path: Input,
    pub version: String,
    pub size: u64,
}

/// A row: the format, the input's length and the part.
pub struct Row {
    pub spec: Spec,
    pub size: u64,
    pub node: Subtree,
}

impl Row {
    /// Reads what is needed of a row to hash its bytes or join its digest.
    pub fn of(row: &Bound<'_, PyDict>) -> PyResult<Row> {
        let py = row.py();
        let schema: u64 = field(row, "schema")?;
        if schema != SCHEMA {
            let reason = format!("a row of schema {schema}: this version knows schema {SCHEMA}");
            return Err(errors::error(py, "RowError", reason));
        }
        let spec = field::<Format>(row, "format")?.0;
        let size = field(row, "size")?;
        let node = Subtree { start: field(row, "offset")?, len: field(row, "length")?, level: field(row, "level")? };
        let row = Row { spec, size, node };
        let within = node.start.checked_add(node.len).is_some_and(|end| end <= size && size <= mksum::MAX_LEN);
        match within && (node.len > 0 || row.is_whole()) && node.level <= 64 {
            true => Ok(row),
            false => Err(row.wrong(py, "the part is not within the input")),
        }
    }

    /// Whether it is all of its input: then its digest is the root's.
    pub fn is_whole(&self) -> bool {
        self.node.start == 0 && self.node.len == self.size
    }

    /// Refuses a part that the tree does not have.
    pub fn check(&self, py: Python<'_>) -> PyResult<()> {
        match self.is_whole() || self.spec.has_part(self.size, self.node) {
            true => Ok(()),
            false => Err(self.wrong(py, &format!("not a subtree of {} bytes in {}", self.size, self.spec))),
        }
    }

    /// The error for rows that are not one tree, because of this one.
    pub fn wrong(&self, py: Python<'_>, reason: &str) -> PyErr {
        wrong(py, self.node.start, self.node.start.saturating_add(self.node.len), reason)
    }
}

/// The error for rows that are not one tree, because of the bytes `start..end`.
pub fn wrong(py: Python<'_>, start: u64, end: u64, reason: &str) -> PyErr {
    let error = errors::error(py, "RowError", format!("bytes {start}..{end}: {reason}"));
    match error.value(py).setattr("offset", start) {
        Ok(()) => error,
        Err(other) => other,
    }
}

/// The value of a row at `key`.
pub fn field<'py, T>(row: &Bound<'py, PyDict>, key: &str) -> PyResult<T>
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

/// The input of a row.
///
/// # Errors
/// If it has no path: it was planned by its length alone.
pub fn planned(row: &Bound<'_, PyDict>) -> PyResult<Planned> {
    let py = row.py();
    let path: PathBuf = match row.get_item("path_base64")?.filter(|text| !text.is_none()) {
        None => field::<String>(row, "path")?.into(),
        Some(text) => ending::call(py, || {
            let bytes = py.import("base64")?.call_method1("b64decode", (text,))?;
            py.import("os")?.call_method1("fsdecode", (bytes,))?.extract()
        })?,
    };
    let path = Input::place(path);
    if path.as_os_str().is_empty() {
        return Err(errors::error(py, "RowError", "the row has no path: pass its bytes"));
    }
    Ok(Planned { path, version: field(row, "version")?, size: field(row, "size")? })
}

/// The fields that all rows of an input share, in their order.
pub struct Head<'py> {
    py: Python<'py>,
    path: String,
    path_base64: Option<String>,
    version: String,
    size: u64,
    format: String,
}

impl<'py> Head<'py> {
    pub fn new(py: Python<'py>, path: &Input, version: String, size: u64, spec: &Spec) -> PyResult<Self> {
        let path = path.as_os_str();
        let path_base64 = match path.to_str() {
            Some(_) => None,
            None => ending::call(py, || {
                let bytes = py.import("os")?.call_method1("fsencode", (path,))?;
                py.import("base64")?.call_method1("b64encode", (bytes,))?.call_method1("decode", ("ascii",))?.extract()
            })?,
        };
        Ok(Head { py, path: path.to_string_lossy().into_owned(), path_base64, version, size, format: spec.to_string() })
    }

    /// The row of a part, to be hashed.
    pub fn part(&self, node: Subtree) -> PyResult<Bound<'py, PyDict>> {
        let row = PyDict::new(self.py);
        row.set_item("kind", "range")?;
        row.set_item("schema", SCHEMA)?;
        row.set_item("path", &self.path)?;
        if let Some(text) = &self.path_base64 {
            row.set_item("path_base64", text)?;
        }
        row.set_item("version", &self.version)?;
        row.set_item("size", self.size)?;
        row.set_item("format", &self.format)?;
        row.set_item("offset", node.start)?;
        row.set_item("length", node.len)?;
        row.set_item("level", node.level)?;
        Ok(row)
    }
}

/// The same row, hashed.
pub fn hashed<'py>(row: &Bound<'py, PyDict>, digest: &Digest) -> PyResult<Bound<'py, PyDict>> {
    let result = PyDict::new(row.py());
    result.set_item("kind", "digest")?;
    for key in ["schema", "path", "path_base64", "version", "size", "format", "offset", "length", "level"] {
        match row.get_item(key)? {
            Some(value) if key != "path_base64" || !value.is_none() => result.set_item(key, value)?,
            _ => {}
        }
    }
    result.set_item("digest", digest.to_string())?;
    Ok(result)
}
