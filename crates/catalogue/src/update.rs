//! A catalogue brought up to date: only new and changed files are read.

use crate::compare::{Found, Scope, compare};
use crate::digest::Walk;
use crate::error::Error;
use crate::finding::{Finding, State};
use crate::long::{is_long, keep_long, outboard, remove_unused};
use crate::moves::Missing;
use crate::paths::Paths;
use crate::reading::{Read, Wanted, read_all};
use crate::row::{Kept, Row};
use crate::store::Catalogue;
use mksum::Spec;
use mksum_io::{EntryKind, Facts, ListedEntry, Options};
use std::fs;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Brings a catalogue up to date with its directory, and hands `each` all that differs: new, changed, touched, moved, gone, and what
/// has no new row: damaged, busy, unreadable.
///
/// Files that have the size, time and inode of their rows are not read, unless they lack a root in a format of the catalogue; one
/// whose content then differs from its other roots is damaged. A file that was renamed keeps its row, by device and inode. One
/// that was copied and removed is found by its root.
///
/// # Errors
/// If the directory or the catalogue cannot be read or written, or the work is stopped. What was written until then stays, and the
/// next run goes on.
pub fn update(
    catalogue: &mut Catalogue,
    directory: &std::path::Path,
    options: &Options,
    each: &mut dyn FnMut(Finding),
) -> Result<(), Error> {
    // Rows that are lost would be new files.
    let walk = catalogue.check_rows()?;
    if walk == Walk::None {
        catalogue.set_walk(Walk::Begun)?;
    }
    let scope = Scope::new(directory, catalogue);
    let specs: Vec<Spec> = catalogue.formats().cloned().collect();
    let mut all_read = true;
    let each = &mut |finding: Finding| {
        all_read &= !matches!(finding.state, State::Unreadable | State::Busy);
        each(finding);
    };
    let mut writer = Writer { catalogue, options, begun: None, count: 0, specs: &specs };
    let done = if writer.catalogue.is_empty()? {
        // Nothing can be missing, so nothing needs to be remembered.
        writer.first(&scope, each)
    } else {
        writer.changes(&scope, each)
    };
    let written = writer.commit();
    done.and(written)?;
    // Once all was read, the rows of each later walk are as true as those before.
    if walk != Walk::Ended {
        catalogue.set_walk(if all_read { Walk::Ended } else { Walk::Unread })?;
    }
    remove_unused(catalogue)?;
    catalogue.make_spans(options)
}

/// Has the next [`update`] read a file, or all files below a directory, although nothing shows a change, and take what it has then: for
/// damage that is the new content. `.` is the whole directory; then it may have none of the catalogue's files, too.
/// Returns the number of these files in the catalogue.
///
/// # Errors
/// If the catalogue cannot be read or written.
pub fn accept_changes(catalogue: &Catalogue, path: &[u8]) -> Result<u64, Error> {
    let path = path.strip_suffix(b"/").unwrap_or(path);
    let (one, below) = match path {
        b"." => (None, Paths::all()),
        _ => (catalogue.row(path)?, Paths::below(path)),
    };
    let mut count = 0;
    catalogue.begin()?;
    for row in one.map(Ok).into_iter().chain(catalogue.rows_of(below)) {
        let row = row?;
        if row.facts.kind == EntryKind::File {
            let kept = catalogue.roots(&row)?;
            // A time that the file does not have.
            let (seconds, nanoseconds) = row.facts.modified;
            let facts = Facts { modified: (seconds.wrapping_sub(1), nanoseconds), ..row.facts };
            catalogue.put((&row.path, &facts), None, &kept)?;
            count += 1;
        }
    }
    catalogue.commit()?;
    catalogue.accepted.fetch_or(path == b".", Ordering::Relaxed);
    Ok(count)
}

/// The reason for which a file is read.
enum Why {
    New,
    /// The file had this row.
    Known(Box<Row>),
}

/// A call before each result of a file.
type Between<'b, W> = &'b mut dyn FnMut(&mut W, &mut dyn FnMut(Finding)) -> Result<(), Error>;

struct Writer<'a> {
    catalogue: &'a Catalogue,
    options: &'a Options,
    /// The time at which the transaction began, if there is one.
    begun: Option<Instant>,
    /// The rows in it.
    count: usize,
    specs: &'a [Spec],
}

impl Writer<'_> {
    /// The rows in a transaction at most.
    const MANY: usize = 1024;
    /// The time that a row waits for others.
    const WAIT: Duration = Duration::from_millis(500);

    fn begin(&mut self) -> Result<(), Error> {
        if self.begun.is_none() {
            self.catalogue.begin()?;
            self.begun = Some(Instant::now());
        }
        Ok(())
    }

    fn commit(&mut self) -> Result<(), Error> {
        if self.begun.take().is_some() {
            self.count = 0;
            self.catalogue.commit()?;
        }
        Ok(())
    }

    fn written(&mut self) -> Result<(), Error> {
        self.count += 1;
        if self.count >= Self::MANY || self.begun.is_some_and(|begun| begun.elapsed() >= Self::WAIT) {
            self.commit()?;
        }
        Ok(())
    }

    fn put(&mut self, path: &[u8], facts: &Facts, link: Option<&[u8]>, roots: &[Kept]) -> Result<(), Error> {
        self.begin()?;
        self.catalogue.put((path, facts), link, roots)?;
        self.written()
    }

    fn remove(&mut self, path: &[u8]) -> Result<(), Error> {
        self.begin()?;
        self.catalogue.remove(path)?;
        self.written()
    }

    /// Writes an entry that is no file, which was another kind of entry or link if it `changed`.
    fn put_other(
        &mut self,
        (listed, changed): (&ListedEntry, bool),
        each: &mut dyn FnMut(Finding),
    ) -> Result<(), Error> {
        let link = match listed.facts.kind {
            EntryKind::Link => match fs::read_link(&listed.place) {
                Ok(text) => Some(text.as_os_str().as_encoded_bytes().to_vec()),
                Err(error) => {
                    let error = mksum_io::Error::Open { path: listed.place.clone().into(), error };
                    each(Finding::unread(&listed.path[..], error));
                    return Ok(());
                }
            },
            _ => None,
        };
        self.put(&listed.path, &listed.facts, link.as_deref(), &[])?;
        // A new directory is known by what is in it.
        if changed || listed.facts.kind == EntryKind::Link {
            each(Finding::new(if changed { State::Changed } else { State::New }, &listed.path[..]));
        }
        Ok(())
    }

    /// Whether the kept tree of a long file is gone or unusable: then the file is read again.
    fn has_lost_tree(&self, facts: &Facts, row: &Row) -> Result<bool, Error> {
        Ok(is_long(facts, self.specs) && outboard(self.catalogue, &self.catalogue.roots(row)?).is_none())
    }

    /// Fills an empty catalogue, as the walk goes on.
    fn first(&mut self, scope: &Scope, each: &mut dyn FnMut(Finding)) -> Result<(), Error> {
        let (send, others) = std::sync::mpsc::channel();
        let specs = self.specs;
        let files = scope.entries()?.filter_map(move |entry| match entry {
            Ok(ListedEntry { path, place, facts }) if facts.kind == EntryKind::File => {
                Some(Wanted { about: (path, Why::New), place, size: facts.size, specs: specs.to_vec() })
            }
            other => {
                // Received at the end at the latest.
                let _ = send.send(other);
                None
            }
        });
        let mut failed = self.read(files, &mut Missing::default(), each, &mut |writer, each| {
            others.try_iter().try_for_each(|other| writer.other(other, each))
        });
        if failed.is_ok() {
            failed = others.try_iter().try_for_each(|other| self.other(other, each));
        }
        failed
    }

    fn other(
        &mut self,
        entry: Result<ListedEntry, mksum_io::Unlisted>,
        each: &mut dyn FnMut(Finding),
    ) -> Result<(), Error> {
        match entry {
            Ok(listed) => self.put_other((&listed, false), each),
            Err(unlisted) => {
                each(Finding::failed(State::Unreadable, unlisted.prefix, unlisted.error));
                Ok(())
            }
        }
    }

    /// Finds all that differs, and then reads it.
    fn changes(&mut self, scope: &Scope, each: &mut dyn FnMut(Finding)) -> Result<(), Error> {
        let (mut new, mut known, mut missing) = (Vec::new(), Vec::new(), Vec::new());
        let (mut others, mut excluded) = (Vec::new(), Vec::new());
        // Whether there is an entry, and a file or link that the catalogue has. Other directories have folders of the same names.
        let (mut any, mut common) = (false, false);
        let formats = self.specs.len() as u64;
        let is_file = |facts: &Facts| facts.kind == EntryKind::File;
        compare(self.catalogue, scope, self.options, &mut |found| {
            any |= !matches!(found, Found::Missing(_) | Found::Excluded(_) | Found::Unknown(_));
            common |= match &found {
                Found::Same(_, row) | Found::Changed(_, row) => row.facts.kind != EntryKind::Directory,
                Found::Unlisted(_) | Found::Unknown(_) => true,
                Found::New(_) | Found::Missing(_) | Found::Excluded(_) => false,
            };
            match found {
                Found::Same(listed, row) if is_file(&listed.facts) && row.roots != formats => known.push((listed, row)),
                Found::Same(listed, row) if self.has_lost_tree(&listed.facts, &row)? => known.push((listed, row)),
                Found::Same(..) | Found::Unknown(_) => {}
                Found::Changed(listed, row) if is_file(&listed.facts) && is_file(&row.facts) => {
                    known.push((listed, row));
                }
                Found::Changed(listed, _) if is_file(&listed.facts) => new.push((listed.path, listed.facts)),
                Found::New(listed) if is_file(&listed.facts) => new.push((listed.path, listed.facts)),
                Found::New(listed) => others.push((listed, false)),
                Found::Changed(listed, _) => others.push((listed, true)),
                Found::Missing(row) => missing.push(row),
                Found::Excluded(row) => excluded.push(row.path),
                Found::Unlisted(unlisted) => {
                    each(Finding::failed(State::Unreadable, unlisted.prefix, unlisted.error));
                }
            }
            Ok(())
        })?;
        let is_elsewhere = if scope.has_catalogue() { !any } else { !common };
        let is_lost = missing.iter().any(|row: &Row| row.facts.kind != EntryKind::Directory);
        if is_elsewhere && is_lost && !self.catalogue.accepted.load(Ordering::Relaxed) {
            return Err(Error::Elsewhere { directory: scope.directory.as_path().into(), is_empty: !any });
        }
        self.catalogue.dropped.store(excluded.len() as u64, Ordering::Relaxed);
        excluded.iter().try_for_each(|path| self.remove(path))?;
        let mut missing = Missing::new(self.catalogue, missing)?;
        others.iter().try_for_each(|(listed, changed)| self.put_other((listed, *changed), each))?;
        let mut unread = Vec::new();
        for (path, facts) in new {
            match missing.with_identity(&facts) {
                Some(row) if row.roots == formats => {
                    let roots = self.catalogue.roots(&row)?;
                    self.remove(&row.path)?;
                    self.put(&path, &facts, None, &roots)?;
                    each(Finding { from: Some(row.path), roots, ..Finding::new(State::Moved, path) });
                }
                // It is read where it is now.
                _ => unread.push((path, facts.size, Why::New)),
            }
        }
        unread
            .extend(known.into_iter().map(|(listed, row)| (listed.path, listed.facts.size, Why::Known(Box::new(row)))));
        unread.sort_unstable_by(|(one, ..), (other, ..)| one.cmp(other));
        let specs = self.specs;
        let files = unread.into_iter().filter_map(|(path, size, why)| {
            let place = scope.place(&path)?;
            Some(Wanted { about: (path, why), place, size, specs: specs.to_vec() })
        });
        self.read(files, &mut missing, each, &mut |_, _| Ok(()))?;
        for row in missing.into_rows() {
            self.remove(&row.path)?;
            // As of a new one, nobody is told of a directory: its files tell.
            if row.facts.kind != EntryKind::Directory {
                each(Finding::new(State::Gone, row.path));
            }
        }
        Ok(())
    }

    /// Reads files and writes their rows.
    fn read(
        &mut self,
        files: impl Iterator<Item = Wanted<(Vec<u8>, Why)>> + Send,
        missing: &mut Missing,
        each: &mut dyn FnMut(Finding),
        between: Between<'_, Self>,
    ) -> Result<(), Error> {
        let mut result = Ok(());
        let options = self.options;
        read_all(files, options, &is_long, |Wanted { about: (path, why), place, specs, .. }, read| {
            let done = between(self, each).and_then(|()| self.one((path, why, place), &specs, read, missing, each));
            match done {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    result = Err(error);
                    ControlFlow::Break(())
                }
            }
        });
        result
    }

    fn one(
        &mut self,
        (path, why, place): (Vec<u8>, Why, PathBuf),
        specs: &[Spec],
        read: Read,
        missing: &mut Missing,
        each: &mut dyn FnMut(Finding),
    ) -> Result<(), Error> {
        let kept = match read {
            Ok((facts, roots)) if roots.is_empty() => {
                // It takes long: what is there is safe before.
                self.commit()?;
                match keep_long(self.catalogue, &place, (&path, &facts, specs), self.options) {
                    Ok(kept) => Ok((facts, kept)),
                    Err(Error::Io(error)) => Err(error),
                    Err(error) => return Err(error),
                }
            }
            Ok((facts, roots)) => Ok((facts, roots.into_iter().map(|root| Kept::new(root, "keep", None)).collect())),
            Err(error) => Err(error),
        };
        let (facts, kept) = match kept {
            Ok(kept) => kept,
            Err(error @ (mksum_io::Error::Write { .. } | mksum_io::Error::Stopped { .. })) => return Err(error.into()),
            Err(error) => {
                each(Finding::unread(path, error));
                return Ok(());
            }
        };
        let (state, from) = match why {
            Why::New => match kept.first().and_then(|kept| missing.with_root(&kept.root)) {
                Some(row) => {
                    self.remove(&row.path)?;
                    (State::Moved, Some(row.path))
                }
                None => (State::New, None),
            },
            Why::Known(row) => {
                let old = self.catalogue.roots(&row)?;
                let same = old.iter().all(|old| kept.iter().any(|kept| kept.root == old.root));
                match (same, row.is_of(&facts)) {
                    (false, true) => {
                        each(Finding { length: Some(facts.size), ..Finding::new(State::Damaged, path) });
                        return Ok(());
                    }
                    (true, _) if !old.is_empty() => (State::Touched, None),
                    _ => (State::Changed, None),
                }
            }
        };
        self.put(&path, &facts, None, &kept)?;
        each(Finding { from, roots: kept, ..Finding::new(state, path) });
        Ok(())
    }
}
