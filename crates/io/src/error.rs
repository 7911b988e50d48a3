//! What can go wrong with an input, always with its path.

use mksum::{NodeTreeError, OutboardError, Spec};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why an input has no root.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// It could not be opened, or is of a kind that cannot be hashed.
    Open {
        /// The input.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A read failed.
    Read {
        /// The input.
        path: PathBuf,
        /// Where, in bytes from the beginning.
        offset: u64,
        /// Why.
        error: io::Error,
    },
    /// It is not what it was when it was opened.
    Changed {
        /// The input.
        path: PathBuf,
        /// What was expected and what was found.
        how: String,
    },
    /// A file that was being written could not be.
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// An outboard is none, or damaged.
    Outboard {
        /// The outboard.
        path: PathBuf,
        /// Why.
        error: OutboardError,
    },
    /// There is no node tree over it, or its device failed.
    Nodes {
        /// The leaves.
        path: PathBuf,
        /// Why.
        error: NodeTreeError,
    },
    /// The format has no root for it.
    Format {
        /// The input.
        path: PathBuf,
        /// The format.
        spec: Spec,
        /// Why.
        error: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl Error {
    /// What a join over the input at `path` failed with: a read error that it passed on, or why the format has no root.
    pub fn from_join(error: mksum::Error, path: &Path, spec: &Spec) -> Self {
        let of_format = |error| Error::Format { path: path.into(), spec: spec.clone(), error };
        match error {
            mksum::Error::Source(error) => error.downcast::<Error>().map_or_else(of_format, |error| *error),
            error => of_format(error.into()),
        }
    }

    /// What reading the outboard at `path` failed with.
    pub fn from_outboard(error: mksum::Error, path: &Path) -> Self {
        let mksum::Error::Source(error) = error else {
            return Error::Open { path: path.into(), error: io::Error::other(error.to_string()) };
        };
        match error.downcast::<Error>() {
            Ok(error) => *error,
            Err(error) => match error.downcast::<OutboardError>() {
                Ok(error) => Error::Outboard { path: path.into(), error: *error },
                Err(error) => Error::Open { path: path.into(), error: io::Error::other(error) },
            },
        }
    }

    /// The input's path.
    pub fn path(&self) -> &Path {
        match self {
            Error::Open { path, .. } | Error::Read { path, .. } | Error::Write { path, .. } => path,
            Error::Changed { path, .. } | Error::Outboard { path, .. } | Error::Format { path, .. } => path,
            Error::Nodes { path, .. } => path,
        }
    }
}

impl fmt::Display for Error {
    /// The reason alone: who prints it puts the path before it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Open { error, .. } => write!(f, "{}", reason(error)),
            Error::Read { offset, error, .. } => write!(f, "read failed at byte {offset}: {}", reason(error)),
            Error::Changed { how, .. } => {
                write!(f, "changed while it was read: {how}; hash it again when it is at rest")
            }
            Error::Write { error, .. } => write!(f, "write failed: {}", reason(error)),
            Error::Outboard { error, .. } => error.fmt(f),
            Error::Nodes { error, .. } => error.fmt(f),
            Error::Format { spec, error, .. } => write!(f, "{spec}: {error}"),
        }
    }
}

impl std::error::Error for Error {}

/// The system's words for an error, without its number.
pub fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error") {
        Some(end) => text[..end].into(),
        None => text,
    }
}
