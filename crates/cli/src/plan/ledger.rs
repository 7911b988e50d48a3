//! Ledgers: the digests of parts, by what they are of.

use super::rows::{Before, Keys, Line, Lines, Row, RowKeys, row};
use crate::tool::Tool;
use crate::walk;
use mksum::Digest;
use mksum_cli::name::Shown;
use mksum_io::reason;
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
    /// The offset of the digest, in units.
    at: u32,
    size: u8,
}

/// Digests begin at multiples of this many bytes.
const UNIT: usize = 4;

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
    let reader = walk::open(path).map_err(|error| reason(&error))?;
    Ok(Lines::new(BufReader::with_capacity(1 << 16, reader)))
}

impl Ledger {
    /// Reads ledgers, and reports lines that cannot be read; none if one cannot be used, which is reported as an error.
    pub fn of(tool: &Tool, paths: &[PathBuf]) -> Option<Ledger> {
        let mut ledger = Ledger::default();
        for path in paths {
            if let Err(reason) = ledger.read(path, tool.options.threads) {
                tool.console.error(path, &reason);
                return None;
            }
        }
        if let Some((path, number, why)) = &ledger.first_wrong {
            let text = format_args!("{}: {number}: {why}; {} lines are taken as missing", Shown(path), ledger.wrong);
            tool.console.note(&text);
        }
        Some(ledger)
    }

    /// Reads a ledger.
    ///
    /// # Errors
    /// If it cannot be read, or has two digests of one part: as words.
    fn read(&mut self, path: &Path, threads: usize) -> Result<(), String> {
        let keys = self.keys.clone();
        let read = |before: &mut Before, line: Line<'_>| match line {
            Line::Row(row) if row.digest.is_some() => Read::Row(keys.row(before, &row), digest(&row)),
            Line::Row(_) | Line::End(_) => Read::OfPlan,
            Line::Wrong(why) => Read::Wrong(why),
        };
        open(path)?.each(threads, read, |number, text, read| {
            match read {
                Read::Row(key, digest) => {
                    digest.and_then(|digest| self.add(key, &digest, text)).map_err(|why| format!("{number}: {why}"))?;
                }
                Read::OfPlan => return Err(format!("{number}: a row of a plan: a ledger has rows with digests")),
                Read::Wrong(why) => {
                    self.wrong += 1;
                    self.first_wrong.get_or_insert((path.into(), number, why));
                }
            }
            Ok(())
        })
    }

    /// Adds the digest of a row, whose line is there for messages.
    fn add(&mut self, keys: RowKeys, digest: &Digest, text: &[u8]) -> Result<(), String> {
        let digest = digest.as_bytes();
        let at =
            u32::try_from(self.digests.len() / UNIT).map_err(|_| "there are too many digests to be held in memory")?;
        let place = Place { version: keys.input.version, at, size: digest.len() as u8 };
        match self.parts.entry(keys.part) {
            Entry::Vacant(vacant) => {
                vacant.insert(place);
                self.digests.extend_from_slice(digest);
                self.digests.resize(self.digests.len().next_multiple_of(UNIT), 0);
                Ok(())
            }
            Entry::Occupied(known) => {
                let known = known.get();
                let before = &self.digests[known.at as usize * UNIT..][..known.size.into()];
                let what = || row(text).map_or_else(String::new, |row| format!("{} of {}", row.range(), name(&row)));
                if known.version != place.version {
                    return Err(format!("{} are there in two versions: start a new ledger", what()));
                }
                // The same part may be hashed twice.
                match before == digest {
                    true => Ok(()),
                    false => Err(format!("{} have two digests: hash them again", what())),
                }
            }
        }
    }

    /// The digest of a planned part, by its keys.
    pub fn find(&self, keys: RowKeys) -> Found<'_> {
        match self.parts.get(&keys.part) {
            None => Found::Nothing,
            Some(place) if place.version != keys.input.version => Found::OtherVersion,
            Some(place) => Found::Digest(&self.digests[place.at as usize * UNIT..][..place.size.into()]),
        }
    }
}

/// A line of a ledger.
enum Read {
    /// A row: its keys and its digest, or what is wrong with that.
    Row(RowKeys, Result<Digest, String>),
    OfPlan,
    Wrong(String),
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
    row.path().map_or_else(|| "?".into(), |path| Shown(&path).to_string())
}
