//! Why a proof is none.

use crate::{Error, LengthError, Spec, Subtree};
use alloc::string::String;
use core::fmt;
use core::ops::Range;

/// Why there is no proof, or why it does not hold.
#[derive(Debug)]
#[non_exhaustive]
pub enum ProofError {
    /// The bytes are no proof: at `offset`, something else was expected.
    Malformed {
        /// Where, in bytes from the beginning.
        offset: u64,
        /// What has to be there.
        expected: String,
        /// What is there.
        found: String,
    },
    /// The format has no root for the length.
    Length(LengthError),
    /// The range is empty, or not within the input.
    Range {
        /// The range, in bytes.
        range: Range<u64>,
        /// The input's length.
        len: u64,
    },
    /// There is no older tree of this length within the newer one.
    Growth {
        /// The older length, in bytes.
        old: u64,
        /// The newer.
        len: u64,
    },
    /// The format's splits move as the input grows, so that no node of the older tree is left.
    Moves,
    /// The proof has not as many digests as its cut asks for.
    Count {
        /// How many there must be; `None`: more than there are.
        expected: Option<u64>,
        /// How many there are.
        found: u64,
    },
    /// Somebody has not as many bytes as the range.
    Bytes {
        /// How many there must be.
        expected: u64,
        /// How many there are.
        found: u64,
    },
    /// The proof is about the other thing: a range, or growth.
    Kind {
        /// What was asked for.
        expected: &'static str,
    },
    /// The proof is in another format than the root.
    Format {
        /// The root's.
        expected: Spec,
        /// The proof's.
        found: Spec,
    },
    /// The proof is about an input of another length than the trusted one.
    TrustedLength {
        /// The trusted one, in bytes.
        expected: u64,
        /// The proof's.
        found: u64,
    },
    /// In this format, a proof says nothing unless the length is known from where the root comes from.
    NeedsLength(Spec),
    /// The proof leads to another root.
    Root {
        /// The root that is trusted.
        expected: String,
        /// The root that comes of the proof and the bytes.
        found: String,
    },
    /// A digest could not be had.
    Join(Error),
}

impl fmt::Display for ProofError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProofError::Malformed { offset, expected, found } => {
                write!(f, "not a sound proof: at byte {offset} expected {expected}, found {found}")
            }
            ProofError::Length(error) => error.fmt(f),
            ProofError::Range { range, len } => {
                write!(f, "bytes {}..{} are no range of an input of {len} bytes", range.start, range.end)
            }
            ProofError::Growth { old, len } => {
                write!(f, "an input of {len} bytes does not begin with an older one of {old} that has a tree")
            }
            ProofError::Moves => {
                f.write_str("in this format all nodes change as the input grows: nothing can be proven")
            }
            ProofError::Count { expected: Some(expected), found } => {
                write!(f, "the proof must have {expected} digests and has {found}")
            }
            ProofError::Count { expected: None, found } => {
                write!(f, "the proof must have more than its {found} digests")
            }
            ProofError::Bytes { expected, found } => write!(f, "the range has {expected} bytes, but there are {found}"),
            ProofError::Kind { expected } => write!(f, "the proof is not one of {expected}"),
            ProofError::Format { expected, found } => {
                write!(f, "the proof is in {found}, but the root in {expected}")
            }
            ProofError::TrustedLength { expected, found } => {
                write!(f, "the proof is about an input of {found} bytes, but the root about one of {expected}")
            }
            ProofError::NeedsLength(spec) => {
                write!(f, "in {spec} a proof is worth nothing without the input's length from a trusted place")
            }
            ProofError::Root { expected, found } => {
                write!(f, "the proof does not hold:\n  expected root {expected}\n  found         {found}")
            }
            ProofError::Join(Error::Missing(Subtree { start, len, .. })) => {
                write!(f, "nobody has the bytes {start}..{}", start + len)
            }
            ProofError::Join(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for ProofError {}

impl From<Error> for ProofError {
    fn from(error: Error) -> Self {
        match error {
            Error::Length(error) => ProofError::Length(error),
            error => ProofError::Join(error),
        }
    }
}
