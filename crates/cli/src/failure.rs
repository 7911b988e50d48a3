//! Failures of commands: an error of the engine, or a reason of the command's own.

use mksum_io::{Error, Input};
use std::fmt::{self, Display};

/// Why a command could not do its work for a file.
#[derive(Debug)]
pub enum Failure {
    /// An error of the engine.
    Io(Error),
    /// The request makes no sense for this file.
    Refused(Input, String),
    /// The command line makes no sense, which only the file shows.
    Usage(String),
}

impl Failure {
    /// The request makes no sense for the file at `path`.
    pub fn refused(path: impl Into<Input>, reason: impl Display) -> Self {
        Failure::Refused(path.into(), reason.to_string())
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Io(error)
    }
}

impl Display for Failure {
    /// The reason alone: callers print the path before it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Io(error) => error.fmt(f),
            Failure::Refused(_, reason) | Failure::Usage(reason) => f.write_str(reason),
        }
    }
}
