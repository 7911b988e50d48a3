//! Appends by many threads: each entry is in the log once its index is returned, and checkpoints are shared.

use mksum_log::{Appender, Error, Folder, Known, Log, Policy, Published, fail_after, fsck};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Barrier;
use std::thread;
use std::time::Duration;
use tempfile::TempDir;

fn new() -> (TempDir, PathBuf, Appender, Policy) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let log = Log::create(&path, "example.com/log").unwrap();
    let policy = Policy::from(log.verifier());
    (folder, path, Appender::new(log), policy)
}

fn entries(path: &Path, policy: &Policy) -> Vec<Vec<u8>> {
    let published = Published::verified(Folder::new(path), policy).unwrap();
    let report = fsck(&published, &mut |_| {});
    assert!(report.problems.is_empty(), "{:?}", report.problems);
    published.entries(0..u64::MAX).collect::<Result<_, _>>().unwrap()
}

#[test]
fn threads_append_at_once_and_each_entry_is_at_its_index() {
    let (_folder, path, appender, policy) = new();
    let appender = appender.linger(Duration::from_millis(1));
    let shown: Vec<BTreeMap<u64, Vec<u8>>> = thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|thread| {
                let (appender, path, policy) = (&appender, &path, &policy);
                scope.spawn(move || {
                    let mut own = BTreeMap::new();
                    for turn in 0..20 {
                        let batch: Vec<_> =
                            (0..turn % 4 + 1).map(|at| format!("{thread}.{turn}.{at}").into_bytes()).collect();
                        let indices = appender.append(batch.clone()).unwrap();
                        // It is published when the call returns.
                        let published = Published::verified(Folder::new(path), policy).unwrap();
                        assert!(published.checkpoint().size() > *indices.last().unwrap());
                        assert_eq!(published.entry(indices[0]).unwrap(), batch[0]);
                        // A batch is not torn apart.
                        assert!(indices.windows(2).all(|pair| pair[0] + 1 == pair[1]));
                        own.extend(indices.into_iter().zip(batch));
                    }
                    own
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let shown: BTreeMap<u64, Vec<u8>> = shown.into_iter().flatten().collect();
    assert_eq!(shown.keys().copied().collect::<Vec<_>>(), (0..400).collect::<Vec<_>>());
    assert_eq!(shown.into_values().collect::<Vec<_>>(), entries(&path, &policy));
}

#[test]
fn what_was_added_shares_the_checkpoint_of_the_one_that_waits() {
    let (_folder, path, appender, policy) = new();
    assert_eq!(appender.add(["a", "b"]).unwrap(), [0, 1]);
    assert_eq!(appender.add(["c"]).unwrap(), [2]);
    assert!(entries(&path, &policy).is_empty());
    assert!(matches!(appender.wait(4), Err(Error::Refused(_))));
    appender.wait(1).unwrap();
    assert_eq!(entries(&path, &policy), [b"a", b"b", b"c"]);
    // What nobody waited for is not in the log.
    appender.add(["d"]).unwrap();
    assert_eq!(appender.into_log().size(), 3);
}

#[test]
fn more_than_memory_is_for_is_signed_before_more_is_added() {
    let (_folder, path, appender, policy) = new();
    let entry = vec![b'x'; 65_535];
    for _ in 0..600 {
        appender.add([entry.clone()]).unwrap();
    }
    // 600 of them are 39 MB.
    assert!(Published::verified(Folder::new(&path), &policy).unwrap().checkpoint().size() > 500);
}

#[test]
fn an_entry_that_is_known_has_its_first_index() {
    let (_folder, path, appender, policy) = new();
    appender.append(["a", "b", "a"]).unwrap();
    let known = Known::read(&Published::verified(Folder::new(&path), &policy).unwrap()).unwrap();
    let appender = Appender::new(appender.into_log()).unique(known);
    assert_eq!(appender.append(["b", "c", "a", "c", "d"]).unwrap(), [1, 3, 0, 3, 4]);
    assert_eq!(appender.append(["a"]).unwrap(), [0]);
    assert_eq!(entries(&path, &policy), [b"a", b"b", b"a", b"c", b"d"]);
}

#[test]
fn one_entry_that_is_too_long_appends_nothing() {
    let (_folder, path, appender, policy) = new();
    let wrong = appender.append([vec![], vec![0; 65_536]]);
    assert!(matches!(wrong, Err(Error::TooLong { number: 2, len: 65_536 })));
    assert_eq!(appender.append([vec![0; 65_535]]).unwrap(), [0]);
    assert_eq!(entries(&path, &policy).len(), 1);
}

#[test]
fn a_disk_that_fails_fails_every_thread_that_waits() {
    let (_folder, path, appender, policy) = new();
    appender.append(["before"]).unwrap();
    let together = Barrier::new(4);
    let outcomes: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|thread| {
                let (appender, together) = (&appender, &together);
                scope.spawn(move || {
                    // Whichever signs, its files cannot be written.
                    fail_after(Some(1));
                    together.wait();
                    appender.append([format!("of {thread}")]).unwrap_err().to_string()
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(outcomes.iter().all(|why| why.contains("ended by a test")), "{outcomes:?}");
    assert!(appender.append(["after"]).unwrap_err().to_string().contains("open the log again"));
    assert!(appender.append(Vec::<Vec<u8>>::new()).is_err());
    drop(appender);
    assert_eq!(entries(&path, &policy), [b"before"]);
    let appender = Appender::new(Log::open(&path).unwrap());
    assert_eq!(appender.append(["again"]).unwrap(), [1]);
}
