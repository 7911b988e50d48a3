//! Files that are there whole or not at all.

use crate::outboard::with_extension;
use crate::platform::{sync_folder, write_at};
use crate::{Error, Refusal};
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The names of all that are being written.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes all files that are being written, for a process that is about to end: from now on nothing is finished.
pub fn remove_unfinished() {
    let paths = unfinished();
    for path in paths.iter() {
        // The process ends: nobody can act on a failure.
        let _ = fs::remove_file(path);
    }
    // A thread that is about to finish one waits for the lock until the process is gone.
    mem::forget(paths);
}

/// A file that is written beside its target and takes its place at the end; without [`Replacement::finish`] it is removed.
#[derive(Debug)]
pub(crate) struct Replacement {
    target: PathBuf,
    path: PathBuf,
    /// `None` once it is finished.
    file: Option<File>,
}

impl Replacement {
    /// Begins a file for `target`, or for the file that the link there points to.
    ///
    /// # Errors
    /// If something other than a regular file is there, or no file can be written beside it.
    pub fn create(target: &Path) -> Result<Self, Error> {
        let fail = |error| Error::Write { path: target.into(), error };
        let target: PathBuf = match fs::metadata(target) {
            Ok(found) if found.is_dir() => return Err(fail(ErrorKind::IsADirectory.into())),
            Ok(found) if !found.is_file() => return Err(Error::refused(target, Refusal::NotRegular)),
            Ok(_) => fs::canonicalize(target).map_err(fail)?,
            Err(error) if error.kind() == ErrorKind::NotFound => target.into(),
            Err(error) => return Err(fail(error)),
        };
        let path = with_extension(&target, &format!("part-{}", std::process::id()));
        // The name is known before the file is there: an interrupt between the two leaves nothing either.
        unfinished().push(path.clone());
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(file) => Ok(Replacement { target, path, file: Some(file) }),
            Err(error) => {
                unfinished().retain(|other| *other != path);
                Err(Error::Write { path: target, error })
            }
        }
    }

    /// Writes all of `bytes` at `offset`.
    pub fn write_at(&self, bytes: &[u8], offset: u64) -> Result<(), Error> {
        let file = self.file.as_ref().expect("it is not finished");
        write_at(file, bytes, offset).map_err(|error| self.fail(error))
    }

    /// Puts it in its place.
    pub fn finish(mut self) -> Result<(), Error> {
        // Nobody who interrupts waits for the disk.
        let file = self.file.as_ref().expect("it is finished once");
        file.sync_all().map_err(|error| self.fail(error))?;
        {
            let mut paths = unfinished();
            fs::rename(&self.path, &self.target).map_err(|error| self.fail(error))?;
            paths.retain(|other| *other != self.path);
        }
        self.file = None;
        sync_folder(&self.target).map_err(|error| self.fail(error))
    }

    fn fail(&self, error: io::Error) -> Error {
        Error::Write { path: self.target.clone(), error }
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        if self.file.take().is_some() {
            // The failure itself is reported; a second one about the remains would not help.
            let _ = fs::remove_file(&self.path);
            unfinished().retain(|other| *other != self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = names.collect();
        names.sort();
        names
    }

    #[test]
    fn all_or_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("file");
        fs::write(&target, "old").unwrap();
        let begun = Replacement::create(&target).unwrap();
        begun.write_at(b"w", 2).unwrap();
        begun.write_at(b"ne", 0).unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"old");
        assert_eq!(names(folder.path()).len(), 2);
        begun.finish().unwrap();
        assert_eq!((fs::read(&target).unwrap(), names(folder.path())), (b"new".into(), vec!["file".into()]));

        let begun = Replacement::create(&target).unwrap();
        begun.write_at(b"never", 0).unwrap();
        drop(begun);
        assert_eq!((fs::read(&target).unwrap(), names(folder.path())), (b"new".into(), vec!["file".into()]));
    }

    #[test]
    fn what_is_no_file_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        assert!(Replacement::create(folder.path()).is_err());
        assert!(Replacement::create(&folder.path().join("none/file")).is_err());
        #[cfg(unix)]
        {
            assert!(
                Replacement::create(Path::new("/dev/null")).unwrap_err().to_string().contains("not a regular file")
            );
            // A link stays a link.
            fs::write(folder.path().join("file"), "old").unwrap();
            let link = folder.path().join("link");
            std::os::unix::fs::symlink("file", &link).unwrap();
            let begun = Replacement::create(&link).unwrap();
            begun.write_at(b"new", 0).unwrap();
            begun.finish().unwrap();
            assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
            assert_eq!(fs::read(folder.path().join("file")).unwrap(), b"new");
        }
    }
}
