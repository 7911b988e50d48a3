//! Rounds: a file that is verified a part at a time, what was not verified for longest first.

use mksum::{Root, Shape};
use std::fs;
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// When each part of a file was last found as its outboard has it: the text file beside the outboard.
#[derive(Debug)]
pub struct Rounds {
    path: PathBuf,
    /// The root that it was verified against: of another, nothing is known.
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
    /// The time between writes: what is lost at most when the process is ended.
    const INTERVAL: Duration = Duration::from_secs(5);

    /// What is remembered at `path` of a file with this root, whose outboard has units of `unit` bytes.
    pub fn open(path: PathBuf, root: &Root, unit: u64) -> io::Result<Rounds> {
        let len = root.len();
        let part = len.div_ceil(Self::PARTS).max(Self::SHORTEST.min(len)).max(1);
        let part = match root.spec().shape() {
            // Units of a halved tree lie anywhere: those at the edges are read with both parts.
            Shape::Halved { .. } => part.max(unit),
            _ => part.next_multiple_of(unit),
        };
        let head = format!("mksum verified 1\n{} = {root}\n{len} bytes in parts of {part}\n", root.spec());
        let count = len.div_ceil(part) as usize;
        let remembered = match fs::read_to_string(&path) {
            Ok(text) => text.strip_prefix(&head).and_then(|times| Self::times(times, count)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) if error.kind() == io::ErrorKind::InvalidData => None,
            Err(error) => return Err(error),
        };
        let verified = remembered.unwrap_or_else(|| vec![0; count]);
        Ok(Rounds { path, head, len, part, verified, written: Instant::now() })
    }

    fn times(text: &str, count: usize) -> Option<Vec<u64>> {
        let times = text.lines().map(|line| line.parse().ok()).collect::<Option<Vec<_>>>()?;
        (times.len() == count && text.ends_with('\n')).then_some(times)
    }

    /// The parts in the order in which they are due: the longest unverified first, those of one age spread over the file.
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

    /// Remembers that a part was found good.
    pub fn good(&mut self, part: usize) -> io::Result<()> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |since| since.as_secs());
        self.verified[part] = now.max(1);
        if self.written.elapsed() >= Self::INTERVAL { self.write() } else { Ok(()) }
    }

    /// Writes down what is remembered: to another name first, so that there is always a whole one.
    pub fn write(&mut self) -> io::Result<()> {
        let times: String = self.verified.iter().map(|time| format!("{time}\n")).collect();
        let mut name = self.path.clone().into_os_string();
        name.push(".new");
        let name = PathBuf::from(name);
        let mut file = fs::File::create(&name)?;
        file.write_all(self.head.as_bytes())?;
        file.write_all(times.as_bytes())?;
        file.sync_data()?;
        fs::rename(&name, &self.path)?;
        self.written = Instant::now();
        Ok(())
    }

    /// The bytes that were never found good.
    pub fn never(&self) -> u64 {
        let parts = self.verified.iter().enumerate().filter(|(_, time)| **time == 0);
        parts.map(|(part, _)| self.range(part)).map(|range| range.end - range.start).sum()
    }

    /// How long ago the part was verified that is due first, unless it never was.
    pub fn oldest(&self) -> Option<Duration> {
        let oldest = self.verified.iter().min().filter(|time| **time > 0)?;
        SystemTime::now().duration_since(UNIX_EPOCH + Duration::from_secs(*oldest)).ok()
    }

    /// Where it is remembered.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        // Of another root, or of what is no such file, nothing is known.
        let other = spec.seal(mksum::Digest::new(&[8; 32]), 100 << 20);
        assert_eq!(Rounds::open(path.clone(), &other, 64 << 10).unwrap().never(), 100 << 20);
        fs::write(&path, b"\xff\xff").unwrap();
        assert_eq!(Rounds::open(path, &root, 64 << 10).unwrap().never(), 100 << 20);
        fs::remove_dir_all(folder).unwrap();
    }
}
