//! What the commands for logs print with `--json` (spec/json.md).

use base64ct::{Base64, Encoding};
use mksum_log::{Checkpoint, Note};
use serde::Serialize;
use std::borrow::Cow;

/// A new log.
#[derive(Serialize)]
pub struct NewLog<'a> {
    kind: &'static str,
    origin: &'a str,
    key: String,
}

impl<'a> NewLog<'a> {
    pub fn new(origin: &'a str, key: String) -> NewLog<'a> {
        NewLog { kind: "log", origin, key }
    }
}

/// An entry with its index.
#[derive(Serialize)]
pub struct Entry<'a> {
    kind: &'static str,
    index: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    entry: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    entry_base64: Option<String>,
}

impl<'a> Entry<'a> {
    /// An entry that was appended; its bytes, if the caller did not give them.
    pub fn logged(index: u64, entry: Option<&'a [u8]>) -> Entry<'a> {
        Entry {
            kind: "logged",
            index,
            entry: entry.map(String::from_utf8_lossy),
            entry_base64: entry.filter(|entry| str::from_utf8(entry).is_err()).map(Base64::encode_string),
        }
    }

    /// An entry that the log has.
    pub fn held(index: u64, entry: &'a [u8]) -> Entry<'a> {
        Entry { kind: "log entry", ..Entry::logged(index, Some(entry)) }
    }
}

/// The newest checkpoint.
#[derive(Serialize)]
pub struct Newest<'a> {
    kind: &'static str,
    origin: &'a str,
    size: u64,
    root: String,
    note: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<u64>,
}

impl<'a> Newest<'a> {
    /// A checkpoint with its note; the size before, if the command changed that.
    pub fn new(checkpoint: &'a Checkpoint, note: &Note, before: Option<u64>) -> Newest<'a> {
        Newest {
            kind: "checkpoint",
            origin: checkpoint.origin(),
            size: checkpoint.size(),
            root: Base64::encode_string(&checkpoint.root()),
            note: note.to_string(),
            before,
        }
    }
}

/// What a proof is about.
#[derive(Serialize)]
pub struct About<'a> {
    kind: &'static str,
    origin: &'a str,
    size: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    index: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    old: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ok: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    proof: Option<String>,
}

impl<'a> About<'a> {
    /// A proof about an entry, or about the growth since an old size.
    pub fn new(checkpoint: &'a Checkpoint, (index, old): (Option<u64>, Option<u64>), proof: String) -> About<'a> {
        let (origin, size, proof) = (checkpoint.origin(), checkpoint.size(), Some(proof));
        About { kind: "log proof", origin, size, index, old, ok: None, proof }
    }

    /// The same, valid.
    pub fn checked(checkpoint: &'a Checkpoint, about: (Option<u64>, Option<u64>)) -> About<'a> {
        About { kind: "checked log proof", ok: Some(true), proof: None, ..About::new(checkpoint, about, String::new()) }
    }
}

/// A log without a problem.
#[derive(Serialize)]
pub struct Intact {
    kind: &'static str,
    entries: u64,
    files: u64,
}

impl Intact {
    pub fn new(report: &mksum_log::Report) -> Intact {
        Intact { kind: "log check", entries: report.entries, files: report.files }
    }
}
