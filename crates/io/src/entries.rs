//! All entries of a directory, in the order of their paths' bytes.

use crate::platform::Stamp;
use crate::{Error, paths, platform};
use std::fs::{self, Metadata};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};
use std::vec;

/// The folder in a directory in which its catalogue is kept: no root and no catalogue covers it.
pub const KEPT_FOLDER: &str = ".mksum";

/// The type of a directory entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link, which is not followed.
    Link,
    /// A pipe, a socket or a device.
    Special,
}

/// The metadata of an entry, read without reading its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The entry's type.
    pub kind: EntryKind,
    /// The length of a file, in bytes; 0 for anything else.
    pub size: u64,
    /// The time of the last change, in seconds since 1970 and nanoseconds.
    pub modified: (i64, u32),
    /// The file's number on its device; 0 where there is none.
    pub inode: u64,
    /// The device's number.
    pub device: u64,
    /// The permission bits; 0 where the system has none.
    pub mode: u32,
}

impl Facts {
    /// Reads the metadata of the entry at `path`: of a link itself, not of its target.
    ///
    /// # Errors
    /// If the system has none.
    pub fn of(path: &Path) -> io::Result<Facts> {
        Ok(Facts::from(&fs::symlink_metadata(path)?))
    }

    /// Waits while a change could still have the time that the file has: a change after the reading would not be seen. Returns whether
    /// it has waited.
    pub fn wait_until_past(&self) -> bool {
        // Linux's clock of files has steps of 1 to 10 ms; file systems without inodes (vfat) have steps of 2 s.
        let step = if self.inode == 0 { Duration::from_secs(2) } else { Duration::from_millis(20) };
        let (seconds, nanoseconds) = self.modified;
        let Ok(seconds) = u64::try_from(seconds) else { return false };
        let Some(modified) = SystemTime::UNIX_EPOCH.checked_add(Duration::new(seconds, nanoseconds)) else {
            return false;
        };
        match SystemTime::now().duration_since(modified) {
            Ok(age) if age < step => {
                thread::sleep(step - age);
                true
            }
            _ => false,
        }
    }

    /// Checks that the entry at a path still has them.
    ///
    /// # Errors
    /// If it has others.
    pub fn check(&self, path: &Path) -> Result<(), Error> {
        let how = match Facts::of(path) {
            Ok(found) if found == *self => return Ok(()),
            Ok(found) if found.size != self.size => format!("it had {} bytes, and has {} now", self.size, found.size),
            Ok(_) => "its times or type are others than before".into(),
            Err(error) => crate::reason(&error),
        };
        Err(Error::Changed { path: path.into(), how })
    }
}

impl From<&Metadata> for Facts {
    fn from(metadata: &Metadata) -> Facts {
        let kind = match metadata.file_type() {
            kind if kind.is_file() => EntryKind::File,
            kind if kind.is_dir() => EntryKind::Directory,
            kind if kind.is_symlink() => EntryKind::Link,
            _ => EntryKind::Special,
        };
        let Stamp { len, times: [(seconds, nanoseconds), _], id: (device, inode) } = Stamp::of(metadata);
        let size = if kind == EntryKind::File { len } else { 0 };
        Facts { kind, size, modified: (seconds, nanoseconds as u32), inode, device, mode: mode(metadata) }
    }
}

#[cfg(unix)]
fn mode(metadata: &Metadata) -> u32 {
    use std::os::unix::fs::MetadataExt;
    metadata.mode() & 0o7777
}

#[cfg(not(unix))]
fn mode(_: &Metadata) -> u32 {
    0
}

/// An entry below a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The bytes of its path below the directory, with slashes between names.
    pub path: Vec<u8>,
    /// The entry's path as the system opens it.
    pub place: PathBuf,
    /// The entry's metadata.
    pub facts: Facts,
}

impl Listed {
    /// Asks whether this process may read the file, without opening it. Systems other than Unix tell that only of an open file.
    ///
    /// # Errors
    /// If it may not.
    pub fn check_access(&self) -> Result<(), Error> {
        platform::check_access(&self.place).map_err(|error| Error::Open { path: self.place.clone().into(), error })
    }
}

/// Whether an entry is left out, with all that is in it: told from the bytes of its path below the directory, its path for the system,
/// which is made when it is asked for, and what the system says about it.
pub type Skip = Box<dyn Fn(&[u8], &dyn Fn() -> PathBuf, &Facts) -> bool + Send>;

/// All entries below a directory, by the bytes of their paths: see [`Entries::of`].
pub struct Entries {
    skip: Skip,
    /// The directories that are being listed, the innermost last.
    levels: Vec<Level>,
    stamps: Option<Stamps>,
}

/// Directories as they were before they were listed.
#[derive(Debug, Default)]
pub struct Stamps(Vec<(PathBuf, Stamp)>);

impl Stamps {
    /// Checks that no name was added to or removed from a directory since.
    ///
    /// # Errors
    /// If one was.
    pub fn check(&self) -> Result<(), Error> {
        for (path, stamp) in &self.0 {
            let now = fs::metadata(path).map(|metadata| Stamp::of(&metadata));
            if !now.is_ok_and(|now| now == *stamp) {
                let how = "entries were added or removed meanwhile".into();
                return Err(Error::Changed { path: path.clone().into(), how });
            }
        }
        Ok(())
    }
}

/// The rest of a directory.
struct Level {
    /// The bytes of its path, with a slash at the end; empty for the outermost.
    prefix: Vec<u8>,
    place: PathBuf,
    items: vec::IntoIter<Item>,
}

/// A step: the entry with a name, or, with a slash behind the name of a directory, those in it.
struct Item {
    name: Box<[u8]>,
    facts: Option<Facts>,
}

impl Entries {
    /// The entries below `directory` but those that `skip` knows, with what is in these. Links are not followed.
    ///
    /// Holds the names of the directories on the way to the entry, and no others.
    ///
    /// # Errors
    /// If the directory itself cannot be listed. Others that cannot be are errors among the entries.
    pub fn of(directory: &Path, skip: Skip) -> Result<Entries, Error> {
        let mut entries = Entries { skip, levels: Vec::new(), stamps: None };
        entries.enter(Vec::new(), directory.into())?;
        Ok(entries)
    }

    /// Lists like [`Entries::of`], and records the directories' stamps for [`Entries::take_stamps`].
    ///
    /// # Errors
    /// As [`Entries::of`].
    pub fn checked(directory: &Path, skip: Skip) -> Result<Entries, Error> {
        let mut entries = Entries { skip, levels: Vec::new(), stamps: Some(Stamps::default()) };
        entries.enter(Vec::new(), directory.into())?;
        Ok(entries)
    }

    /// The directories as they were when they were listed, once, if the walk is a checked one.
    pub fn take_stamps(&mut self) -> Option<Stamps> {
        self.stamps.take()
    }

    fn enter(&mut self, prefix: Vec<u8>, place: PathBuf) -> Result<(), Error> {
        let fail = |error| Error::Open { path: place.clone().into(), error };
        if let Some(stamps) = &mut self.stamps {
            stamps.0.push((place.clone(), Stamp::of(&fs::metadata(&place).map_err(fail)?)));
        }
        let mut items = Vec::new();
        let mut path = prefix.clone();
        for entry in fs::read_dir(&place).map_err(fail)? {
            let entry = entry.map_err(fail)?;
            let facts = match entry.metadata() {
                Ok(metadata) => Facts::from(&metadata),
                // It was removed since it was listed.
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                Err(error) => return Err(Error::Open { path: entry.path().into(), error }),
            };
            let name = entry.file_name();
            let name = name.as_encoded_bytes();
            path.truncate(prefix.len());
            path.extend_from_slice(name);
            if (self.skip)(&path, &|| entry.path(), &facts) {
                continue;
            }
            if facts.kind == EntryKind::Directory {
                items.push(Item { name: [name, b"/"].concat().into(), facts: None });
            }
            items.push(Item { name: name.into(), facts: Some(facts) });
        }
        items.sort_unstable_by(|one, other| one.name.cmp(&other.name));
        self.levels.push(Level { prefix, place, items: items.into_iter() });
        Ok(())
    }
}

impl Iterator for Entries {
    type Item = Result<Listed, Unlisted>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let level = self.levels.last_mut()?;
            let Some(Item { name, facts }) = level.items.next() else {
                self.levels.pop();
                continue;
            };
            let path = [&level.prefix, &*name].concat();
            match facts {
                Some(facts) => {
                    let name = paths::from_bytes(&name).expect("a name that the system listed");
                    return Some(Ok(Listed { path, place: level.place.join(name), facts }));
                }
                None => {
                    let name = paths::from_bytes(&name[..name.len() - 1]).expect("a name that the system listed");
                    let place = level.place.join(name);
                    if let Err(error) = self.enter(path.clone(), place) {
                        return Some(Err(Unlisted { prefix: path, error }));
                    }
                }
            }
        }
    }
}

/// A directory whose entries are not known.
#[derive(Debug)]
pub struct Unlisted {
    /// The bytes of its path, with a slash at the end: all paths that begin so are unknown.
    pub prefix: Vec<u8>,
    /// The reason.
    pub error: Error,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_by_the_bytes_of_their_paths() {
        let folder = tempfile::tempdir().unwrap();
        for directory in ["a/b", "a-", "empty", ".mksum"] {
            fs::create_dir_all(folder.path().join(directory)).unwrap();
        }
        for file in ["a/z", "a.c", "a-/x", "a0", "a/b/c", ".mksum/x"] {
            fs::write(folder.path().join(file), file).unwrap();
        }
        let skip: Skip = Box::new(|path, _, _| path == b".mksum");
        let entries = Entries::checked(folder.path(), skip).unwrap();
        let paths: Vec<_> = entries.map(|entry| String::from_utf8(entry.unwrap().path).unwrap()).collect();
        let mut sorted = paths.clone();
        sorted.sort();
        assert_eq!(paths, sorted);
        assert_eq!(paths, ["a", "a-", "a-/x", "a.c", "a/b", "a/b/c", "a/z", "a0", "empty"]);
    }

    #[test]
    fn directories_that_change_are_noticed() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("d")).unwrap();
        let mut entries = Entries::checked(folder.path(), Box::new(|_, _, _| false)).unwrap();
        assert_eq!(entries.by_ref().count(), 1);
        let stamps = entries.take_stamps().unwrap();
        stamps.check().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(20));
        fs::write(folder.path().join("d/new"), "x").unwrap();
        assert!(matches!(stamps.check(), Err(Error::Changed { .. })));
    }
}
