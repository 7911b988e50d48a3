//! Outboards as files: read at random, written so that a crash leaves the old one, the new one, or one to go on with.

mod draft;
mod foreign;
mod journal;
mod keep;
mod repair;
mod update;
mod verify;

pub use foreign::keep_foreign;
pub use keep::{Kept, keep};
pub use repair::{Repair, Repaired, repair};
pub use update::{How, Updated, update};
pub use verify::{Finding, verify};

use crate::Error;
use crate::platform::read_at;
use mksum::{Outboard, ReadAt};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// What is put behind a file's name to name its outboard.
pub const EXTENSION: &str = "mkt";

/// Where the outboard of the file at `path` is kept: beside it.
pub fn beside(path: &Path) -> PathBuf {
    with_extension(path, EXTENSION)
}

/// `path` with a dot and `extension` behind its name.
pub fn with_extension(path: &Path, extension: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(".");
    name.push(extension);
    name.into()
}

/// The bytes of an outboard, in a file.
#[derive(Debug)]
pub struct Stored {
    path: PathBuf,
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
        let file = File::open(path).map_err(fail)?;
        let metadata = file.metadata().map_err(fail)?;
        if metadata.is_dir() {
            return Err(fail(io::Error::from(ErrorKind::IsADirectory)));
        }
        Ok(Stored { path: path.into(), file, size: metadata.len() })
    }

    fn of(path: &Path, file: &File) -> Result<Stored, Error> {
        let fail = |error| Error::Open { path: path.into(), error };
        let file = file.try_clone().map_err(fail)?;
        let size = file.metadata().map_err(fail)?.len();
        Ok(Stored { path: path.into(), file, size })
    }

    /// Appends the `bytes` bytes from `offset` on to a file; how many there were.
    fn copy_to(&self, offset: u64, bytes: u64, mut to: &File) -> io::Result<u64> {
        let mut from = &self.file;
        from.seek(SeekFrom::Start(offset))?;
        to.seek(SeekFrom::End(0))?;
        io::copy(&mut from.take(bytes), &mut to)
    }

    /// The path that it was opened by.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl ReadAt for Stored {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), mksum::Error> {
        let mut done = 0;
        while done < buffer.len() {
            let at = offset + done as u64;
            let error = match read_at(&self.file, &mut buffer[done..], at) {
                Ok(0) => io::Error::from(ErrorKind::UnexpectedEof),
                Ok(more) => {
                    done += more;
                    continue;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => error,
            };
            return Err(crate::file::source(Error::Read { path: self.path.clone(), offset: at, error }));
        }
        Ok(())
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
/// If it cannot be read, is none, or is not finished or damaged in its header.
pub fn open(path: &Path) -> Result<Outboard<Stored>, Error> {
    Outboard::open(Stored::open(path)?).map_err(|error| Error::from_outboard(error, path))
}
