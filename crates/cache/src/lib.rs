//! A cache on disk of what a machine computed or measured: built programs, shapes, costs.
#![forbid(unsafe_code)]

use mksum_lanes::{Hash, digest};
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::{env, process};

/// A directory of small files, each named after its key and verified when it is read.
///
/// Cached programs run with the rights of this process, and a checksum shows no author: so on Unix the directory and its files must
/// belong to this process's user, and other users must not be able to write to the files.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: PathBuf,
}

/// The first bytes of each file.
const MAGIC: &[u8; 16] = b"mksum device 01\n";

/// The length of a file's header in bytes: the magic, and a checksum of key and content.
const HEADER: usize = 16 + 32;

/// The longest file that is read, in bytes.
const LONGEST: u64 = 256 << 20;

/// The result of a look-up.
#[derive(Debug, PartialEq, Eq)]
pub enum Cached {
    /// No file.
    Nothing,
    /// A damaged or unreadable file: its path and the reason.
    Damaged(PathBuf, String),
    /// A file or directory that another user may have written: its path and the reason.
    Refused(PathBuf, String),
    /// The content.
    Content(Vec<u8>),
}

impl Cache {
    /// The user's cache of a kind: `mksum/KIND` in `$XDG_CACHE_HOME`, `~/.cache` or the system's cache directory; `None` if
    /// there is no such directory.
    pub fn of_user(kind: &str) -> Option<Self> {
        let path = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let base = path("XDG_CACHE_HOME")
            .or_else(|| path("LOCALAPPDATA"))
            .or_else(|| path("HOME").map(|home| home.join(".cache")))?;
        Some(Self::at(&base.join("mksum").join(kind)))
    }

    /// A cache in a directory, which need not exist yet.
    pub fn at(folder: &Path) -> Self {
        Cache { folder: folder.into() }
    }

    fn path(&self, name: &[&[u8]]) -> PathBuf {
        self.folder.join(hex(&checksum(name)[..20]))
    }

    /// Returns the content stored under `name`. The boundaries of its parts are significant.
    pub fn load(&self, name: &[&[u8]]) -> Cached {
        match safety::of_folder(&self.folder) {
            Ok(None) => {}
            Ok(Some(why)) => return Cached::Refused(self.folder.clone(), why),
            Err(error) if error.kind() == ErrorKind::NotFound => return Cached::Nothing,
            Err(error) => return Cached::Damaged(self.folder.clone(), error.to_string()),
        }
        let path = self.path(name);
        let bytes = match safety::open(&path).and_then(|file| Ok((safety::of_file(&file)?, read(&file)?))) {
            Ok((Some(why), _)) => return Cached::Refused(path, why),
            Ok((None, bytes)) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => return Cached::Nothing,
            Err(error) => return Cached::Damaged(path, error.to_string()),
        };
        let Some((header, content)) = bytes.split_at_checked(HEADER) else {
            return Cached::Damaged(path, format!("expected at least {HEADER} bytes, found {}", bytes.len()));
        };
        if header[..16] != *MAGIC || header[16..] != checksum(&[name, &[content]].concat()) {
            return Cached::Damaged(path, "wrong checksum".into());
        }
        Cached::Content(content.into())
    }

    /// Stores `content` under `name`, atomically.
    ///
    /// # Errors
    /// If the directory belongs to another user, or the system cannot write the file.
    pub fn store(&self, name: &[&[u8]], content: &[u8]) -> io::Result<()> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        safety::create_folder(&self.folder)?;
        if let Some(why) = safety::of_folder(&self.folder)? {
            return Err(io::Error::new(ErrorKind::PermissionDenied, why));
        }
        let own = format!("{}-{}.new", process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let draft = self.folder.join(own);
        // One of that name can only be left of a process that was killed.
        let _ = fs::remove_file(&draft);
        let bytes = [MAGIC, &checksum(&[name, &[content]].concat())[..], content].concat();
        let write = || safety::create(&draft)?.write_all(&bytes);
        let written = write().and_then(|()| fs::rename(&draft, self.path(name)));
        if written.is_err() {
            let _ = fs::remove_file(&draft);
        }
        written
    }
}

/// Reads a whole file of the cache.
fn read(file: &File) -> io::Result<Vec<u8>> {
    if file.metadata()?.len() > LONGEST {
        return Err(io::Error::other(format!("it is longer than {LONGEST} bytes")));
    }
    let mut bytes = Vec::new();
    file.take(LONGEST).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Checks who can write to the cache.
#[cfg(unix)]
mod safety {
    use super::{File, OpenOptions, Path, fs, io};
    use rustix::fs::OFlags;
    use std::fs::{DirBuilder, Metadata, Permissions};
    use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};

    /// Returns the reason why a file or directory is not trusted: it has another owner.
    fn of(metadata: &Metadata) -> Option<String> {
        let (owner, user) = (metadata.uid(), rustix::process::geteuid().as_raw());
        (owner != user).then(|| format!("it belongs to user {owner}, and this process runs as user {user}"))
    }

    /// Returns the reason why a directory is not used, if any. The user's own directory is closed to other users.
    pub fn of_folder(folder: &Path) -> io::Result<Option<String>> {
        let metadata = fs::symlink_metadata(folder)?;
        if !metadata.is_dir() {
            return Ok(Some("it is not a directory".into()));
        }
        let why = of(&metadata);
        if why.is_none() && metadata.mode() & 0o077 != 0 {
            fs::set_permissions(folder, Permissions::from_mode(0o700))?;
        }
        Ok(why)
    }

    /// Returns the reason why an open file is not used, if any.
    pub fn of_file(file: &File) -> io::Result<Option<String>> {
        let (metadata, mode) = (file.metadata()?, file.metadata()?.mode() & 0o7777);
        if !metadata.is_file() {
            return Ok(Some("it is not a regular file".into()));
        }
        let writable = (mode & 0o022 != 0).then(|| format!("other users can write to it (mode {mode:o})"));
        Ok(of(&metadata).or(writable))
    }

    /// Opens a file for reading; not a symbolic link, and without waiting for a named pipe.
    pub fn open(path: &Path) -> io::Result<File> {
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
        OpenOptions::new().read(true).custom_flags(flags.bits() as i32).open(path)
    }

    /// Creates a file that only this user can read and write.
    pub fn create(path: &Path) -> io::Result<File> {
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
    }

    /// Creates a folder that only this user can enter, and those above it.
    pub fn create_folder(folder: &Path) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)
    }
}

/// On other systems, the user's own directory is protected by the system.
#[cfg(not(unix))]
mod safety {
    use super::{File, OpenOptions, Path, fs, io};

    pub fn of_folder(folder: &Path) -> io::Result<Option<String>> {
        fs::metadata(folder).map(|_| None)
    }

    pub fn of_file(_: &File) -> io::Result<Option<String>> {
        Ok(None)
    }

    pub fn open(path: &Path) -> io::Result<File> {
        File::open(path)
    }

    pub fn create(path: &Path) -> io::Result<File> {
        OpenOptions::new().write(true).create_new(true).open(path)
    }

    pub fn create_folder(folder: &Path) -> io::Result<()> {
        fs::create_dir_all(folder)
    }
}

/// Returns SHA-256 of the parts, each preceded by its length.
fn checksum(parts: &[&[u8]]) -> [u8; 32] {
    let mut bytes = Vec::new();
    for part in parts {
        bytes.extend_from_slice(&(part.len() as u64).to_le_bytes());
        bytes.extend_from_slice(part);
    }
    *digest(Hash::Sha256, &[&bytes]).first_chunk().expect("64 bytes")
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The README's example.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_content_is_found_and_damage_is_detected() {
        let folder = env::temp_dir().join(format!("mksum-cache-{}", process::id()));
        let cache = Cache::at(&folder);
        let name: &[&[u8]] = &[b"a", b"bc"];
        assert_eq!(cache.load(name), Cached::Nothing);
        cache.store(name, b"content").unwrap();
        assert_eq!(cache.load(name), Cached::Content(b"content".into()));
        assert_eq!(cache.load(&[b"ab", b"c"]), Cached::Nothing, "the boundaries of parts are significant");
        let path = cache.path(name);
        let whole = fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 1;
            fs::write(&path, &bytes).unwrap();
            assert!(matches!(cache.load(name), Cached::Damaged(..)), "byte {at}");
            fs::write(&path, &whole[..at]).unwrap();
            assert!(matches!(cache.load(name), Cached::Damaged(..)), "{at} bytes");
        }
        // A file is valid under its own name only.
        fs::write(cache.path(&[b"other"]), &whole).unwrap();
        assert!(matches!(cache.load(&[b"other"]), Cached::Damaged(..)));
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 2, "no drafts are left");
        fs::remove_dir_all(&folder).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn what_another_user_could_have_written_is_refused() {
        use std::os::unix::fs::{PermissionsExt, chown, symlink};
        let set = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let folder = env::temp_dir().join(format!("mksum-cache-others-{}", process::id()));
        let cache = Cache::at(&folder.join("cache"));
        let name: &[&[u8]] = &[b"a"];
        cache.store(name, b"content").unwrap();
        let path = cache.path(name);
        assert_eq!((mode(&cache.folder), mode(&path)), (0o700, 0o600));
        let refused = |what: &Path| match cache.load(name) {
            Cached::Refused(path, _) => assert_eq!(path, what),
            other => panic!("{what:?}: {other:?}"),
        };
        set(&path, 0o620);
        refused(&path);
        set(&path, 0o600);
        // A folder that others can enter is closed.
        set(&cache.folder, 0o775);
        assert_eq!(cache.load(name), Cached::Content(b"content".into()));
        assert_eq!(mode(&cache.folder), 0o700);
        let away = folder.join("away");
        fs::rename(&path, &away).unwrap();
        symlink(&away, &path).unwrap();
        assert!(matches!(cache.load(name), Cached::Damaged(..)), "a link");
        fs::rename(&away, &path).unwrap();
        // Only root can give files away.
        if rustix::process::geteuid().is_root() {
            chown(&path, Some(65_534), None).unwrap();
            refused(&path);
            chown(&path, Some(0), None).unwrap();
            chown(&cache.folder, Some(65_534), None).unwrap();
            refused(&cache.folder);
            assert!(cache.store(name, b"other").is_err());
        } else {
            let _ = io::stderr().write_all(b"NOT RUN: a cache of another user: only root can give files away\n");
        }
        fs::remove_dir_all(&folder).unwrap();
    }
}
