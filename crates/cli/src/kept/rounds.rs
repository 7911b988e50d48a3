//! Rounds: a file that is verified a part at a time, the least recently verified part first.

use crate::figures::grouped;
use crate::progress::left;
use mksum::outboard::{Outboard, ReadAt};
use mksum::{Root, Shape};
use mksum_io::outboard::{CHECKED, CHECKED_HEAD, with_extension};
use mksum_io::{Error, Input, Refusal, Replacement, open_regular};
use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The times at which each part of a file was last found intact: a text file beside the outboard.
#[derive(Debug)]
pub struct Rounds {
    path: PathBuf,
    /// The first lines, with the root that the file was compared with: with another one, nothing is known.
    head: String,
    len: u64,
    /// The length of a part, in bytes: whole units.
    part: u64,
    /// In seconds since 1970, 0 for never.
    verified: Vec<u64>,
    written: Instant,
}

impl Rounds {
    /// The parts of a file at most.
    const PARTS: u64 = 4096;
    /// A part is not worth opening a file for if it is shorter, in bytes.
    const SHORTEST: u64 = 1 << 20;
    /// The time between writes: so much is lost at most when the process is killed.
    const INTERVAL: Duration = Duration::from_secs(5);

    /// The rounds of the file whose outboard is at `place`.
    pub fn of<R: ReadAt>(outboard: &Outboard<R>, place: &Input) -> Result<Rounds, Error> {
        Rounds::open(with_extension(Path::new(place.as_os_str()), CHECKED), &outboard.root(), outboard.layout().unit())
    }

    /// The rounds in the file at `path`, of a file with this root, whose outboard has units of `unit` bytes.
    fn open(path: PathBuf, root: &Root, unit: u64) -> Result<Rounds, Error> {
        let len = root.len();
        let part = len.div_ceil(Self::PARTS).max(Self::SHORTEST.min(len)).max(1);
        let part = match root.spec().shape() {
            // Units of a halved tree lie anywhere: those at the edges are read with both parts.
            Shape::Halved { .. } => part.max(unit),
            _ => part.next_multiple_of(unit),
        };
        let head = format!("{CHECKED_HEAD}1\n{} = {root}\n{len} bytes in parts of {part}\n", root.spec());
        let count = len.div_ceil(part) as usize;
        let remembered = match open_regular(&path).and_then(|file| read(&file)) {
            Ok(bytes) => {
                // A crash of the system may leave it empty.
                if !bytes.is_empty() && !bytes.starts_with(CHECKED_HEAD.as_bytes()) {
                    return Err(Error::refused(&path, Refusal::NotOurs));
                }
                let text = String::from_utf8(bytes).ok();
                text.and_then(|text| Self::times(text.strip_prefix(&head)?, count))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(Error::Open { path: path.into(), error }),
        };
        let verified = remembered.unwrap_or_else(|| vec![0; count]);
        Ok(Rounds { path, head, len, part, verified, written: Instant::now() })
    }

    fn times(text: &str, count: usize) -> Option<Vec<u64>> {
        let times = text.lines().map(|line| line.parse().ok()).collect::<Option<Vec<_>>>()?;
        (times.len() == count && text.ends_with('\n')).then_some(times)
    }

    /// The parts in the order in which they are due: the least recently verified first, those of one age spread over the file.
    pub fn due(&self) -> Vec<usize> {
        let mut order: Vec<_> = (0..self.verified.len()).collect();
        order.sort_by_key(|&index| (self.verified[index], (index as u64).reverse_bits()));
        order
    }

    /// The bytes of a part.
    pub fn range(&self, part: usize) -> Range<u64> {
        let start = part as u64 * self.part;
        start..(start + self.part).min(self.len)
    }

    /// The time at which a part was verified, in seconds since 1970; 0 for never.
    pub fn verified(&self, part: usize) -> u64 {
        self.verified[part]
    }

    /// Remembers that a part was found good.
    pub fn good(&mut self, part: usize) -> Result<(), Error> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |since| since.as_secs());
        self.verified[part] = now.max(1);
        if self.written.elapsed() >= Self::INTERVAL { self.write() } else { Ok(()) }
    }

    /// Writes the times down, so that the file is always a whole one.
    pub fn write(&mut self) -> Result<(), Error> {
        let times: String = self.verified.iter().map(|time| format!("{time}\n")).collect();
        let file = Replacement::create(&self.path)?;
        file.write_at(format!("{}{times}", self.head).as_bytes(), 0)?;
        // Not flushed to the disk: after a crash of the system some parts are verified earlier than they are due.
        file.place()?;
        self.written = Instant::now();
        Ok(())
    }

    /// The bytes that were never found good.
    pub fn never(&self) -> u64 {
        let parts = self.verified.iter().enumerate().filter(|(_, time)| **time == 0);
        parts.map(|(part, _)| self.range(part)).map(|range| range.end - range.start).sum()
    }

    /// The age of the least recent verification, unless some part was never verified.
    pub fn oldest(&self) -> Option<Duration> {
        let oldest = self.verified.iter().min().filter(|time| **time > 0)?;
        SystemTime::now().duration_since(UNIX_EPOCH + Duration::from_secs(*oldest)).ok()
    }

    /// The state of the verification, as words.
    pub fn state(&self) -> String {
        state(self.never(), self.oldest())
    }

    /// The path of the text file.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// How much is verified, as words: `never` bytes are not, or all are and the least recent verification has this age.
pub fn state(never: u64, oldest: Option<Duration>) -> String {
    match (never, oldest) {
        (0, Some(age)) => format!("all data was verified within the last {}", left(age.as_secs_f64().max(1.0))),
        (0, None) => "there is no data".into(),
        (1, _) => "1 byte is not verified yet".into(),
        (never, _) => format!("{} bytes are not verified yet", grouped(never)),
    }
}

/// The content of such a file; more than any of them has is not read.
fn read(file: &File) -> io::Result<Vec<u8>> {
    const LONGEST: u64 = 1 << 20;
    let mut bytes = Vec::new();
    file.take(LONGEST).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn every_part_comes_once_and_the_oldest_first() {
        let folder = std::env::temp_dir().join(format!("mksum-rounds-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("f.mkt.checked");
        let spec: mksum::Spec = "rfc6962".parse().unwrap();
        let root = spec.seal(mksum::Digest::new(&[7; 32]), 100 << 20);
        let mut rounds = Rounds::open(path.clone(), &root, 64 << 10).unwrap();
        let first = rounds.due();
        // Together they are the file, in an order that is soon everywhere.
        let mut ranges: Vec<_> = first.iter().map(|&part| rounds.range(part)).collect();
        assert!(ranges[..4].iter().any(|range| range.start >= 50 << 20));
        ranges.sort_by_key(|range| range.start);
        assert!(ranges[0].start == 0 && ranges.windows(2).all(|pair| pair[0].end == pair[1].start));
        assert_eq!(ranges.last().unwrap().end, 100 << 20);
        for &part in &first[..30] {
            rounds.good(part).unwrap();
        }
        rounds.write().unwrap();
        let again = Rounds::open(path.clone(), &root, 64 << 10).unwrap();
        assert_eq!(again.due()[..first.len() - 30], first[30..]);
        assert_eq!(again.never(), (first.len() as u64 - 30) << 20);
        // With another root, or from a damaged file, nothing is known.
        let other = spec.seal(mksum::Digest::new(&[8; 32]), 100 << 20);
        assert_eq!(Rounds::open(path.clone(), &other, 64 << 10).unwrap().never(), 100 << 20);
        for bytes in [&b""[..], b"mksum verified 1\n\xff\xff"] {
            fs::write(&path, bytes).unwrap();
            assert_eq!(Rounds::open(path.clone(), &root, 64 << 10).unwrap().never(), 100 << 20);
        }
        // A file of the user is not replaced.
        fs::write(&path, "my notes").unwrap();
        assert!(Rounds::open(path, &root, 64 << 10).is_err());
        fs::remove_dir_all(folder).unwrap();
    }
}
