//! The table of formats.

use mksum::formats::{FAMILIES, Family, LeafRule};
use mksum::{MAX_LEN, Spec};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Returns every format as a dict, the default first: the fields of `mksum formats --json` (`spec/json.md`).
///
/// Returns:
///     Dicts with `name`, `about`, `same_as` (the programs that print the same roots), `met_in` (where one meets its roots), `default` (the
///     format with its defaults),
///     `hashes` (the default first), `leaf` (a dict of `default`, `min` and `max` in bytes and `power_of_two`),
///     `salt_bytes_max` and `streams` (whether a stream of unknown length has a root).
#[pyfunction]
pub fn formats(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    FAMILIES.iter().map(|family| row(py, family)).collect()
}

fn row<'py>(py: Python<'py>, family: &'static Family) -> PyResult<Bound<'py, PyDict>> {
    let (min, max) = match family.leaf {
        LeafRule::Whole | LeafRule::Found(_) => (MAX_LEN, MAX_LEN),
        LeafRule::Fixed(leaf) => (leaf, leaf),
        LeafRule::Any(_) => (1, Spec::MAX_LEAF),
        LeafRule::PowerOfTwo(min, max, _) => (min, max),
    };
    let leaf = PyDict::new(py);
    leaf.set_item("default", family.leaf.default())?;
    leaf.set_item("min", min)?;
    leaf.set_item("max", max)?;
    leaf.set_item("power_of_two", matches!(family.leaf, LeafRule::PowerOfTwo(..)))?;
    let row = PyDict::new(py);
    row.set_item("name", family.name)?;
    row.set_item("about", family.about)?;
    row.set_item("same_as", family.same_as)?;
    row.set_item("met_in", family.met_in.name())?;
    row.set_item("default", Spec::new(family).to_string())?;
    row.set_item("hashes", family.hashes.iter().map(|hash| hash.name()).collect::<Vec<_>>())?;
    row.set_item("leaf", leaf)?;
    row.set_item("salt_bytes_max", family.longest_salt())?;
    row.set_item("streams", family.streams())?;
    Ok(row)
}
