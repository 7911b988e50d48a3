//! Errors between bytes and a root.

use crate::{LengthError, Subtree};
use alloc::boxed::Box;
use core::fmt;

/// The reason why a digest was not computed.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The format has no root for an input of this length.
    Length(LengthError),
    /// The format needs the input's length first.
    NeedsLength(NeedsLength),
    /// A subtree was pushed where it does not belong.
    Push(PushError),
    /// A tree got fewer or more digests than it has pieces.
    Pieces(PiecesError),
    /// No source has this leaf.
    Missing(Subtree),
    /// A source failed.
    Source(Box<dyn core::error::Error + Send + Sync>),
}

impl Error {
    /// The error of a source that failed.
    pub fn source(error: impl Into<Box<dyn core::error::Error + Send + Sync>>) -> Self {
        Error::Source(error.into())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Length(error) => error.fmt(f),
            Error::NeedsLength(error) => error.fmt(f),
            Error::Push(error) => error.fmt(f),
            Error::Pieces(error) => error.fmt(f),
            Error::Missing(node) => write!(f, "bytes {}..{} are missing", node.start, node.end()),
            Error::Source(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for Error {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Error::Length(error) => Some(error),
            Error::NeedsLength(error) => Some(error),
            Error::Push(error) => Some(error),
            Error::Pieces(error) => Some(error),
            Error::Missing(_) => None,
            Error::Source(error) => Some(&**error),
        }
    }
}

impl From<LengthError> for Error {
    fn from(error: LengthError) -> Self {
        Error::Length(error)
    }
}

impl From<NeedsLength> for Error {
    fn from(error: NeedsLength) -> Self {
        Error::NeedsLength(error)
    }
}

impl From<PiecesError> for Error {
    fn from(error: PiecesError) -> Self {
        Error::Pieces(error)
    }
}

impl From<PushError> for Error {
    fn from(error: PushError) -> Self {
        Error::Push(error)
    }
}

/// No byte can be hashed before the input's length is known: it decides where the tree splits, or is hashed first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NeedsLength;

impl fmt::Display for NeedsLength {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("this format needs the input's length first, which a stream does not have: write it to a file")
    }
}

impl core::error::Error for NeedsLength {}

/// Why a [`Frontier`](crate::Frontier) does not take a subtree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PushError {
    /// The subtree does not begin right after the bytes so far.
    Position {
        /// The number of bytes so far.
        expected: u64,
        /// The offset of the subtree's first byte.
        found: u64,
    },
    /// The bytes so far end within a subtree that is not hashed yet.
    WithinSubtree {
        /// The number of bytes so far.
        position: u64,
        /// The offset of that subtree's first byte.
        start: u64,
    },
    /// Bytes after this subtree may still change its digest: it is not perfect.
    NotPerfect(Subtree),
}

impl fmt::Display for PushError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PushError::Position { expected, found } => {
                write!(f, "the next subtree must begin at byte {expected}, not at byte {found}")
            }
            PushError::WithinSubtree { position, start } => {
                write!(f, "no subtree can follow byte {position}: bytes {start}..{position} are a part of one")
            }
            PushError::NotPerfect(node) => {
                write!(f, "the subtree over bytes {}..{} is not perfect: its digest may change", node.start, node.end())
            }
        }
    }
}

impl core::error::Error for PushError {}

/// The number of digests differs from the number of a tree's pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PiecesError {
    /// The digests end before this piece's.
    Fewer(Subtree),
    /// More digests than pieces were given.
    More,
}

impl fmt::Display for PiecesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PiecesError::Fewer(piece) => {
                write!(f, "fewer digests than the tree has pieces: bytes {}..{} have none", piece.start, piece.end())
            }
            PiecesError::More => f.write_str("more digests than the tree has pieces"),
        }
    }
}

impl core::error::Error for PiecesError {}
