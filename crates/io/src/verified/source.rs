//! The source of verified units: the cache, the file, then its replicas.

use super::judge::Judge;
use super::opening::{Opening, UnitCache, WriteBack};
use crate::file::zeros;
use crate::outboard::{is_unchanged, restore_time};
use crate::{DamagedUnit, Error, File, HeldFile, Input, Refusal, Replica, open_replicas};
use mksum::{Digest, Digests, Messages, Subtree};
use std::collections::HashSet;
use std::mem;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A file with the trusted digests of its units.
pub struct Source {
    file: File,
    judge: Judge,
    cache: Option<Arc<dyn UnitCache>>,
    replicas: Vec<Input>,
    /// The replicas, once one was asked.
    opened: Mutex<Option<Box<dyn Replica>>>,
    write_back: WriteBack,
    /// Has one thread write at a time.
    writing: Mutex<()>,
    replaced: AtomicU64,
    /// The offsets of the units that are in that number: a unit may be read, and read ahead at the same time.
    counted: Mutex<HashSet<u64>>,
}

/// Bytes that are zero when they are dropped: also after a panic, nobody finds there what was not verified.
struct Unverified<'a>(&'a mut [u8]);

impl Drop for Unverified<'_> {
    fn drop(&mut self) {
        self.0.fill(0);
    }
}

impl Source {
    /// The units that are remembered, so that each is counted once: beyond them, as often as it is read.
    const COUNTED: usize = 1 << 16;

    /// The source of an open file of the length that the judge knows.
    pub fn new(file: File, opening: Opening, judge: Judge) -> Result<Source, Error> {
        let Opening { cache, replicas, write_back, .. } = opening;
        if let (Input::Url(_), WriteBack::Yes) = (file.input(), write_back) {
            return Err(Error::refused(file.input(), Refusal::Url("an object: only files are repaired".into())));
        }
        Ok(Source {
            file,
            judge,
            cache,
            replicas,
            opened: Mutex::default(),
            write_back,
            writing: Mutex::default(),
            replaced: AtomicU64::new(0),
            counted: Mutex::default(),
        })
    }

    pub fn judge(&self) -> &Judge {
        &self.judge
    }

    pub fn file(&self) -> &File {
        &self.file
    }

    /// Whether what was read once is found again without the file.
    pub fn is_cached(&self) -> bool {
        self.cache.is_some()
    }

    /// The bytes that came from replicas.
    pub fn replaced(&self) -> u64 {
        self.replaced.load(Ordering::Relaxed)
    }

    fn count(&self, unit: Subtree) {
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        if counted.len() >= Self::COUNTED && !counted.contains(&unit.start) || counted.insert(unit.start) {
            self.replaced.fetch_add(unit.len, Ordering::Relaxed);
        }
    }

    /// Fills `out` with the bytes of `units`, which follow one another; all of them are verified, or `out` is zero.
    pub fn fill(&self, units: &[Subtree], out: &mut [u8]) -> Result<(), Error> {
        let unverified = Unverified(out);
        match &self.cache {
            Some(cache) => self.fill_by(&**cache, units, unverified.0)?,
            None => self.try_fill(units, unverified.0)?,
        }
        // All of it is verified.
        mem::forget(unverified);
        Ok(())
    }

    /// Fills `out` from a cache, and with what it lacks from the file.
    fn fill_by(&self, cache: &dyn UnitCache, units: &[Subtree], out: &mut [u8]) -> Result<(), Error> {
        let mut found = Vec::with_capacity(units.len());
        let mut rest = &mut *out;
        for &unit in units {
            let bytes;
            (bytes, rest) = rest.split_at_mut(unit.len as usize);
            let expected = self.judge.trusted(unit)?;
            found.push((
                unit,
                expected,
                cache.read(&expected, bytes) && self.digests(&[unit], Messages::one(bytes))?.get(0) == Some(expected),
            ));
        }
        let mut rest = out;
        for run in found.chunk_by(|(.., one), (.., other)| one == other) {
            let mut bytes;
            (bytes, rest) = rest.split_at_mut(run.iter().map(|(unit, ..)| unit.len as usize).sum());
            if !run[0].2 {
                self.try_fill(&run.iter().map(|(unit, ..)| *unit).collect::<Vec<_>>(), bytes)?;
                for (unit, expected, _) in run {
                    let unit_bytes;
                    (unit_bytes, bytes) = bytes.split_at_mut(unit.len as usize);
                    cache.keep(expected, unit_bytes);
                }
            }
        }
        Ok(())
    }

    fn try_fill(&self, units: &[Subtree], mut out: &mut [u8]) -> Result<(), Error> {
        for run in units.chunk_by(|one, other| self.judge.are_alike(one, other)) {
            let len = run.iter().map(|unit| unit.len as usize).sum();
            self.fill_run(run, out.split_off_mut(..len).expect("as many bytes as the units have"))?;
        }
        Ok(())
    }

    /// Fills `out` with units that are alike, from the file, and from replicas with what is damaged there.
    fn fill_run(&self, units: &[Subtree], out: &mut [u8]) -> Result<(), Error> {
        match self.file.fill_now(units[0].start, out) {
            Ok(()) => self.verify(units, out),
            Err(error @ Error::Stopped { .. }) => Err(error),
            Err(error) => match units {
                &[unit] => self.replace(unit, self.judge.trusted(unit)?, out, Err(error)),
                // Others than the one that failed may be read.
                units => self.fill_each(units, out),
            },
        }
    }

    fn fill_each(&self, units: &[Subtree], mut out: &mut [u8]) -> Result<(), Error> {
        units.iter().try_for_each(|unit| {
            let bytes = out.split_off_mut(..unit.len as usize).expect("as many bytes as the units have");
            self.fill_run(&[*unit], bytes)
        })
    }

    /// Verifies the bytes of units that are alike, and replaces those that are not right by what replicas have.
    fn verify(&self, units: &[Subtree], mut bytes: &mut [u8]) -> Result<(), Error> {
        let digests = self.digests(units, Messages::new(bytes, self.judge.message(units) as usize))?;
        let right = self.judge.are_right(units, &digests)?;
        for ((&unit, is_right), found) in units.iter().zip(right).zip(digests.iter()) {
            let bytes = bytes.split_off_mut(..unit.len as usize).expect("as many bytes as the units have");
            if !is_right {
                self.replace(unit, self.judge.trusted(unit)?, bytes, Ok(found))?;
            }
        }
        Ok(())
    }

    fn digests(&self, units: &[Subtree], messages: Messages<'_>) -> Result<Digests, Error> {
        let hashed = self.judge.hash_each(units, messages);
        hashed.map_err(|error| Error::from_join(error, self.file.input(), self.judge.root().spec()))
    }

    /// Fills `out` with the bytes that replicas have of a unit; else the error tells the digest found in the file, or why that was not read.
    fn replace(
        &self,
        unit: Subtree,
        expected: Digest,
        out: &mut [u8],
        found: Result<Digest, Error>,
    ) -> Result<(), Error> {
        let refused = match self.ask_replicas(unit, expected, out) {
            Ok(()) => {
                self.count(unit);
                return self.write_back(unit, out);
            }
            Err(refused) => refused,
        };
        let (path, range) = (self.file.input().clone(), unit.start..unit.end());
        Err(match found {
            Ok(found) => Error::Unit(Box::new(DamagedUnit { path, range, expected, found, refused })),
            Err(error) => error,
        })
    }

    /// Fills `out` with the bytes of a unit from the first replica that has them; else each replica, and why it does not help.
    fn ask_replicas(&self, unit: Subtree, expected: Digest, out: &mut [u8]) -> Result<(), Vec<(Input, String)>> {
        let refuse = |error: Error| vec![(error.input().clone(), error.to_string())];
        let mut refused = Vec::new();
        if self.replicas.is_empty() {
            return Err(refused);
        }
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if opened.is_none() {
            let replica = open_replicas(&self.replicas, self.file.options());
            *opened = Some(replica.map_err(refuse)?);
        }
        let mut next = opened.as_mut().map(|replica| &mut **replica as &mut dyn Replica);
        let mut bytes = zeros(unit.len, self.file.input()).map_err(refuse)?;
        while let Some(replica) = next {
            let why = match replica
                .read(unit.start, &mut bytes)
                .and_then(|()| self.digests(&[unit], Messages::one(&bytes)))
            {
                Ok(digests) if digests.get(0) == Some(expected) => {
                    out.copy_from_slice(&bytes);
                    return Ok(());
                }
                Ok(_) => "it is damaged there too".into(),
                Err(error) => error.to_string(),
            };
            refused.push((replica.place().clone(), why));
            next = replica.next();
        }
        Err(refused)
    }

    /// Writes verified bytes to the file, if that is wanted. A file whose times showed no change keeps them: its content is what it was.
    fn write_back(&self, unit: Subtree, bytes: &[u8]) -> Result<(), Error> {
        let (WriteBack::Yes, Some(path)) = (self.write_back, self.file.input().file()) else { return Ok(()) };
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut held = HeldFile::open(path)?;
        let now = held.reader(self.file.options())?;
        self.file.check_same(&now)?;
        let is_old = self.judge.header().is_none_or(|header| is_unchanged(&now, header));
        let modified = held.facts().modified;
        held.begin_writing()?;
        held.write(bytes, unit.start)?;
        held.sync()?;
        if is_old { restore_time(&mut held, modified) } else { Ok(()) }
    }
}
