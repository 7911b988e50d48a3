//! Errors of outboards.

use crate::{Error, LengthError, SpecError, Subtree, Unsupported};
use alloc::string::String;
use core::fmt;

/// The version that is written and read.
pub(super) const VERSION: u32 = 1;

/// The reason why bytes are not an outboard, or a damaged one.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum OutboardError {
    /// The first bytes are not those of an outboard.
    Magic,
    /// The version is unknown to this program.
    Version(u32),
    /// The bytes end within the header or the digests.
    Short {
        /// The number of bytes.
        size: u64,
    },
    /// The header was changed.
    Checksum,
    /// The two copies of the root were both changed.
    Seals,
    /// A field has a value that no program writes, although the checksum is right.
    Field(&'static str),
    /// The format's name is wrong.
    Spec(SpecError),
    /// The format has no root for the file's length.
    Length(LengthError),
    /// No tree of the format is kept.
    Unsupported(Unsupported),
    /// No subtree of this format has this length, in bytes.
    Unit(u64),
    /// The outboard would have more digests than a file can hold.
    TooMany(u64),
    /// The outboard is unfinished: some digests are not written yet.
    Unfinished {
        /// The digests that are written.
        done: u64,
        /// The digests of the finished outboard.
        count: u64,
    },
    /// The outboard is shorter or longer than its header says.
    Size {
        /// The size by the header, in bytes.
        expected: u64,
        /// The real size, in bytes.
        found: u64,
    },
    /// Two outboards that are compared have different formats.
    Formats {
        /// The first one's format.
        ours: String,
        /// The other one's format.
        theirs: String,
    },
    /// No other program keeps trees of this format.
    NoForeign(&'static str),
    /// The bytes before another program's digests are of another length, format or salt.
    Head,
    /// The other program's tree stores no digests, because the root is its only one.
    NoDigests,
    /// The digests of this node's children do not make this node's.
    Node(Subtree),
}

impl fmt::Display for OutboardError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OutboardError::Magic => f.write_str("not an outboard: its first bytes are different"),
            OutboardError::Version(version) => {
                write!(f, "the outboard has version {version}, but this program reads version {VERSION}")
            }
            OutboardError::Short { size } => {
                write!(f, "the outboard is truncated: it ends at byte {size}")
            }
            OutboardError::Checksum => f.write_str("the outboard's header is damaged: its checksum is wrong"),
            OutboardError::Seals => f.write_str("the outboard is damaged: both copies of its root are wrong"),
            OutboardError::Field(field) => write!(f, "the outboard's header is not valid: {field} is wrong"),
            OutboardError::Spec(error) => write!(f, "the outboard's format is not valid: {error}"),
            OutboardError::Length(error) => write!(f, "the outboard's length is not valid: {error}"),
            OutboardError::Unsupported(error) => error.fmt(f),
            OutboardError::Unit(unit) => write!(f, "this format has no subtrees of {unit} bytes"),
            OutboardError::TooMany(count) => write!(f, "no file can hold {count} digests"),
            OutboardError::Unfinished { done, count } => {
                write!(f, "the outboard is unfinished: it has {done} of {count} digests")
            }
            OutboardError::Size { expected, found } => {
                write!(f, "the outboard should have {expected} bytes, but has {found}")
            }
            OutboardError::Formats { ours, theirs } => {
                write!(f, "outboards of different formats cannot be compared: {ours} and {theirs}")
            }
            OutboardError::NoForeign(name) => {
                write!(f, "no other program keeps trees of {name}; there are some for blake3, fsverity and dmverity")
            }
            OutboardError::Head => {
                f.write_str("the tree is of a file of another length, or has another format or salt")
            }
            OutboardError::NoDigests => {
                f.write_str("the tree has no digests: the file is a single leaf, whose only digest is the root")
            }
            OutboardError::Node(node) => write!(
                f,
                "the outboard is damaged: the digests below bytes {}..{} do not make the digest above them",
                node.start,
                node.end()
            ),
        }
    }
}

/// Like `Display`: what Rust derives takes 2 KB in the WebAssembly module, most of it tables of characters.
impl fmt::Debug for OutboardError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OutboardError({self})")
    }
}

impl core::error::Error for OutboardError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            OutboardError::Spec(error) => Some(error),
            OutboardError::Length(error) => Some(error),
            _ => None,
        }
    }
}

impl From<OutboardError> for Error {
    fn from(error: OutboardError) -> Self {
        Error::source(error)
    }
}
