//! Rows of plans and ledgers (`mksum-plan`) as Python's dicts of plain values.

use crate::errors;
use mksum_plan::{Kind, Row, RowError, Text};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::ops::Range;

/// The row of a dict. Other fields than those of rows are ignored, and `None` stands for one that is not there.
pub fn read(row: &Bound<'_, PyDict>) -> PyResult<Row<'static>> {
    let py = row.py();
    let text = |key| optional::<String>(row, key).map(|text| text.map(Text::from));
    let (digest, crc32) = (text("digest")?, text("crc32")?);
    let read = Row {
        kind: if digest.is_some() { Kind::Digest } else { Kind::Range },
        schema: field(row, "schema")?,
        path: field::<String>(row, "path")?.into(),
        path_base64: text("path_base64")?,
        version: field::<String>(row, "version")?.into(),
        size: field(row, "size")?,
        format: field::<String>(row, "format")?.into(),
        offset: field(row, "offset")?,
        length: field(row, "length")?,
        level: field(row, "level")?,
        unit: optional(row, "unit")?,
        task: None,
        digest,
        units: text("units")?,
        crc32,
    };
    read.check().map_err(|error| wrong(py, read.range(), &error))?;
    Ok(read)
}

/// The dict of a row.
pub fn dict<'py>(py: Python<'py>, row: &Row<'_>) -> PyResult<Bound<'py, PyDict>> {
    let result = PyDict::new(py);
    let set = |key: &str, text: &Option<Text<'_>>| text.as_ref().map_or(Ok(()), |text| result.set_item(key, &*text.0));
    result.set_item("kind", if row.kind == Kind::Digest { "digest" } else { "range" })?;
    result.set_item("schema", row.schema)?;
    result.set_item("path", &*row.path)?;
    set("path_base64", &row.path_base64)?;
    result.set_item("version", &*row.version)?;
    result.set_item("size", row.size)?;
    result.set_item("format", &*row.format)?;
    result.set_item("offset", row.offset)?;
    result.set_item("length", row.length)?;
    result.set_item("level", row.level)?;
    if let Some(unit) = row.unit {
        result.set_item("unit", unit)?;
    }
    set("digest", &row.digest)?;
    set("units", &row.units)?;
    set("crc32", &row.crc32)?;
    Ok(result)
}

/// The error of a row that cannot be used, about these bytes of its input.
pub fn wrong(py: Python<'_>, range: Range<u64>, reason: &dyn std::fmt::Display) -> PyErr {
    let error = errors::error(py, "RowError", reason.to_string());
    match error.value(py).setattr("offset", range.start) {
        Ok(()) => error,
        Err(other) => other,
    }
}

/// The error of a row on its own.
pub fn refused<'a>(row: &'a Row<'_>, py: Python<'a>) -> impl Fn(RowError) -> PyErr + 'a {
    move |error| wrong(py, row.range(), &error)
}

/// The value of a row at `key`.
fn field<'py, T>(row: &Bound<'py, PyDict>, key: &str) -> PyResult<T>
where
    T: for<'a> FromPyObject<'a, 'py, Error: Into<PyErr>>,
{
    optional(row, key)?.ok_or_else(|| errors::error(row.py(), "RowError", format!("the row has no '{key}'")))
}

fn optional<'py, T>(row: &Bound<'py, PyDict>, key: &str) -> PyResult<Option<T>>
where
    T: for<'a> FromPyObject<'a, 'py, Error: Into<PyErr>>,
{
    let Some(found) = row.get_item(key)?.filter(|value| !value.is_none()) else { return Ok(None) };
    let value = found.extract::<T>().map_err(|error| {
        let error: PyErr = error.into();
        errors::error(row.py(), "RowError", format!("the row's '{key}' is wrong: {}", error.value(row.py())))
    })?;
    Ok(Some(value))
}
