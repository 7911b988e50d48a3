//! A cache on disk of built programs and measured shapes.

use mksum_lanes::{Hash, digest};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::{env, fs, io, process};

/// A directory of small files, each named after its key and verified when it is read.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: PathBuf,
}

/// The first bytes of each file.
const MAGIC: &[u8; 16] = b"mksum OpenCL 01\n";

/// The length of a file's header in bytes: the magic, and a checksum of key and content.
const HEADER: usize = 16 + 32;

/// The result of a look-up.
#[derive(Debug, PartialEq, Eq)]
pub enum Cached {
    /// No file.
    Nothing,
    /// A damaged or unreadable file: its path and the reason.
    Damaged(PathBuf, String),
    /// The content.
    Content(Vec<u8>),
}

impl Cache {
    /// The user's cache: `mksum/opencl` in `$XDG_CACHE_HOME`, `~/.cache` or the system's cache directory; `None` if
    /// there is no such directory.
    pub fn of_user() -> Option<Self> {
        let path = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let base = path("XDG_CACHE_HOME")
            .or_else(|| path("LOCALAPPDATA"))
            .or_else(|| path("HOME").map(|home| home.join(".cache")))?;
        Some(Self::at(&base.join("mksum").join("opencl")))
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
        let path = self.path(name);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Cached::Nothing,
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
    pub fn store(&self, name: &[&[u8]], content: &[u8]) -> io::Result<()> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        fs::create_dir_all(&self.folder)?;
        let own = format!("{}-{}.new", process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let draft = self.folder.join(own);
        let bytes = [MAGIC, &checksum(&[name, &[content]].concat())[..], content].concat();
        let written = fs::write(&draft, bytes).and_then(|()| fs::rename(&draft, self.path(name)));
        if written.is_err() {
            let _ = fs::remove_file(&draft);
        }
        written
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
}
