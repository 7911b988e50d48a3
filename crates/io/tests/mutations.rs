//! Every byte of every file that mksum keeps, flipped, and every length, cut: nothing wrong is believed, nothing panics.
#![cfg(unix)]

use mksum::Spec;
use mksum::proof::{Proof, Trusted};
use mksum_io::outboard::{Changes, Finding, How, Keeping, Repair, keep, open, repair, update, verify};
use mksum_io::{Error, File, HeldFile, Options, open_replica};
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

const FORMATS: [&str; 4] = ["rfc6962:sha256:512", "blake3", "mtsum:sha1:700", "s3:md5:1000"];
/// Not a multiple of any leaf.
const LEN: usize = 9_001;
const DAMAGED: usize = 5_000;

fn options() -> Options {
    Options { threads: 1, ..Options::new() }
}

/// Each change of some bytes: its name, and what comes of it.
fn mutations(bytes: &[u8]) -> impl Iterator<Item = (String, Vec<u8>)> + '_ {
    let flipped = (0..bytes.len()).flat_map(move |at| {
        [0x01, 0x80, 0xff].map(|mask| {
            let mut changed = bytes.to_vec();
            changed[at] ^= mask;
            (format!("byte {at} ^ {mask:#x}"), changed)
        })
    });
    flipped.chain((0..bytes.len()).map(move |len| (format!("cut to {len}"), bytes[..len].to_vec())))
}

/// A file, a damaged copy of it, and its outboard.
struct Files {
    _folder: tempfile::TempDir,
    good: PathBuf,
    bad: PathBuf,
    place: PathBuf,
    bytes: Vec<u8>,
    spec: Spec,
}

impl Files {
    fn new(format: &str) -> Files {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let (good, bad, place) = (path("good"), path("bad"), path("good.mkt"));
        let bytes: Vec<u8> = (0..LEN as u64).map(|at| (at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect();
        fs::write(&good, &bytes).unwrap();
        let mut damaged = bytes.clone();
        damaged[DAMAGED] ^= 1;
        fs::write(&bad, damaged).unwrap();
        let spec: Spec = format.parse().unwrap();
        let unit = mksum::outboard::KeptLayout::unit_within(spec.shape(), 1024);
        keep(File::open(&good, &options()).unwrap(), &spec, &Keeping::new(unit, &place)).unwrap();
        Files { _folder: folder, good, bad, place, bytes, spec }
    }
}

/// The damaged ranges of a file, and the number of damaged digests.
fn damage(path: &Path, place: &Path) -> Result<(Vec<Range<u64>>, usize), Error> {
    let outboard = open(place)?;
    let (mut ranges, mut nodes) = (Vec::new(), 0);
    verify(File::open(path, &options())?, (&outboard, place), 0..outboard.len(), &mut |finding| {
        match finding {
            Finding::Node(_) => nodes += 1,
            Finding::Damaged(range) | Finding::Missing(range) | Finding::Grown(range) => ranges.push(range),
            Finding::Unreadable { .. } => panic!("this disk is fine"),
        }
        Ok(())
    })?;
    Ok((ranges, nodes))
}

#[test]
fn no_outboard_makes_a_damaged_file_good_or_has_another_root() {
    for format in FORMATS {
        let files = Files::new(format);
        let (outboard, root) = (fs::read(&files.place).unwrap(), files.spec.root(&files.bytes).unwrap());
        let (unit, _) = damage(&files.bad, &files.place).unwrap();
        let mut opened = 0;
        for (name, changed) in mutations(&outboard) {
            fs::write(&files.place, changed).unwrap();
            // Refused is fine.
            let Ok(found) = open(&files.place) else { continue };
            opened += 1;
            assert_eq!(found.root(), root, "{format}, {name}");
            if let Ok((ranges, nodes)) = damage(&files.bad, &files.place) {
                assert!(ranges.contains(&unit[0]), "{format}, {name}: {ranges:?}");
                assert!(ranges.len() == 1 || nodes > 0, "{format}, {name}: {ranges:?}");
            }
            // A damaged digest is no damage of the file.
            if let Ok((ranges, _)) = damage(&files.good, &files.place) {
                assert_eq!(ranges, [], "{format}, {name}");
            }
        }
        assert!(opened > outboard.len() / 10, "{format}: {opened} of {} were opened", outboard.len());
    }
}

#[test]
fn no_outboard_makes_repair_write_a_wrong_byte() {
    let files = Files::new("rfc6962:sha256:512");
    let (outboard, bad) = (fs::read(&files.place).unwrap(), fs::read(&files.bad).unwrap());
    let mut repaired = 0;
    // Each repair writes to the disk several times: every seventh byte takes seconds, all of them a minute.
    for (name, changed) in mutations(&outboard).step_by(7) {
        fs::write(&files.place, changed).unwrap();
        fs::write(&files.bad, &bad).unwrap();
        let Ok(found) = open(&files.place) else { continue };
        let mut replica = open_replica(&(&files.good).into(), &Options::new()).unwrap();
        let mut held = HeldFile::open(&files.bad).unwrap();
        let done = repair(&mut held, (&found, &files.place), &mut *replica, &options(), &mut |_| {});
        let after = fs::read(&files.bad).unwrap();
        assert!(after == bad || after == files.bytes, "{name}");
        if done.is_ok_and(|done| done.whole) {
            repaired += 1;
            assert_eq!(after, files.bytes, "{name}");
        }
    }
    assert!(repaired > 10, "{repaired}");
}

#[test]
fn no_journal_makes_repair_leave_damage_or_write_a_wrong_byte() {
    let files = Files::new("blake3");
    let (outboard, bad) = (open(&files.place).unwrap(), fs::read(&files.bad).unwrap());
    // A repair from a copy that is damaged in the same place leaves its journal.
    let journal = mksum_io::outboard::with_extension(&files.place, "repair");
    let copy = files.bad.with_extension("copy");
    fs::write(&copy, &bad).unwrap();
    let mut replica = open_replica(&(&copy).into(), &Options::new()).unwrap();
    let mut failed = 0;
    let mut held = HeldFile::open(&files.bad).unwrap();
    let done = repair(&mut held, (&outboard, &files.place), &mut *replica, &options(), &mut |repair| {
        failed += usize::from(matches!(repair, Repair::Failed(..)));
    });
    assert!(!done.unwrap().whole && failed == 1);
    // Its lock, which the next repair wants.
    drop(held);
    let text = fs::read(&journal).unwrap();
    for (name, changed) in mutations(&text) {
        fs::write(&journal, &changed).unwrap();
        fs::write(&files.bad, &bad).unwrap();
        let mut replica = open_replica(&(&files.good).into(), &Options::new()).unwrap();
        let mut held = HeldFile::open(&files.bad).unwrap();
        match repair(&mut held, (&outboard, &files.place), &mut *replica, &options(), &mut |_| {}) {
            Ok(done) => assert!(done.whole && fs::read(&files.bad).unwrap() == files.bytes, "{name}"),
            // One that does not begin as ours is somebody's file, and stays.
            Err(error) => {
                assert!(error.to_string().contains("not a file of mksum"), "{name}: {error}");
                assert_eq!(fs::read(&journal).unwrap(), changed, "{name}");
                assert_eq!(fs::read(&files.bad).unwrap(), bad, "{name}");
            }
        }
    }
}

#[test]
fn no_outboard_gives_an_update_a_wrong_root() {
    let files = Files::new("rfc6962:sha256:512");
    let outboard = fs::read(&files.place).unwrap();
    let grown = [&files.bytes[..], b"and more"].concat();
    fs::write(&files.good, &grown).unwrap();
    let (root, new) = (files.spec.root(&grown).unwrap(), files.place.with_extension("new"));
    for (name, changed) in mutations(&outboard).step_by(7) {
        fs::write(&files.place, changed).unwrap();
        let Ok(old) = open(&files.place) else { continue };
        let file = File::open(&files.good, &options()).unwrap();
        if let Ok(updated) = update(file, &old, &How::Length, &new, Changes::Refuse) {
            assert_eq!(updated.root, root, "{name}");
        }
    }
}

#[test]
fn no_proof_that_was_changed_is_valid() {
    for format in FORMATS {
        let (files, range) = (Files::new(format), 3_000..4_100_u64);
        let root = Trusted::from(&files.spec.root(&files.bytes).unwrap());
        let part = &files.bytes[range.start as usize..range.end as usize];
        let proof = Proof::of_range(&files.spec, &files.bytes, range).unwrap().to_bytes();
        Proof::parse(&proof).unwrap().verify_range(&root, part).unwrap();
        for (name, changed) in mutations(&proof) {
            let valid = Proof::parse(&changed).is_ok_and(|proof| proof.verify_range(&root, part).is_ok());
            assert!(!valid, "{format}, {name}");
        }
        let Ok(proof) = Proof::of_consistency(&files.spec, &files.bytes, 4_096) else { continue };
        let old = Trusted::from(&files.spec.root(&files.bytes[..4_096]).unwrap());
        proof.verify_consistency(&old, &root).unwrap();
        for (name, changed) in mutations(&proof.to_bytes()) {
            let valid = Proof::parse(&changed).is_ok_and(|proof| proof.verify_consistency(&old, &root).is_ok());
            assert!(!valid, "{format}, consistency, {name}");
        }
    }
}
