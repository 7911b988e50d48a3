//! An append-only log with proofs, in a folder of files that any web server can serve.
//!
//! A [`Log`] appends entries and signs checkpoints. Everyone else reads it as [`Published`]: entries, and proofs that an entry is in the
//! log or that the log has only grown, all of them verified against a checkpoint. A [`Proof`] is checked offline by a [`Policy`]: the keys
//! of logs, and of the witnesses that must have cosigned. [`follow`] mirrors a log and finds forks and rollbacks; [`fsck`] checks all of it.
//!
//! The formats are C2SP's: tlog-tiles, tlog-checkpoint, signed-note, tlog-cosignature, tlog-proof and tlog-policy (`spec/log.md`).
//! Nothing here uses a network: a caller with one implements [`Source`].
#![forbid(unsafe_code)]

mod algorithm;
mod appender;
mod chain;
mod checkpoint;
mod disk;
mod error;
mod follow;
mod frames;
mod fsck;
mod key;
mod leaves;
mod log;
mod longest;
mod note;
mod policy;
mod proof;
mod published;
mod record;
mod side_by_side;
mod source;
mod text;
mod tile;
mod tree;
mod unique;

pub use algorithm::KeyKind;
pub use appender::Appender;
pub use chain::Chain;
pub use checkpoint::Checkpoint;
#[doc(hidden)]
pub use disk::fail_after;
pub use error::Error;
pub use follow::{Followed, follow};
pub use frames::{Entries, Framing};
pub use fsck::{Report, fsck};
pub use key::{SignerKey, VerifierKey};
pub use leaves::entry_hashes;
pub use log::{Log, STATE_FOLDER, own_key};
pub use longest::LONGEST_ENTRY;
pub use note::{Note, NoteSignature, Signed};
pub use policy::Policy;
pub use proof::{ConsistencyProof, Proof};
pub use published::Published;
pub use record::Record;
pub use source::{Folder, Source};
pub use tree::entry_hash;
pub use unique::Known;

/// The README's example.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
