//! Mirrors: kept up to date, and forks and rollbacks that they catch.

use mksum_log::{
    Chain, ConsistencyProof, Error, Folder, KeyKind, Log, Note, Policy, Published, SignerKey, follow, fsck,
};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// A folder in memory where the system has one: the tests wait for the disk thousands of times.
fn scratch() -> tempfile::TempDir {
    let memory = std::path::Path::new("/dev/shm");
    let made = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
    made.unwrap()
}

fn key() -> SignerKey {
    SignerKey::from_seed("example.com/ledger", KeyKind::Ed25519, &[1; 32]).unwrap()
}

/// A log of the entries `PREFIX0`, `PREFIX1`, ... after those in common.
fn grow(log: &mut Log, prefix: &str, size: u64) {
    log.append((log.size()..size).map(|number| format!("{prefix}{number}"))).unwrap();
    log.checkpoint().unwrap();
}

fn new(folder: &TempDir, name: &str) -> Log {
    Log::create_with(&folder.path().join(name), key()).unwrap()
}

fn policy() -> Policy {
    Policy::from(key().verifier())
}

fn mirror(folder: &TempDir, from: &str) -> Result<u64, Error> {
    let source = Folder::new(folder.path().join(from));
    follow(source, &folder.path().join("mirror"), &policy(), &mut |_| {}).map(|followed| followed.checkpoint.size())
}

fn is_whole(path: &Path, size: u64) {
    let log = Published::verified(Folder::new(path), &policy()).unwrap();
    let report = fsck(&log, &mut |_| {});
    assert!(report.problems.is_empty(), "{:?}", report.problems);
    assert_eq!(report.entries, size);
}

#[test]
fn a_mirror_follows_a_log() {
    let folder = scratch();
    let mut log = new(&folder, "log");
    for size in [0, 1, 200, 256, 300, 300, 1000, 66_000] {
        grow(&mut log, "", size);
        assert_eq!(mirror(&folder, "log").unwrap(), size);
        is_whole(&folder.path().join("mirror"), size);
        let read = |name: &str| fs::read(folder.path().join(name).join("checkpoint")).unwrap();
        assert_eq!(read("log"), read("mirror"));
    }
    assert!(!folder.path().join("mirror/.mksum/log/evidence").exists());
    assert!(Log::open(&folder.path().join("mirror")).is_err(), "a mirror has no key");
    let into_log =
        follow(Folder::new(folder.path().join("mirror")), &folder.path().join("log"), &policy(), &mut |_| {});
    assert!(into_log.is_err(), "a log of its own is no mirror");
}

#[test]
fn a_fork_is_caught_with_evidence() {
    // The same sizes, more and fewer entries; forked within a bundle and at its end.
    for (common, seen, shown) in [(100, 300, 300), (100, 300, 900), (256, 300, 280), (0, 5, 700), (299, 300, 301)] {
        let folder = scratch();
        let (mut one, mut two) = (new(&folder, "one"), new(&folder, "two"));
        for log in [&mut one, &mut two] {
            grow(log, "", common);
        }
        grow(&mut one, "a", seen);
        grow(&mut two, "b", shown);
        mirror(&folder, "one").unwrap();
        let error = mirror(&folder, "two").unwrap_err();
        assert!(error.is_contradiction(), "{error}");
        let Error::Fork { seen: old, shown: new, evidence: Some(place) } = error else { panic!("{error}") };
        assert_eq!((old, new), (seen, shown));
        let note = |name: &str| Note::parse(&fs::read(place.join(name)).unwrap()).unwrap();
        for (name, log) in [("seen", "one"), ("shown", "two")] {
            assert!(note(name).verify(&key().verifier()).unwrap().is_some());
            assert_eq!(
                note(name).to_string().into_bytes(),
                fs::read(folder.path().join(log).join("checkpoint")).unwrap()
            );
        }
        if shown > seen {
            // The proof shows that the newer tree does not begin with the older one.
            let proof = ConsistencyProof::parse(&fs::read(place.join("proof")).unwrap()).unwrap();
            let seen = note("seen").text().parse().unwrap();
            assert!(proof.check(&seen, &policy()).is_err());
        }
        is_whole(&folder.path().join("mirror"), seen);
        assert_eq!(mirror(&folder, "one").unwrap(), seen, "it follows the tree that it knows");
    }
}

#[test]
fn a_rollback_is_caught() {
    let folder = scratch();
    let (mut one, mut two) = (new(&folder, "one"), new(&folder, "two"));
    grow(&mut one, "", 700);
    grow(&mut two, "", 600);
    mirror(&folder, "one").unwrap();
    let error = mirror(&folder, "two").unwrap_err();
    assert!(matches!(error, Error::Rollback { seen: 700, shown: 600, evidence: Some(_) }), "{error}");
    is_whole(&folder.path().join("mirror"), 700);
}

#[test]
fn a_damaged_source_changes_nothing() {
    let folder = scratch();
    let mut log = new(&folder, "log");
    grow(&mut log, "", 300);
    mirror(&folder, "log").unwrap();
    grow(&mut log, "", 900);
    for name in ["tile/0/002", "tile/entries/001", "tile/entries/003.p/132", "tile/1/000.p/3", "checkpoint"] {
        let path = folder.path().join("log").join(name);
        let whole = fs::read(&path).unwrap();
        for at in (0..whole.len()).step_by(whole.len() / 9) {
            let mut bytes = whole.clone();
            bytes[at] ^= 4;
            fs::write(&path, &bytes).unwrap();
            let error = mirror(&folder, "log").expect_err(name);
            assert!(!error.is_contradiction(), "{name}: {error}");
            is_whole(&folder.path().join("mirror"), 300);
        }
        fs::write(&path, &whole).unwrap();
    }
    assert_eq!(mirror(&folder, "log").unwrap(), 900);
    is_whole(&folder.path().join("mirror"), 900);
}

#[test]
fn another_log_is_not_followed_into_a_mirror() {
    let folder = scratch();
    let mut log = new(&folder, "log");
    grow(&mut log, "", 3);
    mirror(&folder, "log").unwrap();
    let other = Log::create(&folder.path().join("other"), "example.com/other").unwrap();
    assert!(matches!(mirror(&folder, "other"), Err(Error::Untrusted(_))), "another key");
    let source = Folder::new(folder.path().join("other"));
    let error =
        follow(source, &folder.path().join("mirror"), &Policy::from(other.verifier()), &mut |_| {}).unwrap_err();
    assert!(matches!(error, Error::Refused(_)), "another origin: {error}");
}

/// A copied folder that is continued twice.
#[test]
fn a_log_that_was_continued_twice_is_a_fork_for_its_mirrors() {
    let folder = scratch();
    let mut log = new(&folder, "log");
    grow(&mut log, "", 10);
    drop(log);
    let copied =
        std::process::Command::new("cp").arg("-a").args(["log", "copy"]).current_dir(folder.path()).status().unwrap();
    assert!(copied.success());
    for (name, prefix) in [("log", "a"), ("copy", "b")] {
        let mut log = Log::open(&folder.path().join(name)).unwrap();
        grow(&mut log, prefix, 20);
    }
    mirror(&folder, "log").unwrap();
    assert!(matches!(mirror(&folder, "copy"), Err(Error::Fork { .. })));
}

#[test]
fn a_chain_of_json_lines_is_checked() {
    let sha256 = |line: &str| {
        let spec: mksum::Spec = "sha256".parse().unwrap();
        spec.root_digest(line.as_bytes()).unwrap().to_string()
    };
    let one = r#"{"n":1,"prev":null}"#.to_string();
    let two = format!(r#"{{"n":2,"prev":"{}"}}"#, sha256(&one));
    let three = format!(r#"{{"n":3,"prev":"sha256:{}"}}"#, sha256(&two).to_uppercase());
    let check = |lines: &[&str]| {
        let mut chain = Chain::new("prev");
        lines.iter().try_for_each(|line| chain.next(line.as_bytes()))
    };
    check(&[&one, &two, &three]).unwrap();
    for wrong in [
        &[&*one, &three][..],
        &[&two, &one],
        &[&one, &two.replace('2', "3")],
        &[&one, "not JSON"],
        &[&one, "{}"],
        &["[]"],
    ] {
        assert!(check(wrong).is_err(), "{wrong:?}");
    }
    let error = check(&[&one, &three]).unwrap_err().to_string();
    assert!(error.contains("line 2") && error.contains(&sha256(&one)), "{error}");
}
