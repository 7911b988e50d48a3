//! Errors of inputs and outputs, always with their path.

use crate::platform::is_media_error;
use crate::{Input, Window};
use mksum::node_tree::NodeTreeError;
use mksum::{Digest, Spec};
use std::fmt;
use std::io;
use std::ops::Range;

/// The reason why an input could not be hashed, kept, verified or repaired. Its text has the reason alone: callers print the path before it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The system could not open a file or tell anything about it.
    #[error("{}", reason(.error))]
    Open {
        /// The file.
        path: Input,
        /// The system's error.
        #[source]
        error: io::Error,
    },
    /// A read failed.
    #[error("read failed at byte {offset}: {}", reason(.error))]
    Read {
        /// The file.
        path: Input,
        /// The offset of the first byte that was not read.
        offset: u64,
        /// The system's error.
        #[source]
        error: io::Error,
    },
    /// A write failed.
    #[error("write failed: {}", reason(.error))]
    Write {
        /// The file.
        path: Input,
        /// The system's error.
        #[source]
        error: io::Error,
    },
    /// The input is not as it was when it was opened.
    #[error("changed while it was read: {how}; try again when nothing writes to it")]
    Changed {
        /// The input.
        path: Input,
        /// The difference: expected and found.
        how: String,
    },
    /// The work was ended early: see [`Stop`](crate::Stop).
    #[error("stopped before all bytes were read")]
    Stopped {
        /// The input.
        path: Input,
    },
    /// The request was refused, because it makes no sense for this file or would lose something; nothing was changed.
    #[error("{refusal}")]
    Refused {
        /// The file.
        path: Input,
        /// The reason.
        refusal: Refusal,
    },
    /// A replica did not send the bytes that were asked for.
    #[error("bytes from {offset} on could not be fetched: {why}")]
    Fetch {
        /// The replica.
        path: Input,
        /// The offset of the first of these bytes.
        offset: u64,
        /// The reason, in the server's or the client's words.
        why: String,
    },
    /// The file has the size, mtime and inode that it had when its outboard was written, but another root: its bytes are
    /// damaged. The outboard is unchanged.
    #[error(
        "damaged: its mtime shows no change since {outboard} was written, but its content differs. The \
         outboard is kept: repair the file (mksum repair {path} --from COPY), or accept its content (mksum \
         keep --accept-changes {path})"
    )]
    Damaged {
        /// The file.
        path: Input,
        /// The outboard.
        outboard: Input,
        /// The damaged ranges, in bytes; none if they are not known.
        ranges: Vec<Range<u64>>,
    },
    /// A unit was read whose digest is not the trusted one.
    #[error("{0}")]
    Unit(Box<DamagedUnit>),
    /// Bytes that were repaired are damaged again when they are read back.
    #[error("bytes that were repaired are damaged again when they are read: the disk may be failing")]
    Failing {
        /// The file.
        path: Input,
    },
    /// A file is not an outboard, or is a damaged one.
    #[error("{error}")]
    Outboard {
        /// The outboard.
        path: Input,
        /// The reason: an [`OutboardError`](mksum::outboard::OutboardError) as its source, mostly.
        #[source]
        error: mksum::Error,
    },
    /// The node tree over these leaves does not exist, or the device failed.
    #[error("{error}")]
    Nodes {
        /// The leaves.
        path: Input,
        /// The reason.
        #[source]
        error: NodeTreeError,
    },
    /// The format has no root for the input.
    #[error("{spec}: {error}")]
    Format {
        /// The input.
        path: Input,
        /// The format.
        spec: Spec,
        /// The reason why a request was refused.
        #[source]
        error: mksum::Error,
    },
}

/// A unit whose digest is not the trusted one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DamagedUnit {
    /// The file.
    pub path: Input,
    /// The bytes of the unit.
    pub range: Range<u64>,
    /// The digest by the outboard, which was checked up to the trusted root.
    pub expected: Digest,
    /// The digest of the bytes that were read.
    pub found: Digest,
    /// The replicas that were asked, and why they did not help.
    pub refused: Vec<(Input, String)>,
}

/// The reason why a request was refused; nothing was changed.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// The input is a pipe or a terminal, and [`Options::pipes`](crate::Options::pipes) is off.
    #[error("this device never ends: choose a part of it (--range ..SIZE)")]
    Endless,
    /// The input has no fixed length, and the request needs one.
    #[error("it has no fixed length: write it to a file first")]
    NoLength,
    /// The input is a pipe or a terminal, for which nobody waits.
    #[error("a pipe or a terminal: it is read only if the command line names it, without --recursive")]
    Pipe,
    /// The input is longer than 2^63 bytes.
    #[error("it is longer than 2^63 bytes")]
    TooLong,
    /// Memory has no room for the bytes that must be held at once: their number.
    #[error("{0} bytes do not fit into memory")]
    Memory(u64),
    /// The output would replace something that is not a regular file.
    #[error("not a regular file: only regular files are replaced")]
    NotRegular,
    /// A pipe, a socket or a device is in a directory whose root was asked for.
    #[error("a pipe, a socket or a device: a directory that has one has no root")]
    Special,
    /// A repository is below a directory whose root was asked for as git has it: git records its commit, which is no content.
    #[error("a repository of its own, of which git records a commit and no content: remove its .git, or use dir:swhid")]
    Repository,
    /// The output would replace the input.
    #[error("this is the input: choose another file for the output")]
    Input,
    /// The output would replace a file that is not an outboard.
    #[error("not an outboard: only outboards are replaced; choose another place for it")]
    NotOutboard,
    /// The output would replace a file that this program did not write.
    #[error("not a file of mksum: it is not replaced; move it away")]
    NotOurs,
    /// The outboard that would be replaced is damaged itself, so it cannot show whether the file is: the reason, as words.
    #[error("{0}. It cannot show whether the file is damaged, so it is not replaced without --accept-changes")]
    Unverifiable(String),
    /// The outboard that would be replaced is one of other bytes: its root.
    #[error(
        "the outboard there has another root, {0}, so it may be the evidence of damage: it is not replaced \
         without --accept-changes"
    )]
    OtherRoot(String),
    /// The disk cannot read the header of the outboard, which no other bytes replace: its error, as words.
    #[error(
        "the header of the outboard cannot be read ({0}): compare the file with a copy, then remove the \
         outboard and run 'mksum keep' again"
    )]
    Header(String),
    /// No other program's tree can be resumed or replaced at this place: it is not one of this file.
    #[error("not a tree of this file in this format: it is not replaced; move it away")]
    NotTree,
    /// The file's attribute with roots was not written by this program, or not by this version: the reason, as words.
    #[error("its attribute user.mksum cannot be used ({0}): mksum keep --xattr --accept-changes replaces it")]
    Attribute(String),
    /// The file's roots do not fit into an attribute: the bytes needed, and the bytes that an attribute holds.
    #[error("its roots take {0} bytes, and an attribute holds {1}: choose fewer formats")]
    AttributeRoom(usize, usize),
    /// The file is being written or repaired by another process.
    #[error("another process is writing to it: wait until that ends")]
    Busy,
    /// The disk has less room than the file needs, in bytes.
    #[error("too large for the disk: {needed} bytes are to be written, and {free} are free")]
    Room {
        /// The bytes that would be written.
        needed: u64,
        /// The bytes that are free.
        free: u64,
    },
    /// The file was changed, or another one took its place, while it was being repaired: the difference, as words.
    #[error(
        "changed while it was being repaired: {0}. Nothing more was written: if the change is wanted, run \
         'mksum keep' again; if not, run 'mksum repair' again"
    )]
    Overtaken(String),
    /// A copy from which a file was to be repaired has another root in this format.
    #[error("the copy has another root in {0}")]
    OtherCopy(String),
    /// The input has more bytes than expected, from this offset on.
    #[error("there are more bytes than expected, from byte {0} on")]
    Longer(u64),
    /// The file has grown since its outboard was written.
    #[error(
        "it has {more} bytes more than when its outboard was written: if they are damage, remove them \
         (truncate -s {len}); if not, update the outboard (mksum keep --update)"
    )]
    Grown {
        /// The bytes that it has more.
        more: u64,
        /// The length that the outboard was written for, in bytes.
        len: u64,
    },
    /// The file and its outboard are both damaged.
    #[error("{nodes} digests of its outboard {outboard} are damaged too, so it is not certain which bytes are right")]
    DamagedOutboard {
        /// The outboard.
        outboard: Input,
        /// The number of damaged digests.
        nodes: u64,
    },
    /// The file has another length than its outboard.
    #[error("it has {found} bytes, but its outboard is of a file of {expected}: 'mksum verify' reports the difference")]
    Length {
        /// The length by the outboard, in bytes.
        expected: u64,
        /// The file's length, in bytes.
        found: u64,
    },
    /// The outboard is not one that the reads of a file can be verified with: the reason, as words.
    #[error("the file cannot be verified with this outboard: {0}")]
    Unsuitable(String),
    /// The file has no outboard, and cannot be verified as a whole: the reason, as words.
    #[error("it cannot be verified as a whole: {0}")]
    NotWhole(String),
    /// The URL cannot be used.
    #[error("{0}")]
    Url(String),
    /// The input is not of the version that was planned.
    #[error(
        "it had {} bytes of version {} when it was planned, and has {} of version {}: plan it again",
        .planned.1, .planned.0, .found.1, .found.0
    )]
    Version {
        /// The version and length when it was planned.
        planned: (String, u64),
        /// The version and length that it has now.
        found: (String, u64),
    },
    /// A part of the input was asked for that is not within its length.
    #[error("{}", beyond(.window, .len))]
    Range {
        /// The part.
        window: Window,
        /// The length of the input, in bytes.
        len: u64,
    },
}

impl Error {
    /// An error of a join over the input at `path`: a failed read inside it, or else the reason why there is no root.
    pub fn from_join(error: mksum::Error, path: impl Into<Input>, spec: &Spec) -> Self {
        Error::within(error).unwrap_or_else(|error| Error::Format { path: path.into(), spec: spec.clone(), error })
    }

    /// An error of the outboard at `path`: a failed read inside it, or else the reason why it cannot be used.
    pub fn from_outboard(error: impl Into<mksum::Error>, path: impl Into<Input>) -> Self {
        Error::within(error.into()).unwrap_or_else(|error| Error::Outboard { path: path.into(), error })
    }

    /// The error of this crate that a join passed on.
    fn within(error: mksum::Error) -> Result<Self, mksum::Error> {
        match error {
            mksum::Error::Source(error) => error.downcast().map(|error| *error).map_err(mksum::Error::Source),
            error => Err(error),
        }
    }

    /// Whether the disk could not read some bytes, while others of the same file may be fine.
    pub fn is_of_media(&self) -> bool {
        matches!(self, Error::Read { error, .. } if is_media_error(error))
    }

    /// A [`Refused`](Error::Refused) error about `path`.
    pub fn refused(path: impl Into<Input>, refusal: Refusal) -> Self {
        Error::Refused { path: path.into(), refusal }
    }

    /// The input or other file that it is about.
    pub fn input(&self) -> &Input {
        match self {
            Error::Open { path, .. } | Error::Read { path, .. } | Error::Write { path, .. } => path,
            Error::Changed { path, .. } | Error::Refused { path, .. } | Error::Fetch { path, .. } => path,
            Error::Unit(unit) => &unit.path,
            Error::Failing { path } | Error::Outboard { path, .. } | Error::Damaged { path, .. } => path,
            Error::Nodes { path, .. } | Error::Format { path, .. } | Error::Stopped { path } => path,
        }
    }
}

impl fmt::Display for DamagedUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DamagedUnit { range, expected, found, refused, .. } = self;
        write!(f, "bytes {}..{} are damaged: expected {expected}, found {found}", range.start, range.end)?;
        refused.iter().try_for_each(|(place, why)| write!(f, "; the copy {place} does not help: {why}"))
    }
}

/// Why a part is not within an input of `len` bytes.
fn beyond(window: &Window, len: &u64) -> String {
    match window {
        Window { start, end: Some(end) } => format!("the range {start}..{end} is not within its {len} bytes"),
        Window { start, end: None } => format!("the range {start}.. begins behind its {len} bytes"),
    }
}

impl From<Error> for mksum::Error {
    fn from(error: Error) -> Self {
        mksum::Error::source(error)
    }
}

/// The system's words for an error, without its number.
pub fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error") {
        Some(end) => text[..end].into(),
        None => text,
    }
}
