//! A directory compared with its catalogue, without reading any content.

use crate::error::Error;
use crate::row::Row;
use crate::store::{Catalogue, belongs_to, is_kept_folder, place};
use mksum_io::outboard::is_part_of_outboard;
use mksum_io::{Entries, EntryKind, Exclude, Facts, KEPT_FOLDER, ListedEntry, Options, Skip, Unlisted};
use std::cmp::Ordering;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The entries that a catalogue is about.
#[derive(Clone, Debug)]
pub(crate) struct Scope {
    /// The directory.
    pub directory: PathBuf,
    /// The path of the catalogue, if it lies in the directory.
    own: Option<Vec<u8>>,
    exclude: Exclude,
    /// The entries that were left out.
    excluded: Arc<AtomicU64>,
}

impl Scope {
    /// All entries below a directory but mksum's own, its catalogue and outboards, and those that the catalogue leaves out.
    pub fn new(directory: &Path, catalogue: &Catalogue) -> Scope {
        let (exclude, excluded, catalogue) =
            (catalogue.exclude().clone(), catalogue.excluded.clone(), catalogue.path());
        let within = || {
            let folder = catalogue.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
            let place = folder.canonicalize().ok()?.join(catalogue.file_name()?);
            let below = place.strip_prefix(directory.canonicalize().ok()?).ok()?.to_path_buf();
            Some(below.as_os_str().as_encoded_bytes().to_vec())
        };
        Scope { directory: directory.into(), own: within(), exclude, excluded }
    }

    /// Whether the catalogue is the directory's own, at its usual place in it.
    pub fn has_catalogue(&self) -> bool {
        self.own.as_ref().is_some_and(|own| own[..] == *place(Path::new("")).as_os_str().as_encoded_bytes())
    }

    /// The entries.
    ///
    /// # Errors
    /// If the directory cannot be listed.
    pub fn entries(&self) -> Result<Entries, Error> {
        let (own, exclude, excluded) = (self.own.clone(), self.exclude.clone(), self.excluded.clone());
        excluded.store(0, Relaxed);
        let leave_out = move |path: &[u8], facts: &Facts| {
            let below = mksum_io::path_from_bytes(path);
            let out = below.is_some_and(|below| exclude.covers(&below, facts.kind == EntryKind::Directory));
            excluded.fetch_add(out.into(), Relaxed);
            out
        };
        let skip: Skip = Box::new(move |path, place, facts| match facts.kind {
            EntryKind::Special => true,
            EntryKind::Directory if path == KEPT_FOLDER.as_bytes() || is_kept_folder(&place()) => true,
            _ if own.as_ref().is_some_and(|own| belongs_to(path, own)) => true,
            // A path is made only of names with an extension.
            EntryKind::File if name(path).contains(&b'.') && is_part_of_outboard(&place()) => true,
            _ => leave_out(path, facts),
        });
        Ok(Entries::of(&self.directory, skip)?)
    }

    /// Whether a row is of an entry that is left out.
    fn leaves_out(&self, row: &Row) -> bool {
        let below = mksum_io::path_from_bytes(&row.path);
        below.is_some_and(|below| self.exclude.covers_within(&below, row.facts.kind == EntryKind::Directory))
    }

    /// The place of an entry.
    pub fn place(&self, path: &[u8]) -> Option<PathBuf> {
        Some(self.directory.join(mksum_io::path_from_bytes(path)?))
    }
}

/// The last name of a path.
fn name(path: &[u8]) -> &[u8] {
    path.rsplit(|&byte| byte == b'/').next().unwrap_or(path)
}

/// An entry of the directory or of its catalogue, or of both.
#[derive(Debug)]
pub(crate) enum Found {
    /// The entry has the size, time and inode of its row.
    Same(ListedEntry, Row),
    /// The entry's size, time or inode differs from its row.
    Changed(ListedEntry, Row),
    /// The entry has no row.
    New(ListedEntry),
    /// The row has no entry.
    Missing(Row),
    /// The row is of an entry that is left out.
    Excluded(Row),
    /// The directory of a row could not be listed, so nothing is known of it.
    Unknown(Row),
    /// The directory could not be listed.
    Unlisted(Unlisted),
}

/// Hands all entries of a directory and its catalogue to `each`, in the order of their paths.
///
/// Two sorted sequences are merged, so memory does not depend on their lengths.
///
/// # Errors
/// If the directory or the catalogue cannot be read, `each` fails, or the work is stopped.
pub(crate) fn compare(
    catalogue: &Catalogue,
    scope: &Scope,
    options: &Options,
    each: &mut dyn FnMut(Found) -> Result<(), Error>,
) -> Result<(), Error> {
    let (mut entries, mut rows) = (scope.entries()?, catalogue.rows());
    let mut unlisted: Vec<Vec<u8>> = Vec::new();
    let mut row = rows.next().transpose()?;
    let mut entry = entries.next();
    loop {
        if options.stop.is_stopped() {
            return Err(mksum_io::Error::Stopped { path: scope.directory.clone().into() }.into());
        }
        let listed = match entry.take() {
            Some(Err(error)) => {
                unlisted.push(error.prefix.clone());
                each(Found::Unlisted(error))?;
                entry = entries.next();
                continue;
            }
            Some(Ok(listed)) => {
                options.meter.list();
                Some(listed)
            }
            None => None,
        };
        let order = match (&listed, &row) {
            (None, None) => return Ok(()),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(listed), Some(row)) => listed.path.cmp(&row.path),
        };
        match (order, listed) {
            (Ordering::Less, Some(listed)) => {
                each(Found::New(listed))?;
                entry = entries.next();
            }
            (Ordering::Equal, Some(listed)) => {
                let known = row.take().expect("compared with it");
                each(if known.is_of(&listed.facts) {
                    Found::Same(listed, known)
                } else {
                    Found::Changed(listed, known)
                })?;
                entry = entries.next();
                row = rows.next().transpose()?;
            }
            (_, listed) => {
                let known = row.take().expect("compared with it");
                let hidden = unlisted.iter().any(|prefix| known.path.starts_with(prefix));
                each(match () {
                    () if hidden => Found::Unknown(known),
                    () if scope.leaves_out(&known) => Found::Excluded(known),
                    () => Found::Missing(known),
                })?;
                entry = listed.map(Ok);
                row = rows.next().transpose()?;
            }
        }
    }
}

/// The identity of a file: its device, inode, size and time.
pub(crate) type Identity = (u64, u64, u64, (i64, u32));

/// The identity of a file, where the system has inodes.
pub(crate) fn identity(facts: &Facts) -> Option<Identity> {
    let file = facts.kind == EntryKind::File && facts.inode != 0;
    file.then_some((facts.device, facts.inode, facts.size, facts.modified))
}
