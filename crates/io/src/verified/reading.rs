//! Verified reads at any offset, from many threads at once.

use super::judge::{Judge, LONGEST};
use super::opening::Opening;
use super::source::Source;
use super::units::{Claim, Kept, Lookup, Units};
use crate::{Error, File, Input, Options};
use mksum::ordered::ordered;
use mksum::{Root, Subtree};
use std::fmt;
use std::iter;
use std::mem;
use std::ops::{Deref, Range};
use std::sync::Arc;

/// A file or object whose bytes are handed out only after they were verified against a trusted root.
///
/// A read hashes each unit of the outboard that has one of its bytes, and compares the digests up to the root: O(log n) digests of the outboard,
/// of which those that were checked are remembered. The bytes handed out are the ones that were hashed, never read again. Units
/// that a read takes a part of, or that were read ahead, are kept in at most [`Verified::KEPT`] bytes of memory, so that small reads
/// in one unit hash it once.
///
/// A unit that is damaged or cannot be read is asked of the replicas; if none has it, the read is an error, and no byte of it is handed out.
/// A local file that gets another length, or another file in its place, is an error for all that is read from it after that.
pub struct Verified {
    source: Source,
    units: Units,
}

/// One unit of bytes to be verified at a time, or several.
enum Job<'a> {
    /// Whole units, for the caller's buffer. With a cache they are claimed: others wait for them, and find them there.
    Whole(Vec<Subtree>, &'a mut [u8], Option<Claim<'a>>),
    /// A unit of which the caller wants a part.
    Part(Wanted<'a>, Claim<'a>),
    /// Units that are read ahead.
    Ahead(Vec<Subtree>, Claim<'a>),
    /// A unit that another thread verifies.
    Awaited(Wanted<'a>),
}

/// The bytes of a unit that a caller wants.
struct Wanted<'a> {
    unit: Subtree,
    /// The first of them in the unit.
    from: usize,
    out: &'a mut [u8],
}

impl Wanted<'_> {
    fn copy_from(self, bytes: &[u8]) {
        self.out.copy_from_slice(&bytes[self.from..][..self.out.len()]);
    }
}

impl Verified {
    /// The verified bytes that are kept in memory, unless one unit has more.
    pub const KEPT: u64 = 32 << 20;
    /// The bytes that a reader has verified ahead, at most.
    pub const AHEAD: u64 = Self::KEPT / 4;
    /// The longest unit, in bytes: it is held in memory.
    pub const LONGEST: u64 = LONGEST;
    /// The bytes that a thread reads and hashes at once, at most and at least, unless one unit has more.
    const GROUP: u64 = 1 << 20;
    const SHARE: u64 = 256 << 10;

    /// Opens a file and its outboard: reads the outboard's header, and none of its digests.
    ///
    /// # Errors
    /// If one of them cannot be opened, the outboard is of another root than the trusted one
    /// ([`Refusal::Unsuitable`](crate::Refusal::Unsuitable)), or the file has another length ([`Refusal::Length`](crate::Refusal::Length)).
    /// Without an outboard, if the file cannot be compared with the root as a whole ([`Refusal::NotWhole`](crate::Refusal::NotWhole)).
    pub fn open(opening: Opening, options: &Options) -> Result<Verified, Error> {
        Verified::of_file(File::open_at_random(opening.file.clone(), options)?, opening)
    }

    /// Opens the outboard of a file that is open: what its path leads to now does not matter.
    ///
    /// # Errors
    /// As [`Verified::open`].
    pub fn of_file(file: File, opening: Opening) -> Result<Verified, Error> {
        let judge = Judge::open(&file, &opening)?;
        Ok(Verified { source: Source::new(file, opening, judge)?, units: Units::new(Self::KEPT) })
    }

    /// The length of the file, in bytes.
    #[allow(clippy::len_without_is_empty)] // As `File::len`.
    pub fn len(&self) -> u64 {
        self.source.file().len()
    }

    /// The root that all bytes are verified against.
    pub fn root(&self) -> Root {
        self.source.judge().root()
    }

    /// The file or object.
    pub fn input(&self) -> &Input {
        self.source.file().input()
    }

    /// The length of a full unit, in bytes: what is verified at once.
    pub fn unit(&self) -> u64 {
        self.source.judge().unit()
    }

    /// The unit that has the byte at an offset, if the file has it.
    pub fn unit_over(&self, offset: u64) -> Option<Subtree> {
        self.source.judge().unit_over(offset)
    }

    /// The bytes that came from replicas, because the file's own were damaged or could not be read.
    pub fn replaced(&self) -> u64 {
        self.source.replaced()
    }

    /// Fills `out` with the bytes from `offset` on, of which there are fewer at the end of the file alone. Returns their number.
    ///
    /// # Errors
    /// If a byte cannot be verified: [`Error::Unit`] names the leftmost damaged unit, and what was expected and found. Then all of `out` is
    /// either verified, or as it was, or zero.
    pub fn read_at(&self, offset: u64, out: &mut [u8]) -> Result<usize, Error> {
        self.read_on(offset, out, 0)
    }

    /// As [`Verified::read_at`], in the calling thread alone: for callers that read in several threads at once.
    ///
    /// # Errors
    /// As [`Verified::read_at`].
    pub fn read_here(&self, offset: u64, out: &mut [u8]) -> Result<usize, Error> {
        self.read(offset, out, 0, 1)
    }

    /// Verifies the units that have a byte of `range`, in parallel, and keeps them in memory for the reads that follow: useful for at most
    /// [`Verified::AHEAD`] bytes. The error of a unit is that of the read that wants it.
    pub fn prefetch(&self, range: Range<u64>) {
        let (threads, group) = self.shares(range.end.saturating_sub(range.start), self.source.file().options().threads);
        let mut jobs = Jobs { verified: self, at: range.start, rest: &mut [], end: range.end, group };
        // Without one, all of it is kept: no thread is begun.
        let Some(first) = jobs.next_ahead() else { return };
        let (jobs, work) = (iter::once(first).chain(jobs), |(): &mut (), job| drop(self.work(job)));
        ordered(threads, 2 * threads, jobs, || (), work, |results| results.for_each(drop));
    }

    /// The threads that verify this many bytes, of `most`, and the bytes that each takes at once.
    fn shares(&self, bytes: u64, most: usize) -> (usize, u64) {
        let threads = usize::try_from(bytes / Self::SHARE).unwrap_or(usize::MAX).clamp(1, most.max(1));
        (threads, (bytes / threads as u64).clamp(Self::SHARE, Self::GROUP))
    }

    /// As [`Verified::read_at`], after a `run` of bytes that were read in order before it: as many more will be wanted.
    ///
    /// If a unit had to be verified for it, so are those of the bytes after it, in parallel, up to [`Verified::AHEAD`] bytes from `offset`
    /// on; and the system begins to read as many after those that are verified.
    pub(super) fn read_on(&self, offset: u64, out: &mut [u8], run: u64) -> Result<usize, Error> {
        self.read(offset, out, run, self.source.file().options().threads)
    }

    fn read(&self, offset: u64, out: &mut [u8], run: u64, threads: usize) -> Result<usize, Error> {
        let count = self.len().saturating_sub(offset).min(out.len() as u64) as usize;
        let out = &mut out[..count];
        if out.is_empty() || self.copy_kept(offset, out) {
            return Ok(count);
        }
        let run = run.min(Self::AHEAD);
        let bytes = run.max(count as u64);
        let (threads, group) = self.shares(bytes, threads);
        let end = offset.saturating_add(bytes);
        let mut jobs = Jobs { verified: self, at: offset, rest: out, end, group };
        // Without one, all that is wanted was kept: nothing is read ahead, and no thread begun.
        let Some(first) = jobs.next_wanted() else { return Ok(count) };
        let soon = end.saturating_add(run);
        let (jobs, work) = (iter::once(first).chain(jobs), |(): &mut (), job| self.work_before(soon, job));
        let awaited = ordered(
            threads,
            2 * threads,
            jobs,
            || (),
            work,
            |results| results.filter_map(Result::transpose).collect::<Result<Vec<_>, Error>>(),
        )?;
        // Only now, without claims: two reads that wait for each other would wait for ever.
        for wanted in awaited {
            let mut left = Some(wanted);
            while let Some(wanted) = left.take() {
                self.units.wait(wanted.unit.start);
                left = match self.units.claim(wanted.unit.start) {
                    Lookup::Awaited => Some(wanted),
                    Lookup::Kept(bytes) => {
                        wanted.copy_from(&bytes);
                        None
                    }
                    Lookup::Claimed(claim) => self.work(Job::Part(wanted, claim))?,
                };
            }
        }
        Ok(count)
    }

    /// The `len` bytes from `offset` on without a copy, if they were verified at once and are kept in memory; or as soon as they are, if a
    /// thread verifies the first of them now.
    pub fn kept(&self, offset: u64, len: usize) -> Option<impl Deref<Target = [u8]> + use<>> {
        let unit = self.unit_over(offset)?;
        self.units.wait(unit.start);
        self.part(unit, offset, len)
    }

    fn part(&self, unit: Subtree, offset: u64, len: usize) -> Option<Kept> {
        self.units.kept(unit.start)?.part((offset - unit.start) as usize, len)
    }

    /// Fills `out` if all its bytes are kept together: most small reads.
    pub(super) fn copy_kept(&self, offset: u64, out: &mut [u8]) -> bool {
        let kept = self.unit_over(offset).and_then(|unit| self.part(unit, offset, out.len()));
        kept.as_deref().inspect(|kept| out.copy_from_slice(kept)).is_some()
    }

    /// As [`Verified::work`]; before that, the system begins to read what is wanted [`Verified::AHEAD`] bytes later, up to `soon`, so that
    /// the disk is read while others hash.
    fn work_before<'a>(&self, soon: u64, job: Job<'a>) -> Result<Option<Wanted<'a>>, Error> {
        if let Job::Whole(units, ..) | Job::Ahead(units, _) = &job
            && let (Some(first), Some(last)) = (units.first(), units.last())
        {
            self.source.file().begin_to_read(first.start + Self::AHEAD..soon.min(last.end() + Self::AHEAD));
        }
        self.work(job)
    }

    /// Verifies the units of a job. Returns what is left to be waited for.
    fn work<'a>(&self, job: Job<'a>) -> Result<Option<Wanted<'a>>, Error> {
        match job {
            Job::Whole(units, out, _claim) => self.source.fill(&units, out).map(|()| None),
            Job::Part(wanted, claim) => {
                let mut bytes = self.units.memory(wanted.unit.len, self.input())?;
                self.source.fill(&[wanted.unit], &mut bytes)?;
                wanted.copy_from(&bytes);
                claim.keep(Arc::new(bytes));
                Ok(None)
            }
            Job::Ahead(units, claim) => {
                let mut bytes = self.units.memory(units.iter().map(|unit| unit.len).sum(), self.input())?;
                // An error is that of the read that wants them.
                if self.source.fill(&units, &mut bytes).is_ok() {
                    claim.keep(Arc::new(bytes));
                }
                Ok(None)
            }
            Job::Awaited(wanted) => Ok(Some(wanted)),
        }
    }
}

impl fmt::Debug for Verified {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Verified").field("input", self.input()).field("root", &self.root()).finish_non_exhaustive()
    }
}

/// The jobs of a read, left to right; each is made when a thread takes it.
struct Jobs<'a> {
    verified: &'a Verified,
    at: u64,
    /// The caller's buffer from there on.
    rest: &'a mut [u8],
    /// The offset up to which units are read ahead.
    end: u64,
    group: u64,
}

impl<'a> Iterator for Jobs<'a> {
    type Item = Job<'a>;

    fn next(&mut self) -> Option<Job<'a>> {
        self.next_wanted().or_else(|| self.next_ahead())
    }
}

impl<'a> Jobs<'a> {
    /// The next units that the caller wants and that are not kept; those that are, are copied.
    fn next_wanted(&mut self) -> Option<Job<'a>> {
        let (verified, kept) = (self.verified, &self.verified.units);
        while !self.rest.is_empty() {
            let unit = verified.unit_over(self.at)?;
            let from = (self.at - unit.start) as usize;
            let rest = self.rest.len() as u64;
            // One unit alone is rather copied than hashed again, if it is short.
            if from == 0 && unit.len <= rest && (unit.len < rest || rest >= Verified::SHARE) {
                let (mut claim, is_cached) = (None, verified.source.is_cached());
                let accept = |unit: Subtree| {
                    let is_taken = match (&mut claim, is_cached) {
                        (_, false) => kept.is_missing(unit.start),
                        (Some(claim), true) => Claim::extend(claim, unit.start),
                        (none, true) => match kept.claim(unit.start) {
                            Lookup::Claimed(first) => none.replace(first).is_none(),
                            Lookup::Kept(_) | Lookup::Awaited => false,
                        },
                    };
                    is_taken.then_some(unit)
                };
                let (units, bytes) = self.follow(unit, self.at + rest, accept);
                if !units.is_empty() {
                    return Some(Job::Whole(units, self.take(bytes), claim));
                }
            }
            let out = self.take((unit.len as usize - from).min(self.rest.len()));
            let wanted = Wanted { unit, from, out };
            match kept.claim(unit.start) {
                Lookup::Kept(bytes) => wanted.copy_from(&bytes),
                Lookup::Claimed(claim) => return Some(Job::Part(wanted, claim)),
                Lookup::Awaited => return Some(Job::Awaited(wanted)),
            }
        }
        None
    }

    /// The next units that are read ahead.
    fn next_ahead(&mut self) -> Option<Job<'a>> {
        let (verified, kept) = (self.verified, &self.verified.units);
        while self.at < self.end {
            let unit = verified.unit_over(self.at)?;
            self.at = unit.end();
            if let Lookup::Claimed(mut claim) = kept.claim(unit.start) {
                let (units, _) = self.follow(unit, u64::MAX, |next| {
                    (next.start == unit.start || claim.extend(next.start)).then_some(next)
                });
                self.at = units.last().map_or(self.at, |last| last.end());
                return Some(Job::Ahead(units, claim));
            }
        }
        None
    }

    /// Takes the next bytes of the caller's buffer.
    fn take(&mut self, bytes: usize) -> &'a mut [u8] {
        let (taken, rest) = mem::take(&mut self.rest).split_at_mut(bytes);
        (self.rest, self.at) = (rest, self.at + bytes as u64);
        taken
    }

    /// Takes `unit` and those that follow it while `accept` does, within a group and before `end`; and the number of their bytes.
    fn follow<T>(&self, unit: Subtree, end: u64, mut accept: impl FnMut(Subtree) -> Option<T>) -> (Vec<T>, usize) {
        let (mut taken, mut next, mut bytes) = (Vec::new(), Some(unit), 0);
        while let Some(unit) = next
            && unit.end() <= end
            && (bytes == 0 || bytes + unit.len <= self.group)
            && let Some(item) = accept(unit)
        {
            taken.push(item);
            bytes += unit.len;
            next = self.verified.unit_over(unit.end());
        }
        (taken, bytes as usize)
    }
}
