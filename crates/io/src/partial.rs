//! Files that are written in any order, and go on where an interrupted run ended.

use crate::paths::{folder, with_extension};
use crate::platform::{free_bytes, open_at_once, punch_hole, share_blocks, stored_bytes, sync_folder, write_at};
use crate::replacement::is_at;
use crate::{Error, Refusal};
use std::cmp::Reverse;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// A file that is written beside its target, as `TARGET.part`, and takes its place at the end.
///
/// Without [`Partial::finish`] it stays, to be resumed: its bytes have to be verified then.
#[derive(Debug)]
pub struct Partial {
    target: PathBuf,
    path: PathBuf,
    file: File,
    resumed: bool,
}

impl Partial {
    /// The extension of the unfinished file, behind the whole name of its target.
    const EXTENSION: &str = "part";

    /// The path of the unfinished file of `target`.
    pub fn name_of(target: &Path) -> PathBuf {
        with_extension(target, Self::EXTENSION)
    }

    /// Opens the unfinished file of `target`, or of the file that the link there points to, and makes it `len` bytes long: sparse,
    /// where it is new. It is locked until it is dropped.
    ///
    /// # Errors
    /// If something other than a regular file is at either path, another process writes it ([`Refusal::Busy`]), the disk has less room
    /// ([`Refusal::Room`]), or the system cannot write there.
    pub fn open(target: &Path, len: u64) -> Result<Partial, Error> {
        Self::resume(target)?.sized(len)
    }

    /// Makes it `len` bytes long, if the disk has room for those that it lacks. A new one is removed otherwise.
    ///
    /// # Errors
    /// If the disk has less room ([`Refusal::Room`]), or the system cannot.
    pub fn sized(self, len: u64) -> Result<Partial, Error> {
        match self.make_room(len) {
            Ok(()) => Ok(self),
            Err(error) => {
                let is_new = !self.resumed;
                self.remove_if(is_new);
                Err(error)
            }
        }
    }

    /// Has a new one begin as one of the older files `seeds`, whose blocks it shares, where the file system can (Btrfs, XFS, ...): the
    /// one with the most of its `len` bytes. Returns the index of that file. All of it has to be verified then.
    pub fn share_blocks(&self, seeds: &[PathBuf], len: u64) -> Option<usize> {
        if self.resumed {
            return None;
        }
        let opened = |(index, seed): (usize, &PathBuf)| {
            let file = open_at_once(seed).ok()?;
            let metadata = file.metadata().ok().filter(fs::Metadata::is_file)?;
            Some((metadata.len().min(len), index, file))
        };
        let mut files: Vec<_> = seeds.iter().enumerate().filter_map(opened).filter(|(len, ..)| *len > 0).collect();
        files.sort_by_key(|(len, ..)| Reverse(*len));
        files.iter().find(|(_, _, file)| share_blocks(file, &self.file).is_ok()).map(|(_, index, _)| *index)
    }

    /// Removes the bytes of a range, where the file system can: they are zero then, and take no room.
    pub fn clear(&self, range: &Range<u64>) {
        // Where it cannot, they stay until the right ones are written: nobody takes them for these.
        let _ = punch_hole(&self.file, range.start, range.end - range.start);
    }

    /// Opens it like [`Partial::open`], as long as it is: empty, where it is new.
    ///
    /// # Errors
    /// As [`Partial::open`], but for the room.
    pub fn resume(target: &Path) -> Result<Partial, Error> {
        let target = target_of(target)?;
        let path = Self::name_of(&target);
        let fail = |error| Error::Write { path: path.clone().into(), error };
        loop {
            let found = match fs::symlink_metadata(&path) {
                Ok(found) if !found.is_file() => return Err(Error::refused(&path, Refusal::NotRegular)),
                Ok(_) => true,
                Err(error) if error.kind() == ErrorKind::NotFound => false,
                Err(error) => return Err(fail(error)),
            };
            let mut options = OpenOptions::new();
            options.read(true).write(true).create_new(!found);
            let file = match options.open(&path) {
                Ok(file) => file,
                // Another process was faster.
                Err(error)
                    if matches!(error.kind(), ErrorKind::AlreadyExists | ErrorKind::NotFound)
                        && folder(&path).exists() =>
                {
                    continue;
                }
                Err(error) => return Err(fail(error)),
            };
            // Elsewhere a lock would keep this very process from reading.
            if cfg!(unix) && matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
                return Err(Error::refused(&path, Refusal::Busy));
            }
            // It may have been finished, and be the target by now.
            if !is_at(&file, &path) {
                continue;
            }
            return Ok(Partial { target, path: path.clone(), file, resumed: found });
        }
    }

    /// Makes it `len` bytes long, if the disk has room for them.
    fn make_room(&self, len: u64) -> Result<(), Error> {
        let metadata = self.file.metadata().map_err(|error| self.fail(error))?;
        let needed = len.saturating_sub(stored_bytes(&metadata));
        check_room(&self.target, needed)?;
        self.file.set_len(len).map_err(|error| self.fail(error))
    }

    /// Whether it was there before.
    pub fn is_resumed(&self) -> bool {
        self.resumed
    }

    /// The path that it has until it is finished.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path that it will have.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// The file, to be written in order.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Writes all of `bytes` at `offset`.
    ///
    /// # Errors
    /// If the system cannot write them.
    pub fn write_at(&self, bytes: &[u8], offset: u64) -> Result<(), Error> {
        write_at(&self.file, bytes, offset).map_err(|error| self.fail(error))
    }

    /// Has the disk have all of it.
    ///
    /// # Errors
    /// If the system cannot write it.
    pub fn sync(&self) -> Result<(), Error> {
        self.file.sync_all().map_err(|error| self.fail(error))
    }

    /// Moves it to its target, safe against a crash.
    ///
    /// # Errors
    /// If the system cannot.
    pub fn finish(self) -> Result<(), Error> {
        self.sync()?;
        let placed = fs::rename(&self.path, &self.target).and_then(|()| sync_folder(&self.target));
        placed.map_err(|error| Error::Write { path: self.target.clone().into(), error })
    }

    /// Removes it if that `is_empty`: nothing was written to it.
    pub fn remove_if(self, is_empty: bool) {
        if is_empty {
            // What stays is resumed by the next run.
            let _ = fs::remove_file(&self.path);
        }
    }

    fn fail(&self, error: io::Error) -> Error {
        Error::Write { path: self.path.clone().into(), error }
    }
}

/// The path that a file for `target` will have: that of the file which a link there points to.
///
/// # Errors
/// If something other than a regular file is there.
fn target_of(target: &Path) -> Result<PathBuf, Error> {
    let fail = |error| Error::Write { path: target.into(), error };
    match fs::metadata(target).and_then(|found| Ok((found, fs::canonicalize(target)?))) {
        Ok((found, _)) if found.is_dir() => Err(fail(ErrorKind::IsADirectory.into())),
        Ok((found, _)) if !found.is_file() => Err(Error::refused(target, Refusal::NotRegular)),
        Ok((_, place)) => Ok(place),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(target.into()),
        Err(error) => Err(fail(error)),
    }
}

/// Compares the room on the disk of `path` with the bytes that are to be written there.
///
/// # Errors
/// If it has less.
pub fn check_room(path: &Path, needed: u64) -> Result<(), Error> {
    match free_bytes(folder(path)) {
        Some(free) if free < needed => Err(Error::refused(path, Refusal::Room { needed, free })),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_stays_until_it_is_finished_and_has_one_writer() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("file");
        fs::write(&target, "old").unwrap();
        let partial = Partial::open(&target, 6).unwrap();
        partial.write_at(b"new", 3).unwrap();
        let busy = Partial::open(&target, 6).unwrap_err().to_string();
        assert!(cfg!(not(unix)) || busy.contains("another process"), "{busy}");
        assert!(!partial.is_resumed());
        drop(partial);
        assert_eq!(fs::read(&target).unwrap(), b"old");
        let partial = Partial::open(&target, 6).unwrap();
        assert!(partial.is_resumed());
        partial.write_at(b"all", 0).unwrap();
        partial.finish().unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"allnew");
        assert!(!folder.path().join("file.part").exists());
    }

    #[test]
    fn what_does_not_fit_is_refused_before_anything_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("file");
        let refused = Partial::open(&target, 1 << 62);
        assert!(refused.is_err(), "{refused:?}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        assert!(Partial::open(folder.path(), 1).is_err());
        assert!(Partial::open(&folder.path().join("none/file"), 1).is_err());
    }
}
