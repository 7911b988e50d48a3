//! Bytes that the disk cannot read: damage like any other, which verification names and repair writes again.

use crate::buffer::with_buffer;
use crate::platform::{DIRECT_ALIGN, is_media_error, open_direct, read_at, read_exact_at, uninterrupted};
use crate::{Error, File, Input, Options};
use mksum::outboard::KeptLayout;
use mksum::{Digest, Digests, Hash, Memory, Role, Spec, Subtree, Subtrees};
use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::mem;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Bytes that the disk cannot read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// The bytes, half-open: whole sectors or pages, as far as the system can tell them apart.
    pub range: Range<u64>,
    /// The system's number for the error.
    pub code: i32,
}

impl Unreadable {
    /// The system's error.
    pub fn error(&self) -> io::Error {
        io::Error::from_raw_os_error(self.code)
    }

    /// Takes in `next` if it follows with the same error; gives it back otherwise.
    fn extend(&mut self, next: Unreadable) -> Option<Unreadable> {
        if self.range.end != next.range.start || self.code != next.code {
            return Some(next);
        }
        self.range.end = next.range.end;
        None
    }
}

/// The lengths of reads around a place that cannot be read, in bytes, each a multiple of the next: the last two are a page
/// and a sector.
const STEPS: [u64; 4] = [1 << 20, 64 << 10, DIRECT_ALIGN as u64, 512];

/// Reports to `found` each range of an input that the disk cannot read, left to right; the number of bytes of the
/// file.
///
/// # Errors
/// If the file cannot be opened, has no fixed length, or a read fails for another reason than the disk's.
pub fn unreadable(input: &Input, options: &Options, found: &mut dyn FnMut(Unreadable)) -> Result<u64, Error> {
    let file = File::open(input, options)?;
    file.options().meter.expect(file.len());
    let mut pending: Option<Unreadable> = None;
    for start in (0..file.len()).step_by(STEPS[0] as usize) {
        let end = file.len().min(start + STEPS[0]);
        file.narrow(start..end, &mut |next| {
            let next = match &mut pending {
                Some(last) => last.extend(next),
                None => Some(next),
            };
            if let Some(next) = next {
                pending.replace(next).into_iter().for_each(&mut *found);
            }
        })?;
        file.options().meter.add(end - start);
    }
    pending.into_iter().for_each(found);
    Ok(file.len())
}

impl File {
    /// Reports the parts of `range` that the disk cannot read, left to right, as narrow as the system can tell.
    fn narrow(&self, range: Range<u64>, found: &mut dyn FnMut(Unreadable)) -> Result<(), Error> {
        let direct = self.reader.medium.disk().and_then(open_direct);
        let read = |range: &Range<u64>| self.probe(direct.as_ref(), range, &mut |_| {});
        narrow(&read, range, 0, found)
    }

    /// The bytes of a range whose every part can be read, though not all at once: the sectors of a page are read without that
    /// of a neighbour. `None` if the disk cannot read some of it now.
    fn rescue(&self, range: Range<u64>) -> Result<Option<Vec<u8>>, Error> {
        let direct = self.reader.medium.disk().and_then(open_direct);
        let mut bytes = Vec::new();
        for start in range.clone().step_by(STEPS[1] as usize) {
            let part = start..range.end.min(start + STEPS[1]);
            if self.probe(direct.as_ref(), &part, &mut |read| bytes.extend_from_slice(read))?.is_some() {
                return Ok(None);
            }
        }
        Ok((bytes.len() as u64 == range.end - range.start).then_some(bytes))
    }

    /// Tries to read `range`: hands its bytes to `took` and returns `None`, or else the disk's error.
    fn probe(
        &self,
        direct: Option<&std::fs::File>,
        range: &Range<u64>,
        took: &mut dyn FnMut(&[u8]),
    ) -> Result<Option<i32>, Error> {
        let at = |start: u64, error: io::Error| {
            // An error of the disk has a number: that is how it is known.
            match error.raw_os_error().filter(|_| is_media_error(&error)) {
                Some(code) => Ok(Some(code)),
                None => Err(Error::Read { path: self.input().clone(), offset: start, error }),
            }
        };
        let sector = STEPS[STEPS.len() - 1];
        // Around the page cache a read can be shorter than a page, and is answered by the disk.
        let (start, end) = (range.start / sector * sector, range.end.next_multiple_of(sector));
        with_buffer(|buffer| {
            let len = (end - start) as usize;
            let memory = &mut buffer.at_least(len)[..len];
            if let Some(direct) = direct {
                let mut done = 0;
                let outcome = loop {
                    match uninterrupted(|| read_at(direct, &mut memory[done..], start + done as u64)) {
                        Ok(more) if more > 0 && done + more < len && (done + more).is_multiple_of(sector as usize) => {
                            done += more;
                        }
                        result => break result.map(|more| done + more),
                    }
                };
                let skip = (range.start - start) as usize;
                match outcome {
                    Ok(done) if (start + done as u64) >= range.end => {
                        took(&memory[skip..skip + (range.end - range.start) as usize]);
                        return Ok(None);
                    }
                    Err(error) if is_media_error(&error) => return at(range.start, error),
                    // A device with longer sectors, or a file system that reads through its cache after all.
                    Ok(_) | Err(_) => {}
                }
            }
            let memory = &mut memory[..(range.end - range.start) as usize];
            let Some(file) = self.reader.medium.disk() else { return Ok(None) };
            match read_exact_at(file, memory, range.start) {
                Ok(()) => {
                    took(memory);
                    Ok(None)
                }
                Err((done, error)) => at(range.start + done as u64, error),
            }
        })
    }
}

/// Tries to read a range: the disk's error, if it cannot.
type Probe<'a> = &'a dyn Fn(&Range<u64>) -> Result<Option<i32>, Error>;

/// Reads `range` in steps of `STEPS[depth]` bytes, and whatever of it fails in shorter ones.
fn narrow(read: Probe<'_>, range: Range<u64>, depth: usize, found: &mut dyn FnMut(Unreadable)) -> Result<(), Error> {
    let mut start = range.start;
    while start < range.end {
        let end = range.end.min((start / STEPS[depth] + 1) * STEPS[depth]);
        match read(&(start..end))? {
            None => {}
            Some(_) if depth + 1 < STEPS.len() => narrow(read, start..end, depth + 1, found)?,
            Some(code) => found(Unreadable { range: start..end, code }),
        }
        start = end;
    }
    Ok(())
}

/// A unit of which some bytes cannot be read, and those bytes, left to right.
type Unit = (Range<u64>, Vec<Unreadable>);

/// A file whose unreadable units get a digest all the same, which no outboard has: so a join over it goes on, and finds
/// them damaged.
pub(crate) struct Tolerant<'a> {
    file: &'a File,
    source: &'a (dyn Subtrees + Sync),
    layout: KeptLayout,
    /// The digest in the place of those that are not known: of a run's own random numbers, so that nobody can have stored
    /// it.
    unknown: Digest,
    /// The unreadable units by their first byte.
    units: Mutex<BTreeMap<u64, Unit>>,
}

impl<'a> Tolerant<'a> {
    /// The longest unit that is read sector by sector into memory, in bytes.
    const RESCUED: u64 = 16 << 20;

    /// `source` reads `file`, whose outboard has this layout.
    pub fn new(file: &'a File, source: &'a (dyn Subtrees + Sync), layout: KeptLayout, spec: &Spec) -> Self {
        let random = RandomState::new();
        let mut unknown = [0; Hash::MAX_SIZE];
        for (word, index) in unknown.chunks_exact_mut(8).zip(0_u32..) {
            word.copy_from_slice(&random.hash_one(index).to_le_bytes());
        }
        let unknown = Digest::new(&unknown[..spec.hash().size()]);
        Tolerant { file, source, layout, unknown, units: Mutex::default() }
    }

    /// The unit that begins at byte `start`, with its unreadable parts; `None` if it was read.
    pub fn take(&self, start: u64) -> Option<Unit> {
        self.units().remove(&start)
    }

    /// The unreadable units that were not taken.
    pub fn rest(&self) -> Vec<Unit> {
        mem::take(&mut *self.units()).into_values().collect()
    }

    fn units(&self) -> MutexGuard<'_, BTreeMap<u64, Unit>> {
        self.units.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The digest of a unit.
    fn unit(&self, spec: &Spec, unit: Subtree, role: Role) -> Result<Digest, mksum::Error> {
        let source = &self.source;
        let error = match spec.join(source, unit, role) {
            Err(error) if is_of_media(&error) => error,
            result => return result,
        };
        let mut parts: Vec<Unreadable> = Vec::new();
        self.file.narrow(unit.start..unit.end(), &mut |next| {
            let next = match parts.last_mut() {
                Some(last) => last.extend(next),
                None => Some(next),
            };
            parts.extend(next);
        })?;
        if parts.is_empty() {
            let rescued = match unit.len {
                0..=Self::RESCUED => self.file.rescue(unit.start..unit.end())?,
                _ => None,
            };
            match rescued {
                Some(bytes) => return spec.join(&Memory::from(unit.start, &bytes), unit, role),
                None => {
                    let code = media_code(&error).unwrap_or_default();
                    parts.push(Unreadable { range: unit.start..unit.end(), code });
                }
            }
        }
        self.file.options().meter.add(unit.len);
        self.units().insert(unit.start, (unit.start..unit.end(), parts));
        Ok(self.unknown)
    }
}

impl Subtrees for Tolerant<'_> {
    fn digest(&self, spec: &Spec, node: Subtree, role: Role) -> Result<Option<Digest>, mksum::Error> {
        // What lies above units is joined, so that an unreadable one is told from its neighbours.
        if self.layout.is_unit(node) { self.unit(spec, node, role).map(Some) } else { Ok(None) }
    }

    fn digests(&self, spec: &Spec, nodes: &[Subtree], out: &mut Digests) -> Result<(), mksum::Error> {
        let mut digests = Digests::new(out.size());
        match self.source.digests(spec, nodes, &mut digests) {
            Ok(()) => out.extend(digests.iter()),
            Err(error) if is_of_media(&error) => {
                for &node in nodes {
                    out.push(self.unit(spec, node, Role::Inner)?);
                }
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

/// The disk's error in an error of a join.
fn media_code(error: &mksum::Error) -> Option<i32> {
    let mksum::Error::Source(error) = error else { return None };
    match error.downcast_ref() {
        Some(own @ Error::Read { error, .. }) if own.is_of_media() => error.raw_os_error(),
        _ => None,
    }
}

fn is_of_media(error: &mksum::Error) -> bool {
    media_code(error).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unreadable_sectors_are_found_exactly() {
        let bad = [0..512, 5_000_192..5_000_704, 5_001_216..5_100_032, 9_999_872..10_000_000];
        let read =
            |range: &Range<u64>| Ok(bad.iter().any(|bad| bad.start < range.end && range.start < bad.end).then_some(5));
        let mut found: Vec<Range<u64>> = Vec::new();
        narrow(&read, 0..10_000_000, 0, &mut |next| match found.last_mut() {
            Some(last) if last.end == next.range.start => last.end = next.range.end,
            _ => found.push(next.range),
        })
        .unwrap();
        assert_eq!(found, bad);
    }
}
