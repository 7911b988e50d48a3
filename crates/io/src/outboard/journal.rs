//! The ranges of a file that are still to be repaired, written down beside its outboard.

use super::with_extension;
use crate::open::open_regular;
use crate::replacement::{Replacement, remove_stale};
use crate::{Error, Refusal};
use mksum::Root;
use std::fmt::Write as _;
use std::fs;
use std::io::{ErrorKind, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The damaged ranges of a file that is being repaired, so that an interrupted run need not look for them again.
///
/// It is only a hint: each range is checked again before anything is written, and all of the file in the end.
#[derive(Debug)]
pub(super) struct Journal {
    path: PathBuf,
    /// The first lines of a journal of this file and this outboard.
    head: String,
}

/// The extension of a journal, behind the name of the outboard.
pub(super) const EXTENSION: &str = "repair";
/// The beginning of a journal.
pub(super) const HEAD: &str = "mksum repair ";

impl Journal {
    /// A longer file is not a journal, in bytes.
    const LARGEST: u64 = 1 << 30;

    /// The journal beside the outboard at `place`, which has this root.
    pub fn new(place: &Path, root: &Root) -> Journal {
        let (spec, len) = (root.spec(), root.len());
        let head = format!("{HEAD}1\nformat {spec}\nroot {root}\nlength {len}\n");
        Journal { path: with_extension(place, EXTENSION), head }
    }

    /// The ranges that were written down, if they were of this outboard, all of them.
    pub fn read(&self) -> Option<Vec<Range<u64>>> {
        let mut text = String::new();
        open_regular(&self.path).ok()?.take(Self::LARGEST).read_to_string(&mut text).ok()?;
        let mut lines = text.strip_prefix(&self.head)?.lines();
        let (mut ranges, mut end) = (Vec::<Range<u64>>::new(), 0);
        loop {
            let mut words = lines.next()?.split(' ');
            let (word, mut number) = (words.next()?, || words.next()?.parse::<u64>().ok());
            match word {
                "range" => {
                    let range = number()?..number()?;
                    if range.is_empty() || range.start < end {
                        return None;
                    }
                    end = range.end;
                    ranges.push(range);
                }
                "end" => return (number()? == ranges.len() as u64).then_some(ranges),
                _ => return None,
            }
        }
    }

    /// Writes them down so that a crash leaves either all of them or the old journal.
    pub fn write(&self, ranges: &[Range<u64>]) -> Result<(), Error> {
        let mut text = self.head.clone();
        for range in ranges {
            let _ = writeln!(text, "range {} {}", range.start, range.end);
        }
        let _ = writeln!(text, "end {}", ranges.len());
        match open_regular(&self.path) {
            // A journal of another repair is of no use any more, but any other file is somebody's.
            Ok(mut file) => {
                let mut head = [0; HEAD.len()];
                let ours = file.read_exact(&mut head).is_ok() && head == *HEAD.as_bytes();
                if !ours && file.metadata().is_ok_and(|metadata| metadata.len() > 0) {
                    return Err(Error::refused(&self.path, Refusal::NotOurs));
                }
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(Error::Open { path: self.path.clone().into(), error }),
        }
        let new = Replacement::create(&self.path)?;
        new.write_at(text.as_bytes(), 0)?;
        new.finish()
    }

    /// Ends the repair.
    pub fn remove(&self) -> Result<(), Error> {
        match fs::remove_file(&self.path) {
            // A run that was killed while it replaced one has left two.
            Ok(()) => remove_stale(&self.path),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(Error::Write { path: self.path.clone().into(), error }),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_as_they_were_written_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.mkt.repair");
        let head = "mksum repair 1\nformat blake3\nroot 00\nlength 10\n".to_string();
        let journal = Journal { path: path.clone(), head };
        assert_eq!(journal.read(), None);
        let ranges = [0..4, 5..10];
        journal.write(&ranges).unwrap();
        assert_eq!(journal.read().as_deref(), Some(&ranges[..]));
        let text = fs::read_to_string(&path).unwrap();
        // Cut off anywhere, it is none; so it is with a range out of order, or of another file.
        for end in 0..text.len() - 1 {
            fs::write(&path, &text[..end]).unwrap();
            assert_eq!(journal.read(), None, "{end}");
        }
        for (from, to) in [("range 5 10", "range 3 10"), ("0 4", "4 4"), ("end 2", "end 3"), ("length 10", "length 11")]
        {
            fs::write(&path, text.replace(from, to)).unwrap();
            assert_eq!(journal.read(), None, "{to}");
        }
        journal.remove().unwrap();
        journal.remove().unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
