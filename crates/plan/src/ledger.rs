//! Ledgers: the digests of parts, by what they are of.

use crate::error::{Bytes, Fault, RowError, Unusable};
use crate::keys::{Before, Keys, RowKeys};
use crate::lines::{Line, Lines, row};
use mksum::Digest;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasherDefault, Hasher};
use std::io::BufRead;

/// The rows of ledgers in memory: their digests one after the other, and for each part its place.
#[derive(Debug, Default)]
pub struct Ledger {
    pub(crate) keys: Keys,
    parts: HashMap<u128, Place, BuildHasherDefault<OfKey>>,
    digests: Vec<u8>,
    /// What is held of the units of parts.
    units: Units,
    /// For each part with units the length of one, and where in `digests` they are.
    kept: HashMap<u128, Kept, BuildHasherDefault<OfKey>>,
}

/// The lines of a ledger that cannot be used: what is in them is missing.
#[derive(Debug, Default)]
pub struct Ignored {
    /// The number of them.
    pub lines: u64,
    /// The number of the first one, from 1, and what is wrong with it. An incomplete line gives way to one that is damaged.
    pub first: Option<(u64, RowError)>,
}

/// The hash of a key: its own bits, since keys are hashes already.
#[derive(Debug, Default)]
struct OfKey(u64);

impl Hasher for OfKey {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |hash, byte| hash.rotate_left(8) ^ u64::from(*byte));
    }

    fn write_u128(&mut self, key: u128) {
        self.0 = key as u64;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[derive(Clone, Copy, Debug)]
struct Place {
    version: u64,
    /// The offset of the digest, in multiples of [`ALIGNED`] bytes.
    at: u32,
    size: u8,
}

/// What a ledger in memory has of the units of its parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Units {
    /// Nothing.
    #[default]
    Ignored,
    /// Only that the units are there.
    Noted,
    /// The units' digests.
    Held,
}

#[derive(Clone, Copy, Debug)]
struct Kept {
    /// The length of a unit, in bytes.
    unit: u64,
    /// The offset of the first digest, as in [`Place`].
    at: u32,
    /// The bytes of all.
    len: u32,
}

/// Digests begin at multiples of this many bytes.
const ALIGNED: usize = 4;

/// What a ledger says of a planned part.
#[derive(Clone, Copy)]
pub(crate) enum Found<'a> {
    /// The part's digest.
    Digest(&'a [u8]),
    /// A digest of another version of the input.
    OtherVersion,
    Nothing,
}

impl Ledger {
    /// A ledger without rows, which holds this of the units of parts.
    pub fn new(units: Units) -> Ledger {
        Ledger { units, ..Ledger::default() }
    }

    /// Reads a file of rows on so many threads; returns the lines that cannot be used.
    ///
    /// # Errors
    /// If it cannot be read, has no rows but other lines, or has two digests of one part. Then nothing that was read counts.
    pub fn read(&mut self, rows: Lines<impl BufRead + Send>, threads: usize) -> Result<Ignored, Unusable> {
        let (keys, units) = (self.keys.clone(), self.units);
        let read = |before: &mut Before, line: Line<'_>| match line {
            Line::Row(row) if row.digest.is_some() => {
                let kept = match (row.unit, units) {
                    (None, _) | (_, Units::Ignored) => Ok(None),
                    (Some(unit), Units::Noted) => Ok(Some((unit, Vec::new()))),
                    (Some(unit), Units::Held) => row.units().map(|units| Some((unit, units))),
                };
                let read = row.digest().and_then(|digest| Ok((digest, kept?)));
                Read::Row(keys.row(before, &row), read)
            }
            Line::Row(_) | Line::End(_) => Read::OfPlan,
            Line::Wrong(why) => Read::Wrong(why),
        };
        let (mut count, mut ignored) = (0_u64, Ignored::default());
        rows.each(threads, read, |number, text, read| {
            match read {
                Read::Row(keys, read) => {
                    count += 1;
                    let added = read.map_err(Fault::Row).and_then(|(digest, kept)| {
                        self.add(keys, &digest, text)?;
                        kept.map_or(Ok(()), |(unit, units)| self.keep(keys, unit, &units, text))
                    });
                    added.map_err(|fault| Unusable::Line(number, fault))?;
                }
                Read::OfPlan => return Err(Unusable::Line(number, RowError::OfPlan.into())),
                Read::Wrong(why) => ignored.add(number, why),
            }
            Ok(())
        })?;
        match ignored.first {
            Some((number, why)) if count == 0 && !matches!(why, RowError::Incomplete) => {
                Err(Unusable::NoLedger(number, why))
            }
            first => Ok(Ignored { first, ..ignored }),
        }
    }

    /// Adds the digest of a row, whose line is there for messages.
    fn add(&mut self, keys: RowKeys, digest: &Digest, text: &[u8]) -> Result<(), Fault> {
        let (digest, at) = (digest.as_bytes(), self.end()?);
        let place = Place { version: keys.input.version, at, size: digest.len() as u8 };
        match self.parts.entry(keys.part) {
            Entry::Vacant(vacant) => {
                vacant.insert(place);
                self.hold(digest);
                Ok(())
            }
            Entry::Occupied(known) => {
                let known = known.get();
                let before = &self.digests[known.at as usize * ALIGNED..][..known.size.into()];
                if known.version != place.version {
                    return Err(Fault::TwoVersions(named(text)));
                }
                // The same part may be hashed twice.
                match before == digest {
                    true => Ok(()),
                    false => Err(Fault::TwoDigests(named(text))),
                }
            }
        }
    }

    /// Adds the units of a row, each of so many bytes. The last plan counts, if units of two lengths are there.
    fn keep(&mut self, keys: RowKeys, unit: u64, units: &[u8], text: &[u8]) -> Result<(), Fault> {
        match self.kept.get(&keys.part) {
            Some(known) if known.unit == unit => match self.held(known) == units {
                true => Ok(()),
                false => Err(Fault::TwoUnits(named(text))),
            },
            _ => {
                let at = self.end()?;
                let len = u32::try_from(units.len()).map_err(|_| Fault::TooMany)?;
                self.hold(units);
                self.kept.insert(keys.part, Kept { unit, at, len });
                Ok(())
            }
        }
    }

    /// Where the next digest begins, as in [`Place`].
    fn end(&self) -> Result<u32, Fault> {
        u32::try_from(self.digests.len() / ALIGNED).map_err(|_| Fault::TooMany)
    }

    fn hold(&mut self, digests: &[u8]) {
        self.digests.extend_from_slice(digests);
        self.digests.resize(self.digests.len().next_multiple_of(ALIGNED), 0);
    }

    fn held(&self, kept: &Kept) -> &[u8] {
        &self.digests[kept.at as usize * ALIGNED..][..kept.len as usize]
    }

    /// The digests of the units of a part, by its keys; none of a part that was hashed without units of this length.
    pub(crate) fn units(&self, keys: RowKeys, unit: u64) -> Option<&[u8]> {
        self.kept.get(&keys.part).filter(|kept| kept.unit == unit).map(|kept| self.held(kept))
    }

    /// The digest of a planned part, by its keys.
    pub(crate) fn find(&self, keys: RowKeys) -> Found<'_> {
        match self.parts.get(&keys.part) {
            None => Found::Nothing,
            Some(place) if place.version != keys.input.version => Found::OtherVersion,
            Some(place) => Found::Digest(&self.digests[place.at as usize * ALIGNED..][..place.size.into()]),
        }
    }
}

impl Ignored {
    fn add(&mut self, number: u64, why: RowError) {
        self.lines += 1;
        let is_new = match &self.first {
            None => true,
            Some((_, first)) => matches!(first, RowError::Incomplete) && !matches!(why, RowError::Incomplete),
        };
        if is_new {
            self.first = Some((number, why));
        }
    }
}

/// The length of a unit, in bytes, and the units' digests, one after the other.
type OfUnits = (u64, Vec<u8>);

/// A line of a ledger.
enum Read {
    /// A row: its keys, its digest and its units if these are wanted, or what is wrong with them.
    Row(RowKeys, Result<(Digest, Option<OfUnits>), RowError>),
    OfPlan,
    Wrong(RowError),
}

/// The part of a row, for messages.
fn named(text: &[u8]) -> String {
    row(text).map_or_else(String::new, |row| format!("{} of {}", Bytes(&row.range()), row.name()))
}
