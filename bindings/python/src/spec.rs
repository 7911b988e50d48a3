//! Formats by name.

use crate::errors;
use mksum::SpecError;
use mksum::directory::DirectorySpec;
use mksum::formats::{FAMILIES, LeafRule};
use mksum::outboard::ForeignFormat;
use pyo3::conversion::FromPyObjectOwned;
use pyo3::exceptions::PyTypeError;
use pyo3::types::{PyBytes, PyString, PyTuple};
use pyo3::{IntoPyObjectExt, prelude::*};
use std::fmt::Display;
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
        (self.0.family().leaf != LeafRule::Whole).then(|| self.0.leaf())
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

/// The text of a format: of a `Spec`, or as it was given.
fn text_of(object: &Borrowed<'_, '_, PyAny>) -> PyResult<String> {
    match object.cast::<Spec>() {
        Ok(spec) => Ok(spec.get().0.to_string()),
        Err(_) => Ok(object.cast::<PyString>()?.to_str()?.into()),
    }
}

/// The tree of another program as an argument: a format, whose usual one it is, or the extension of its files.
pub struct Foreign(pub ForeignFormat);

impl FromPyObject<'_, '_> for Foreign {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        let (py, text) = (object.py(), text_of(&object)?);
        text.parse().map(Foreign).map_err(|error: mksum::Error| match text.parse::<mksum::Spec>() {
            Ok(spec) => errors::join(py, &spec, error),
            Err(reason) => errors::format(py, &text, &reason),
        })
    }
}

/// A format of directories as an argument: its text.
pub struct DirectoryFormat(pub DirectorySpec);

impl Default for DirectoryFormat {
    fn default() -> Self {
        DirectoryFormat(DirectorySpec::NAME.parse().expect("a format"))
    }
}

impl FromPyObject<'_, '_> for DirectoryFormat {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        let (py, text) = (object.py(), text_of(&object)?);
        let refused = |reason: &dyn Display| errors::format(py, &text, reason);
        if !DirectorySpec::is_name(&text) && text.parse::<mksum::Spec>().is_ok() {
            return Err(refused(&format_args!(
                "'{text}' is a format of files: directories whose files have it are 'dir:{text}'"
            )));
        }
        text.parse().map(DirectoryFormat).map_err(|reason: SpecError| refused(&reason))
    }
}

/// One format, or several whose roots come as a list.
pub enum Wanted<F = Format> {
    One(F),
    Several(Vec<F>),
}

impl<'py, F: FromPyObjectOwned<'py, Error = PyErr>> FromPyObject<'_, 'py> for Wanted<F> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if object.is_instance_of::<PyString>() || object.is_instance_of::<Spec>() {
            return object.extract().map(Wanted::One);
        }
        let formats = object.try_iter().map_err(|_| PyTypeError::new_err("a format is a str or a Spec"))?;
        formats.map(|format| format?.extract()).collect::<PyResult<_>>().map(Wanted::Several)
    }
}

impl<F> Wanted<F> {
    pub fn formats(&self) -> &[F] {
        match self {
            Wanted::One(format) => std::slice::from_ref(format),
            Wanted::Several(formats) => formats,
        }
    }

    /// The roots as the caller asked for them: one root, or a list.
    pub fn answer<'py, R>(&self, py: Python<'py>, mut roots: Vec<R>) -> PyResult<Bound<'py, PyAny>>
    where
        R: IntoPyObject<'py>,
    {
        match self {
            Wanted::One(_) => roots.remove(0).into_bound_py_any(py),
            Wanted::Several(_) => roots.into_bound_py_any(py),
        }
    }
}

impl Wanted {
    pub fn specs(&self) -> Vec<mksum::Spec> {
        self.formats().iter().map(|format| format.0.clone()).collect()
    }
}

/// Whether the format is a plain sum: the hash of the whole input, without its length.
pub fn is_sum(spec: &mksum::Spec) -> bool {
    spec.family().leaf == LeafRule::Whole && spec.family().streams()
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
    if DirectorySpec::is_name(text) {
        let reason = format_args!("'{text}' is a format of directories: mksum.directory_root computes such roots");
        return Err(errors::format(py, text, &reason));
    }
    text.parse().map_err(|reason: SpecError| errors::format(py, text, &reason))
}

/// The name in hashlib's spelling for plain sums, else the text of the format.
pub fn name(spec: &mksum::Spec) -> String {
    if is_sum(spec) { spec.family().name.replace('-', "_") } else { spec.to_string() }
}
