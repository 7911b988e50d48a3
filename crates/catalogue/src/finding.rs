//! What is found about the entries of a directory: by every command, in every language, one type.

use crate::error::Error;
use crate::row::Kept;
use base64ct::{Base64, Encoding};
use mksum_io::Input;
use mksum_sums::url::masked;
use serde::ser::{Serialize, SerializeMap, Serializer};
use std::ops::Range;

/// The state of an entry. Those with numbers are the `mksum_state` of C, which imports no lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// The entry is in the directory and not in the catalogue. From `update`: it was read, and is in the catalogue now.
    New = 0,
    /// The entry shows no change, but lacks a root in a format of the catalogue.
    Incomplete = 1,
    /// The entry has another size, time or inode than its row. From `update`: it was read again, and its row is that of the new
    /// content. From `diff`: both have it, with different contents.
    Changed = 2,
    /// The entry's metadata changed, but its content was read again and is the same.
    Touched = 3,
    /// The entry was at the path [`from`](Finding::from) before, and has the same content.
    Moved = 4,
    /// The entry is in the catalogue, or in a list, and not in the directory. From `update`: its row is removed.
    Gone = 5,
    /// The entry's content was read, and has the roots of its row.
    Intact = 6,
    /// The entry's size, time and inode show no change, but its content has other roots: its row is left alone.
    Damaged = 7,
    /// The entry's kept tree is damaged or gone: the next update makes it again. Another finding has the state of the file.
    DamagedTree = 8,
    /// The entry changed while it was read: its row is left alone.
    Busy = 9,
    /// The file, or the directory with all in it, could not be read: rows are left alone.
    Unreadable = 10,
    /// The entry was repaired: ranges of it were written, and it is intact now.
    Repaired = 11,
    /// The entry is still damaged after a repair.
    NotRepaired = 12,
    /// Only the second of two lists has it.
    Added = 13,
    /// Only the first of two lists has it.
    Removed = 14,
    /// The entry is in both lists, but they have no root of it in the same format.
    Incomparable = 15,
    /// The catalogue has the list's roots of the entry now; they are not verified.
    Imported,
    /// The catalogue had all its roots in a list.
    Known,
    /// A list has another length than the file, or another root than the catalogue: nothing was taken.
    Refused,
}

impl State {
    /// The state's name in JSON and in Python (`spec/json.md`).
    pub fn as_str(self) -> &'static str {
        match self {
            State::New => "new",
            State::Incomplete => "incomplete",
            State::Changed => "changed",
            State::Touched => "touched",
            State::Moved => "moved",
            State::Gone => "gone",
            State::Intact => "ok",
            State::Damaged => "damaged",
            State::DamagedTree => "damaged tree",
            State::Busy => "busy",
            State::Unreadable => "unreadable",
            State::Repaired => "repaired",
            State::NotRepaired => "failed",
            State::Added => "added",
            State::Removed => "removed",
            State::Incomparable => "incomparable",
            State::Imported => "imported",
            State::Known => "known",
            State::Refused => "refused",
        }
    }
}

/// A finding about an entry.
#[derive(Debug)]
pub struct Finding {
    /// The bytes of its path below the directory, with slashes between names.
    pub path: Vec<u8>,
    /// The entry's state.
    pub state: State,
    /// The entry's path before, if it was moved.
    pub from: Option<Vec<u8>>,
    /// The roots that the catalogue has of it now, of a file that was read, moved or imported.
    pub roots: Vec<Kept>,
    /// The file's length in bytes, if its content was compared with its roots.
    pub length: Option<u64>,
    /// The bytes that were verified and are intact, or that were fetched to repair it.
    pub bytes: Option<u64>,
    /// The damaged ranges, or those that were repaired: half-open, in bytes, ascending. None of a damaged file: it is not known where.
    pub ranges: Vec<Range<u64>>,
    /// The copies that it was repaired from.
    pub copies: Vec<Input>,
    /// The copies that were asked before the one that repaired it, or before the last one, each with the reason why it did not.
    pub passed: Vec<(Input, String)>,
    /// The error behind the state, where the state does not say all.
    pub error: Option<Error>,
}

impl Finding {
    pub(crate) fn new(state: State, path: impl Into<Vec<u8>>) -> Self {
        Finding {
            path: path.into(),
            state,
            from: None,
            roots: Vec::new(),
            length: None,
            bytes: None,
            ranges: Vec::new(),
            copies: Vec::new(),
            passed: Vec::new(),
            error: None,
        }
    }

    pub(crate) fn failed(state: State, path: impl Into<Vec<u8>>, error: impl Into<Error>) -> Self {
        Finding { error: Some(error.into()), ..Finding::new(state, path) }
    }

    /// About a file that could not be read.
    pub(crate) fn unread(path: impl Into<Vec<u8>>, error: mksum_io::Error) -> Self {
        let busy = matches!(error, mksum_io::Error::Changed { .. });
        Finding::failed(if busy { State::Busy } else { State::Unreadable }, path, error)
    }

    /// The reason of the state as one line, where the state does not say all.
    pub fn reason(&self) -> Option<String> {
        match (&self.error, self.state) {
            (Some(error), _) => Some(error.to_string()),
            (None, State::Damaged) => Some(DAMAGE.into()),
            (None, _) => None,
        }
    }
}

/// The explanation of damage: a change of the content that nothing else shows.
const DAMAGE: &str =
    "its size, mtime and inode show no change since its root was kept or imported, but its content has another root";

impl Serialize for Finding {
    /// Writes an `entry` of `spec/json.md`, without its path, which callers may show below another directory, and without its roots.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(None)?;
        object.serialize_entry("kind", "entry")?;
        object.serialize_entry("state", self.state.as_str())?;
        if let Some(from) = &self.from {
            object.serialize_entry("from", &masked(&String::from_utf8_lossy(from)))?;
            if str::from_utf8(from).is_err() {
                object.serialize_entry("from_base64", &Base64::encode_string(from))?;
            }
        }
        let bytes = if self.state == State::Repaired { "fetched" } else { "verified" };
        self.length.map_or(Ok(()), |length| object.serialize_entry("length", &length))?;
        self.bytes.map_or(Ok(()), |count| object.serialize_entry(bytes, &count))?;
        if !self.ranges.is_empty() {
            let pairs: Vec<_> = self.ranges.iter().map(|range| [range.start, range.end]).collect();
            object.serialize_entry("ranges", &pairs)?;
        }
        let shown = |place: &Input| masked(&place.to_string()).into_owned();
        if !self.copies.is_empty() {
            object.serialize_entry("copies", &self.copies.iter().map(shown).collect::<Vec<_>>())?;
        }
        if !self.passed.is_empty() {
            let passed = self.passed.iter().map(|(place, why)| format!("{}: {}", shown(place), masked(why)));
            object.serialize_entry("passed", &passed.collect::<Vec<_>>())?;
        }
        object.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_is_an_object_of_the_fields_that_it_has() {
        let json = |finding: &Finding| serde_json::to_string(finding).unwrap();
        assert_eq!(json(&Finding::new(State::DamagedTree, "a")), r#"{"kind":"entry","state":"damaged tree"}"#);
        let moved = Finding { from: Some(b"b\xff".into()), ..Finding::new(State::Moved, "a") };
        assert_eq!(json(&moved), r#"{"kind":"entry","state":"moved","from":"b�","from_base64":"Yv8="}"#);
        let damaged = Finding { length: Some(9), ranges: vec![0..2, 4..9], ..Finding::new(State::Damaged, "a") };
        assert_eq!(json(&damaged), r#"{"kind":"entry","state":"damaged","length":9,"ranges":[[0,2],[4,9]]}"#);
        let repaired = Finding { bytes: Some(2), ..Finding::new(State::Repaired, "a") };
        assert_eq!(json(&repaired), r#"{"kind":"entry","state":"repaired","fetched":2}"#);
    }
}
