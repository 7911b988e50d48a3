//! Outboards as files: read at random, written so that a crash leaves the old one, the new one, or one that can be resumed.
//!
//! ```
//! use mksum_io::outboard::{Changes, Finding, How, Keeping, beside, keep, open, update, verify};
//! use mksum_io::{File, Options};
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("file");
//! let place = beside(&path);
//! std::fs::write(&path, vec![7; 1_000_000])?;
//! let spec: mksum::Spec = "rfc6962:sha256:4KiB".parse()?;
//! keep(File::open(&path, &Options::new())?, &spec, &Keeping::new(4096, &place))?;
//!
//! // A byte changes. Verifying a range reads that range and O(log n) digests.
//! let mut bytes = std::fs::read(&path)?;
//! bytes[500_000] = 8;
//! std::fs::write(&path, &bytes)?;
//! let (outboard, mut found) = (open(&place)?, Vec::new());
//! verify(File::open(&path, &Options::new())?, (&outboard, &place), 499_000..501_000, &mut |finding| {
//!     found.push(finding);
//!     Ok(())
//! })?;
//! assert_eq!(found, [Finding::Damaged(499_712..503_808)]);
//!
//! // It was meant to: so the outboard is brought up to date, and only what changed is read.
//! let how = How::Ranges(vec![500_000..500_001]);
//! let updated = update(File::open(&path, &Options::new())?, &outboard, &how, &place, Changes::Refuse)?;
//! assert_eq!(updated.root, spec.root(&bytes)?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod draft;
mod foreign;
mod journal;
mod keep;
mod prove;
mod remote;
mod repair;
mod rounds;
mod update;
mod verify;
mod whole;

pub use crate::paths::with_extension;
pub use foreign::keep_foreign;
pub use keep::{Changes, Keeping, Kept, Pending, assemble, commit, keep, prepare};
pub use prove::prove;
pub use remote::Remote;
pub(crate) use repair::restore_time;
pub use repair::{Repair, Repaired, repair};
pub use rounds::{Age, Rounds, Schedule};
pub use update::{How, Updated, update};
pub use verify::{Finding, verify};
pub use whole::repair_whole;

use crate::platform::{open_at_once, read_exact_at};
use crate::{Error, Input, Options, Refusal, Url, replacement};
use mksum::outboard::{Header, MAGIC, Outboard, OutboardError, ReadAt};
use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The extension of outboards, behind the whole name of the file.
pub const EXTENSION: &str = "mkt";

/// The usual path of the outboard of the file at `path`: beside it.
pub fn beside(path: &Path) -> PathBuf {
    with_extension(path, EXTENSION)
}

/// The usual place of the outboard of a file, with this extension: beside it. That of an object is in the current directory, under the last
/// part of its URL.
pub fn place_of(file: &Input, extension: &str) -> Input {
    let named = |url: &Url| PathBuf::from(url.file_path()).file_name().map(PathBuf::from).unwrap_or_default();
    file.url().map_or_else(|| file.clone(), |url| named(url).into()).with_extension(extension)
}

/// Whether the file at `path` belongs to an outboard, by its name and its first bytes: an outboard itself, an unfinished one,
/// or the record of a verification or a repair; or one of these under the name that it has while it is written, which the end of a
/// killed run can leave. A record and an unfinished file may be gone already.
pub fn is_part_of_outboard(path: &Path) -> bool {
    let Some(name) = path.file_name() else { return false };
    let target = replacement::target_of(name);
    let name = target.unwrap_or(name.as_encoded_bytes());
    let before = |extension: &str| name.strip_suffix(extension.as_bytes())?.strip_suffix(b".");
    let part = before(PART);
    let (head, is_record) = if before(EXTENSION).is_some() || part.is_some() {
        (&MAGIC[..], false)
    } else if before(CHECKED).is_some() {
        (CHECKED_HEAD.as_bytes(), true)
    } else if before(journal::EXTENSION).is_some() {
        (journal::HEAD.as_bytes(), true)
    } else {
        return false;
    };
    // The name alone says so: `.part` is also that of others' downloads.
    let is_unfinished = target.is_some() || part.is_some_and(|whole| whole.ends_with(b".mkt"));
    match open_at_once(path) {
        // A kill right after it was created leaves it empty. Asked first: another process may write its first bytes in between.
        Ok(file) => (is_unfinished && is_empty(&file)) || begins_with(&file, head),
        // Since its directory was listed, the work that it was about has been finished.
        Err(error) => (is_record || is_unfinished) && error.kind() == ErrorKind::NotFound,
    }
}

/// Whether the first bytes of a file are these.
fn begins_with(file: &File, head: &[u8]) -> bool {
    let mut found = vec![0; head.len()];
    read_exact_at(file, &mut found, 0).is_ok() && found == head
}

fn is_empty(file: &File) -> bool {
    file.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.len() == 0)
}

/// The extension of an unfinished outboard, behind its final name.
pub const PART: &str = "part";
/// The extension of the record of the times at which the parts of a file were verified, behind the name of its outboard.
const CHECKED: &str = "checked";
/// The beginning of that record.
const CHECKED_HEAD: &str = "mksum verified ";

/// Whether a file has the size, mtime and inode in its outboard.
pub fn is_unchanged(file: &crate::File, header: &Header) -> bool {
    file.len() == header.len && header.identity.is_some() && header.identity == file.identity()
}

/// The bytes of an outboard, in a file.
#[derive(Debug)]
pub struct Stored {
    place: Input,
    file: File,
    size: u64,
}

impl Stored {
    /// Opens the file at `path` for reading.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn open(path: &Path) -> Result<Stored, Error> {
        let fail = |error| Error::Open { path: path.into(), error };
        let file = open_at_once(path).map_err(fail)?;
        let metadata = file.metadata().map_err(fail)?;
        if metadata.is_dir() {
            return Err(fail(io::Error::from(ErrorKind::IsADirectory)));
        }
        Ok(Stored { place: path.into(), file, size: metadata.len() })
    }

    /// Opens a file, or an object for one of these options: that is copied to this machine first, because each digest would be a request
    /// of its own.
    ///
    /// # Errors
    /// As [`Stored::open`]; if the object cannot be fetched, is no outboard, or the copy cannot be written.
    pub fn open_with(place: &Input, options: &Options) -> Result<Stored, Error> {
        if let Input::File(path) = place {
            return Stored::open(path);
        }
        let write = |error| Error::Write { path: place.clone(), error };
        let (object, mut copy) = (crate::File::open(place, options)?, tempfile::tempfile().map_err(write)?);
        let size = object.len();
        let head = object.bytes(0..size.min(MAGIC.len() as u64))?;
        if head != MAGIC {
            return Err(Error::from_outboard(OutboardError::Magic, place));
        }
        let mut done = 0;
        while done < size {
            let end = size.min(done + Self::COPIED);
            copy.write_all(&object.bytes(done..end)?).map_err(write)?;
            done = end;
        }
        object.finish()?;
        Ok(Stored { place: place.clone(), file: copy, size })
    }

    /// Copies the next `size` bytes of a reader to this machine: those of an outboard at `place`.
    ///
    /// # Errors
    /// If there are fewer, they cannot be read, or the copy cannot be written.
    pub fn copied(place: &Input, reader: &mut (dyn Read + '_), size: u64) -> Result<Stored, Error> {
        let write = |error| Error::Write { path: place.clone(), error };
        let mut copy = tempfile::tempfile().map_err(write)?;
        let mut buffer = vec![0; size.min(Self::COPIED) as usize];
        let mut done = 0;
        while done < size {
            let next = &mut buffer[..(size - done).min(Self::COPIED) as usize];
            reader.read_exact(next).map_err(|error| Error::Read { path: place.clone(), offset: done, error })?;
            copy.write_all(next).map_err(write)?;
            done += next.len() as u64;
        }
        Ok(Stored { place: place.clone(), file: copy, size })
    }

    /// The bytes that are copied at a time.
    const COPIED: u64 = 4 << 20;

    /// Writes a copy of all its bytes.
    ///
    /// # Errors
    /// If the copy cannot be written.
    pub fn copy_whole(&self, to: &Path) -> Result<(), Error> {
        let written = File::create_new(to).and_then(|file| self.copy_to(0, self.size, &file));
        written.map(drop).map_err(|error| Error::Write { path: to.into(), error })
    }

    fn of(path: &Path, file: &File) -> Result<Stored, Error> {
        let fail = |error| Error::Open { path: path.into(), error };
        let file = file.try_clone().map_err(fail)?;
        let size = file.metadata().map_err(fail)?.len();
        Ok(Stored { place: path.into(), file, size })
    }

    /// Appends the `bytes` bytes from `offset` on to a file; how many there were.
    fn copy_to(&self, offset: u64, bytes: u64, mut to: &File) -> io::Result<u64> {
        let mut from = &self.file;
        from.seek(SeekFrom::Start(offset))?;
        to.seek(SeekFrom::End(0))?;
        io::copy(&mut from.take(bytes), &mut to)
    }

    /// The input that was opened.
    pub fn place(&self) -> &Input {
        &self.place
    }
}

impl ReadAt for Stored {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), mksum::Error> {
        read_exact_at(&self.file, buffer, offset).map_err(|(done, error)| {
            let offset = offset + done as u64;
            Error::Read { path: self.place.clone(), offset, error }.into()
        })
    }

    fn size(&self) -> u64 {
        self.size
    }
}

/// Appends a range to those before it: as one with the last, if it begins where that ends.
pub fn append(ranges: &mut Vec<Range<u64>>, range: Range<u64>) {
    match ranges.last_mut() {
        Some(last) if last.end == range.start => last.end = range.end,
        _ => ranges.push(range),
    }
}

/// Opens the outboard at `path`.
///
/// # Errors
/// If it cannot be read, is not an outboard, or is unfinished or damaged in its header.
pub fn open(path: &Path) -> Result<Outboard<Stored>, Error> {
    opened(Stored::open(path)?, path)
}

/// Opens the outboard at a path or URL.
///
/// # Errors
/// As [`open`] and [`Stored::open_with`].
pub fn open_with(place: &Input, options: &Options) -> Result<Outboard<Stored>, Error> {
    opened(Stored::open_with(place, options)?, place)
}

/// The outboard in `bytes`, which were read from `place`.
///
/// # Errors
/// As [`open`].
pub fn opened<R: ReadAt>(bytes: R, place: impl Into<Input>) -> Result<Outboard<R>, Error> {
    let place = place.into();
    Outboard::open(bytes).map_err(|error| match Error::from_outboard(error, &place) {
        error if error.is_of_media() => Error::refused(place, Refusal::Header(error.to_string())),
        error => error,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_belongs_to_an_outboard_is_known_by_its_name_and_first_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let (whole, part, repair) = ("a.mkt", "a.mkt.part", "a.mkt.repair");
        let unfinished = ["a.mkt.mksum-1-0", "a.mkt.repair.mksum-19941-0", "a.obao.part.mksum-1-0"];
        let others = ["a", "mkt", "part", "a.mksum-1-0", "a.mkt.repair.mksum-1", "a.mkt.mksum-1-x"];
        // Gone since they were listed.
        for (name, ours) in [(whole, false), (part, true), ("a.part", false), (repair, true), ("a.mkt.checked", true)] {
            assert_eq!(is_part_of_outboard(&folder.path().join(name)), ours, "{name}");
        }
        unfinished.iter().for_each(|name| assert!(is_part_of_outboard(&folder.path().join(name)), "{name}"));
        others.iter().for_each(|name| assert!(!is_part_of_outboard(&folder.path().join(name)), "{name}"));
        let bytes = [&b""[..], &MAGIC, journal::HEAD.as_bytes(), b"a user's"];
        for (bytes, ours) in
            bytes.into_iter().zip([[true, true, false], [true, true, false], [false, false, true], [false; 3]])
        {
            let is = |name: &str| {
                let path = folder.path().join(name);
                std::fs::write(&path, bytes).unwrap();
                is_part_of_outboard(&path)
            };
            assert_eq!(["a.mkt.mksum-7-1", part, repair].map(is), ours, "{bytes:?}");
            assert!(!others.iter().any(|name| is(name)), "{bytes:?}");
        }
    }
}
