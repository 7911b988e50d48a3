//! Rounds: a file that is verified a part at a time, the least recently verified part first.

use super::{CHECKED, CHECKED_HEAD, Finding, verify, with_extension};
use crate::{Error, File, Input, Left, Refusal, Replacement, open_regular};
use mksum::outboard::{Outboard, ReadAt};
use mksum::{Root, Shape};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};
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

    /// Reads the rounds of the file whose outboard is at `place`.
    ///
    /// # Errors
    /// If the record beside the outboard cannot be read, or is another file.
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
    fn due(&self) -> Vec<usize> {
        let mut order: Vec<_> = (0..self.verified.len()).collect();
        order.sort_by_key(|&index| (self.verified[index], (index as u64).reverse_bits()));
        order
    }

    /// The bytes of a part.
    fn range(&self, part: usize) -> Range<u64> {
        let start = part as u64 * self.part;
        start..(start + self.part).min(self.len)
    }

    /// Compares a part of `file` with its outboard, read from `place`, hands `each` the differences, and remembers a part without any.
    /// Returns the length of the part.
    ///
    /// # Errors
    /// If the file or the outboard cannot be read, or the record cannot be written.
    pub fn verify<R: ReadAt>(
        &mut self,
        part: usize,
        file: File,
        outboard: (&Outboard<R>, &Input),
        each: &mut (dyn FnMut(Finding) + Send),
    ) -> Result<u64, Error> {
        let (range, mut good) = (self.range(part), true);
        let length = range.end - range.start;
        verify(file, outboard, range, &mut |finding| {
            good = false;
            each(finding);
            Ok(())
        })?;
        // A damaged part stays the first one due.
        if good {
            self.good(part)?;
        }
        Ok(length)
    }

    /// Has `verify` verify the parts that are due, at least one, until nothing is left.
    ///
    /// # Errors
    /// If `verify` fails, or the record cannot be written. What was found good until then is remembered.
    pub fn run(
        &mut self,
        left: &mut Left,
        verify: &mut dyn FnMut(&mut Rounds, usize) -> Result<u64, Error>,
    ) -> Result<(), Error> {
        self.run_until(u64::MAX, &mut HashSet::new(), left, verify).map(drop)
    }

    /// As [`Rounds::run`], but only parts that are not `done` and were verified at `until` or before. Returns the time at which the next
    /// part was verified, if that is later.
    fn run_until(
        &mut self,
        until: u64,
        done: &mut HashSet<usize>,
        left: &mut Left,
        verify: &mut dyn FnMut(&mut Rounds, usize) -> Result<u64, Error>,
    ) -> Result<Option<u64>, Error> {
        let mut run = || {
            for part in self.due() {
                if done.contains(&part) {
                    continue;
                }
                if self.verified[part] > until {
                    return Ok(Some(self.verified[part]));
                }
                left.take(verify(self, part)?);
                done.insert(part);
                if left.is_over() {
                    break;
                }
            }
            Ok(None)
        };
        let ended = run();
        let written = self.write();
        ended.and_then(|ended| written.map(|()| ended))
    }

    /// Remembers that a part was found good.
    fn good(&mut self, part: usize) -> Result<(), Error> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |since| since.as_secs());
        self.verified[part] = now.max(1);
        if self.written.elapsed() >= Self::INTERVAL { self.write() } else { Ok(()) }
    }

    /// Writes the times down, so that the file is always a whole one.
    fn write(&mut self) -> Result<(), Error> {
        let times: String = self.verified.iter().map(|time| format!("{time}\n")).collect();
        let file = Replacement::create(&self.path)?;
        file.write_at(format!("{}{times}", self.head).as_bytes(), 0)?;
        // Not flushed to the disk: after a crash of the system some parts are verified earlier than they are due.
        file.place()?;
        self.written = Instant::now();
        Ok(())
    }

    /// How much is verified, and when.
    pub fn age(&self) -> Age {
        let parts = self.verified.iter().enumerate().filter(|(_, time)| **time == 0);
        let never = parts.map(|(part, _)| self.range(part)).map(|range| range.end - range.start).sum();
        let oldest = self.verified.iter().min().filter(|time| **time > 0);
        let since = |time: &u64| SystemTime::now().duration_since(UNIX_EPOCH + Duration::from_secs(*time)).ok();
        Age { never, oldest: oldest.and_then(since) }
    }

    /// The path of the text file.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// How much of one file or several is verified, and when.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Age {
    /// The bytes that were never found good.
    pub never: u64,
    /// The age of the least recent verification of files of which all is verified.
    pub oldest: Option<Duration>,
}

/// Files that are verified in rounds: the least recently verified part of all of them first.
#[derive(Debug, Default)]
pub struct Schedule {
    /// The age of each file, and its parts that were verified in this run: once is enough, also for damaged ones.
    files: Vec<(Age, HashSet<usize>)>,
    /// The time at which a part of a file was verified, and the index of the file: the oldest first.
    due: BinaryHeap<Reverse<(u64, usize)>>,
}

impl Schedule {
    /// Adds a file, whose index is the number of those before it. Returns whether it has parts to be verified.
    pub fn add(&mut self, rounds: &Rounds) -> bool {
        let first = rounds.verified.iter().min();
        self.due.extend(first.map(|&time| Reverse((time, self.files.len()))));
        self.files.push((rounds.age(), HashSet::new()));
        first.is_some()
    }

    /// Takes the file whose part is due, by its index.
    pub fn next_file(&mut self) -> Option<usize> {
        self.due.pop().map(|Reverse((_, index))| index)
    }

    /// Has `verify` verify the parts of a file that are due before those of the others, at least one, until nothing is left. Returns
    /// whether others are due later.
    ///
    /// # Errors
    /// As [`Rounds::run`].
    pub fn run(
        &mut self,
        index: usize,
        rounds: &mut Rounds,
        left: &mut Left,
        verify: &mut dyn FnMut(&mut Rounds, usize) -> Result<u64, Error>,
    ) -> Result<bool, Error> {
        let next = self.due.peek().map_or(u64::MAX, |Reverse((time, _))| *time);
        let (age, done) = &mut self.files[index];
        let ended = rounds.run_until(next, done, left, verify);
        *age = rounds.age();
        let ended = ended?;
        self.due.extend(ended.map(|time| Reverse((time, index))));
        Ok(ended.is_some())
    }

    /// How much of all files is verified.
    pub fn age(&self) -> Age {
        let never = self.files.iter().map(|(age, _)| age.never).sum();
        Age { never, oldest: self.files.iter().filter_map(|(age, _)| age.oldest).max() }
    }
}

/// The content of such a file; more than any of them has is not read.
fn read(file: &std::fs::File) -> io::Result<Vec<u8>> {
    const LONGEST: u64 = 1 << 20;
    let mut bytes = Vec::new();
    file.take(LONGEST).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Effort;
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
        let mut parts = Vec::new();
        let mut left = Effort::Share(0.3).start(100 << 20);
        rounds
            .run(&mut left, &mut |rounds, part| {
                parts.push(part);
                rounds.good(part).map(|()| 1 << 20)
            })
            .unwrap();
        assert_eq!(parts, first[..30]);
        let again = Rounds::open(path.clone(), &root, 64 << 10).unwrap();
        assert_eq!(again.due()[..first.len() - 30], first[30..]);
        assert_eq!(again.age().never, (first.len() as u64 - 30) << 20);
        // With another root, or from a damaged file, nothing is known.
        let other = spec.seal(mksum::Digest::new(&[8; 32]), 100 << 20);
        assert_eq!(Rounds::open(path.clone(), &other, 64 << 10).unwrap().age().never, 100 << 20);
        for bytes in [&b""[..], b"mksum verified 1\n\xff\xff"] {
            fs::write(&path, bytes).unwrap();
            assert_eq!(Rounds::open(path.clone(), &root, 64 << 10).unwrap().age().never, 100 << 20);
        }
        // A file of the user is not replaced.
        fs::write(&path, "my notes").unwrap();
        assert!(Rounds::open(path, &root, 64 << 10).is_err());
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn the_least_recent_part_of_all_files_comes_first() {
        let folder = tempfile::tempdir().unwrap();
        let spec: mksum::Spec = "rfc6962".parse().unwrap();
        let mut all: Vec<_> = [2, 3, 0]
            .iter()
            .map(|len| {
                let root = spec.seal(mksum::Digest::new(&[7; 32]), len << 20);
                Rounds::open(folder.path().join(format!("{len}.mkt.checked")), &root, 64 << 10).unwrap()
            })
            .collect();
        all[0].verified = vec![1, 9];
        all[1].verified = vec![5, 2, 9];
        let mut schedule = Schedule::default();
        assert_eq!(all.iter().map(|rounds| schedule.add(rounds)).collect::<Vec<_>>(), [true, true, false]);
        assert!(schedule.age().never == 0 && schedule.age().oldest.is_some());
        let (mut left, mut seen) = (Effort::All.start(0), Vec::new());
        while let Some(index) = schedule.next_file() {
            // None is found good: they are due again in the next run, but not in this one.
            let verify = &mut |_: &mut Rounds, part| {
                seen.push((index, part));
                Ok(1)
            };
            schedule.run(index, &mut all[index], &mut left, verify).unwrap();
        }
        assert_eq!(seen, [(0, 0), (1, 1), (1, 0), (1, 2), (0, 1)]);
        // At least one part, also if nothing is left, or verifying fails.
        let (mut left, mut count) = (Effort::Time(Duration::ZERO).start(0), 0);
        let mut verify = |_: &mut Rounds, _| {
            count += 1;
            if count == 1 { Ok(1) } else { Err(Error::refused(Path::new("a"), Refusal::NotOurs)) }
        };
        all[0].run(&mut left, &mut verify).unwrap();
        assert!(left.is_over() && all[0].run(&mut left, &mut verify).is_err());
        assert_eq!(count, 2);
    }
}
