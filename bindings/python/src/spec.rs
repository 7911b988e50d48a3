//! Formats by name.

use crate::errors;
use mksum::formats::{FAMILIES, LeafRule};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString, PyTuple};
use std::sync::LazyLock;

/// A tree format with all its choices made, named by one line of text everywhere: `NAME[:HASH][:LEAF][:salt=HEX]`
/// (`spec/README.md`).
///
/// Reads what people write (sizes in any unit, parts left out), and prints the one canonical form. Equal formats are equal and
/// have one hash.
///
/// Raises:
///     FormatError: The text names no format, or the format does not allow what it says.
///
/// Example:
///     >>> str(Spec("rfc6962"))
///     'rfc6962:sha256:64KiB'
#[pyclass(frozen, eq, from_py_object, module = "mksum")]
#[derive(Clone, PartialEq)]
pub struct Spec(pub mksum::Spec);

#[pymethods]
impl Spec {
    #[new]
    fn new(py: Python<'_>, text: &str) -> PyResult<Self> {
        named(py, text).map(Spec)
    }

    /// The name of the format alone: `rfc6962`.
    #[getter]
    fn name(&self) -> &'static str {
        self.0.family().name
    }

    /// The name of the hash: `sha256`.
    #[getter]
    fn hash(&self) -> &'static str {
        self.0.hash().name()
    }

    /// The length of a leaf in bytes; of `mtsum` the longest allowed; None where the whole input is the only leaf.
    #[getter]
    fn leaf(&self) -> Option<u64> {
        (!is_sum(&self.0)).then(|| self.0.leaf())
    }

    /// The salt; empty in most formats.
    #[getter]
    fn salt<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.0.salt())
    }

    /// The size of a digest in bytes: 16 to 64.
    #[getter]
    fn digest_size(&self) -> usize {
        self.0.hash().size()
    }

    /// The size of the blocks that the hash consumes, in bytes: 64 to 144.
    #[getter]
    fn block_size(&self) -> usize {
        self.0.hash().block_size()
    }

    /// Whether a stream of unknown length has a root.
    #[getter]
    fn streams(&self) -> bool {
        self.0.family().streams()
    }

    /// The name on a tagged line of a sum file (`spec/sumfile.md`): `SHA256`.
    #[getter]
    fn tag(&self) -> String {
        self.0.tag()
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self) -> String {
        format!("Spec('{}')", self.0)
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        PyString::new(py, &self.0.to_string()).hash()
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let text = PyTuple::new(slf.py(), [slf.get().0.to_string()])?;
        Ok((slf.get_type().into_any(), text))
    }
}

/// A format as an argument: its text or a `Spec`.
#[derive(Clone)]
pub struct Format(pub mksum::Spec);

impl FromPyObject<'_, '_> for Format {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        if let Ok(spec) = object.cast::<Spec>() {
            return Ok(Format(spec.get().0.clone()));
        }
        named(object.py(), object.cast::<PyString>()?.to_str()?).map(Format)
    }
}

/// One format, or several whose roots come as a list.
pub enum Wanted {
    One(Format),
    Several(Vec<Format>),
}

impl FromPyObject<'_, '_> for Wanted {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        if object.is_instance_of::<PyString>() || object.is_instance_of::<Spec>() {
            return object.extract().map(Wanted::One);
        }
        let formats = object.try_iter().map_err(|_| PyTypeError::new_err("a format is a str or a Spec"))?;
        formats.map(|format| format?.extract()).collect::<PyResult<_>>().map(Wanted::Several)
    }
}

impl Wanted {
    pub fn specs(&self) -> Vec<mksum::Spec> {
        match self {
            Wanted::One(format) => vec![format.0.clone()],
            Wanted::Several(formats) => formats.iter().map(|format| format.0.clone()).collect(),
        }
    }

    /// The roots as the caller asked for them: one root, or a list.
    pub fn answer<'py>(&self, py: Python<'py>, mut roots: Vec<crate::root::Root>) -> PyResult<Bound<'py, PyAny>> {
        match self {
            Wanted::One(_) => Ok(Bound::new(py, roots.remove(0))?.into_any()),
            Wanted::Several(_) => roots.into_pyobject(py),
        }
    }
}

/// Whether the format is a plain sum: the hash of the whole input.
pub fn is_sum(spec: &mksum::Spec) -> bool {
    spec.family().leaf == LeafRule::Whole
}

/// Each format with its defaults, under its name and, where that is another, under hashlib's.
static DEFAULTS: LazyLock<Vec<(String, mksum::Spec)>> = LazyLock::new(|| {
    let of = |family: &'static mksum::formats::Family| {
        let spec = mksum::Spec::new(family);
        [(family.name.into(), spec.clone()), (family.name.replace('-', "_"), spec)]
    };
    FAMILIES.iter().flat_map(of).collect()
});

/// The format of this text; names of plain sums may have hashlib's underscores: `sha3_256`.
pub fn named(py: Python<'_>, text: &str) -> PyResult<mksum::Spec> {
    if let Some((_, spec)) = DEFAULTS.iter().find(|(name, _)| name == text) {
        return Ok(spec.clone());
    }
    text.parse().map_err(|reason| errors::format(py, text, &reason))
}

/// The name in hashlib's spelling for plain sums, else the text of the format.
pub fn name(spec: &mksum::Spec) -> String {
    if is_sum(spec) { spec.family().name.replace('-', "_") } else { spec.to_string() }
}
