//! Logs of all sizes: written, read, proven, ended at every step, and continued.

use mksum_log::{Checkpoint, Error, Folder, Log, Note, Policy, Published, Source, entry_hash, fail_after, fsck};
use proptest::prelude::*;
use std::collections::HashMap;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// A folder in memory where the system has one: the tests wait for the disk thousands of times.
fn scratch() -> tempfile::TempDir {
    let memory = std::path::Path::new("/dev/shm");
    let made = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
    made.unwrap()
}

const ORIGIN: &str = "example.com/ledger";

/// RFC 6962, 2.1, as it is written.
fn mth(leaves: &[[u8; 32]]) -> [u8; 32] {
    let sha256 = |parts: &[&[u8]]| -> [u8; 32] {
        let spec: mksum::Spec = "sha256".parse().unwrap();
        spec.root_digest(&parts.concat()).unwrap().as_bytes().try_into().unwrap()
    };
    match leaves {
        [] => sha256(&[]),
        [leaf] => *leaf,
        _ => {
            let split = leaves.len().next_power_of_two() / 2;
            sha256(&[&[1], &mth(&leaves[..split]), &mth(&leaves[split..])])
        }
    }
}

fn entry(number: u64) -> Vec<u8> {
    number.to_string().into_bytes()
}

fn entries(range: std::ops::Range<u64>) -> impl Iterator<Item = Vec<u8>> {
    range.map(entry)
}

fn new() -> (TempDir, Log) {
    let folder = scratch();
    let log = Log::create(&folder.path().join("log"), ORIGIN).unwrap();
    (folder, log)
}

fn published(path: &Path) -> Published<Folder> {
    Published::unverified(Folder::new(path)).unwrap()
}

/// Checks all files, and the root against the definition.
fn check(path: &Path, size: u64) {
    let log = published(path);
    let report = fsck(&log, &mut |_| {});
    assert!(report.problems.is_empty(), "{:?}", report.problems);
    assert_eq!(report.entries, size);
    let leaves: Vec<_> = entries(0..size).map(|entry| entry_hash(&entry)).collect();
    assert_eq!(log.checkpoint().root(), mth(&leaves), "{size} entries");
    assert_eq!(log.checkpoint().size(), size);
}

#[test]
fn a_log_of_each_size_has_the_root_and_proofs_of_the_definition() {
    let (folder, mut log) = new();
    let path = folder.path().join("log");
    let policy = Policy::from(log.verifier());
    check(&path, 0);
    let mut old: Vec<Checkpoint> = vec![published(&path).checkpoint().clone()];
    for size in [1, 2, 3, 7, 8, 255, 256, 257, 511, 512, 513, 65_535, 65_536, 65_537, 66_049, 70_000] {
        assert_eq!(log.append(entries(log.size()..size)).unwrap().end, size);
        let checkpoint = log.checkpoint().unwrap().clone();
        check(&path, size);
        let public = Published::verified(Folder::new(&path), &policy).unwrap();
        for index in [0, 1, size / 3, size / 2, size.saturating_sub(257), size - 1] {
            if index >= size {
                continue;
            }
            let proof = public.inclusion(index).unwrap();
            let read = mksum_log::Proof::parse(proof.to_string().as_bytes()).unwrap();
            assert_eq!(read, proof);
            assert_eq!(read.check(&entry(index), &policy).unwrap(), checkpoint);
            assert!(read.check(&entry(index + 1), &policy).is_err(), "another entry");
            assert_eq!(public.entry(index).unwrap(), entry(index));
        }
        assert!(public.inclusion(size).is_err() && public.entry(size).is_err());
        for older in &old {
            let proof = public.consistency(older.size()).unwrap();
            let read = mksum_log::ConsistencyProof::parse(proof.to_string().as_bytes()).unwrap();
            assert_eq!(read.check(older, &policy).unwrap(), checkpoint);
            let other = Checkpoint::new(ORIGIN, older.size(), [7; 32]).unwrap();
            assert!(read.check(&other, &policy).is_err(), "another tree of {}", older.size());
        }
        assert!(public.consistency(size + 1).is_err());
        old.push(checkpoint);
    }
    // All entries in order, and a part that begins and ends within bundles.
    let public = published(&path);
    assert!(public.entries(0..u64::MAX).map(Result::unwrap).eq(entries(0..70_000)));
    assert!(public.entries(255..770).map(Result::unwrap).eq(entries(255..770)));
    assert_eq!(public.entries(70_000..80_000).count(), 0);
    // The example of tlog-tiles: 273 full tiles and one of 112, one full and one of 17 above, one of 1.
    for name in
        ["tile/0/272", "tile/0/273.p/112", "tile/1/000", "tile/1/001.p/17", "tile/2/000.p/1", "tile/entries/273.p/112"]
    {
        assert!(path.join(name).is_file(), "{name}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn batches_of_any_sizes_make_the_same_log(batches in proptest::collection::vec(0u64..400, 1..6), reopen in any::<u8>()) {
        let (folder, mut log) = new();
        let path = folder.path().join("log");
        let mut size = 0;
        for (at, batch) in batches.iter().enumerate() {
            if reopen >> at & 1 == 1 {
                drop(log);
                log = Log::open(&path).unwrap();
            }
            prop_assert_eq!(log.append(entries(size..size + batch)).unwrap(), size..size + batch);
            size += batch;
            log.checkpoint().unwrap();
            check(&path, size);
        }
        let public = published(&path);
        let policy = Policy::from(log.verifier());
        for index in (0..size).step_by(7) {
            public.inclusion(index).unwrap().check(&entry(index), &policy).unwrap();
        }
    }

    #[test]
    fn entries_of_any_bytes_come_back(all in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..300), 0..300)) {
        let (folder, mut log) = new();
        log.append(&all).unwrap();
        log.checkpoint().unwrap();
        let public = published(&folder.path().join("log"));
        let found: Vec<_> = public.entries(0..u64::MAX).map(Result::unwrap).collect();
        prop_assert_eq!(found, all);
    }
}

#[test]
fn an_entry_is_at_most_65535_bytes_and_an_error_appends_nothing() {
    let (folder, mut log) = new();
    let longest = vec![7; 65_535];
    log.append([&longest]).unwrap();
    let error = log.append([vec![1], vec![0; 65_536]]).unwrap_err();
    assert!(matches!(error, Error::TooLong { number: 2, len: 65_536 }), "{error}");
    assert_eq!(log.size(), 1);
    log.append([""]).unwrap();
    log.checkpoint().unwrap();
    let public = published(&folder.path().join("log"));
    assert_eq!((public.entry(0).unwrap(), public.entry(1).unwrap()), (longest, vec![]));
}

#[test]
fn one_process_writes_at_a_time() {
    let (folder, log) = new();
    let path = folder.path().join("log");
    assert!(matches!(Log::open(&path), Err(Error::Busy { .. })));
    drop(log);
    Log::open(&path).unwrap();
}

#[test]
fn a_folder_with_other_files_is_no_place_for_a_log() {
    let folder = scratch();
    fs::write(folder.path().join("other"), "").unwrap();
    assert!(matches!(Log::create(folder.path(), ORIGIN), Err(Error::Refused(_))));
    let (folder, log) = new();
    drop(log);
    assert!(matches!(Log::create(&folder.path().join("log"), ORIGIN), Err(Error::Refused(_))));
    for origin in ["", "two words", "a+b", "a\nb"] {
        assert!(Log::create(&folder.path().join("new"), origin).is_err(), "{origin:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_key_that_others_can_read_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let (folder, log) = new();
    drop(log);
    let path = folder.path().join("log");
    let key = path.join(".mksum/log/key");
    assert_eq!(fs::metadata(&key).unwrap().permissions().mode() & 0o777, 0o600);
    fs::set_permissions(&key, fs::Permissions::from_mode(0o640)).unwrap();
    let error = Log::open(&path).unwrap_err().to_string();
    assert!(error.contains("chmod 600"), "{error}");
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &to),
            false => drop(fs::copy(entry.path(), to).unwrap()),
        }
    }
}

/// The roots that were signed, by their sizes: no size may have two.
#[derive(Default)]
struct Seen(std::collections::BTreeMap<u64, [u8; 32]>);

impl Seen {
    fn look(&mut self, path: &Path) {
        for file in ["checkpoint", ".mksum/log/signed"] {
            // A crash within a rename leaves one file or the other, and none is torn.
            let note = Note::parse(&fs::read(path.join(file)).unwrap()).unwrap();
            let checkpoint: Checkpoint = note.text().parse().unwrap();
            let known = *self.0.entry(checkpoint.size()).or_insert(checkpoint.root());
            assert_eq!(known, checkpoint.root(), "two roots of {} entries were signed", checkpoint.size());
        }
    }
}

#[test]
fn a_crash_at_any_step_loses_nothing_that_was_signed() {
    // Within a bundle, across its end, and across the end of a level.
    for (before, batch) in [(0, 1), (3, 5), (250, 10), (255, 1), (256, 300), (65_530, 10)] {
        let (folder, mut log) = new();
        let start = folder.path().join("log");
        log.append(entries(0..before)).unwrap();
        log.checkpoint().unwrap();
        drop(log);
        for steps in 0.. {
            let path = folder.path().join(format!("crash-{steps}"));
            copy(&start, &path);
            let mut seen = Seen::default();
            seen.look(&path);
            let mut log = Log::open(&path).unwrap();
            fail_after(Some(steps));
            // Entries that are lost with the crash: others come in their place.
            let lost = (0..batch).map(|number| format!("lost {number}"));
            let done = log.append(lost).and_then(|_| log.checkpoint().map(Checkpoint::size));
            let left = fail_after(None);
            assert!(done.is_ok() || log.append(["more"]).is_err(), "it must be opened again");
            drop(log);
            seen.look(&path);
            let mut log = Log::open(&path).unwrap();
            seen.look(&path);
            let size = log.size();
            assert!(size == before || size == before + batch, "{size}");
            if done.is_ok() {
                assert_eq!(size, before + batch, "what was acknowledged is there");
            }
            assert!(fsck(&published(&path), &mut |_| {}).problems.is_empty());
            // Less, as much and more than what was lost.
            for more in [batch - 1, 1, 300] {
                log.append((0..more).map(|number| format!("new {number}"))).unwrap();
                log.checkpoint().unwrap();
                seen.look(&path);
            }
            drop(log);
            let report = fsck(&published(&path), &mut |_| {});
            assert!(report.problems.is_empty(), "{:?}", report.problems);
            assert_eq!(report.entries, size + batch + 300);
            fs::remove_dir_all(&path).unwrap();
            if done.is_ok() && left != Some(0) {
                assert!(steps > 8, "{steps} steps are too few to be all of them");
                break;
            }
        }
    }
}

#[test]
fn a_folder_that_lost_signed_entries_is_not_continued() {
    let (folder, mut log) = new();
    let (path, backup) = (folder.path().join("log"), folder.path().join("backup"));
    log.append(entries(0..300)).unwrap();
    log.checkpoint().unwrap();
    copy(&path, &backup);
    log.append(entries(300..600)).unwrap();
    log.checkpoint().unwrap();
    drop(log);
    // The tiles of the backup, and the record of now.
    let restored = folder.path().join("restored");
    copy(&backup, &restored);
    fs::copy(path.join(".mksum/log/signed"), restored.join(".mksum/log/signed")).unwrap();
    let error = Log::open(&restored).unwrap_err();
    assert!(matches!(error, Error::NotExtended { .. }), "{error}");
    assert!(error.to_string().contains("backup"), "{error}");
    // The record of the backup, and a newer published checkpoint.
    copy(&backup, &restored);
    fs::copy(path.join("checkpoint"), restored.join("checkpoint")).unwrap();
    assert!(matches!(Log::open(&restored), Err(Error::NotExtended { .. })));
    // Tiles of another tree of that size.
    let (other_folder, mut other) = new();
    other.append((0..600).map(|number| format!("other {number}"))).unwrap();
    other.checkpoint().unwrap();
    drop(other);
    let mixed = folder.path().join("mixed");
    copy(&path, &mixed);
    copy(&other_folder.path().join("log/tile"), &mixed.join("tile"));
    assert!(matches!(Log::open(&mixed), Err(Error::NotExtended { .. })));
    // Without the record and the checkpoint.
    let lost = folder.path().join("lost");
    copy(&path, &lost);
    fs::remove_file(lost.join("checkpoint")).unwrap();
    fs::remove_file(lost.join(".mksum/log/signed")).unwrap();
    assert!(matches!(Log::open(&lost), Err(Error::NotExtended { .. })));
}

#[test]
fn a_damaged_file_is_found_and_never_proven_from() {
    let (folder, mut log) = new();
    let path = folder.path().join("log");
    log.append(entries(0..600)).unwrap();
    log.checkpoint().unwrap();
    let policy = Policy::from(log.verifier());
    let files =
        ["tile/0/000", "tile/0/001", "tile/0/002.p/88", "tile/1/000.p/2", "tile/entries/000", "tile/entries/002.p/88"];
    for name in files {
        let whole = fs::read(path.join(name)).unwrap();
        let step = whole.len().div_ceil(40);
        for at in (0..whole.len()).step_by(step) {
            let mut bytes = whole.clone();
            bytes[at] ^= 1 << (at % 8);
            fs::write(path.join(name), &bytes).unwrap();
            let public = published(&path);
            let report = fsck(&public, &mut |_| {});
            assert!(!report.problems.is_empty(), "{name}: byte {at}");
            assert!(
                report.problems.iter().any(|problem| problem.to_string().starts_with(name)),
                "{:?}",
                report.problems
            );
            for index in [0, 255, 256, 599] {
                if let Ok(proof) = public.inclusion(index) {
                    proof.check(&entry(index), &policy).expect("what is proven is right");
                }
                if let Ok(found) = public.entry(index) {
                    assert_eq!(found, entry(index));
                }
            }
        }
        for bytes in [&whole[..0], &whole[..whole.len() - 1], &[&whole[..], b"x"].concat()] {
            fs::write(path.join(name), bytes).unwrap();
            assert!(!fsck(&published(&path), &mut |_| {}).problems.is_empty(), "{name}: {} bytes", bytes.len());
        }
        fs::remove_file(path.join(name)).unwrap();
        assert!(!fsck(&published(&path), &mut |_| {}).problems.is_empty(), "{name}: gone");
        fs::write(path.join(name), &whole).unwrap();
    }
    check(&path, 600);
}

/// Files in memory.
struct Files(HashMap<String, Vec<u8>>);

impl Source for Files {
    fn read(&self, name: &str, _: usize) -> Result<Option<Vec<u8>>, Error> {
        Ok(self.0.get(name).cloned())
    }
}

#[test]
fn every_changed_bit_of_a_small_log_is_noticed() {
    const SIZE: u64 = 20;
    let (folder, mut log) = new();
    log.append(entries(0..SIZE)).unwrap();
    log.checkpoint().unwrap();
    let policy = Policy::from(log.verifier());
    let names = ["checkpoint", "tile/0/000.p/20", "tile/entries/000.p/20"];
    let file = |name: &str| fs::read(folder.path().join("log").join(name)).unwrap();
    let whole: HashMap<_, _> = names.map(|name| (name.to_string(), file(name))).into();
    let is_good = |files| {
        let read = Published::verified(Files(files), &policy);
        read.is_ok_and(|log| {
            fsck(&log, &mut |_| {}).problems.is_empty() && log.entries(0..SIZE).all(|entry| entry.is_ok())
        })
    };
    assert!(is_good(whole.clone()));
    let mut tried = 0;
    for (name, bytes) in &whole {
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut changed = whole.clone();
                changed.get_mut(name).unwrap()[at] ^= 1 << bit;
                assert!(!is_good(changed), "{name}: bit {bit} of byte {at}");
                tried += 1;
            }
        }
    }
    assert!(tried > 5000, "{tried}");
}

/// A source that counts what is read.
struct Counting(Folder, std::sync::atomic::AtomicUsize);

impl Source for Counting {
    fn read(&self, name: &str, at_most: usize) -> Result<Option<Vec<u8>>, Error> {
        self.1.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        self.0.read(name, at_most)
    }
}

#[test]
fn a_proof_reads_a_few_tiles() {
    let (folder, mut log) = new();
    log.append(entries(0..70_000)).unwrap();
    log.checkpoint().unwrap();
    let source = Counting(Folder::new(folder.path().join("log")), 0.into());
    let public = Published::unverified(source).unwrap();
    public.inclusion(12_345).unwrap();
    let reads = public.source().1.load(std::sync::atomic::Ordering::Relaxed);
    assert!(reads <= 8, "{reads} files");
}
