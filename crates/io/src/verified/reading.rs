//! Verified reads at any offset, from many threads at once.

use super::opening::Opening;
use super::pages::{OutboardBytes, open_outboard};
use super::source::Source;
use super::units::{Claim, Lookup, Units};
use crate::file::zeros;
use crate::{Error, File, Input, Options, Refusal};
use mksum::ordered::ordered;
use mksum::outboard::{KeptLayout, Outboard, OutboardError, ReadAt};
use mksum::{Root, Subtree};
use std::fmt;
use std::iter;
use std::mem;
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
    /// Whole units, verified in the caller's buffer.
    Whole(Vec<Subtree>, &'a mut [u8]),
    /// A unit of which the caller wants a part.
    Part(Wanted<'a>, Claim<'a>),
    /// Units that are read ahead.
    Ahead(Vec<(Subtree, Claim<'a>)>),
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
    /// The longest unit, in bytes: it is held in memory.
    pub const LONGEST: u64 = 64 << 20;
    /// The bytes that a thread reads and hashes at once, at most and at least, unless one unit has more.
    const GROUP: u64 = 1 << 20;
    const SHARE: u64 = 256 << 10;

    /// Opens a file and its outboard: reads the outboard's header, and none of its digests.
    ///
    /// # Errors
    /// If one of them cannot be opened, the outboard is of another root than the trusted one ([`Refusal::Unsuitable`]), or the file has another
    /// length ([`Refusal::Length`]).
    pub fn open(opening: Opening, options: &Options) -> Result<Verified, Error> {
        Verified::of_file(File::open_at_random(opening.file.clone(), options)?, opening)
    }

    /// Opens the outboard of a file that is open: what its path leads to now does not matter.
    ///
    /// # Errors
    /// As [`Verified::open`].
    pub fn of_file(file: File, opening: Opening) -> Result<Verified, Error> {
        let outboard = judge(&file, &opening)?;
        Ok(Verified { source: Source::new(file, opening, outboard)?, units: Units::new(Self::KEPT) })
    }

    /// The length of the file, in bytes.
    #[allow(clippy::len_without_is_empty)] // As `File::len`.
    pub fn len(&self) -> u64 {
        self.source.outboard().len()
    }

    /// The root that all bytes are verified against.
    pub fn root(&self) -> Root {
        self.source.outboard().root()
    }

    /// The file or object.
    pub fn input(&self) -> &Input {
        self.source.file().input()
    }

    /// The layout of the units that are verified at once.
    pub fn layout(&self) -> KeptLayout {
        self.source.outboard().layout()
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
        self.read_ahead(offset, out, 0)
    }

    /// As [`Verified::read_at`]; if a unit had to be verified for it, so are the `ahead` bytes after it, in parallel.
    pub(super) fn read_ahead(&self, offset: u64, out: &mut [u8], ahead: u64) -> Result<usize, Error> {
        let count = self.len().saturating_sub(offset).min(out.len() as u64) as usize;
        let out = &mut out[..count];
        if out.is_empty() || self.copy_kept(offset, out) {
            return Ok(count);
        }
        let options = self.source.file().options();
        let bytes = (count as u64).saturating_add(ahead);
        let threads = usize::try_from(bytes / Self::SHARE).unwrap_or(usize::MAX).clamp(1, options.threads.max(1));
        let group = (bytes / threads as u64).clamp(Self::SHARE, Self::GROUP);
        let mut jobs = Jobs { verified: self, at: offset, rest: out, end: offset.saturating_add(bytes), group };
        // Without one, all that is wanted was kept: nothing is read ahead, and no thread begun.
        let Some(first) = jobs.next_wanted() else { return Ok(count) };
        let (jobs, work) = (iter::once(first).chain(jobs), |(): &mut (), job| self.work(job));
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

    /// Fills `out` if all its bytes are in one kept unit: most small reads.
    pub(super) fn copy_kept(&self, offset: u64, out: &mut [u8]) -> bool {
        let Some(unit) = self.layout().unit_over(offset) else { return false };
        let from = (offset - unit.start) as usize;
        if unit.len - (from as u64) < out.len() as u64 {
            return false;
        }
        let Some(bytes) = self.units.kept(unit.start) else { return false };
        out.copy_from_slice(&bytes[from..][..out.len()]);
        true
    }

    /// Verifies the units of a job. Returns what is left to be waited for.
    fn work<'a>(&self, job: Job<'a>) -> Result<Option<Wanted<'a>>, Error> {
        match job {
            Job::Whole(units, out) => self.source.fill(&units, out).map(|()| None),
            Job::Part(wanted, claim) => {
                let mut bytes = zeros(wanted.unit.len, self.input())?;
                self.source.fill(&[wanted.unit], &mut bytes)?;
                wanted.copy_from(&bytes);
                claim.keep(Arc::new(bytes));
                Ok(None)
            }
            Job::Ahead(claims) => {
                let units: Vec<_> = claims.iter().map(|(unit, _)| *unit).collect();
                let mut bytes = zeros(units.iter().map(|unit| unit.len).sum(), self.input())?;
                // An error is that of the read that wants them.
                if self.source.fill(&units, &mut bytes).is_ok() {
                    for (unit, claim) in claims {
                        let from = (unit.start - units[0].start) as usize;
                        claim.keep(Arc::new(bytes[from..][..unit.len as usize].to_vec()));
                    }
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
        let (layout, kept) = (self.verified.layout(), &self.verified.units);
        while !self.rest.is_empty() {
            let unit = layout.unit_over(self.at)?;
            let from = (self.at - unit.start) as usize;
            let rest = self.rest.len() as u64;
            // One unit alone is rather copied than hashed again, if it is short.
            if from == 0 && unit.len <= rest && (unit.len < rest || rest >= Verified::SHARE) {
                if let Some(bytes) = kept.kept(unit.start) {
                    self.take(bytes.len()).copy_from_slice(&bytes);
                    continue;
                }
                let (units, bytes) =
                    self.follow(unit, self.at + rest, |unit| kept.kept(unit.start).is_none().then_some(unit));
                return Some(Job::Whole(units, self.take(bytes)));
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
        let (layout, kept) = (self.verified.layout(), &self.verified.units);
        while self.at < self.end {
            let unit = layout.unit_over(self.at)?;
            self.at = unit.start;
            let (claims, bytes) = self.follow(unit, u64::MAX, |unit| match kept.claim(unit.start) {
                Lookup::Claimed(claim) => Some((unit, claim)),
                Lookup::Kept(_) | Lookup::Awaited => None,
            });
            self.at += if claims.is_empty() { unit.len } else { bytes as u64 };
            if !claims.is_empty() {
                return Some(Job::Ahead(claims));
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
            next = self.verified.layout().unit_over(unit.end());
        }
        (taken, bytes as usize)
    }
}

/// Opens the outboard, and compares it with the trusted root.
fn judge(file: &File, opening: &Opening) -> Result<Outboard<OutboardBytes>, Error> {
    let outboard = open_outboard(&opening.outboard, opening.foreign.as_ref(), file)?;
    if let Err(why) = check(&outboard, opening) {
        return Err(Error::refused(&opening.outboard, Refusal::Unsuitable(why)));
    }
    // Without nodes there is nothing that a read would check.
    if outboard.layout().root().is_none() && outboard.spec().root(b"").is_ok_and(|empty| empty != outboard.root()) {
        return Err(Error::from_outboard(OutboardError::Seals, &opening.outboard));
    }
    Ok(outboard)
}

/// Checks that an outboard is of the trusted root; if not, the reason, as words.
fn check<R: ReadAt>(outboard: &Outboard<R>, opening: &Opening) -> Result<(), String> {
    let (root, unit) = (outboard.root(), outboard.layout().unit().min(outboard.len()));
    if unit > Verified::LONGEST {
        return Err(format!("its units have {unit} bytes, and at most {} are held in memory", Verified::LONGEST));
    }
    if let Some(len) = opening.len.filter(|&len| len != root.len()) {
        return Err(format!("it is of a file of {} bytes, not of {len}", root.len()));
    }
    let Some(expected) = &opening.expected else { return Ok(()) };
    if !expected.matches(&root) {
        return Err(format!("its root is {root} ({}), but {} is trusted", root.spec(), expected.text()));
    }
    if expected.directory().is_some() {
        return Err("the trusted root is that of a directory".into());
    }
    // The first byte, which could tell, is not verified yet.
    let doubt = [Some(0), Some(1)].into_iter().find_map(|first| expected.doubt(&root, first));
    doubt.filter(|_| opening.len.is_none()).map_or(Ok(()), Err)
}
