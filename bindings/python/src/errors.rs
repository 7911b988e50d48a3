//! The engine's errors as the exceptions of `mksum.errors`.

use mksum::Spec;
use mksum::outboard::OutboardError;
use mksum::proof::ProofError;
use mksum_io::{Error, Refusal};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyModule;
use std::any::Any;
use std::fmt::Display;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// An exception of `mksum.errors` that is being made.
struct Raised<'py> {
    py: Python<'py>,
    value: Bound<'py, PyAny>,
}

/// The class of this name in `mksum.errors`.
pub fn class<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    MODULE.get_or_try_init(py, || PyModule::import(py, "mksum.errors").map(Bound::unbind))?.bind(py).getattr(name)
}

/// What the engine's messages advise users of the tool to do, and how it is done in Python.
const ADVICE: [(&str, &str); 20] = [
    ("without --accept-changes", "without accept_changes=True"),
    ("choose a part of it (--range ..SIZE)", "read a part of it, and pass that to mksum.root"),
    ("update the outboard (mksum keep --update)", "call Outboard.keep again"),
    ("'mksum verify' reports", "Outboard.damaged returns"),
    (": its length is needed, too", ": give length"),
    (": give it with -f (", ": give it with fmt ("),
    ("run 'mksum keep' again", "call Outboard.keep again"),
    ("run 'mksum repair' again", "call Outboard.repair again"),
    ("(-r hashes the objects below it)", "(mksum.list_objects yields the objects below it)"),
    ("run 'mksum keep -r' to finish it", "Catalogue.keep finishes it"),
    ("run 'mksum keep -r' again", "call Catalogue.keep again"),
    ("('mksum status' lists them)", "(Catalogue.status yields them)"),
    ("run 'mksum update' of it", "call Catalogue.update"),
    ("'mksum keep -r -f ", "Catalogue.keep(DIR, '"),
    (" DIR' adds it", "') adds it"),
    ("'mksum missing' lists what is to be hashed", "hash the rows of the plan that it lacks"),
    ("'mksum log init' makes one", "mksum.log.Log.create makes one"),
    ("('fsck' finds which one)", "(mksum.log.fsck finds which one)"),
    ("Log its root instead (--roots)", "Log its root instead"),
    ("plan it again with 'mksum plan --outboards'", "the tool plans them with 'mksum plan --outboards'"),
];

impl<'py> Raised<'py> {
    fn new(py: Python<'py>, name: &str, message: String) -> PyResult<Self> {
        let translate = |text: String, (tool, python): &(&str, &str)| match text.contains(tool) {
            true => text.replace(tool, python),
            false => text,
        };
        Ok(Raised { py, value: class(py, name)?.call1((ADVICE.iter().fold(message, translate),))? })
    }

    /// An `OSError` with the system's number, if it has one.
    fn system(py: Python<'py>, name: &str, path: &Path, error: &io::Error) -> PyResult<Self> {
        let reason = mksum_io::reason(error);
        // The engine's own refusal of a directory has no number.
        let directory =
            (error.kind() == ErrorKind::IsADirectory).then(|| py.import("errno")?.getattr("EISDIR")?.extract());
        let value = match error.raw_os_error().map(Ok).or(directory).transpose()? {
            Some(number) => class(py, name)?.call1((number, reason, path.as_os_str()))?,
            None => class(py, name)?.call1((format!("{}: {reason}", path.display()),))?,
        };
        Ok(Raised { py, value })
    }

    fn set(self, name: &str, value: impl IntoPyObjectExt<'py>) -> PyResult<Self> {
        self.value.setattr(name, value.into_bound_py_any(self.py)?)?;
        Ok(self)
    }

    fn path(self, path: &Path) -> PyResult<Self> {
        self.set("path", path.as_os_str())
    }

    fn done(self) -> PyErr {
        PyErr::from_value(self.value)
    }
}

/// The exception, or why it could not be made.
fn raise<'py>(py: Python<'py>, make: impl FnOnce(Python<'py>) -> PyResult<Raised<'py>>) -> PyErr {
    make(py).map_or_else(|error| error, Raised::done)
}

/// An exception of the class `name` with nothing but a message.
pub fn error(py: Python<'_>, name: &str, message: impl Into<String>) -> PyErr {
    raise(py, |py| Raised::new(py, name, message.into()))
}

/// A text that names no format.
pub fn format(py: Python<'_>, text: &str, reason: &dyn Display) -> PyErr {
    raise(py, |py| Raised::new(py, "FormatError", reason.to_string())?.set("found", text))
}

/// A join in the format `spec` that failed.
pub fn join(py: Python<'_>, spec: &Spec, reason: mksum::Error) -> PyErr {
    let message = format!("{spec}: {reason}");
    match reason {
        mksum::Error::Length(length) => raise(py, |py| {
            Raised::new(py, "LengthError", message)?.set("found", length.len)?.set("expected", length.rule)
        }),
        mksum::Error::NeedsLength(_) => error(py, "LengthError", message),
        mksum::Error::Missing(node) => raise(py, |py| Raised::new(py, "RowError", message)?.set("offset", node.start)),
        mksum::Error::Source(inner) if inner.is::<OutboardError>() => error(py, "OutboardError", inner.to_string()),
        mksum::Error::Source(inner) => match inner.downcast::<Error>() {
            Ok(error) => self::io(py, *error),
            Err(inner) => error(py, "MksumError", inner.to_string()),
        },
        _ => error(py, "RowError", message),
    }
}

/// A proof that cannot be made, or is not valid.
pub fn proof(py: Python<'_>, reason: ProofError) -> PyErr {
    let message = reason.to_string();
    let made = |py| Raised::new(py, "ProofError", message.clone());
    match reason {
        ProofError::Malformed { offset, expected, found } => {
            raise(py, |py| made(py)?.set("offset", offset)?.set("expected", expected)?.set("found", found))
        }
        ProofError::Bytes { expected, found } | ProofError::TrustedLength { expected, found } => {
            raise(py, |py| made(py)?.set("expected", expected)?.set("found", found))
        }
        ProofError::Count { expected, found } => {
            raise(py, |py| made(py)?.set("expected", expected)?.set("found", found))
        }
        ProofError::Root { expected, found } => {
            raise(py, |py| made(py)?.set("expected", expected)?.set("found", found))
        }
        ProofError::Format { expected, found } => {
            raise(py, |py| made(py)?.set("expected", expected.to_string())?.set("found", found.to_string()))
        }
        ProofError::Length(length) => raise(py, |py| {
            Raised::new(py, "LengthError", message)?.set("found", length.len)?.set("expected", length.rule)
        }),
        ProofError::Join(mksum::Error::Source(inner)) => match inner.downcast::<Error>() {
            Ok(error) => io(py, *error),
            Err(_) => raise(py, made),
        },
        _ => raise(py, made),
    }
}

/// An error of a file.
pub fn io(py: Python<'_>, reason: Error) -> PyErr {
    let path = reason.input().shown_path();
    let message = format!("{}: {reason}", path.display());
    match reason {
        Error::Open { error, .. } => raise(py, |py| Raised::system(py, kind(&error), &path, &error)?.path(&path)),
        // A file object of Python's raised an exception of its own, which goes on.
        Error::Read { error, .. } if error.get_ref().is_some_and(|inner| inner.is::<PyErr>()) => {
            match error.into_inner().map(|inner| inner.downcast::<PyErr>()) {
                Some(Ok(error)) => *error,
                _ => unreachable!("the type has just been checked"),
            }
        }
        Error::Read { offset, error, .. } => {
            raise(py, |py| Raised::system(py, "FileError", &path, &error)?.path(&path)?.set("offset", offset))
        }
        Error::Write { error, .. } => raise(py, |py| Raised::system(py, kind(&error), &path, &error)?.path(&path)),
        Error::Changed { how, .. } => {
            raise(py, |py| Raised::new(py, "ChangedError", message)?.path(&path)?.set("found", how))
        }
        Error::Stopped { .. } => raise(py, |py| Raised::new(py, "StoppedError", message)?.path(&path)),
        Error::Fetch { offset, .. } => {
            raise(py, |py| Raised::new(py, "FetchError", message)?.path(&path)?.set("offset", offset))
        }
        Error::Damaged { outboard, ranges, .. } => {
            let ranges: Vec<_> = ranges.iter().map(|range| (range.start, range.end)).collect();
            let message = format!(
                "{}: damaged: its mtime shows no change since {outboard} was written, but its content differs. The outboard is kept: \
                 repair the file (Outboard.repair), or accept its content (Outboard.keep with accept_changes=True)",
                path.display()
            );
            damaged(py, &path, message, ranges)
        }
        Error::Unit(unit) => raise(py, |py| {
            let (start, end) = (unit.range.start, unit.range.end);
            let raised = Raised::new(py, "DamagedError", message)?.path(&path)?.set("offset", start)?;
            let raised = raised.set("ranges", vec![(start, end)])?.set("expected", unit.expected.to_string())?;
            raised.set("found", unit.found.to_string())
        }),
        Error::Failing { .. } => damaged(py, &path, message, Vec::new()),
        Error::Outboard { .. } => raise(py, |py| Raised::new(py, "OutboardError", message)?.path(&path)),
        Error::Format { error: mksum::Error::Length(length), .. } => raise(py, |py| {
            let raised = Raised::new(py, "LengthError", message)?.path(&path)?;
            raised.set("found", length.len)?.set("expected", length.rule)
        }),
        Error::Format { error: mksum::Error::NeedsLength(_), .. } => {
            raise(py, |py| Raised::new(py, "LengthError", message)?.path(&path))
        }
        Error::Refused { refusal: Refusal::Version { planned, found }, .. } => raise(py, |py| {
            let raised = Raised::new(py, "ChangedError", message)?.path(&path)?;
            raised.set("expected", planned)?.set("found", found)
        }),
        Error::Refused { refusal: Refusal::Overtaken(how), .. } => {
            raise(py, |py| Raised::new(py, "ChangedError", message)?.path(&path)?.set("found", how))
        }
        Error::Refused { refusal, .. } => raise(py, |py| {
            let raised = Raised::new(py, "RefusedError", message)?.path(&path)?;
            match refusal {
                Refusal::Range { len, .. } => raised.set("found", len),
                Refusal::Longer(offset) => raised.set("offset", offset),
                Refusal::Length { expected, found } => raised.set("expected", expected)?.set("found", found),
                Refusal::Grown { more, len } => raised.set("expected", len)?.set("found", len + more),
                _ => Ok(raised),
            }
        }),
        _ => raise(py, |py| Raised::new(py, "MksumError", message)?.path(&path)),
    }
}

/// The first of several errors, which has the others as notes.
pub fn several(py: Python<'_>, errors: impl IntoIterator<Item = PyErr>) -> PyErr {
    let mut errors = errors.into_iter();
    let Some(first) = errors.next() else { return error(py, "MksumError", "the work failed without a reason") };
    let noted = errors.try_for_each(|other| {
        let note = other.value(py).str()?;
        first.value(py).call_method1("add_note", (note,)).map(drop)
    });
    noted.err().unwrap_or(first)
}

/// An exception of the class `name` about a file.
pub fn at(py: Python<'_>, name: &str, message: String, path: &Path) -> PyErr {
    raise(py, |py| Raised::new(py, name, message)?.path(path))
}

/// An error of a catalogue.
pub fn catalogue(py: Python<'_>, reason: mksum_catalogue::Error) -> PyErr {
    match reason {
        mksum_catalogue::Error::Io(error) => io(py, error),
        reason => {
            let path = reason.input().shown_path();
            at(py, "CatalogueError", format!("{}: {reason}", path.display()), &path)
        }
    }
}

/// An error of a log.
pub fn log(py: Python<'_>, reason: mksum_log::Error) -> PyErr {
    use mksum_log::Error as Log;
    let message = reason.to_string();
    match reason {
        Log::Io { path, error } => raise(py, |py| Raised::system(py, kind(&error), &path, &error)?.path(&path)),
        Log::Source { name, .. } => at(py, "FetchError", message, Path::new(&name)),
        Log::Missing { name } | Log::Damaged { name, .. } => at(py, "LogError", message, Path::new(&name)),
        Log::Malformed { .. } | Log::Untrusted(_) | Log::Invalid(_) => error(py, "ProofError", message),
        Log::Rollback { seen, shown, evidence } | Log::Fork { seen, shown, evidence } => raise(py, |py| {
            let raised = Raised::new(py, "ContradictionError", message)?.set("expected", seen)?.set("found", shown)?;
            raised.set("path", evidence.map(PathBuf::into_os_string))
        }),
        _ => error(py, "RefusedError", message),
    }
}

/// A damaged file, with its damaged ranges, half-open, in bytes.
pub fn damaged(py: Python<'_>, path: &Path, message: String, ranges: Vec<(u64, u64)>) -> PyErr {
    let offset = ranges.first().map(|range| range.0);
    raise(py, |py| Raised::new(py, "DamagedError", message)?.path(path)?.set("offset", offset)?.set("ranges", ranges))
}

/// The panic of a thread: a bug of mksum, and no reason to end the interpreter.
pub fn panicked(py: Python<'_>, panic: &(dyn Any + Send)) -> PyErr {
    let words = panic.downcast_ref::<&str>().copied().or(panic.downcast_ref::<String>().map(String::as_str));
    error(py, "MksumError", format!("this is a bug of mksum, please report it: {}", words.unwrap_or("a panic")))
}

fn kind(error: &io::Error) -> &'static str {
    match error.kind() {
        ErrorKind::NotFound => "NotFoundError",
        ErrorKind::PermissionDenied => "DeniedError",
        ErrorKind::IsADirectory => "DirectoryError",
        _ => "FileError",
    }
}
