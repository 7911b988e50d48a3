//! A file that is held open while it is repaired: nothing is written to another one that takes its name, or to one that was changed.

use crate::file::Ending;
use crate::open::{Opened, described};
use crate::platform::{self, Access, Stamp, write_at};
use crate::{Error, Facts, File, Options, Refusal, Roots, jobs, reason};
use mksum::Spec;
use std::fs::{self, Metadata, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// A directory that is held open: the files below it are found from it, and no symbolic link on the way is followed.
#[derive(Debug)]
pub struct HeldDirectory {
    path: PathBuf,
    directory: platform::Directory,
}

impl HeldDirectory {
    /// Opens a directory. A link to one is followed: its user has named it.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn open(path: &Path) -> Result<HeldDirectory, Error> {
        let directory = platform::Directory::open(path).map_err(|error| Error::Open { path: path.into(), error })?;
        Ok(HeldDirectory { path: path.into(), directory })
    }
}

/// An open file, with what the system said about it when it was opened or last written to here.
#[derive(Debug)]
pub struct HeldFile<'a> {
    path: PathBuf,
    /// The directory below which it was found, and its path there; else links are followed.
    below: Option<(&'a HeldDirectory, PathBuf)>,
    file: fs::File,
    metadata: Metadata,
    access: Access,
}

impl HeldFile<'static> {
    /// Opens the file at a path, or the one that a link there points to.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn open(path: &Path) -> Result<Self, Error> {
        HeldFile::new(path.into(), None)
    }
}

impl<'a> HeldFile<'a> {
    /// Opens the file at the path `below` a directory, without following links.
    ///
    /// # Errors
    /// If it cannot be opened, or a link is on the way.
    pub fn open_below(directory: &'a HeldDirectory, below: &Path) -> Result<Self, Error> {
        HeldFile::new(directory.path.join(below), Some((directory, below.into())))
    }

    fn new(path: PathBuf, below: Option<(&'a HeldDirectory, PathBuf)>) -> Result<Self, Error> {
        let opened = open(&path, below.as_ref(), Access::Read).and_then(|file| Ok((file.metadata()?, file)));
        match opened {
            Ok((metadata, file)) => Ok(HeldFile { path, below, file, metadata, access: Access::Read }),
            Err(error) => Err(Error::Open { path: path.into(), error }),
        }
    }

    /// The path that it was opened by.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file's metadata when it was opened, or last written to through this value.
    pub fn facts(&self) -> Facts {
        Facts::from(&self.metadata)
    }

    /// Returns a reader of the same open file.
    ///
    /// # Errors
    /// If it has no fixed length.
    pub fn reader(&self, options: &Options) -> Result<File, Error> {
        self.reader_by(Ending::OpenFile, options)
    }

    /// Returns a reader of the same open file through the page cache, to which its path must lead as long as it is read.
    ///
    /// # Errors
    /// If it has no fixed length.
    pub fn reader_at_path(&self, options: &Options) -> Result<File, Error> {
        self.reader_by(Ending::Path, &options.through_cache())
    }

    fn reader_by(&self, ending: Ending, options: &Options) -> Result<File, Error> {
        let file = self.file.try_clone().map_err(|error| self.unopened(error))?;
        match described(file, &self.metadata, &(&self.path).into(), None, ending, options)? {
            Opened::File(file) => Ok(*file),
            Opened::Stream(_) => Err(Error::refused(&self.path, Refusal::NoLength)),
        }
    }

    /// The roots of the open file, all of it read.
    ///
    /// # Errors
    /// If it cannot be read, or changes meanwhile.
    pub fn roots(&self, specs: &[Spec], options: &Options) -> Result<Roots, Error> {
        // What was written is to be read from the disk, not from memory.
        platform::evict(&self.file);
        let roots = jobs::hash_file(self.reader(options)?, specs)?;
        self.check()?;
        Ok(roots)
    }

    /// Checks that the path still leads to this file, and that no other process has changed it.
    ///
    /// # Errors
    /// If not: [`Refusal::Overtaken`].
    pub fn check(&self) -> Result<(), Error> {
        let now = self.file.metadata().map_err(|error| self.unopened(error))?;
        self.compare(&now)
    }

    fn compare(&self, now: &Metadata) -> Result<(), Error> {
        // Nobody else can change it then, and the time of its last change is set late.
        if cfg!(windows) && self.access == Access::Write {
            return Ok(());
        }
        let there = match &self.below {
            Some((directory, below)) => directory.directory.id_below(below, &self.file),
            None => fs::metadata(&self.path).map(|metadata| Stamp::of(&metadata).id),
        };
        match Stamp::of(&self.metadata).difference(now, there.map_err(|error| reason(&error))) {
            Some(how) => Err(Error::refused(&self.path, Refusal::Overtaken(how))),
            None => Ok(()),
        }
    }

    /// Opens it for writing, once, where no other process is repairing it.
    ///
    /// # Errors
    /// If it cannot be opened, or is not the file that was read.
    pub(crate) fn begin_writing(&mut self) -> Result<(), Error> {
        if self.access == Access::Write {
            return Ok(());
        }
        // A link in its place is reported as such.
        self.check()?;
        let write = |error| Error::Write { path: self.path.clone().into(), error };
        let file = open(&self.path, self.below.as_ref(), Access::Write).map_err(write)?;
        self.compare(&file.metadata().map_err(write)?)?;
        // Elsewhere a lock would keep this very process from reading.
        if cfg!(unix) && matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
            return Err(Error::refused(&self.path, Refusal::Busy));
        }
        (self.file, self.access) = (file, Access::Write);
        Ok(())
    }

    /// Whether the file has `bytes` at `offset`, and they can be read.
    pub(crate) fn holds(&self, bytes: &[u8], offset: u64) -> bool {
        let mut found = vec![0; bytes.len()];
        platform::read_exact_at(&self.file, &mut found, offset).is_ok() && found == bytes
    }

    /// Writes all of `bytes` at `offset`, if it is still the file that was read.
    ///
    /// # Errors
    /// If it is not, or the system cannot write.
    pub(crate) fn write(&mut self, bytes: &[u8], offset: u64) -> Result<(), Error> {
        let end = (offset + bytes.len() as u64).max(self.metadata.len());
        self.change(end, |file| write_at(file, bytes, offset))
    }

    /// Makes a shorter regular file `len` bytes long.
    ///
    /// # Errors
    /// As [`HeldFile::write`].
    pub(crate) fn extend(&mut self, len: u64) -> Result<(), Error> {
        match self.metadata.is_file() && self.metadata.len() < len {
            true => self.change(len, |file| file.set_len(len)),
            false => Ok(()),
        }
    }

    /// Sets the time of the last change of a file that was written to here.
    ///
    /// # Errors
    /// If the path no longer leads to the file that is held, or the system refuses the new time.
    pub fn set_modified(&mut self, time: SystemTime) -> Result<(), Error> {
        match self.access {
            Access::Read => Ok(()),
            Access::Write => self.change(self.metadata.len(), |file| file.set_modified(time)),
        }
    }

    /// Makes what was written safe against a crash.
    ///
    /// # Errors
    /// If the system cannot.
    pub(crate) fn sync(&self) -> Result<(), Error> {
        self.file.sync_all().map_err(|error| self.unwritten(error))
    }

    /// Changes it, and takes its facts anew: it has `len` bytes then, or another has changed it at the same time.
    fn change(&mut self, len: u64, change: impl FnOnce(&fs::File) -> io::Result<()>) -> Result<(), Error> {
        self.check()?;
        change(&self.file).map_err(|error| self.unwritten(error))?;
        let metadata = self.file.metadata().map_err(|error| self.unwritten(error))?;
        if metadata.is_file() && metadata.len() != len {
            let how = format!("it has {} bytes instead of {len}", metadata.len());
            return Err(Error::refused(&self.path, Refusal::Overtaken(how)));
        }
        self.metadata = metadata;
        Ok(())
    }

    fn unopened(&self, error: io::Error) -> Error {
        Error::Open { path: self.path.clone().into(), error }
    }

    fn unwritten(&self, error: io::Error) -> Error {
        Error::Write { path: self.path.clone().into(), error }
    }
}

fn open(path: &Path, below: Option<&(&HeldDirectory, PathBuf)>, access: Access) -> io::Result<fs::File> {
    match below {
        Some((directory, below)) => directory.directory.open_below(below, access),
        None => platform::open_held(path, access),
    }
}
