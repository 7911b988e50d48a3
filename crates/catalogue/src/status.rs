//! What differs from a catalogue, without reading any content.

use crate::compare::{Found, Scope, compare, identity};
use crate::error::Error;
use crate::row::Row;
use crate::store::Catalogue;
use mksum_io::{EntryKind, Facts, Options};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// How an entry differs from its row.
#[derive(Debug)]
pub enum State {
    /// It has no row.
    New(Facts),
    /// It shows no change, but lacks a root in a format of the catalogue.
    Incomplete,
    /// It has another size, time or inode than its row.
    Changed,
    /// It is gone.
    Missing(Row),
    /// It was at this path before.
    Moved(Vec<u8>),
    /// This file may not be read; or this directory could not be listed, and nothing is known of what is in it.
    Unreadable(mksum_io::Error),
}

/// What differs, by the bytes of the paths, and the number of the other entries.
#[derive(Debug, Default)]
pub struct Status {
    /// Files and links that differ, files that may not be read, and directories that could not be listed.
    pub differ: BTreeMap<Vec<u8>, State>,
    /// Files and links that show no change.
    pub same: u64,
    /// Rows below directories that could not be listed.
    pub unknown: u64,
}

/// What differs between a directory and its catalogue. Memory holds what differs alone.
///
/// # Errors
/// If the directory or the catalogue cannot be read, or the work is stopped.
pub fn status(catalogue: &Catalogue, directory: &Path, options: &Options) -> Result<Status, Error> {
    let mut status = Status::default();
    let formats = catalogue.formats().len() as u64;
    compare(catalogue, &Scope::new(directory, catalogue.path()), options, &mut |entry| {
        let listed = match &entry {
            Found::Same(listed, _) | Found::Changed(listed, _) | Found::New(listed) => Some(listed),
            _ => None,
        };
        if let Some(listed) = listed.filter(|listed| listed.facts.kind == EntryKind::File)
            && let Err(error) = listed.check_access()
        {
            status.differ.insert(listed.path.clone(), State::Unreadable(error));
            return Ok(());
        }
        let (path, state) = match entry {
            Found::Same(listed, row) if listed.facts.kind == EntryKind::File && row.roots < formats => {
                (listed.path, State::Incomplete)
            }
            Found::Same(listed, _) => {
                status.same += u64::from(listed.facts.kind != EntryKind::Directory);
                return Ok(());
            }
            Found::Unknown(_) => {
                status.unknown += 1;
                return Ok(());
            }
            Found::New(listed) if listed.facts.kind == EntryKind::Directory => return Ok(()),
            Found::New(listed) => (listed.path, State::New(listed.facts)),
            Found::Changed(listed, _) => (listed.path, State::Changed),
            Found::Missing(row) if row.facts.kind == EntryKind::Directory => return Ok(()),
            Found::Missing(row) => (row.path.clone(), State::Missing(row)),
            Found::Unlisted(unlisted) => (unlisted.prefix, State::Unreadable(unlisted.error)),
        };
        status.differ.insert(path, state);
        Ok(())
    })?;
    find_moves(&mut status.differ);
    Ok(status)
}

/// Makes one of a new file and a missing one that have the same device, inode, size and time.
fn find_moves(differ: &mut BTreeMap<Vec<u8>, State>) {
    let mut missing: HashMap<_, Vec<Vec<u8>>> = HashMap::new();
    for (path, state) in differ.iter().rev() {
        if let State::Missing(row) = state
            && let Some(identity) = identity(&row.facts)
        {
            missing.entry(identity).or_default().push(path.clone());
        }
    }
    let mut gone = Vec::new();
    for state in differ.values_mut() {
        if let State::New(facts) = state
            && let Some(from) = identity(facts).and_then(|identity| missing.get_mut(&identity)?.pop())
        {
            gone.push(from.clone());
            *state = State::Moved(from);
        }
    }
    gone.iter().for_each(|path| drop(differ.remove(path)));
}
