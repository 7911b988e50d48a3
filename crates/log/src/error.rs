//! Errors: each says what is wrong, where, and what can be done.

use crate::longest::LONGEST_ENTRY;
use std::io;
use std::path::PathBuf;

/// The reason why a log, a proof or a note was not accepted, or not written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The system could not read or write a file.
    #[error("{}: {error}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The reason.
        #[source]
        error: io::Error,
    },
    /// A source could not read a file of a log.
    #[error("{name}: {why}")]
    Source {
        /// The file's name within the log.
        name: String,
        /// The reason.
        why: String,
    },
    /// A file of the log does not exist.
    #[error("{name}: this file of the log does not exist")]
    Missing {
        /// The file's name within the log.
        name: String,
    },
    /// A file of the log has other bytes than the signed tree.
    #[error("{name}: {why}")]
    Damaged {
        /// The file's name within the log.
        name: String,
        /// Where, what was expected, what was found.
        why: String,
    },
    /// A text is not what it should be: a note, a key, a checkpoint, a proof, a policy.
    #[error("not {what}: {why}")]
    Malformed {
        /// What it should be.
        what: &'static str,
        /// The line, and what is wrong there.
        why: String,
    },
    /// A note is not signed as the key or policy demands.
    #[error("{0}")]
    Untrusted(String),
    /// A proof does not show what it claims.
    #[error("{0}")]
    Invalid(String),
    /// An entry is longer than [`LONGEST_ENTRY`](crate::LONGEST_ENTRY) bytes.
    #[error(
        "entry {number} has {len} bytes: at most {} are allowed. Log its root instead (--roots), \
         and keep the bytes elsewhere",
        LONGEST_ENTRY
    )]
    TooLong {
        /// The entry's place in its input, from 1.
        number: u64,
        /// The entry's length in bytes, as far as it was read.
        len: u64,
    },
    /// Another process writes to the log.
    #[error("{}: another process holds this lock, as it writes to the log", .lock.display())]
    Busy {
        /// The lock that it holds.
        lock: PathBuf,
    },
    /// The folder's tree does not extend the last checkpoint that was signed: it was restored from a backup, or changed.
    #[error(
        "{}: {why}. The folder was changed, or restored from a backup: a checkpoint that is signed now could \
         contradict the one that was signed already. Bring back the newer files, for example from a mirror of \
         the log; or begin a new log, with a new key, in another folder",
        .path.display()
    )]
    NotExtended {
        /// The folder.
        path: PathBuf,
        /// Sizes and roots.
        why: String,
    },
    /// A log shows an older tree than it did before.
    #[error("rollback: the log had {seen} entries before, and shows {shown} now{}", kept(.evidence))]
    Rollback {
        /// The size that was seen before.
        seen: u64,
        /// The size that is shown now.
        shown: u64,
        /// The folder with both checkpoints.
        evidence: Option<PathBuf>,
    },
    /// A log shows two trees of which neither extends the other.
    #[error(
        "fork: the tree of {shown} entries does not extend the tree of {seen} entries that was seen before{}",
        kept(.evidence)
    )]
    Fork {
        /// The size of the tree that was seen before.
        seen: u64,
        /// The size of the tree that is shown now.
        shown: u64,
        /// The folder with both checkpoints and the proof.
        evidence: Option<PathBuf>,
    },
    /// The request makes no sense for this log.
    #[error("{0}")]
    Refused(String),
}

impl Error {
    pub(crate) fn io(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Error {
        move |error| Error::Io { path: path.into(), error }
    }

    pub(crate) fn malformed(what: &'static str, why: impl Into<String>) -> Error {
        Error::Malformed { what, why: why.into() }
    }

    /// Whether the log contradicts what it signed: a fork or a rollback.
    pub fn is_contradiction(&self) -> bool {
        matches!(self, Error::Rollback { .. } | Error::Fork { .. })
    }
}

/// The end of a message: where the evidence of a contradiction is.
fn kept(evidence: &Option<PathBuf>) -> String {
    evidence.as_ref().map_or_else(String::new, |path| format!("; the evidence is in {}", path.display()))
}
