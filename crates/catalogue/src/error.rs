//! Errors of catalogues.

use mksum_io::Input;
use std::fmt;
use std::path::Path;

/// The reason why a catalogue could not be used.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// A file or directory could not be read or written.
    Io(mksum_io::Error),
    /// SQLite failed: the catalogue is damaged, locked, or the disk is full.
    Database {
        /// The catalogue.
        path: Input,
        /// SQLite's error.
        error: rusqlite::Error,
    },
    /// A row holds what no row can.
    Row {
        /// The catalogue.
        path: Input,
        /// The path in the row.
        row: Vec<u8>,
        /// The reason.
        why: String,
    },
    /// The directory has nothing that the catalogue has: it may be another one, or its file system is not mounted. Nothing was changed.
    Elsewhere {
        /// The directory.
        directory: Input,
        /// Whether it has no entries at all.
        is_empty: bool,
    },
    /// The file is no catalogue, or not one that this version reads.
    NotCatalogue {
        /// The file.
        path: Input,
        /// The reason.
        why: String,
    },
}

impl Error {
    /// A [`NotCatalogue`](Error::NotCatalogue) error about `path`, with the reason.
    pub fn refused(path: impl Into<Input>, why: impl fmt::Display) -> Self {
        Error::NotCatalogue { path: path.into(), why: why.to_string() }
    }

    /// Returns this error with the original's name in the place of that of its copy.
    pub(crate) fn of_original(mut self, copied: &Path, original: &Input) -> Self {
        if let Error::Database { path, .. } | Error::Row { path, .. } | Error::NotCatalogue { path, .. } = &mut self
            && *path == *copied
        {
            *path = original.clone();
        }
        self
    }

    /// The file or directory that it is about.
    pub fn input(&self) -> &Input {
        match self {
            Error::Io(error) => error.input(),
            Error::Elsewhere { directory, .. } => directory,
            Error::Database { path, .. } | Error::Row { path, .. } | Error::NotCatalogue { path, .. } => path,
        }
    }
}

impl fmt::Display for Error {
    /// The reason alone: callers print the path before it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Io(error) => error.fmt(f),
            Error::Database { error: rusqlite::Error::SqliteFailure(code, text), .. } => match text {
                Some(text) => write!(f, "the catalogue cannot be used: {text}"),
                None => write!(f, "the catalogue cannot be used: {code}"),
            },
            Error::Database { error, .. } => write!(f, "the catalogue cannot be used: {error}"),
            Error::Row { row, why, .. } => write!(f, "the row of '{}' is damaged: {why}", row.escape_ascii()),
            Error::Elsewhere { is_empty, .. } => {
                let what = if *is_empty {
                    "the directory is empty, and the catalogue is not"
                } else {
                    "nothing in the directory is in the catalogue"
                };
                write!(f, "{what}: is it the right directory, and is its file system mounted? Nothing was changed")
            }
            Error::NotCatalogue { why, .. } => f.write_str(why),
        }
    }
}

impl std::error::Error for Error {}

impl From<mksum_io::Error> for Error {
    fn from(error: mksum_io::Error) -> Self {
        Error::Io(error)
    }
}
