//! Errors of proofs.

use crate::{Error, LengthError, Spec, Unsupported};
use alloc::string::String;
use core::fmt;
use core::ops::Range;

/// The reason why a proof does not exist or is not valid.
#[derive(Debug)]
#[non_exhaustive]
pub enum ProofError {
    /// The bytes are not a proof.
    Malformed {
        /// The offset of the first wrong byte.
        offset: u64,
        /// A description of the bytes that belong there.
        expected: String,
        /// A description of the bytes that are there.
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
    /// The newer tree does not contain an older tree of this length.
    Consistency {
        /// The older length, in bytes.
        old: u64,
        /// The newer length, in bytes.
        len: u64,
    },
    /// The format's splits move as the input grows, so that no node of the older tree is left.
    Moves,
    /// The format has no proofs.
    Unsupported(Unsupported),
    /// The proof has fewer or more digests than its claim needs.
    Count {
        /// The number needed; `None`: more than there are.
        expected: Option<u64>,
        /// The number in the proof.
        found: u64,
    },
    /// The number of bytes differs from the length of the range.
    Bytes {
        /// The number needed.
        expected: u64,
        /// The number given.
        found: u64,
    },
    /// The proof is of the other kind: inclusion or consistency.
    Kind {
        /// The kind asked for.
        expected: &'static str,
    },
    /// The proof is in another format than the root.
    Format {
        /// The root's format.
        expected: Spec,
        /// The proof's format.
        found: Spec,
    },
    /// The proof is about an input of another length than the trusted one.
    TrustedLength {
        /// The trusted length, in bytes.
        expected: u64,
        /// The proof's length, in bytes.
        found: u64,
    },
    /// The proof needs a trusted length, without which it shows nothing in this format.
    NeedsLength(Spec),
    /// The proof and the bytes give another root.
    Root {
        /// The trusted root.
        expected: String,
        /// The root that was computed.
        found: String,
    },
    /// A digest could not be computed.
    Join(Error),
}

impl fmt::Display for ProofError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProofError::Malformed { offset, expected, found } => {
                write!(f, "not a valid proof: at byte {offset}, expected {expected}, found {found}")
            }
            ProofError::Length(error) => error.fmt(f),
            ProofError::Range { range, len } => {
                let Range { start, end } = range;
                write!(f, "the range {start}..{end} is empty or not within the input's {len} bytes")
            }
            ProofError::Consistency { old, len } => {
                write!(f, "an input of {len} bytes has no older version of {old} bytes to be consistent with")
            }
            ProofError::Moves => {
                f.write_str("this format has no consistency proofs: all its nodes change as the input grows")
            }
            ProofError::Unsupported(error) => error.fmt(f),
            ProofError::Count { expected: Some(expected), found } => {
                write!(f, "the proof must have {expected} digests, but has {found}")
            }
            ProofError::Count { expected: None, found } => {
                write!(f, "the proof must have more than its {found} digests")
            }
            ProofError::Bytes { expected, found } => {
                write!(f, "expected the {expected} bytes of the range, found {found} bytes")
            }
            ProofError::Kind { expected } => write!(f, "this is not a proof of {expected}"),
            ProofError::Format { expected, found } => {
                write!(f, "the proof is in the format {found}, but the trusted root is in {expected}")
            }
            ProofError::TrustedLength { expected, found } => {
                write!(
                    f,
                    "the proof is about an input of {found} bytes, but the trusted root is about {expected} bytes"
                )
            }
            ProofError::NeedsLength(spec) => {
                write!(f, "a proof in {spec} shows nothing without a trusted length of the input")
            }
            ProofError::Root { expected, found } => {
                write!(f, "the proof is not valid:\n  expected root {expected}\n  computed root {found}")
            }
            ProofError::Join(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for ProofError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            ProofError::Length(error) => Some(error),
            ProofError::Join(error) => Some(error),
            _ => None,
        }
    }
}

impl From<Error> for ProofError {
    fn from(error: Error) -> Self {
        match error {
            Error::Length(error) => ProofError::Length(error),
            error => ProofError::Join(error),
        }
    }
}
