//! The content of a directory compared with its catalogue.

use crate::compare::{Found, Scope, compare};
use crate::error::Error;
use crate::finding::{Finding, State};
use crate::long::{Stored, damage, is_long, long_roots, outboard};
use crate::moves::{Moves, with_moves};
use crate::reading::{Read, Wanted, read_all};
use crate::row::{Kept, Row};
use crate::store::{Catalogue, now};
use mksum::Spec;
use mksum_io::{Effort, EntryKind, Facts, Left, Options};
use std::collections::HashSet;
use std::iter;
use std::mem::{replace, take};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Compares the content of the files in a directory with the roots in its catalogue, and hands `each` a finding about every
/// file that was looked at, and about what is not verified: changed, new, moved, gone. If not all is verified, the bytes that were not
/// verified since they were kept, or for longest, come first; a time is that of reading files, after the directory was listed.
///
/// The catalogue is checked first, page by page and row by row: a row that is lost would be a file that is not verified. It
/// remembers what was found good, and when, unless it was opened only to be read.
///
/// Memory holds some thousand rows at a time, the new and missing entries, and, if not all is verified, the paths of what has changed.
///
/// # Errors
/// If the directory or the catalogue cannot be read or written, or the work is stopped. What was found until then is remembered.
/// If there is nothing to verify: no file was intact, and no finding but `New` says why.
///
/// Returns the bytes of all files that could be verified: those that show no change and have a root.
pub fn verify(
    catalogue: &mut Catalogue,
    directory: &std::path::Path,
    options: &Options,
    effort: Effort,
    each: &mut dyn FnMut(Finding),
) -> Result<u64, Error> {
    catalogue.check()?;
    let scope = Scope::new(directory, catalogue);
    let specs = catalogue.formats().cloned().collect();
    let left = Effort::All.start(0);
    let (step, last) = (Step { bytes: Step::LEAST }, Instant::now());
    let mut verifying =
        Verifying { catalogue, scope: &scope, specs, options, left, step, good: Vec::new(), goes_on: false, last };
    let mut is_any = false;
    let each = &mut |finding: Finding| {
        is_any |= finding.state != State::New;
        each(finding);
    };
    let done = match effort {
        Effort::All => verifying.all(each),
        _ => verifying.least_recent(effort, each),
    };
    let written = verifying.write();
    let total = done.and_then(|total| written.map(|()| total))?;
    match is_any {
        true => Ok(total),
        false => Err(Error::refused(catalogue.input().clone(), "nothing was verified: it has no files to read")),
    }
}

/// Returns the row of a file that can be verified, or else the row of the entry, if it has one. A new entry or one that is gone may be a
/// move, which is known at the end; anything else is reported.
fn sort_out(found: Found, moves: &mut Moves, each: &mut dyn FnMut(Finding)) -> Result<Row, Option<Row>> {
    let (state, path, row) = match found {
        Found::Same(listed, row) if listed.facts.kind == EntryKind::File => {
            if row.roots > 0 {
                return Ok(row);
            }
            (State::New, listed.path, Some(row))
        }
        Found::Same(..) => return Err(None),
        Found::Excluded(row) | Found::Unknown(row) => return Err(Some(row)),
        Found::Changed(listed, row) => (State::Changed, listed.path, Some(row)),
        Found::New(listed) if listed.facts.kind == EntryKind::Directory => return Err(None),
        Found::New(listed) => {
            moves.push((Finding::new(State::New, listed.path), Some(listed.facts)));
            return Err(None);
        }
        // As of a new one: its files are reported.
        Found::Missing(row) if row.facts.kind == EntryKind::Directory => return Err(None),
        Found::Missing(row) => {
            moves.push((Finding::new(State::Gone, row.path.clone()), Some(row.facts)));
            return Err(Some(row));
        }
        Found::Unlisted(unlisted) => {
            each(Finding::unread(unlisted.prefix, unlisted.error));
            return Err(None);
        }
    };
    each(Finding::new(state, path));
    Err(row)
}

/// A file to be verified.
struct Due {
    row: Row,
    /// Whether no other row of `root` is between it and the one before it in a batch.
    adjoins: bool,
}

/// The bytes that are verified before the time is looked at.
struct Step {
    bytes: u64,
}

impl Step {
    const LEAST: u64 = 8 << 20;
    const MOST: u64 = 1 << 30;
    /// A file that is shorter takes as long to be opened.
    const OPENING: u64 = 64 << 10;

    /// Takes as many next time as are verified in about a tenth of a second, for all of them took so long.
    fn took(&mut self, time: Duration) {
        self.bytes = match time.as_millis() {
            0..50 => (self.bytes * 2).min(Self::MOST),
            50..200 => self.bytes,
            _ => (self.bytes / 2).max(Self::LEAST),
        };
    }
}

struct Verifying<'a> {
    catalogue: &'a Catalogue,
    scope: &'a Scope,
    specs: Vec<Spec>,
    options: &'a Options,
    left: Left,
    step: Step,
    /// The first and last paths of files that were found good, with all between them, and are not written yet.
    good: Vec<(Vec<u8>, Vec<u8>)>,
    /// Whether the last of them is the file that was looked at last.
    goes_on: bool,
    /// The time at which they were last written.
    last: Instant,
}

impl Verifying<'_> {
    /// The time after which what was found is written down.
    const WAIT: Duration = Duration::from_secs(1);
    /// The files in a batch at most; in tests, batches are small.
    const MANY: usize = if cfg!(test) { 3 } else { 2048 };

    /// Verifies all files, by the bytes of their paths. Returns the bytes of all.
    fn all(&mut self, each: &mut dyn FnMut(Finding)) -> Result<u64, Error> {
        let (mut total, mut batch, mut adjoins, mut moves) = (0_u64, Vec::new(), false, Moves::new());
        let (catalogue, scope, options) = (self.catalogue, self.scope, self.options);
        compare(catalogue, scope, options, &mut |found| {
            match sort_out(found, &mut moves, each) {
                Ok(row) => {
                    total = total.saturating_add(row.facts.size);
                    batch.push(Due { row, adjoins: replace(&mut adjoins, true) });
                }
                Err(row) => adjoins &= row.is_none(),
            }
            if batch.len() < Self::MANY { Ok(()) } else { self.verify(take(&mut batch), each).map(drop) }
        })?;
        self.verify(batch, each)?;
        with_moves(moves).into_iter().for_each(each);
        Ok(total)
    }

    /// Verifies the least recently verified files. Returns the bytes of all.
    fn least_recent(&mut self, effort: Effort, each: &mut dyn FnMut(Finding)) -> Result<u64, Error> {
        let (mut total, mut apart, mut moves) = (0_u64, HashSet::new(), Moves::new());
        let catalogue = self.catalogue;
        compare(catalogue, self.scope, self.options, &mut |found| {
            match sort_out(found, &mut moves, each) {
                Ok(row) => total = total.saturating_add(row.facts.size),
                Err(row) => apart.extend(row.map(|row| row.path)),
            }
            Ok(())
        })?;
        with_moves(moves).into_iter().for_each(&mut *each);
        self.left = effort.start(total);
        catalogue.each_due(now(), &mut |due| {
            loop {
                let (step, least) = match self.left.deadline {
                    Some(_) => (self.step.bytes, Step::OPENING),
                    None => (self.left.bytes, 1),
                };
                let (mut batch, mut given) = (Vec::new(), 0_u64);
                while batch.len() < Self::MANY && given < step {
                    let Some(path) = due()? else { break };
                    if apart.contains(&path) {
                        continue;
                    }
                    let lost =
                        || Error::Row { path: catalogue.input().clone(), row: path.clone(), why: "it is lost".into() };
                    let row = catalogue.row(&path)?.ok_or_else(lost)?;
                    given = given.saturating_add(row.facts.size.max(least));
                    batch.push(Due { row, adjoins: false });
                }
                let begin = Instant::now();
                // What is damaged or cannot be read does not count: it would be first in every run, and the others never verified.
                if batch.is_empty() || self.verify(batch, each)? {
                    return Ok(());
                }
                if given >= step {
                    self.step.took(begin.elapsed());
                }
            }
        })?;
        Ok(total)
    }

    /// Verifies files side by side; returns whether no more are to be.
    fn verify(&mut self, batch: Vec<Due>, each: &mut dyn FnMut(Finding)) -> Result<bool, Error> {
        let mut result = Ok(());
        let (options, scope) = (self.options, self.scope);
        let mut roots = Vec::with_capacity(batch.len());
        for adjoining in batch.chunk_by(|_, next| next.adjoins) {
            self.catalogue.add_roots(adjoining.iter().map(|due| &due.row), &mut roots)?;
        }
        let mut roots = roots.into_iter();
        let specs = self.specs.clone();
        let limited = self.left;
        let (mut files, mut given) = (batch.into_iter(), 0_u64);
        let jobs = iter::from_fn(|| {
            // The last file goes over the limit; what is in the lanes is finished.
            let left = Left { bytes: limited.bytes.saturating_sub(given), ..limited };
            if given > 0 && left.is_over() {
                return None;
            }
            let due = files.next()?;
            // Only where names are other text than bytes, a path may have no place.
            let place = scope.place(&due.row.path).unwrap_or_default();
            given = given.saturating_add(due.row.facts.size.max(1));
            Some(Wanted { place, size: due.row.facts.size, specs: specs.clone(), about: due })
        });
        read_all(jobs, options, &is_long, |Wanted { about: due, place, .. }, read| {
            let kept = roots.next().expect("the roots of each file");
            match self.one(&due, &kept, place, read, each) {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    result = Err(error);
                    ControlFlow::Break(())
                }
            }
        });
        result.map(|()| self.left.is_over())
    }

    fn one(
        &mut self,
        due: &Due,
        kept: &[Kept],
        place: PathBuf,
        read: Read,
        each: &mut dyn FnMut(Finding),
    ) -> Result<(), Error> {
        let (row, path) = (&due.row, &due.row.path[..]);
        let goes_on = replace(&mut self.goes_on, false);
        let compared = match read {
            Err(error) => Err(error.into()),
            Ok((facts, _)) if !row.is_of(&facts) => {
                each(Finding::new(State::Changed, path));
                return Ok(());
            }
            Ok((facts, roots)) if roots.is_empty() => match outboard(self.catalogue, kept) {
                Some(stored) => return self.parts(row, &place, &stored, kept, each),
                None if kept.iter().any(|kept| kept.outboard.is_some()) => {
                    each(Finding::new(State::DamagedTree, path));
                    long_roots(&place, &facts, kept, self.options).map_err(Error::from)
                }
                None => long_roots(&place, &facts, kept, self.options).map_err(Error::from),
            },
            Ok((_, roots)) => Ok(roots),
        };
        match compared {
            // A catalogue with a format that the file has no root in yet has more roots here.
            Ok(roots) if kept.iter().all(|kept| roots.contains(&kept.root)) => {
                self.left.take(row.facts.size);
                self.remember(due, goes_on)?;
                self.end_repair(row, &place, kept)?;
                let (length, bytes) = (Some(row.facts.size), Some(row.facts.size));
                each(Finding { length, bytes, ..Finding::new(State::Intact, path) });
            }
            Ok(_) => each(Finding { length: Some(row.facts.size), ..Finding::new(State::Damaged, path) }),
            Err(error) => report(path, error, each)?,
        }
        Ok(())
    }

    /// Verifies a long file part by part, from where the last run stopped.
    fn parts(
        &mut self,
        row: &Row,
        place: &std::path::Path,
        (outboard, stored): &(Stored, PathBuf),
        kept: &[Kept],
        each: &mut dyn FnMut(Finding),
    ) -> Result<(), Error> {
        let (path, len) = (&row.path[..], row.facts.size);
        let limited = self.left.is_limited();
        // Only a run that cannot do all goes on from where the last one stopped.
        let first = if limited { kept.iter().map(|kept| kept.progress).min().unwrap_or(0) } else { 0 };
        let (mut done, mut ranges, mut tree, before) = (first, Vec::new(), false, self.left.bytes);
        while done < len {
            let begin = Instant::now();
            // A share is exceeded by less than a step of the least length, however fast this is.
            let share = self.left.bytes.div_ceil(Step::LEAST).saturating_mul(Step::LEAST);
            let end = if limited { (done + self.step.bytes.min(share)).min(len) } else { len };
            match damage(place, (outboard, stored), done..end, self.options) {
                Ok((found, damaged)) => {
                    ranges.extend(found);
                    tree |= damaged;
                }
                Err(error) => return report(path, error, each),
            }
            self.left.take(end - done);
            done = end;
            self.step.took(begin.elapsed());
            if self.left.is_over() {
                break;
            }
        }
        if !Facts::of(place).is_ok_and(|facts| row.is_of(&facts)) {
            each(Finding::new(State::Changed, path));
            return Ok(());
        }
        if tree {
            each(Finding::new(State::DamagedTree, path));
        }
        if !ranges.is_empty() {
            self.left.bytes = before;
            each(Finding { length: Some(len), ranges, ..Finding::new(State::Damaged, path) });
            return Ok(());
        }
        if tree && self.catalogue.is_writable() {
            // What is left of it is of no more use: the next update makes it again.
            self.in_transaction(|catalogue| catalogue.lose_outboard(path))?;
        }
        if self.catalogue.is_writable() {
            let progress = if done == len { None } else { Some(done) };
            self.in_transaction(|catalogue| catalogue.verified((path, path), progress, now()))?;
        }
        if first == 0 && done == len {
            self.end_repair(row, place, kept)?;
        }
        each(Finding { length: Some(len), bytes: Some(done - first), ..Finding::new(State::Intact, path) });
        Ok(())
    }

    /// Takes the time of a file that is intact for that of its row, if a repair of it was not finished.
    fn end_repair(&mut self, row: &Row, place: &std::path::Path, kept: &[Kept]) -> Result<(), Error> {
        if !row.repair || !self.catalogue.is_writable() {
            return Ok(());
        }
        match Facts::of(place) {
            Ok(facts) if row.is_of(&facts) => {
                let kept: Vec<_> =
                    kept.iter().map(|kept| Kept::new(kept.root.clone(), "verify", kept.outboard.clone())).collect();
                self.in_transaction(|catalogue| catalogue.put((&row.path, &facts), None, &kept))
            }
            _ => Ok(()),
        }
    }

    /// Writes what is good, and more.
    fn in_transaction(&mut self, write: impl FnOnce(&Catalogue) -> Result<(), Error>) -> Result<(), Error> {
        self.catalogue.begin()?;
        let (good, now) = (take(&mut self.good), now());
        let mut done = good.iter().try_for_each(|(first, last)| self.catalogue.verified((first, last), None, now));
        done = done.and_then(|()| write(self.catalogue));
        let written = self.catalogue.commit();
        self.last = Instant::now();
        done.and(written)
    }

    /// Remembers that a file is good.
    fn remember(&mut self, due: &Due, goes_on: bool) -> Result<(), Error> {
        if !self.catalogue.is_writable() {
            return Ok(());
        }
        let path = &due.row.path;
        match self.good.last_mut() {
            Some((_, last)) if due.adjoins && goes_on => last.clone_from(path),
            _ => self.good.push((path.clone(), path.clone())),
        }
        self.goes_on = true;
        self.write_if_due()
    }

    fn write_if_due(&mut self) -> Result<(), Error> {
        if self.last.elapsed() >= Self::WAIT { self.write() } else { Ok(()) }
    }

    fn write(&mut self) -> Result<(), Error> {
        if self.good.is_empty() { Ok(()) } else { self.in_transaction(|_| Ok(())) }
    }
}

/// Reports why a file could not be verified; fails if it is not about the file.
fn report(path: &[u8], error: Error, each: &mut dyn FnMut(Finding)) -> Result<(), Error> {
    let Error::Io(error) = error else { return Err(error) };
    let gone = |error: &std::io::Error| error.kind() == std::io::ErrorKind::NotFound;
    each(match error {
        mksum_io::Error::Stopped { .. } => return Err(error.into()),
        mksum_io::Error::Open { error, .. } if gone(&error) => Finding::new(State::Gone, path),
        error => Finding::unread(path, error),
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder::Access;
    use crate::store::place;
    use crate::update::update;
    use std::fs;

    /// The states of what was found, and the paths of files whose times of verification are new, each in their order.
    fn run(folder: &std::path::Path, effort: Effort) -> (Vec<(String, State)>, Vec<String>) {
        let text = |path: &[u8]| String::from_utf8(path.into()).unwrap();
        let (mut catalogue, mut found) =
            (Catalogue::open(&place(folder), Access::Write, &mut || {}).unwrap(), Vec::new());
        catalogue.begin().unwrap();
        catalogue.verified((b"", b"\xff"), None, 1).unwrap();
        catalogue.commit().unwrap();
        verify(&mut catalogue, folder, &Options::new(), effort, &mut |finding| {
            found.push((text(&finding.path), finding.state));
        })
        .unwrap();
        // The digest of all rows is that of what was written.
        catalogue.check().unwrap();
        let rows: Vec<_> = catalogue.rows().map(Result::unwrap).collect();
        let is_new = |row: &&Row| catalogue.roots(row).unwrap().iter().any(|kept| kept.verified > 1);
        found.sort();
        (found, rows.iter().filter(is_new).map(|row| text(&row.path)).collect())
    }

    #[test]
    fn what_is_good_and_nothing_else_is_remembered() {
        let folder = tempfile::tempdir().unwrap();
        let place_of = |number: usize| folder.path().join(format!("{number:02}"));
        for number in 0..20 {
            fs::write(place_of(number), format!("content {number:02}")).unwrap();
        }
        let mut catalogue = Catalogue::create(&place(folder.path()), &mut || {}).unwrap();
        catalogue.add_formats(&["sha256".parse().unwrap(), "rfc6962".parse().unwrap()]).unwrap();
        update(&mut catalogue, folder.path(), &Options::new(), &mut |_| {}).unwrap();
        drop(catalogue);
        let all: Vec<_> = (0..20).map(|number| format!("{number:02}")).collect();
        assert_eq!(run(folder.path(), Effort::All).1, all);
        // At the edges of batches and within them.
        fs::remove_file(place_of(3)).unwrap();
        fs::write(place_of(4), "longer content").unwrap();
        let time = fs::metadata(place_of(10)).unwrap().modified().unwrap();
        fs::write(place_of(10), "content xx").unwrap();
        fs::File::options().write(true).open(place_of(10)).unwrap().set_modified(time).unwrap();
        fs::write(place_of(25), "new").unwrap();
        let states = [(3, State::Gone), (4, State::Changed), (10, State::Damaged), (25, State::New)];
        let mut expected: Vec<_> = states.iter().map(|(number, state)| (format!("{number:02}"), *state)).collect();
        let good: Vec<_> = all.iter().filter(|path| !["03", "04", "10"].contains(&path.as_str())).cloned().collect();
        expected.extend(good.iter().map(|path| (path.clone(), State::Intact)));
        expected.sort();
        assert_eq!(run(folder.path(), Effort::All), (expected.clone(), good.clone()));
        assert_eq!(run(folder.path(), Effort::Share(1.0)), (expected.clone(), good.clone()));
        assert_eq!(run(folder.path(), Effort::Time(Duration::from_secs(600))), (expected, good.clone()));
        // 18 files of 10 bytes are there: a third of them.
        assert_eq!(run(folder.path(), Effort::Share(0.3)).1, good[..6]);
    }
}
