//! Errors of a download.

use mksum_io::Input;
use std::fmt;
use std::io;

/// The reason why nothing could be fetched.
#[derive(Debug)]
pub enum Error {
    /// A file or a server could not be read, or a file not be written.
    Io(mksum_io::Error),
    /// What was found at a place cannot be accepted: the reason, as words.
    Refused(Input, String),
}

impl Error {
    /// The place that it is about.
    pub fn input(&self) -> &Input {
        match self {
            Error::Io(error) => error.input(),
            Error::Refused(input, _) => input,
        }
    }
}

/// The error that a place cannot be written.
pub(crate) fn write(place: impl Into<Input>, error: io::Error) -> Error {
    Error::Io(mksum_io::Error::Write { path: place.into(), error })
}

impl From<mksum_io::Error> for Error {
    fn from(error: mksum_io::Error) -> Error {
        Error::Io(error)
    }
}

impl fmt::Display for Error {
    /// The reason alone: callers print the place before it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Io(error) => error.fmt(f),
            Error::Refused(_, why) => f.write_str(why),
        }
    }
}

impl std::error::Error for Error {}
