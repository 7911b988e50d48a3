//! Names that go with their process.

use std::fs;
use std::io;
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The names of all that is not to stay.
static ALL: Mutex<Vec<Entry>> = Mutex::new(Vec::new());

/// A name, and whether it is that of a folder, which goes with what is in it.
#[derive(Debug)]
struct Entry {
    path: PathBuf,
    is_folder: bool,
}

impl Entry {
    fn remove(&self) -> io::Result<()> {
        if self.is_folder { fs::remove_dir_all(&self.path) } else { fs::remove_file(&self.path) }
    }
}

/// Removes all files that are being written and all copies, for a process that is about to end: from now on nothing is finished.
pub fn remove_unfinished() {
    let all = hold();
    for entry in all.0.iter() {
        // The process ends: nobody can act on a failure.
        let _ = entry.remove();
    }
    // A thread that is about to finish one waits for the lock until the process is gone.
    mem::forget(all);
}

/// A file or folder that is removed when this value is dropped, and by [`remove_unfinished`].
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
}

impl Scratch {
    /// Calls `make`, which creates a file or folder and returns its path and a value, and owns what is at that path.
    ///
    /// # Errors
    /// If `make` fails.
    pub fn new<T>(make: impl FnOnce() -> io::Result<(PathBuf, T)>) -> io::Result<(Scratch, T)> {
        let mut all = hold();
        let (path, made) = make()?;
        Ok((all.add(path), made))
    }

    /// The path of the unfinished file or folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Gives the file or folder its final name, which stays.
    pub(crate) fn place(self, target: &Path) -> io::Result<()> {
        let mut all = hold();
        fs::rename(&self.path, target)?;
        all.take(&self.path);
        Ok(())
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let entry = hold().take(&self.path);
        // Whatever made it useless is reported; a second failure about the remains would not help.
        let _ = entry.map(|entry| entry.remove());
    }
}

/// Keeps what is at this path when the process ends.
pub(crate) fn keep(path: &Path) {
    hold().take(path);
}

/// All names. An interrupt waits until this is dropped, so that nothing is made without being known.
pub(crate) struct Held(MutexGuard<'static, Vec<Entry>>);

pub(crate) fn hold() -> Held {
    Held(ALL.lock().unwrap_or_else(PoisonError::into_inner))
}

impl Held {
    /// Registers a path that was just created, so that it is removed unless it gets its final name.
    pub(crate) fn add(&mut self, path: PathBuf) -> Scratch {
        self.0.push(Entry { is_folder: path.is_dir(), path: path.clone() });
        Scratch { path }
    }

    fn take(&mut self, path: &Path) -> Option<Entry> {
        let at = self.0.iter().position(|entry| entry.path == path)?;
        Some(self.0.swap_remove(at))
    }
}
