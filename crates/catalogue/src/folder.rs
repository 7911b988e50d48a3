//! The folder of a catalogue, opened once: what lies in it is reached by its own name, and no link is followed.

use crate::error::Error;
use mksum_io::KEPT_FOLDER;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// The access with which a catalogue is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Reading only, also from a file system that cannot be written.
    Read,
    /// Reading and writing, by one process at a time.
    Write,
}

/// The type of what is at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Nothing,
    File,
    Folder,
    Link,
    /// A pipe, socket or device.
    Special,
}

/// An open folder.
#[derive(Debug)]
pub(crate) struct Folder {
    /// The folder's path, in which no name is a link on Unix.
    pub path: PathBuf,
    /// The folder's path as a caller gave it, which errors name.
    given: PathBuf,
    open: system::Open,
}

impl Folder {
    /// The folder of the file at `path`, and the name of the file in it.
    ///
    /// A link that a caller names is followed to be read. In a folder of mksum's own, and to be written, it may have been planted.
    pub fn of(path: &Path, access: Access) -> Result<(Folder, OsString), Error> {
        let failed = |error| Error::Io(mksum_io::Error::Open { path: path.into(), error });
        let folder = parent(path);
        let own = folder.file_name().is_some_and(|name| name == KEPT_FOLDER);
        let real = |path: &Path| if cfg!(unix) { path.canonicalize() } else { Ok(path.into()) };
        let is_link = |path: &Path| fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink());
        let place = match () {
            () if own && is_link(folder) => return Err(refused(folder, Kind::Link)),
            () if own => real(parent(folder)).map(|outer| outer.join(KEPT_FOLDER)),
            () if access == Access::Read && is_link(path) => {
                return path.canonicalize().map_err(failed).and_then(|path| Folder::of(&path, access));
            }
            () => real(folder),
        };
        let name = path.file_name().ok_or_else(|| failed(ErrorKind::InvalidInput.into()))?;
        let place = place.map_err(failed)?;
        let open = system::open(&place).map_err(failed)?;
        let given = path.parent().unwrap_or(Path::new("")).into();
        Ok((Folder { path: place, given, open }, name.into()))
    }

    /// A folder in it, which is made if there is none.
    pub fn inner(&self, name: &OsStr) -> Result<Folder, Error> {
        let (path, given) = (self.path.join(name), self.given.join(name));
        let failed = |error| Error::Io(mksum_io::Error::Write { path: given.clone().into(), error });
        match system::make_folder(&self.open, &path) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(failed(error)),
            _ => {}
        }
        self.expect(name, Kind::Folder)?;
        let open = system::open_in(&self.open, &path).map_err(failed)?;
        Ok(Folder { path, given, open })
    }

    /// Returns the type of what has this name in the folder.
    pub fn kind(&self, name: &OsStr) -> io::Result<Kind> {
        match system::kind(&self.open, &self.path.join(name)) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Kind::Nothing),
            kind => kind,
        }
    }

    /// Whether a name leads to what is expected, or to nothing; refuses what else has it.
    pub fn expect(&self, name: &OsStr, expected: Kind) -> Result<bool, Error> {
        let path = self.given.join(name);
        match self.kind(name).map_err(|error| mksum_io::Error::Open { path: path.clone().into(), error })? {
            Kind::Nothing => Ok(false),
            kind if kind == expected => Ok(true),
            kind => Err(refused(&path, kind)),
        }
    }

    /// Opens a file to be written, which is made if there is none.
    pub fn open_file(&self, name: &OsStr) -> Result<File, Error> {
        let path = self.given.join(name);
        let failed = |error| Error::Io(mksum_io::Error::Write { path: path.clone().into(), error });
        self.expect(name, Kind::File)?;
        let file = system::open_file(&self.open, &self.path.join(name)).map_err(failed)?;
        match file.metadata().map_err(failed)?.is_file() {
            true => Ok(file),
            false => Err(refused(&path, Kind::Special)),
        }
    }

    /// Writes a file by way of another name, so that it is whole or absent.
    pub fn write_whole(&self, name: &OsStr, by_way_of: &OsStr, bytes: &[u8]) -> io::Result<()> {
        let new = self.path.join(by_way_of);
        let written = system::create_new(&self.open, &new).and_then(|mut file| {
            file.write_all(bytes)?;
            file.sync_all()?;
            system::rename(&self.open, &new, &self.path.join(name))?;
            system::sync(&self.open)
        });
        if written.is_err() {
            // The error that counts is the first one; what stays is removed by the next run.
            let _ = self.remove(by_way_of);
        }
        written
    }

    /// Removes a file; it may be absent.
    pub fn remove(&self, name: &OsStr) -> io::Result<()> {
        match system::remove(&self.open, &self.path.join(name)) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            removed => removed,
        }
    }

    /// The path of what has a name in it, for errors.
    pub fn given(&self, name: &OsStr) -> PathBuf {
        self.given.join(name)
    }

    /// Whether its path still leads to it.
    pub fn is_at_its_path(&self) -> bool {
        system::is_at(&self.open, &self.path)
    }
}

/// The folder of a path.
fn parent(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Refuses what has a name that mksum uses.
fn refused(path: &Path, kind: Kind) -> Error {
    let kind = match kind {
        Kind::Link => "a symbolic link, which is not followed",
        Kind::Folder => "a folder",
        Kind::File => "a file",
        Kind::Special | Kind::Nothing => "a pipe, socket or device",
    };
    Error::refused(path, format_args!("it is in the way of mksum's own files: {kind}: move it away"))
}

/// Relative to the open folder: the last name of a path alone counts.
#[cfg(unix)]
mod system {
    use super::Kind;
    use rustix::fd::OwnedFd;
    use rustix::fs::{
        AtFlags, CWD, FileType, Mode, OFlags, fstat, fsync, mkdirat, openat, renameat, stat, statat, unlinkat,
    };
    use std::ffi::OsStr;
    use std::fs::File;
    use std::io;
    use std::path::Path;

    pub type Open = OwnedFd;

    const FOLDER: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
    /// A pipe has no one wait.
    const FILE: OFlags = OFlags::RDWR.union(OFlags::NOFOLLOW).union(OFlags::NONBLOCK).union(OFlags::CLOEXEC);

    fn name(path: &Path) -> &OsStr {
        path.file_name().unwrap_or_default()
    }

    pub fn open(path: &Path) -> io::Result<Open> {
        Ok(openat(CWD, path, FOLDER, Mode::empty())?)
    }

    pub fn open_in(folder: &Open, path: &Path) -> io::Result<Open> {
        Ok(openat(folder, name(path), FOLDER, Mode::empty())?)
    }

    pub fn make_folder(folder: &Open, path: &Path) -> io::Result<()> {
        Ok(mkdirat(folder, name(path), Mode::from_raw_mode(0o777))?)
    }

    pub fn kind(folder: &Open, path: &Path) -> io::Result<Kind> {
        let found = statat(folder, name(path), AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(match FileType::from_raw_mode(found.st_mode) {
            FileType::RegularFile => Kind::File,
            FileType::Directory => Kind::Folder,
            FileType::Symlink => Kind::Link,
            _ => Kind::Special,
        })
    }

    pub fn open_file(folder: &Open, path: &Path) -> io::Result<File> {
        Ok(openat(folder, name(path), FILE | OFlags::CREATE, Mode::from_raw_mode(0o666))?.into())
    }

    pub fn create_new(folder: &Open, path: &Path) -> io::Result<File> {
        Ok(openat(folder, name(path), FILE | OFlags::CREATE | OFlags::EXCL, Mode::from_raw_mode(0o666))?.into())
    }

    pub fn rename(folder: &Open, from: &Path, to: &Path) -> io::Result<()> {
        Ok(renameat(folder, name(from), folder, name(to))?)
    }

    pub fn remove(folder: &Open, path: &Path) -> io::Result<()> {
        Ok(unlinkat(folder, name(path), AtFlags::empty())?)
    }

    pub fn sync(folder: &Open) -> io::Result<()> {
        Ok(fsync(folder)?)
    }

    pub fn is_at(folder: &Open, path: &Path) -> bool {
        let both = fstat(folder).and_then(|own| Ok((own, stat(path)?)));
        both.is_ok_and(|(own, there)| (own.st_dev, own.st_ino) == (there.st_dev, there.st_ino))
    }
}

#[cfg(not(unix))]
mod system {
    use super::Kind;
    use std::fs::{self, File};
    use std::io;
    use std::path::Path;

    pub type Open = ();

    pub fn open(path: &Path) -> io::Result<Open> {
        fs::metadata(path).map(drop)
    }

    pub fn open_in((): &Open, path: &Path) -> io::Result<Open> {
        open(path)
    }

    pub fn make_folder((): &Open, path: &Path) -> io::Result<()> {
        fs::create_dir(path)
    }

    pub fn kind((): &Open, path: &Path) -> io::Result<Kind> {
        let found = fs::symlink_metadata(path)?;
        Ok(match () {
            () if found.is_symlink() => Kind::Link,
            () if found.is_file() => Kind::File,
            () if found.is_dir() => Kind::Folder,
            () => Kind::Special,
        })
    }

    pub fn open_file((): &Open, path: &Path) -> io::Result<File> {
        File::options().read(true).write(true).create(true).truncate(false).open(path)
    }

    pub fn create_new((): &Open, path: &Path) -> io::Result<File> {
        File::options().write(true).create_new(true).open(path)
    }

    pub fn rename((): &Open, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    pub fn remove((): &Open, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    /// A folder cannot be opened like a file there.
    pub fn sync((): &Open) -> io::Result<()> {
        Ok(())
    }

    pub fn is_at((): &Open, _: &Path) -> bool {
        true
    }
}
