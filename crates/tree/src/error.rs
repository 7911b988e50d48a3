//! What can go wrong between bytes and a root.

use crate::Subtree;
use alloc::boxed::Box;
use alloc::string::String;
use core::fmt;

/// Why there is no digest.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The format has no root for an input of this length.
    Length(LengthError),
    /// No source had this subtree, and it has no children to be joined from.
    Missing(Subtree),
    /// A source failed.
    Source(Box<dyn core::error::Error + Send + Sync>),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Length(error) => error.fmt(f),
            Error::Missing(node) => write!(f, "no source has bytes {}..{}", node.start, node.end()),
            Error::Source(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for Error {}

impl From<LengthError> for Error {
    fn from(error: LengthError) -> Self {
        Error::Length(error)
    }
}

/// The format has no root for an input of this length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LengthError {
    /// The input's length, in bytes.
    pub len: u64,
    /// What the format asks for instead.
    pub rule: String,
}

impl fmt::Display for LengthError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "this format has no root for {} bytes: it needs {}", self.len, self.rule)
    }
}

impl core::error::Error for LengthError {}

/// The final length moves this shape's splits, so that no byte can be hashed before it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NeedsLength;

impl fmt::Display for NeedsLength {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("this format needs the length first, which a stream does not tell: write it to a file")
    }
}

impl core::error::Error for NeedsLength {}
