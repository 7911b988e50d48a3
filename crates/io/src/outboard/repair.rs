//! A damaged file made right again, from a good copy and with the outboard as judge.

use super::journal::Journal;
use super::{Finding, append, verify};
use crate::good::Good;
use crate::platform::write_at;
use crate::{Error, File, Input, Job, Options, hash};
use mksum::{Checked, Format, Header, Memory, NodeHash, Outboard, ReadAt, Role, Subtree, Visitor};
use std::fs::{self, OpenOptions, TryLockError};
use std::io;
use std::mem;
use std::ops::Range;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// What became of a range of the file, in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Repair {
    /// It was damaged, and is right now.
    Done(Range<u64>),
    /// It is damaged, and so is the copy, or it could not be had from there.
    Failed(Range<u64>, String),
}

/// What a repair came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Repaired {
    /// The bytes that were written to the file.
    pub written: u64,
    /// The bytes that came from the copy.
    pub fetched: u64,
    /// Whether all of the file has the outboard's root now; if not, some range has failed.
    pub whole: bool,
    /// Whether an interrupted repair was gone on with.
    pub resumed: bool,
}

/// Repairs the file at `path`: what its outboard, read from `place`, finds damaged is fetched from `good`, and nothing
/// else.
///
/// Each unit is held against the outboard before it is written, so the file only becomes better, also when the process is
/// killed at any moment; the damaged ranges are written down beside the outboard first, so that another run need not look for
/// them. In the end all of the file is read once more, and has the outboard's root. Then it also gets back the time that
/// the outboard remembers of it. `tell` is told of each range, from left to right.
///
/// # Errors
/// If the file or its outboard cannot be read, the file cannot be written, is longer than it was, or changes meanwhile. What
/// cannot be fetched is told as failed.
pub fn repair<R: ReadAt>(
    path: &Path,
    (outboard, place): (&Outboard<R>, &Path),
    good: &mut dyn Good,
    options: &Options,
    tell: &mut dyn FnMut(Repair),
) -> Result<Repaired, Error> {
    let journal = Journal::new(place, &outboard.root());
    let mut repaired = Repaired::default();
    let written_down = journal.read();
    repaired.resumed = written_down.is_some();
    let mut damaged = match written_down {
        Some(ranges) => ranges,
        None => damage(path, (outboard, place), options)?,
    };
    // Damage that comes while it is repaired comes back; twice is bad luck, more is a failing disk.
    for _ in 0..3 {
        if damaged.is_empty() {
            repaired.whole = true;
            break;
        }
        journal.write(&damaged)?;
        let write = |error| Error::Write { path: path.into(), error };
        let file = OpenOptions::new().write(true).open(path).map_err(write)?;
        // Elsewhere a lock would keep this very process from reading.
        if cfg!(unix) && matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
            return Err(write(io::Error::other("another process is repairing it")));
        }
        let len = file.metadata().map_err(write)?.len();
        if len < outboard.len() && file.metadata().map_err(write)?.is_file() {
            file.set_len(outboard.len()).map_err(write)?;
        }
        let mut failed = false;
        let mut note = |repair: Repair| {
            failed |= matches!(repair, Repair::Failed(..));
            tell(repair);
        };
        let source = File::open(path, options)?;
        let mending = Mending { file: &file, source: &source, outboard, ranges: &damaged, good, tell: &mut note };
        let result = outboard.spec().visit(mending);
        repaired.fetched = good.fetched();
        repaired.written += result.map_err(|error| super::verify::told(error, &source, outboard.spec(), place))?;
        file.sync_all().map_err(write)?;
        if failed {
            return Ok(repaired);
        }
        let job = Job { input: Input::Path(path.into()), specs: vec![outboard.spec().clone()] };
        if hash(&job, options)?.remove(0)? == outboard.root() {
            repaired.whole = true;
            restore_time(&file, outboard.header());
            break;
        }
        damaged = damage(path, (outboard, place), options)?;
    }
    if !repaired.whole {
        let how = "it is damaged again wherever it was repaired: its disk may be failing".into();
        return Err(Error::Changed { path: path.into(), how });
    }
    journal.remove()?;
    Ok(repaired)
}

/// The ranges that are not as they were, as whole units.
fn damage<R: ReadAt>(
    path: &Path,
    (outboard, place): (&Outboard<R>, &Path),
    options: &Options,
) -> Result<Vec<Range<u64>>, Error> {
    let file = File::open(path, options)?;
    let (mut ranges, mut grown, mut nodes) = (Vec::new(), 0, 0_u64);
    verify(file, (outboard, place), 0..outboard.len(), &mut |finding| {
        match finding {
            Finding::Damaged(range) | Finding::Missing(range) => append(&mut ranges, range),
            Finding::Grown(range) => grown = range.end - range.start,
            Finding::Node(_) => nodes += 1,
        }
        Ok(())
    })?;
    let refuse = |why: String| Err(Error::Open { path: path.into(), error: io::Error::other(why) });
    if grown > 0 {
        let len = outboard.len();
        return refuse(format!(
            "it is longer by {grown} bytes than its outboard tells: if they are damage, cut them off (truncate -s {len}), \
             if not, take them into the outboard (mksum keep --update)"
        ));
    }
    if nodes > 0 && !ranges.is_empty() {
        let place = place.display();
        return refuse(format!("{nodes} digests of {place} are damaged too: what is right, nothing tells for certain"));
    }
    Ok(ranges)
}

/// Gives the file the time of its last change that the outboard remembers: it is the same file again.
fn restore_time(file: &fs::File, header: &Header) {
    let Some(identity) = header.identity else { return };
    let since = Duration::new(identity.seconds.unsigned_abs(), identity.nanoseconds);
    let time = if identity.seconds < 0 { None } else { UNIX_EPOCH.checked_add(since) };
    // Where it cannot be set the file is whole all the same.
    let _ = time.map(|time: SystemTime| file.set_modified(time));
}

struct Mending<'a, R> {
    file: &'a fs::File,
    source: &'a File,
    outboard: &'a Outboard<R>,
    ranges: &'a [Range<u64>],
    good: &'a mut dyn Good,
    tell: &'a mut dyn FnMut(Repair),
}

/// What is fetched at once, unless one unit has more, in bytes.
const BATCH: u64 = 8 << 20;

impl<R: ReadAt> Visitor for Mending<'_, R> {
    type Output = Result<u64, mksum::Error>;

    fn visit<const D: usize, N: NodeHash<Digest = [u8; D]>>(self, format: &Format<N>) -> Self::Output {
        let Mending { file, source, outboard, ranges, good, tell } = self;
        let judge = Judge { format, checked: Checked::new(format, outboard), root: outboard.kept().root() };
        let fail = crate::file::source;
        let (mut written, mut batch) = (0, Batch::default());
        let mut mend = |batch: &mut Batch| -> Result<(), mksum::Error> {
            let units = mem::take(&mut batch.units);
            let (Some(first), Some(last)) = (units.first(), units.last()) else { return Ok(()) };
            let range = first.start..last.end();
            let mut bytes = room(source.path(), &range).map_err(fail)?;
            if let Err(error) = good.read(range.start, &mut bytes) {
                tell(Repair::Failed(range, format!("{}: {error}", error.path().display())));
                return Ok(());
            }
            let (mut done, mut refused) = (Vec::new(), Vec::new());
            for unit in units {
                let from = (unit.start - range.start) as usize;
                let bytes = &bytes[from..from + unit.len as usize];
                if judge.is_right(unit, bytes)? {
                    let write = |error| fail(Error::Write { path: source.path().into(), error });
                    write_at(file, bytes, unit.start).map_err(write)?;
                    written += unit.len;
                    append(&mut done, unit.start..unit.end());
                } else {
                    append(&mut refused, unit.start..unit.end());
                }
            }
            let mut all: Vec<_> = done.into_iter().map(Repair::Done).collect();
            all.extend(refused.into_iter().map(|range| Repair::Failed(range, "the copy is damaged there too".into())));
            all.sort_by_key(|repair| match repair {
                Repair::Done(range) | Repair::Failed(range, _) => range.start,
            });
            all.into_iter().for_each(&mut *tell);
            Ok(())
        };
        for range in ranges {
            let mut at = range.start;
            while let Some(unit) = outboard.kept().unit_over(at).filter(|_| at < range.end) {
                at = unit.end();
                // Some may have been repaired by a run that was interrupted.
                let there = source.bytes(unit.start..unit.end()).map_err(fail)?;
                if judge.is_right(unit, &there)? {
                    continue;
                }
                if !batch.takes(unit) {
                    mend(&mut batch)?;
                }
                batch.units.push(unit);
            }
        }
        mend(&mut batch)?;
        Ok(written)
    }
}

/// Units that lie one after the other.
#[derive(Default)]
struct Batch {
    units: Vec<Subtree>,
}

impl Batch {
    fn takes(&self, unit: Subtree) -> bool {
        let (Some(first), Some(last)) = (self.units.first(), self.units.last()) else { return true };
        last.end() == unit.start && unit.end() - first.start <= BATCH
    }
}

/// Memory for the bytes of a range.
fn room(path: &Path, range: &Range<u64>) -> Result<Vec<u8>, Error> {
    let len = range.end - range.start;
    let too_many = || Error::Read {
        path: path.into(),
        offset: range.start,
        error: io::Error::other(format!("{len} bytes, which are checked as one, do not fit into memory")),
    };
    let len = usize::try_from(len).map_err(|_| too_many())?;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(len).map_err(|_| too_many())?;
    bytes.resize(len, 0);
    Ok(bytes)
}

/// Tells right bytes from wrong ones.
struct Judge<'a, N: NodeHash, R> {
    format: &'a Format<N>,
    checked: Checked<'a, N, R>,
    root: Option<Subtree>,
}

impl<const D: usize, N: NodeHash<Digest = [u8; D]>, R: ReadAt> Judge<'_, N, R> {
    fn is_right(&self, unit: Subtree, bytes: &[u8]) -> Result<bool, mksum::Error> {
        let role = if self.root == Some(unit) { Role::Root } else { Role::Inner };
        let digest = self.format.join(&Memory::from(unit.start, bytes), unit, role)?;
        Ok(self.checked.trusted(unit)? == Some(digest))
    }
}
