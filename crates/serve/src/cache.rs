//! Verified leaves of objects, in a directory of bounded size.

use hashlink::LruCache;
use mksum::Digest;
use mksum_io::{UnitCache, reason};
use std::fs::{self, DirEntry, File, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

/// Leaves that were verified, each in a file that is named after its digest: the one that was used least recently goes first.
///
/// What is read is verified again, so that the directory need not be trusted. One process uses it at a time, and the next one finds what
/// this one has left.
#[derive(Debug)]
pub struct LeafCache {
    folder: PathBuf,
    /// The bytes of all leaves, at most.
    room: u64,
    state: Mutex<State>,
    /// The number of the next file without a name.
    next: AtomicU64,
    _lock: File,
}

#[derive(Debug)]
struct State {
    /// The lengths of the leaves, by their digests.
    leaves: LruCache<String, u64>,
    bytes: u64,
}

impl LeafCache {
    /// The file by which a directory is known to be a cache; the process that uses it has it locked.
    const LOCK: &str = "mksum-leaves";
    /// The extension of files that are not whole.
    const PART: &str = "part";

    /// Opens the cache in a directory for at most `room` bytes, and drops the oldest leaves if it has more.
    ///
    /// # Errors
    /// If the directory cannot be read or made, another process uses it, or it has other files: as words.
    pub fn open(folder: &Path, room: u64) -> Result<LeafCache, String> {
        let failed = |error: io::Error| reason(&error);
        fs::create_dir_all(folder).map_err(failed)?;
        let lock = folder.join(Self::LOCK);
        if !lock.exists() && fs::read_dir(folder).map_err(failed)?.next().is_some() {
            return Err("the directory has other files: a cache begins in an empty one".into());
        }
        let lock = OpenOptions::new().create(true).truncate(false).write(true).open(lock).map_err(failed)?;
        lock.try_lock().map_err(|_| "another process uses this cache".to_string())?;
        let mut found = Vec::new();
        for shard in fs::read_dir(folder).map_err(failed)? {
            let shard = shard.map_err(failed)?.path();
            if is_hex(&shard) {
                for entry in fs::read_dir(&shard).map_err(failed)? {
                    let entry = entry.map_err(failed)?;
                    found.extend(leaf(&entry, &shard).map_err(failed)?);
                }
            }
        }
        found.sort();
        let mut state = State { leaves: LruCache::new_unbounded(), bytes: 0 };
        for (_, key, len) in found {
            state.bytes += len;
            state.leaves.insert(key, len);
        }
        let cache =
            LeafCache { folder: folder.into(), room, state: Mutex::new(state), next: AtomicU64::new(0), _lock: lock };
        cache.shrink(&mut cache.lock());
        Ok(cache)
    }

    /// Removes leaves until there is room for all.
    fn shrink(&self, state: &mut State) {
        while state.bytes > self.room
            && let Some((key, len)) = state.leaves.remove_lru()
        {
            state.bytes -= len;
            // One that is gone already leaves no less room.
            let _ = fs::remove_file(self.place(&key));
        }
    }

    fn place(&self, key: &str) -> PathBuf {
        let (shard, name) = key.split_at(2);
        self.folder.join(shard).join(name)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, place: &Path, bytes: &[u8]) -> io::Result<()> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let part = place.with_extension(format!("{number}.{}", Self::PART));
        fs::create_dir_all(place.parent().unwrap_or(place))?;
        fs::write(&part, bytes).and_then(|()| fs::rename(&part, place)).inspect_err(|_| drop(fs::remove_file(&part)))
    }
}

impl UnitCache for LeafCache {
    fn read(&self, digest: &Digest, out: &mut [u8]) -> bool {
        let key = digest.to_string();
        if self.lock().leaves.get(&key) != Some(&(out.len() as u64)) {
            return false;
        }
        File::open(self.place(&key)).is_ok_and(|mut file| file.read_exact(out).is_ok())
    }

    fn keep(&self, digest: &Digest, bytes: &[u8]) {
        let (key, len) = (digest.to_string(), bytes.len() as u64);
        // A full disk costs no more than fetching it again.
        if len > self.room || self.write(&self.place(&key), bytes).is_err() {
            return;
        }
        let mut state = self.lock();
        state.bytes += len;
        if let Some(before) = state.leaves.insert(key, len) {
            state.bytes -= before;
        }
        self.shrink(&mut state);
    }
}

/// The time, the key and the length of a leaf; a file that was not finished is removed.
fn leaf(entry: &DirEntry, shard: &Path) -> io::Result<Option<(SystemTime, String, u64)>> {
    let (path, metadata) = (entry.path(), entry.metadata()?);
    if path.extension().is_some_and(|end| end == LeafCache::PART) {
        fs::remove_file(&path)?;
    }
    let names = [shard.file_name(), path.file_name()].map(|name| name.unwrap_or_default().to_string_lossy());
    Ok((metadata.is_file() && is_hex(&path)).then_some((metadata.modified()?, names.concat(), metadata.len())))
}

/// Whether a name has digits of a digest alone.
fn is_hex(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    name.len() >= 2 && name.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(number: u8) -> Digest {
        Digest::new(&[number; 32])
    }

    fn has(cache: &LeafCache, numbers: &[u8]) -> Vec<bool> {
        numbers.iter().map(|&number| cache.read(&key(number), &mut [0; 10])).collect()
    }

    #[test]
    fn the_leaves_used_last_are_kept_and_found_again() {
        let folder = tempfile::tempdir().unwrap();
        let cache = LeafCache::open(folder.path(), 30).unwrap();
        (0..3).for_each(|number| cache.keep(&key(number), &[number; 10]));
        assert_eq!(has(&cache, &[0]), [true]);
        cache.keep(&key(3), &[3; 10]);
        cache.keep(&key(3), &[3; 10]);
        assert_eq!((has(&cache, &[0, 1, 2, 3]), cache.lock().bytes), (vec![true, false, true, true], 30));
        // Of another length, or longer than the room.
        assert!(!cache.read(&key(2), &mut [0; 9]));
        cache.keep(&key(4), &[4; 31]);
        assert!(LeafCache::open(folder.path(), 30).unwrap_err().contains("another process"));
        drop(cache);
        let unfinished = folder.path().join("00").join("11.7.part");
        fs::write(&unfinished, "").unwrap();
        let cache = LeafCache::open(folder.path(), 20).unwrap();
        let mut bytes = [0; 10];
        assert!(cache.read(&key(3), &mut bytes) && bytes == [3; 10] && !unfinished.exists());
        let state = cache.lock();
        assert_eq!((state.leaves.len(), state.bytes), (2, 20));
        drop(state);
        fs::remove_file(cache.place(&key(3).to_string())).unwrap();
        assert!(!cache.read(&key(3), &mut bytes));
    }

    #[test]
    fn a_directory_with_other_files_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("ab"), "mine").unwrap();
        assert!(LeafCache::open(folder.path(), 30).unwrap_err().contains("other files"));
        assert!(!folder.path().join(LeafCache::LOCK).exists());
    }
}
