//! What is found out about the entries of a directory, as dicts of plain values (`spec/json.md`).

use crate::ahead::Results;
use crate::directory::name_of;
use crate::ending;
use crate::errors;
use mksum_catalogue::{Error, Finding, Row, State};
use mksum_io::EntryKind;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::ops::Range;
use std::sync::Mutex;

/// The iterator of a `Catalogue`'s records. When it is deleted, the work ends.
#[pyclass(frozen, module = "mksum")]
pub struct Records {
    pub results: Mutex<Results<Result<Record, Error>>>,
}

#[pymethods]
impl Records {
    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let mut results = ending::lock(py, &self.results);
        let record = results.next_value(py, errors::catalogue)?;
        results.attend(py)?;
        record.map(|record| record.value(py)).transpose()
    }
}

/// What the iterators of a catalogue yield.
pub enum Record {
    /// How an entry differs.
    Entry(Finding),
    /// An entry.
    Row { row: Row, roots: Vec<(String, String)>, verified: Option<i64>, link: Option<Vec<u8>> },
    /// A line of a list.
    Line(Vec<u8>),
}

impl Record {
    fn value(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        let (row, roots, verified, link) = match self {
            Record::Line(line) => return Ok(PyBytes::new(py, &line).into_any()),
            Record::Entry(finding) => return row(py, &finding).map(Bound::into_any),
            Record::Row { row, roots, verified, link } => (row, roots, verified, link),
        };
        let dict = PyDict::new(py);
        dict.set_item("path", name_of(&row.path))?;
        dict.set_item("kind", "entry")?;
        let (seconds, nanoseconds) = row.facts.modified;
        dict.set_item("mtime_ns", i128::from(seconds) * 1_000_000_000 + i128::from(nanoseconds))?;
        dict.set_item("type", if row.facts.kind == EntryKind::Directory { "directory" } else { "file" })?;
        if let Some(text) = link {
            dict.set_item("type", "link")?;
            dict.set_item("link", name_of(&text))?;
        }
        if row.facts.kind == EntryKind::File {
            dict.set_item("length", row.facts.size)?;
            dict.set_item("verified", verified)?;
            let texts = PyDict::new(py);
            roots.into_iter().try_for_each(|(format, root)| texts.set_item(format, root))?;
            dict.set_item("roots", texts)?;
        }
        Ok(dict.into_any())
    }
}

/// A finding as a dict.
pub fn row<'py>(py: Python<'py>, finding: &Finding) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("path", name_of(&finding.path))?;
    dict.set_item("kind", "entry")?;
    dict.set_item("state", finding.state.as_str())?;
    finding.from.as_ref().map(|from| dict.set_item("from", name_of(from))).transpose()?;
    finding.length.map(|length| dict.set_item("length", length)).transpose()?;
    match finding.state {
        State::Repaired => {
            dict.set_item("ranges", pairs(&finding.ranges))?;
            dict.set_item("fetched", finding.bytes)?;
        }
        State::Damaged => dict.set_item("ranges", pairs(&finding.ranges))?,
        _ => {}
    }
    finding.reason().map(|reason| dict.set_item("error", reason)).transpose()?;
    Ok(dict)
}

/// Findings as a list of dicts.
pub fn rows<'py>(py: Python<'py>, findings: &[Finding]) -> PyResult<Vec<Bound<'py, PyDict>>> {
    findings.iter().map(|finding| row(py, finding)).collect()
}

/// Ranges as Python has them: the first byte and the one after the last.
pub fn pairs(ranges: &[Range<u64>]) -> Vec<(u64, u64)> {
    ranges.iter().map(|range| (range.start, range.end)).collect()
}
