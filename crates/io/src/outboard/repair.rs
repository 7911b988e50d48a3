//! Repair of a damaged file from a replica, checked by the outboard.

use super::journal::Journal;
use super::{EXTENSION, Finding, append, verify, with_extension};
use crate::file::zeros;
use crate::{Error, File, HeldFile, Input, Options, Refusal, Replica};
use mksum::Subtree;
use mksum::outboard::{Checked, Outboard, ReadAt};
use std::mem;
use std::ops::Range;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A damaged range of the file, in bytes, after the repair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Repair {
    /// The range is repaired, from this replica.
    Done(Range<u64>, Input),
    /// This replica is damaged in the range, or could not be read there, and the next one is asked. The reason, as words.
    Passed(Range<u64>, Input, String),
    /// The range is still damaged: the last replica is damaged there too, or could not be read. The reason, as words.
    Failed(Range<u64>, String),
}

/// The result of a repair.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Repaired {
    /// The bytes that were written to the file.
    pub written: u64,
    /// The bytes that were fetched from the replica.
    pub fetched: u64,
    /// Whether the whole file has the outboard's root now; if not, some range has failed.
    pub whole: bool,
    /// Whether an interrupted repair was resumed.
    pub resumed: bool,
}

/// Repairs a file: fetches the ranges that its outboard, read from `place`, finds damaged, and nothing else. What one replica cannot give, the
/// [next](Replica::next) is asked for.
///
/// Each unit is checked against the outboard before it is written, so no byte gets worse, even if the process is killed at
/// any moment. Units that the disk cannot read are written too: most disks put another sector in the place of a bad one then.
/// Nothing is written once the file has changed, or another one has its path. The damaged ranges are first written down beside the
/// outboard, so that another run need not look for them.
/// At the end the whole file is read once more and compared with the outboard's root; then it gets back the mtime in the
/// outboard. `report` is called for each range, left to right.
///
/// # Errors
/// If the file or its outboard cannot be read, the file cannot be written, is longer than it was, or changes meanwhile
/// ([`Refusal::Overtaken`]). A range that cannot be fetched is reported as failed.
pub fn repair<R: ReadAt>(
    file: &mut HeldFile<'_>,
    (outboard, place): (&Outboard<R>, impl Into<Input>),
    replica: &mut dyn Replica,
    options: &Options,
    report: &mut dyn FnMut(Repair),
) -> Result<Repaired, Error> {
    let (path, place) = (file.path().to_path_buf(), &place.into());
    // An outboard in a store has no place beside it: that of the file's own is taken.
    let beside = place.file().map_or_else(|| with_extension(&path, EXTENSION), Path::to_path_buf);
    let journal = Journal::new(&beside, &outboard.root());
    let mut repaired = Repaired::default();
    let written_down = journal.read();
    repaired.resumed = written_down.is_some();
    let mut damaged = match written_down {
        Some(ranges) => ranges,
        None => damage(file, (outboard, place), options)?,
    };
    if let Some(more @ 1..) = file.facts().size.checked_sub(outboard.len()) {
        return Err(Error::refused(&path, Refusal::Grown { more, len: outboard.len() }));
    }
    // New damage during a repair is possible; the same twice more means a failing disk.
    for _ in 0..3 {
        file.check()?;
        if damaged.is_empty() {
            repaired.whole = true;
            break;
        }
        journal.write(&damaged)?;
        file.begin_writing()?;
        file.extend(outboard.len())?;
        // They are read once more, and fetched.
        options.meter.expect(2 * damaged.iter().map(|range| range.end - range.start).sum::<u64>());
        let mut failed = false;
        let mut note = |repair: Repair| {
            failed |= matches!(repair, Repair::Failed(..));
            report(repair);
        };
        let source = file.reader(options)?;
        let batch = Vec::new();
        let mending = Mending { file, source: &source, outboard, ranges: &damaged, batch, replica, report: &mut note };
        let result = mending.run();
        repaired.fetched = replica.fetched();
        repaired.written += result.map_err(|error| super::verify::of_either(error, &source, outboard.spec(), place))?;
        file.sync()?;
        if failed {
            return Ok(repaired);
        }
        options.meter.expect(outboard.len());
        let specs = [outboard.spec().clone()];
        match file.roots(&specs, options).and_then(|mut roots| roots.remove(0)) {
            Ok(root) if root == outboard.root() => {
                repaired.whole = true;
                if let Some(identity) = outboard.header().identity {
                    restore_time(file, (identity.seconds, identity.nanoseconds))?;
                }
                break;
            }
            // Also where it was written, the disk cannot read it.
            Err(error) if error.is_of_media() => {}
            root => drop(root?),
        }
        damaged = damage(file, (outboard, place), options)?;
    }
    if !repaired.whole {
        return Err(Error::Failing { path: path.into() });
    }
    journal.remove()?;
    Ok(repaired)
}

/// The damaged ranges, as whole units.
fn damage<R: ReadAt>(
    file: &HeldFile<'_>,
    (outboard, place): (&Outboard<R>, &Input),
    options: &Options,
) -> Result<Vec<Range<u64>>, Error> {
    let reader = file.reader(options)?;
    let (mut ranges, mut grown, mut nodes) = (Vec::new(), 0, 0_u64);
    options.meter.expect(outboard.len());
    verify(reader, (outboard, place), 0..outboard.len(), &mut |finding| {
        match finding {
            Finding::Damaged(range) | Finding::Missing(range) | Finding::Unreadable { unit: range, .. } => {
                append(&mut ranges, range);
            }
            Finding::Grown(range) => grown = range.end - range.start,
            Finding::Node(_) => nodes += 1,
        }
        Ok(())
    })?;
    if grown > 0 {
        return Err(Error::refused(file.path(), Refusal::Grown { more: grown, len: outboard.len() }));
    }
    if nodes > 0 && !ranges.is_empty() {
        return Err(Error::refused(file.path(), Refusal::DamagedOutboard { outboard: place.into(), nodes }));
    }
    Ok(ranges)
}

/// Sets the file's mtime, in seconds since 1970 and nanoseconds, to what it was: its content is the same again.
///
/// # Errors
/// If the file has changed meanwhile.
pub(crate) fn restore_time(file: &mut HeldFile<'_>, (seconds, nanoseconds): (i64, u32)) -> Result<(), Error> {
    let since = Duration::new(seconds.unsigned_abs(), nanoseconds);
    let time = if seconds < 0 { None } else { UNIX_EPOCH.checked_add(since) };
    match time.map(|time: SystemTime| file.set_modified(time)) {
        // If it cannot be set, the content is right all the same.
        None | Some(Err(Error::Write { .. })) => Ok(()),
        Some(set) => set,
    }
}

struct Mending<'a, 'd, R> {
    file: &'a mut HeldFile<'d>,
    source: &'a File,
    outboard: &'a Outboard<R>,
    ranges: &'a [Range<u64>],
    /// Units that follow one another and are fetched together.
    batch: Vec<Subtree>,
    replica: &'a mut dyn Replica,
    report: &'a mut dyn FnMut(Repair),
}

/// Why a copy does not help.
const DAMAGED_TOO: &str = "the copy is damaged there too";

/// The bytes that are fetched at once, unless one unit has more.
const BATCH: u64 = 8 << 20;

impl<R: ReadAt> Mending<'_, '_, R> {
    /// Repairs the units in the ranges that are damaged; the number of bytes that were written.
    fn run(mut self) -> Result<u64, mksum::Error> {
        let judge = Checked::new(self.outboard);
        let mut written = 0;
        for range in self.ranges {
            let mut at = range.start;
            while let Some(unit) = self.outboard.layout().unit_over(at).filter(|_| at < range.end) {
                at = unit.end();
                match self.source.bytes(unit.start..unit.end()) {
                    // Some may have been repaired by a run that was interrupted.
                    Ok(there) if judge.accepts(unit, &there)? => {}
                    Ok(_) => written += self.add(&judge, unit)?,
                    Err(error) if error.is_of_media() => {
                        for unit in self.around(unit) {
                            written += self.add(&judge, unit)?;
                            at = at.max(unit.end());
                        }
                    }
                    Err(error) => return Err(error.into()),
                }
            }
        }
        let rest = mem::take(&mut self.batch);
        Ok(written + self.mend(&judge, rest)?)
    }

    /// The units that have a byte of the pages that `unit` is in. A part of a page can only be written where the rest of it
    /// can be read, so all of a page that cannot be read has to be written at once.
    fn around(&self, unit: Subtree) -> Vec<Subtree> {
        const PAGE: u64 = 4096;
        let (mut at, end) = (unit.start / PAGE * PAGE, unit.end().next_multiple_of(PAGE));
        let mut units = Vec::new();
        while let Some(next) = self.outboard.layout().unit_over(at).filter(|_| at < end) {
            at = next.end();
            units.push(next);
        }
        units
    }

    /// Adds a unit to the batch, unless it is there already; repairs what was there before if it does not fit. The number of
    /// bytes that were written.
    fn add(&mut self, judge: &Checked<'_, R>, unit: Subtree) -> Result<u64, mksum::Error> {
        if self.batch.last().is_some_and(|last| last.start >= unit.start) {
            return Ok(0);
        }
        let mut written = 0;
        if !fits(&self.batch, unit) {
            let batch = mem::take(&mut self.batch);
            written = self.mend(judge, batch)?;
        }
        self.batch.push(unit);
        Ok(written)
    }

    /// Fetches units that follow one another and writes those that are right; the number of bytes that were written.
    fn mend(&mut self, judge: &Checked<'_, R>, units: Vec<Subtree>) -> Result<u64, mksum::Error> {
        let Mending { file, source, replica, report, .. } = self;
        let mut fetching = Fetching { file, source, judge, report, repairs: Vec::new() };
        let written = fetching.fetch(&mut **replica, units)?;
        let (mut repairs, mut joined) = (fetching.repairs, Vec::<Repair>::new());
        repairs.sort_by_key(|(start, _)| *start);
        for (_, repair) in repairs {
            match (joined.last_mut(), repair) {
                (Some(Repair::Done(range, from)), Repair::Done(next, place))
                    if range.end == next.start && *from == place =>
                {
                    range.end = next.end;
                }
                (Some(Repair::Failed(range, why)), Repair::Failed(next, other))
                    if range.end == next.start && *why == other =>
                {
                    range.end = next.end;
                }
                (_, repair) => joined.push(repair),
            }
        }
        joined.into_iter().for_each(&mut *self.report);
        Ok(written)
    }
}

/// Fetches units from replicas, and writes what is right.
struct Fetching<'a, 'd, R> {
    file: &'a mut HeldFile<'d>,
    source: &'a File,
    judge: &'a Checked<'a, R>,
    report: &'a mut dyn FnMut(Repair),
    /// What became of units, each with its start.
    repairs: Vec<(u64, Repair)>,
}

impl<R: ReadAt> Fetching<'_, '_, R> {
    /// Fetches units that follow one another from a replica, and what is wrong from those after it; the number of bytes that were written.
    fn fetch(&mut self, replica: &mut dyn Replica, units: Vec<Subtree>) -> Result<u64, mksum::Error> {
        let (Some(first), Some(last)) = (units.first(), units.last()) else { return Ok(0) };
        let range = first.start..last.end();
        let mut bytes = zeros(range.end - range.start, self.source.input())?;
        let place = replica.place().clone();
        let (mut done, mut refused, mut error) = (Vec::new(), Vec::new(), None);
        match replica.read(range.start, &mut bytes) {
            Ok(()) => {
                self.source.options().meter.add(range.end - range.start);
                let right = self.judge.accepts_each(&units, &bytes)?;
                for (unit, is_right) in units.into_iter().zip(right) {
                    if is_right { &mut done } else { &mut refused }.push(unit);
                }
            }
            // The copy's disk may have bad sectors too, but seldom in the same units.
            Err(error) if error.is_of_media() && units.len() > 1 => {
                let mut written = 0;
                for unit in units {
                    written += self.fetch(replica, vec![unit])?;
                }
                return Ok(written);
            }
            Err(failed) => {
                error = Some(failed);
                refused = units;
            }
        }
        let mut written = 0;
        for Range { start, end } in ranges(&done) {
            let bytes = &bytes[(start - range.start) as usize..(end - range.start) as usize];
            self.file.write(bytes, start)?;
            written += end - start;
            self.repairs.push((start, Repair::Done(start..end, place.clone())));
        }
        drop(bytes);
        for range in ranges(&refused) {
            match replica.next() {
                None => {
                    let why = match &error {
                        Some(error) => format!("{place}: {error}"),
                        None => DAMAGED_TOO.into(),
                    };
                    self.repairs.push((range.start, Repair::Failed(range, why)));
                }
                Some(next) => {
                    self.source.options().meter.expect(range.end - range.start);
                    let why = error.as_ref().map_or(DAMAGED_TOO.into(), Error::to_string);
                    (self.report)(Repair::Passed(range.clone(), place.clone(), why));
                    let units = refused.iter().filter(|unit| range.contains(&unit.start)).copied().collect();
                    written += self.fetch(next, units)?;
                }
            }
        }
        Ok(written)
    }
}

/// The ranges of units, joined where one follows another.
fn ranges(units: &[Subtree]) -> Vec<Range<u64>> {
    let mut ranges = Vec::new();
    units.iter().for_each(|unit| append(&mut ranges, unit.start..unit.end()));
    ranges
}

/// Whether `unit` follows the units of a batch, and is fetched with them.
fn fits(batch: &[Subtree], unit: Subtree) -> bool {
    let (Some(first), Some(last)) = (batch.first(), batch.last()) else { return true };
    last.end() == unit.start && unit.end() - first.start <= BATCH
}
