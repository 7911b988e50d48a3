//! Files that are written whole or not at all.

use crate::open::open_regular;
use crate::paths::{folder, with_extension};
use crate::platform::{Stamp, create_unnamed, give_name, sync_folder, write_at};
use crate::scratch::{self, Scratch};
use crate::{Error, Refusal};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

/// A file that is written beside its target and takes its place at the end; without [`Replacement::finish`] it is removed.
///
/// On Linux it has no name until then, so that nothing is left of it even if the process is killed. Elsewhere, and on file
/// systems that cannot do that, it has a name of its own and is locked: the next run for the same target removes what a
/// killed one left.
#[derive(Debug)]
pub struct Replacement {
    target: PathBuf,
    file: File,
    /// The name until then, if it has one.
    scratch: Option<Scratch>,
}

/// The text between the target's name and the number of the process in the name of an unfinished file.
const MARK: &str = "mksum-";

impl Replacement {
    /// Begins a file for `target`, or for the file that the link there points to.
    ///
    /// # Errors
    /// If something other than a regular file is there, or no file can be written beside it.
    pub fn create(target: &Path) -> Result<Self, Error> {
        let fail = |error| Error::Write { path: target.into(), error };
        // Another process may remove it between the two questions.
        let found = fs::metadata(target).and_then(|found| Ok((found, fs::canonicalize(target)?)));
        let target: PathBuf = match found {
            Ok((found, _)) if found.is_dir() => return Err(fail(ErrorKind::IsADirectory.into())),
            Ok((found, _)) if !found.is_file() => return Err(Error::refused(target, Refusal::NotRegular)),
            Ok((_, place)) => place,
            Err(error) if error.kind() == ErrorKind::NotFound => target.into(),
            Err(error) => return Err(fail(error)),
        };
        remove_stale(&target);
        if let Some(file) = create_unnamed(folder(&target)) {
            // It has a name for a moment if it replaces a file: another process must not take it for a remain.
            let _ = file.try_lock();
            return Ok(Replacement { target, file, scratch: None });
        }
        loop {
            let path = own_name(&target);
            let mut all = scratch::hold();
            let created = OpenOptions::new().read(true).write(true).create_new(true).open(&path);
            let file = created.map_err(|error| Error::Write { path: target.clone().into(), error })?;
            let scratch = all.add(path);
            drop(all);
            // Without locks on this file system, what a killed run leaves is not removed.
            let _ = file.try_lock();
            // Another process that looked for remains may have removed it before it was locked.
            if is_at(&file, scratch.path()) {
                return Ok(Replacement { target, file, scratch: Some(scratch) });
            }
            scratch::keep(scratch.path());
        }
    }

    /// The file, to be written.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// The path that it will have.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// Writes all of `bytes` at `offset`.
    ///
    /// # Errors
    /// If the system cannot write them.
    pub fn write_at(&self, bytes: &[u8], offset: u64) -> Result<(), Error> {
        write_at(&self.file, bytes, offset).map_err(|error| self.fail(error))
    }

    /// Moves the file to its target, safe against a crash.
    ///
    /// # Errors
    /// If the system cannot.
    pub fn finish(self) -> Result<(), Error> {
        // No lock is held while the disk works, so that an interrupt need not wait for it.
        self.file.sync_all().map_err(|error| self.fail(error))?;
        let target = self.target.clone();
        self.place()?;
        sync_folder(&target).map_err(|error| Error::Write { path: target.into(), error })
    }

    /// Moves the file to its target: after a crash of the system the old file or an incomplete one may be there.
    ///
    /// # Errors
    /// If the system cannot.
    pub fn place(mut self) -> Result<(), Error> {
        let placed = match self.scratch.take() {
            Some(scratch) => scratch.place(&self.target),
            None => match give_name(&self.file, &self.target) {
                // A name that is there already can only be taken over by one that is there too.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                    let named = Scratch::new(|| {
                        let path = own_name(&self.target);
                        give_name(&self.file, &path).map(|()| (path, ()))
                    });
                    named.and_then(|(scratch, ())| scratch.place(&self.target))
                }
                placed => placed,
            },
        };
        placed.map_err(|error| self.fail(error))
    }

    fn fail(&self, error: io::Error) -> Error {
        Error::Write { path: self.target.clone().into(), error }
    }
}

/// A name for an unfinished file that no other thread or process uses.
fn own_name(target: &Path) -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    with_extension(target, &format!("{MARK}{}-{count}", std::process::id()))
}

/// The name of the target, if `name` is one that [`own_name`] makes.
pub(crate) fn target_of(name: &OsStr) -> Option<&[u8]> {
    let name = name.as_encoded_bytes();
    let (target, numbers) = name.split_at(name.iter().rposition(|&byte| byte == b'.')?);
    let numbers = numbers.strip_prefix(b".")?.strip_prefix(MARK.as_bytes())?;
    let parts: Vec<_> = numbers.split(|&byte| byte == b'-').collect();
    let all = parts.len() == 2 && parts.iter().all(|part| !part.is_empty() && part.iter().all(u8::is_ascii_digit));
    all.then_some(target)
}

/// Removes unfinished files for `target` that no process is writing.
pub(crate) fn remove_stale(target: &Path) {
    /// A folder, and the names of unfinished files that were in it: a run over a folder of many files lists it once.
    static LISTED: Mutex<Option<(PathBuf, Vec<OsString>)>> = Mutex::new(None);
    let Some(name) = target.file_name() else { return };
    let folder = folder(target);
    let mut listed = LISTED.lock().unwrap_or_else(PoisonError::into_inner);
    if !matches!(&*listed, Some((last, _)) if last == folder) {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let remains = entries.map(|entry| entry.file_name()).filter(|name| target_of(name).is_some()).collect();
        *listed = Some((folder.into(), remains));
    }
    let Some((_, remains)) = &mut *listed else { return };
    remains.retain(|remaining| {
        let ours = target_of(remaining) == Some(name.as_encoded_bytes());
        // One that is being written is locked. Whatever cannot be opened or removed stays.
        if ours
            && let Ok(file) = open_regular(&folder.join(remaining))
            && file.try_lock().is_ok()
        {
            let _ = fs::remove_file(folder.join(remaining));
        }
        !ours
    });
}

/// Whether `path` still leads to this file.
pub(crate) fn is_at(file: &File, path: &Path) -> bool {
    let id = |metadata: fs::Metadata| Stamp::of(&metadata).id;
    let both = file.metadata().and_then(|own| Ok((id(own), id(fs::metadata(path)?))));
    both.is_ok_and(|(own, there)| own == there)
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
        for old in [None, Some("old")] {
            if let Some(old) = old {
                fs::write(&target, old).unwrap();
            }
            let begun = Replacement::create(&target).unwrap();
            begun.write_at(b"w", 2).unwrap();
            begun.write_at(b"ne", 0).unwrap();
            assert_eq!(fs::read(&target).ok(), old.map(Into::into));
            // In memory and on disks alike, Linux needs no name for it.
            assert!(cfg!(not(target_os = "linux")) || names(folder.path()).len() == usize::from(old.is_some()));
            begun.finish().unwrap();
            assert_eq!((fs::read(&target).unwrap(), names(folder.path())), (b"new".into(), vec!["file".into()]));
        }
        let begun = Replacement::create(&target).unwrap();
        begun.write_at(b"never", 0).unwrap();
        drop(begun);
        assert_eq!((fs::read(&target).unwrap(), names(folder.path())), (b"new".into(), vec!["file".into()]));
    }

    #[test]
    fn remains_of_killed_runs_are_removed_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("file");
        let there = ["file.mksum-12-0", "file.mksum-99999999-3", "file.mksum-12", "file.mksum-1-x", "other.mksum-12-0"];
        there.iter().for_each(|name| fs::write(folder.path().join(name), "remains").unwrap());
        // As of a process that is still at it.
        let busy = File::open(folder.path().join(there[1])).unwrap();
        busy.lock().unwrap();
        Replacement::create(&target).unwrap().finish().unwrap();
        assert_eq!(names(folder.path()), ["file", there[3], there[2], there[1], there[4]].map(str::to_string));
    }

    #[test]
    fn what_is_about_to_be_placed_is_no_remain() {
        let folder = tempfile::tempdir().unwrap();
        let begun = Replacement::create(&folder.path().join("file")).unwrap();
        let name = match &begun.scratch {
            Some(scratch) => scratch.path().into(),
            // As it has it for a moment when it replaces a file.
            None => {
                let name = own_name(&folder.path().join("file"));
                give_name(begun.file(), &name).unwrap();
                name
            }
        };
        // As another process looks at it.
        assert!(File::open(&name).unwrap().try_lock().is_err());
    }

    #[test]
    fn only_regular_files_are_replaced() {
        let folder = tempfile::tempdir().unwrap();
        assert!(Replacement::create(folder.path()).is_err());
        let nowhere = Replacement::create(&folder.path().join("none/file"));
        assert!(nowhere.is_err(), "{nowhere:?}");
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
