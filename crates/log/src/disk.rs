//! Writing the folder of a log: each step in an order in which a crash between any two loses nothing that was signed.

use crate::error::Error;
use crate::side_by_side::side_by_side;
use std::cell::Cell;
use std::collections::HashSet;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The most files that are waited for each, and not by waiting for the whole file system.
const FEW: usize = 12;
/// The threads that wait for files at once: a journal then writes all of them in one go, and not each in its own (`lab/log`).
const WAITING: usize = 4;
/// The most folders whose entries are known to be on the disk.
const SETTLED: usize = 1 << 12;

thread_local! {
    /// The file operations of this thread until one fails.
    static LEFT: Cell<Option<u64>> = const { Cell::new(None) };
}

/// Has the file operations of this thread fail after `steps` of them, as if the process ended there; `None` for never. For tests.
///
/// Returns the operations that were left.
#[doc(hidden)]
pub fn fail_after(steps: Option<u64>) -> Option<u64> {
    LEFT.replace(steps)
}

/// Counts an operation, and fails if it is one too many.
fn step() -> io::Result<()> {
    match LEFT.get() {
        Some(0) => Err(io::Error::other("ended by a test")),
        left => {
            LEFT.set(left.map(|left| left - 1));
            Ok(())
        }
    }
}

/// The folder of a log, to be written.
#[derive(Debug)]
pub(crate) struct Disk {
    root: PathBuf,
    /// The files that were written and may not be on the disk yet; the first [`FEW`] are open.
    unsynced: Vec<(PathBuf, Option<File>)>,
    /// The last folder that is known to exist.
    made: PathBuf,
    /// Folders that are on the disk with all folders above them.
    settled: HashSet<PathBuf>,
}

impl Disk {
    pub fn new(root: &Path) -> Disk {
        Disk { root: root.into(), unsynced: Vec::new(), made: PathBuf::new(), settled: HashSet::new() }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Writes a file that no signed tree refers to yet. It is on the disk after [`Disk::sync`].
    pub fn write(&mut self, name: &str, bytes: &[u8]) -> Result<(), Error> {
        let path = self.root.join(name);
        let folder = path.parent().expect("a file lies in a folder");
        if self.made != folder {
            step().and_then(|()| fs::create_dir_all(folder)).map_err(Error::io(folder))?;
            self.made = folder.into();
        }
        let written = step().and_then(|()| File::create(&path)).and_then(|mut file| {
            if let Err(error) = step() {
                // Half a file, as a crash may leave one.
                file.write_all(&bytes[..bytes.len() / 2])?;
                return Err(error);
            }
            file.write_all(bytes).map(|()| file)
        });
        let file = written.map_err(Error::io(&path))?;
        let is_few = self.unsynced.len() < FEW;
        self.unsynced.push((path, is_few.then_some(file)));
        Ok(())
    }

    /// Waits until all files that were written are on the disk.
    pub fn sync(&mut self) -> Result<(), Error> {
        if self.unsynced.is_empty() {
            return Ok(());
        }
        step().map_err(Error::io(&self.root))?;
        // Of a few files, each is waited for: the file system may have much to write for others.
        if self.unsynced.len() <= FEW || !sync_file_system(&self.root).map_err(Error::io(&self.root))? {
            let mut folders: Vec<&Path> = Vec::new();
            for (path, _) in &self.unsynced {
                let mut above = path.ancestors().skip(1).take_while(|folder| folder.starts_with(&self.root));
                let folder = above.next().expect("a file lies in the log");
                folders.push(folder);
                if !self.settled.contains(folder) {
                    folders.extend(above);
                }
            }
            folders.sort();
            folders.dedup();
            let files = self.unsynced.iter().map(|(path, file)| Written { path, file: file.as_ref() });
            wait_for(&files.chain(folders.into_iter().map(Written::folder)).collect::<Vec<_>>())?;
        }
        if self.settled.len() > SETTLED {
            self.settled.clear();
        }
        for (path, _) in self.unsynced.drain(..) {
            let folder = path.parent().expect("a file lies in the log");
            if !self.settled.contains(folder) {
                self.settled.insert(folder.into());
            }
        }
        Ok(())
    }

    /// Replaces a file by one that is on the disk: a reader sees the old one or the new one, whole.
    pub fn replace(&mut self, name: &str, bytes: &[u8]) -> Result<(), Error> {
        replace(&self.root.join(name), bytes, Access::Everyone)
    }

    /// Replaces some files, each once the one before it is replaced on the disk: see [`replace`](Disk::replace).
    pub fn replace_in_turn(&mut self, names: &[&str], bytes: &[u8]) -> Result<(), Error> {
        let new = names.iter().map(|name| Replacement::write(&self.root.join(name), bytes, Access::Everyone));
        let new = new.collect::<Result<Vec<_>, _>>()?;
        wait_for(&new.iter().map(Replacement::written).collect::<Vec<_>>())?;
        new.into_iter().try_for_each(Replacement::rename)
    }

    /// Removes the partial tiles of a place whose full tile is there. One that cannot be removed only takes space.
    pub fn remove_partial(&mut self, folder: &str) {
        if step().is_ok() {
            let folder = self.root.join(folder);
            self.settled.remove(&folder);
            let _ = fs::remove_dir_all(folder);
        }
    }
}

/// Has the system write the whole file system, in one wait. Returns whether it can.
///
/// A write that failed is an error and no reason to wait for each file: the system reports it once.
#[cfg(target_os = "linux")]
fn sync_file_system(path: &Path) -> io::Result<bool> {
    use rustix::io::Errno;
    match rustix::fs::syncfs(File::open(path)?) {
        Ok(()) => Ok(true),
        // A sandbox may forbid the call.
        Err(Errno::NOSYS | Errno::PERM) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(target_os = "linux"))]
#[allow(clippy::unnecessary_wraps)] // as on Linux
fn sync_file_system(_: &Path) -> io::Result<bool> {
    Ok(false)
}

/// A file or folder that was written, to be waited for.
struct Written<'a> {
    path: &'a Path,
    /// The file, if it is open.
    file: Option<&'a File>,
}

impl<'a> Written<'a> {
    fn folder(path: &'a Path) -> Written<'a> {
        Written { path, file: None }
    }

    /// Waits until it is on the disk.
    fn wait(&self) -> Result<(), Error> {
        let waited = match self.file {
            Some(file) => file.sync_all(),
            None => match File::open(self.path) {
                // Windows opens no folders, and keeps their entries itself.
                Err(_) if cfg!(not(unix)) && self.path.is_dir() => Ok(()),
                opened => opened.and_then(|file| file.sync_all()),
            },
        };
        waited.map_err(Error::io(self.path))
    }
}

/// Waits until all are on the disk, some at a time.
fn wait_for(all: &[Written<'_>]) -> Result<(), Error> {
    side_by_side(WAITING, all, Written::wait)
}

/// Who may read a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Everyone,
    /// The owner alone: a secret.
    Owner,
}

/// Writes a file beside `path`, waits until it is on the disk, and gives it that name.
pub(crate) fn replace(path: &Path, bytes: &[u8], access: Access) -> Result<(), Error> {
    let new = Replacement::write(path, bytes, access)?;
    new.written().wait()?;
    new.rename()
}

/// A file that is about to take the place of another one.
struct Replacement {
    path: PathBuf,
    new: PathBuf,
    file: File,
}

impl Replacement {
    /// Writes a file beside `path`.
    fn write(path: &Path, bytes: &[u8], access: Access) -> Result<Replacement, Error> {
        let mut name = path.file_name().expect("a file has a name").to_os_string();
        name.push(".new");
        let new = path.with_file_name(name);
        let file = write_new(&new, bytes, access).map_err(Error::io(&new))?;
        Ok(Replacement { path: path.into(), new, file })
    }

    fn written(&self) -> Written<'_> {
        Written { path: &self.new, file: Some(&self.file) }
    }

    /// Gives it the name, which is on the disk then.
    fn rename(self) -> Result<(), Error> {
        let Replacement { path, new, file } = self;
        // Windows renames no file that is open.
        drop(file);
        step().and_then(|()| fs::rename(&new, &path)).map_err(Error::io(&path))?;
        step().map_err(Error::io(&path))?;
        Written::folder(path.parent().expect("a file lies in a folder")).wait()
    }
}

/// Writes a new file.
fn write_new(new: &Path, bytes: &[u8], access: Access) -> io::Result<File> {
    step()?;
    // One that a crash left may have other rights.
    let _ = fs::remove_file(new);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if access == Access::Owner {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    #[cfg(not(unix))]
    let _ = access;
    let mut file = options.open(new)?;
    if let Err(error) = step() {
        let _ = file.write_all(&bytes[..bytes.len() / 2]);
        return Err(error);
    }
    file.write_all(bytes)?;
    Ok(file)
}

/// The lock of the one writer, until it is dropped.
#[derive(Debug)]
pub(crate) struct Lock(File);

impl Drop for Lock {
    /// Unlocks, as closing the file alone would not: a program that another thread is about to start shares the open file until then.
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

/// Takes the lock of the one writer.
pub(crate) fn lock(path: &Path) -> Result<Lock, Error> {
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(path).map_err(Error::io(path))?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(Error::Busy { lock: path.into() }),
        // Without locks on this file system, the user's care is left.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(Lock(file)),
    }
}
