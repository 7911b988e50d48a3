//! The digest that a catalogue keeps of all its rows: rows that are lost, or changed by anything else, are noticed (`spec/catalogue.md`).

use mksum::Spec;
use rusqlite::Row;
use rusqlite::types::ValueRef;
use std::cell::Cell;

/// The table that has it, in one row.
pub(crate) const STATE: &str =
    "CREATE TABLE state (walk INTEGER NOT NULL, rows INTEGER NOT NULL, digest BLOB NOT NULL) STRICT";

/// The tables whose rows it covers.
pub(crate) const TABLES: [Table; 3] = [Table::Format, Table::Entry, Table::Root];

/// The progress of the directory's first walk when the catalogue was last written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Walk {
    /// No walk: all roots were imported.
    #[default]
    None,
    /// A first walk that did not end, so that files may lack rows.
    Begun,
    /// A walk that ended.
    Ended,
    /// First walks that ended, but could not read all entries, of which some may lack rows.
    Unread,
}

/// A table whose rows are covered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Table {
    Format,
    Entry,
    Root,
}

impl Table {
    pub fn name(self) -> &'static str {
        match self {
            Table::Format => "format",
            Table::Entry => "entry",
            Table::Root => "root",
        }
    }
}

/// A change of the number of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Added,
    Removed,
}

/// The number of rows, and the sum of their digests, in which their order does not matter: a change of one row costs one digest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub rows: u64,
    pub sum: u128,
}

/// The state that a catalogue records about itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct State {
    pub walk: Walk,
    pub tally: Tally,
}

/// The state while it is written.
#[derive(Debug)]
pub(crate) struct Own {
    sha256: Spec,
    /// The state as of the open transaction.
    pub state: Cell<State>,
    /// Whether a statement of the transaction failed: it may have written a part.
    pub failed: Cell<bool>,
}

impl Own {
    pub fn new() -> Self {
        Own { sha256: "sha256".parse().expect("a format"), state: Cell::default(), failed: Cell::default() }
    }

    /// The digest of a row: the first half of a SHA-256 of its table and columns.
    fn digest(&self, table: Table, row: &Row<'_>, bytes: &mut Vec<u8>) -> rusqlite::Result<u128> {
        bytes.clear();
        push(bytes, b't', table.name().as_bytes());
        for index in 0..row.as_ref().column_count() {
            match row.get_ref(index)? {
                ValueRef::Null => bytes.push(b'n'),
                ValueRef::Integer(number) => {
                    bytes.push(b'i');
                    bytes.extend(number.to_le_bytes());
                }
                ValueRef::Text(text) => push(bytes, b't', text),
                ValueRef::Blob(blob) => push(bytes, b'b', blob),
                // No column has one.
                ValueRef::Real(number) => push(bytes, b'r', &number.to_le_bytes()),
            }
        }
        let digest = self.sha256.root(&bytes[..]).expect("a hash of any bytes").digest();
        Ok(u128::from_le_bytes(*digest.as_bytes().first_chunk().expect("32 bytes")))
    }

    /// Counts a row, which is added or removed.
    pub fn count(&self, tally: &mut Tally, (table, row): (Table, &Row<'_>), change: Change) -> rusqlite::Result<()> {
        let digest = self.digest(table, row, &mut Vec::with_capacity(256))?;
        (tally.rows, tally.sum) = match change {
            Change::Added => (tally.rows.wrapping_add(1), tally.sum.wrapping_add(digest)),
            Change::Removed => (tally.rows.wrapping_sub(1), tally.sum.wrapping_sub(digest)),
        };
        Ok(())
    }
}

/// Appends bytes with their kind and length.
fn push(to: &mut Vec<u8>, kind: u8, part: &[u8]) {
    to.push(kind);
    to.extend((part.len() as u64).to_le_bytes());
    to.extend(part);
}
