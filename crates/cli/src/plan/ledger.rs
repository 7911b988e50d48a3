//! Ledgers: the digests of parts, by what they are of.

use super::rows::{Before, INCOMPLETE, Keys, Line, Lines, Row, RowKeys, row};
use crate::tool::Tool;
use crate::walk;
use mksum::Digest;
use mksum_cli::name::Shown;
use mksum_io::{Input, reason};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasherDefault, Hasher};
use std::io::{BufReader, Read as ReadBytes};
use std::path::{Path, PathBuf};

/// The rows of ledgers in memory: their digests one after the other, and for each part its place.
#[derive(Debug, Default)]
pub struct Ledger {
    pub keys: Keys,
    parts: HashMap<u128, Place, BuildHasherDefault<OfKey>>,
    digests: Vec<u8>,
    /// What is held of the units of parts.
    units: Units,
    /// For each part with units the length of one, and where in `digests` they are.
    kept: HashMap<u128, Kept, BuildHasherDefault<OfKey>>,
    /// Lines that could not be read: how many, and the first of them.
    wrong: u64,
    first_wrong: Option<(PathBuf, u64, String)>,
}

/// The hash of a key: its own bits, since keys are hashes already.
#[derive(Debug, Default)]
pub struct OfKey(u64);

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
    /// That they are there.
    Noted,
    /// Their digests.
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
pub enum Found<'a> {
    /// Its digest.
    Digest(&'a [u8]),
    /// A digest of another version of the input.
    OtherVersion,
    Nothing,
}

/// Opens a file of rows; `-` is standard input.
pub fn open(path: &Path) -> Result<Lines<BufReader<Box<dyn ReadBytes + Send>>>, String> {
    let reader = walk::open(&Input::parse(path)).map_err(|error| reason(&error))?;
    Ok(Lines::new(BufReader::with_capacity(1 << 16, reader)))
}

impl Ledger {
    /// Reads ledgers, and reports lines that cannot be read; none if one cannot be used, which is reported as an error.
    pub fn of(tool: &Tool, paths: &[PathBuf], units: Units) -> Option<Ledger> {
        let mut ledger = Ledger { units, ..Ledger::default() };
        for path in paths {
            if let Err(reason) = ledger.read(path, tool.options.threads) {
                tool.console.error(path, &reason);
                return None;
            }
        }
        if let Some((path, number, why)) = &ledger.first_wrong {
            let ignored = match ledger.wrong {
                1 => "1 line is ignored, and what is in it".into(),
                lines => format!("{lines} lines are ignored, and what is in them"),
            };
            let text = format_args!("{}: {number}: {why}; {ignored} counts as missing", Shown(path));
            tool.console.note(&text);
        }
        Some(ledger)
    }

    /// Reads a ledger.
    ///
    /// # Errors
    /// If it cannot be read, has no rows but other lines, or has two digests of one part: as words.
    fn read(&mut self, path: &Path, threads: usize) -> Result<(), String> {
        let (keys, units) = (self.keys.clone(), self.units);
        let read = |before: &mut Before, line: Line<'_>| match line {
            Line::Row(row) if row.digest.is_some() => {
                let kept = match (row.unit, units) {
                    (None, _) | (_, Units::Ignored) => Ok(None),
                    (Some(unit), Units::Noted) => Ok(Some((unit, Vec::new()))),
                    (Some(unit), Units::Held) => row.units().map(|units| Some((unit, units))),
                };
                let read = digest(&row).and_then(|digest| Ok((digest, kept?)));
                Read::Row(keys.row(before, &row), read)
            }
            Line::Row(_) | Line::End(_) => Read::OfPlan,
            Line::Wrong(why) => Read::Wrong(why),
        };
        let (mut rows, mut other) = (0_u64, None);
        open(path)?.each(threads, read, |number, text, read| {
            match read {
                Read::Row(keys, read) => {
                    rows += 1;
                    let added = read.and_then(|(digest, kept)| {
                        self.add(keys, &digest, text)?;
                        kept.map_or(Ok(()), |(unit, units)| self.keep(keys, unit, &units, text))
                    });
                    added.map_err(|why| format!("{number}: {why}"))?;
                }
                Read::OfPlan => return Err(format!("{number}: a row of a plan: a ledger has rows with digests")),
                Read::Wrong(why) => {
                    if why != INCOMPLETE {
                        other.get_or_insert_with(|| format!("{number}: {why}"));
                    }
                    self.wrong += 1;
                    self.first_wrong.get_or_insert((path.into(), number, why));
                }
            }
            Ok(())
        })?;
        match other.filter(|_| rows == 0) {
            Some(why) => Err(format!("{why}; no line is a row of a ledger")),
            None => Ok(()),
        }
    }

    /// Adds the digest of a row, whose line is there for messages.
    fn add(&mut self, keys: RowKeys, digest: &Digest, text: &[u8]) -> Result<(), String> {
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
                    return Err(format!("{} are there in two versions: start a new ledger", named(text)));
                }
                // The same part may be hashed twice.
                match before == digest {
                    true => Ok(()),
                    false => Err(format!("{} have two digests: hash them again into a new ledger", named(text))),
                }
            }
        }
    }

    /// Adds the units of a row, each of so many bytes. The last plan counts, if units of two lengths are there.
    fn keep(&mut self, keys: RowKeys, unit: u64, units: &[u8], text: &[u8]) -> Result<(), String> {
        match self.kept.get(&keys.part) {
            Some(known) if known.unit == unit => match self.held(known) == units {
                true => Ok(()),
                false => Err(format!("{} have units with two digests: hash them again into a new ledger", named(text))),
            },
            _ => {
                let at = self.end()?;
                let len = u32::try_from(units.len()).map_err(|_| "its units are too many")?;
                self.hold(units);
                self.kept.insert(keys.part, Kept { unit, at, len });
                Ok(())
            }
        }
    }

    /// Where the next digest begins, as in [`Place`].
    fn end(&self) -> Result<u32, String> {
        u32::try_from(self.digests.len() / ALIGNED)
            .map_err(|_| "there are too many digests to be held in memory".into())
    }

    fn hold(&mut self, digests: &[u8]) {
        self.digests.extend_from_slice(digests);
        self.digests.resize(self.digests.len().next_multiple_of(ALIGNED), 0);
    }

    fn held(&self, kept: &Kept) -> &[u8] {
        &self.digests[kept.at as usize * ALIGNED..][..kept.len as usize]
    }

    /// The digests of the units of a part, by its keys; none of a part that was hashed without units of this length.
    pub fn units(&self, keys: RowKeys, unit: u64) -> Option<&[u8]> {
        self.kept.get(&keys.part).filter(|kept| kept.unit == unit).map(|kept| self.held(kept))
    }

    /// The digest of a planned part, by its keys.
    pub fn find(&self, keys: RowKeys) -> Found<'_> {
        match self.parts.get(&keys.part) {
            None => Found::Nothing,
            Some(place) if place.version != keys.input.version => Found::OtherVersion,
            Some(place) => Found::Digest(&self.digests[place.at as usize * ALIGNED..][..place.size.into()]),
        }
    }
}

/// The length of a unit, in bytes, and the units' digests, one after the other.
type OfUnits = (u64, Vec<u8>);

/// A line of a ledger.
enum Read {
    /// A row: its keys, its digest and its units if these are wanted, or what is wrong with them.
    Row(RowKeys, Result<(Digest, Option<OfUnits>), String>),
    OfPlan,
    Wrong(String),
}

/// The part of a row, for messages.
fn named(text: &[u8]) -> String {
    row(text).map_or_else(String::new, |row| format!("{} of {}", row.range(), name(&row)))
}

/// The digest of a row.
fn digest(row: &Row<'_>) -> Result<Digest, String> {
    let mut bytes = [0; 64];
    let hex = row.digest.as_ref().map_or("", |digest| digest.as_str());
    let digest = base16ct::lower::decode(hex, &mut bytes).ok().filter(|digest| !digest.is_empty());
    digest.map(Digest::new).ok_or_else(|| "its digest is not 1 to 64 bytes in hex".to_string())
}

/// The input of a row, for messages.
pub fn name(row: &Row<'_>) -> String {
    row.input().map_or_else(|| "?".into(), |input| input.to_string())
}
