//! The content of a directory compared with its catalogue.

use crate::compare::{Found, Scope, compare};
use crate::error::Error;
use crate::finding::{Finding, State};
use crate::long::{Stored, damage, is_long, long_roots, outboard};
use crate::reading::{Read, Wanted, read_all};
use crate::row::{Kept, Row};
use crate::store::{Catalogue, now};
use mksum_io::{EntryKind, Facts, Options};
use std::collections::HashMap;
use std::iter;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The amount that is verified, least recently verified data first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Effort {
    /// All files.
    All,
    /// The files and parts that fit into this time, one at least.
    Time(Duration),
    /// A share of all bytes, 0.0 to 1.0.
    Share(f64),
}

/// Compares the content of the files in a directory with the roots in its catalogue, and hands `each` a finding about every
/// file that was looked at, and about what is not verified: changed, new, gone. The bytes that were not verified since they were kept,
/// or for longest, come first.
///
/// The catalogue is checked first, page by page and row by row: a row that is lost would be a file that is not verified. It
/// remembers what was found good, and when, unless it was opened only to be read.
///
/// # Errors
/// If the directory or the catalogue cannot be read or written, or the work is stopped. What was found until then is remembered.
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
    let begin = Instant::now();
    let scope = Scope::new(directory, catalogue.path());
    let (mut total, mut same) = (0_u64, HashMap::new());
    compare(catalogue, &scope, options, &mut |found| {
        match found {
            Found::Same(listed, row) if listed.facts.kind == EntryKind::File => {
                if row.roots == 0 {
                    each(Finding::new(State::New, row.path));
                } else {
                    total = total.saturating_add(row.facts.size);
                    same.insert(row.path, row.facts);
                }
            }
            Found::Same(..) | Found::Unknown => {}
            Found::Changed(listed, _) => each(Finding::new(State::Changed, listed.path)),
            Found::New(listed) if listed.facts.kind == EntryKind::Directory => {}
            Found::New(listed) => each(Finding::new(State::New, listed.path)),
            // As of a new one: its files are reported.
            Found::Missing(row) if row.facts.kind == EntryKind::Directory => {}
            Found::Missing(row) => each(Finding::new(State::Gone, row.path)),
            Found::Unlisted(unlisted) => each(Finding::unread(unlisted.prefix, unlisted.error)),
        }
        Ok(())
    })?;
    let share = match effort {
        Effort::Share(share) => (share * total as f64).ceil() as u64,
        _ => u64::MAX,
    };
    let deadline = match effort {
        Effort::Time(time) => begin.checked_add(time),
        _ => None,
    };
    let left = Left { deadline, bytes: share };
    let due = catalogue.due(now())?;
    let mut files = Vec::new();
    for (_, path) in due {
        if let Some(facts) = same.remove(&path) {
            files.extend(scope.place(&path).map(|place| (place, path, facts)));
        }
    }
    if let Some((row, _)) = same.into_iter().next() {
        let why = "its roots are lost".into();
        return Err(Error::Row { path: catalogue.input().clone(), row, why });
    }
    let step = Step { bytes: Step::LEAST };
    Verifying { catalogue, options, left, step, begun: false, last: Instant::now() }.run(files, each)?;
    Ok(total)
}

/// The amount that may still be read.
#[derive(Clone, Copy)]
struct Left {
    deadline: Option<Instant>,
    bytes: u64,
}

impl Left {
    fn is_over(&self) -> bool {
        self.bytes == 0 || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

/// The bytes that are verified before the time is looked at.
struct Step {
    bytes: u64,
}

impl Step {
    const LEAST: u64 = 8 << 20;
    const MOST: u64 = 1 << 30;

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
    options: &'a Options,
    left: Left,
    step: Step,
    begun: bool,
    last: Instant,
}

impl Verifying<'_> {
    /// The time after which what was found is written down.
    const WAIT: Duration = Duration::from_secs(1);

    fn run(&mut self, files: Vec<(PathBuf, Vec<u8>, Facts)>, each: &mut dyn FnMut(Finding)) -> Result<(), Error> {
        let mut result = Ok(());
        let (catalogue, options) = (self.catalogue, self.options);
        let specs: Vec<_> = catalogue.formats().cloned().collect();
        let mut files = files.into_iter();
        loop {
            let (limited, begin) = (self.left, Instant::now());
            let step = if limited.deadline.is_some() { self.step.bytes } else { u64::MAX };
            let mut given = 0_u64;
            let jobs = iter::from_fn(|| {
                // The last file goes over the limit; what is in the lanes is finished.
                let left = Left { bytes: limited.bytes.saturating_sub(given), ..limited };
                if given > 0 && (given >= step || left.is_over()) {
                    return None;
                }
                let (place, path, facts) = files.next()?;
                given = given.saturating_add(facts.size.max(1));
                Some(Wanted { about: path, place, size: facts.size, specs: specs.clone() })
            });
            read_all(jobs, options, &is_long, |Wanted { about: path, place, .. }, read| {
                match self.one(&path, place, read, each) {
                    Ok(()) => ControlFlow::Continue(()),
                    Err(error) => {
                        result = Err(error);
                        ControlFlow::Break(())
                    }
                }
            });
            if given >= step {
                self.step.took(begin.elapsed());
            }
            // What is damaged or cannot be read does not count: it would be first in every run, and the others never verified.
            if given == 0 || result.is_err() || self.left.is_over() {
                break;
            }
        }
        let written = self.commit();
        result.and(written)
    }

    fn one(&mut self, path: &[u8], place: PathBuf, read: Read, each: &mut dyn FnMut(Finding)) -> Result<(), Error> {
        let lost = || Error::Row { path: self.catalogue.path().into(), row: path.into(), why: "it is lost".into() };
        let row = self.catalogue.row(path)?.ok_or_else(lost)?;
        let kept = self.catalogue.roots(&row)?;
        let compared = match read {
            Err(error) => Err(error.into()),
            Ok((facts, _)) if !row.is_of(&facts) => {
                each(Finding::new(State::Changed, path));
                return Ok(());
            }
            Ok((facts, roots)) if roots.is_empty() => match outboard(self.catalogue, &kept) {
                Some(stored) => return self.parts(&row, &place, &stored, &kept, each),
                None if kept.iter().any(|kept| kept.outboard.is_some()) => {
                    each(Finding::new(State::DamagedTree, path));
                    long_roots(&place, &facts, &kept, self.options).map_err(Error::from)
                }
                None => long_roots(&place, &facts, &kept, self.options).map_err(Error::from),
            },
            Ok((_, roots)) => Ok(roots),
        };
        match compared {
            // A catalogue with a format that the file has no root in yet has more roots here.
            Ok(roots) if kept.iter().all(|kept| roots.contains(&kept.root)) => {
                self.left.bytes = self.left.bytes.saturating_sub(row.facts.size);
                self.remember(path, None)?;
                self.end_repair(&row, &place, &kept)?;
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
        let limited = self.left.deadline.is_some() || self.left.bytes < u64::MAX;
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
            self.left.bytes = self.left.bytes.saturating_sub(end - done);
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
            self.begin()?;
            self.catalogue.lose_outboard(path)?;
        }
        self.remember(path, if done == len { None } else { Some(done) })?;
        if first == 0 && done == len {
            self.end_repair(row, place, kept)?;
        }
        each(Finding { length: Some(len), bytes: Some(done - first), ..Finding::new(State::Intact, path) });
        Ok(())
    }

    /// Takes the time of a file that is intact for that of its row, if a repair of it was not finished.
    fn end_repair(&mut self, row: &Row, place: &std::path::Path, kept: &[Kept]) -> Result<(), Error> {
        match Facts::of(place) {
            Ok(facts) if row.repair && row.is_of(&facts) && self.catalogue.is_writable() => {
                self.begin()?;
                let kept: Vec<_> =
                    kept.iter().map(|kept| Kept::new(kept.root.clone(), "verify", kept.outboard.clone())).collect();
                self.catalogue.put((&row.path, &facts), None, &kept)
            }
            _ => Ok(()),
        }
    }

    fn begin(&mut self) -> Result<(), Error> {
        if !self.begun {
            self.catalogue.begin()?;
            (self.begun, self.last) = (true, Instant::now());
        }
        Ok(())
    }

    fn remember(&mut self, path: &[u8], progress: Option<u64>) -> Result<(), Error> {
        if !self.catalogue.is_writable() {
            return Ok(());
        }
        self.begin()?;
        self.catalogue.verified(path, progress, now())?;
        if self.last.elapsed() >= Self::WAIT { self.commit() } else { Ok(()) }
    }

    fn commit(&mut self) -> Result<(), Error> {
        if std::mem::take(&mut self.begun) { self.catalogue.commit() } else { Ok(()) }
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
