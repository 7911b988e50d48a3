//! What differs from a catalogue, without reading any content.

use crate::compare::{Found, Scope, compare};
use crate::error::Error;
use crate::finding::{Finding, State};
use crate::moves::{Moves, with_moves};
use crate::store::Catalogue;
use mksum_io::{EntryKind, Options};
use std::path::Path;

/// The differences, sorted by the bytes of the paths, and the number of the other entries.
#[derive(Debug, Default)]
pub struct Status {
    /// Files and links that differ, files that may not be read, and directories that could not be listed.
    pub differ: Vec<Finding>,
    /// Files and links that show no change.
    pub same: u64,
    /// Rows below directories that could not be listed.
    pub unknown: u64,
}

/// Returns the differences between a directory and its catalogue. Memory holds only these.
///
/// # Errors
/// If the directory or the catalogue cannot be read, or the work is stopped.
pub fn status(catalogue: &Catalogue, directory: &Path, options: &Options) -> Result<Status, Error> {
    let (mut status, mut differ) = (Status::default(), Moves::new());
    let formats = catalogue.formats().len() as u64;
    compare(catalogue, &Scope::new(directory, catalogue), options, &mut |entry| {
        if let Found::Same(listed, _) | Found::Changed(listed, _) | Found::New(listed) = &entry
            && listed.facts.kind == EntryKind::File
            && let Err(error) = listed.check_access()
        {
            differ.push((Finding::failed(State::Unreadable, &listed.path[..], error), None));
            return Ok(());
        }
        let (state, path, facts) = match entry {
            Found::Same(listed, row) if listed.facts.kind == EntryKind::File && row.roots < formats => {
                (State::Incomplete, listed.path, None)
            }
            Found::Same(listed, _) => {
                status.same += u64::from(listed.facts.kind != EntryKind::Directory);
                return Ok(());
            }
            Found::Excluded(_) => return Ok(()),
            Found::Unknown(_) => {
                status.unknown += 1;
                return Ok(());
            }
            Found::New(listed) if listed.facts.kind == EntryKind::Directory => return Ok(()),
            Found::New(listed) => (State::New, listed.path, Some(listed.facts)),
            Found::Changed(listed, _) => (State::Changed, listed.path, None),
            Found::Missing(row) if row.facts.kind == EntryKind::Directory => return Ok(()),
            Found::Missing(row) => (State::Gone, row.path, Some(row.facts)),
            Found::Unlisted(unlisted) => {
                differ.push((Finding::failed(State::Unreadable, unlisted.prefix, unlisted.error), None));
                return Ok(());
            }
        };
        differ.push((Finding::new(state, path), facts));
        Ok(())
    })?;
    // A directory that cannot be listed is found before what comes before it.
    differ.sort_by(|(one, _), (other, _)| one.path.cmp(&other.path));
    status.differ = with_moves(differ);
    Ok(status)
}
