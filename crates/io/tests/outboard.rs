//! Outboards of files: an update is what keeping anew would be, byte for byte.
#![cfg(unix)]

use mksum::Spec;
use mksum::outboard::{KeptLayout, Outboard};
use mksum_io::outboard::{Changes, Finding, How, Keeping, keep, open, update, verify};
use mksum_io::{File, Options};
use std::fs;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;

const FORMATS: [&str; 9] = [
    "rfc6962:sha256:1000",
    "plain:sha1:4KiB",
    "blake3",
    "btv2",
    "fsverity:sha256:1KiB",
    "mtsum:sha256:3000",
    "s3:md5:10000",
    "dropbox",
    "sha256tree",
];

/// Numbers without a pattern, the same every time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % bound.max(1)
    }
}

fn options() -> Options {
    Options { threads: 2, ..Options::new() }
}

fn kept(path: &Path, spec: &Spec, unit: u64, target: &Path) -> Vec<u8> {
    let file = File::open(path, &options()).unwrap();
    let kept = keep(file, spec, &Keeping::new(unit, target)).unwrap();
    assert_eq!(kept.root, spec.root(&fs::read(path).unwrap()).unwrap());
    fs::read(target).unwrap()
}

fn damage(path: &Path, place: &Path) -> Vec<Finding> {
    let outboard = open(place).unwrap();
    let mut found = Vec::new();
    let file = File::open(path, &options()).unwrap();
    verify(file, (&outboard, place), 0..outboard.len(), &mut |finding| {
        found.push(finding);
        Ok(())
    })
    .unwrap();
    found
}

#[test]
fn an_update_is_what_keeping_anew_would_be() {
    let folder = tempfile::tempdir().unwrap();
    let (path, place, anew) = (folder.path().join("f"), folder.path().join("f.mkt"), folder.path().join("anew"));
    let mut numbers = Numbers(1);
    for format in FORMATS {
        let spec: Spec = format.parse().unwrap();
        for turn in 0..12 {
            let len = [1, 1000, 4096, 16384, 30_000, 100_000, 300_000][numbers.below(7) as usize] + numbers.below(3);
            let unit = KeptLayout::unit_within(spec.shape(), numbers.below(20_000));
            fs::write(&path, (0..len).map(|_| numbers.below(256) as u8).collect::<Vec<_>>()).unwrap();
            kept(&path, &spec, unit, &place);
            assert_eq!(damage(&path, &place), []);
            let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
            let how = match turn % 3 {
                0 => {
                    let now = numbers.below(2 * len) + 1;
                    if now > len {
                        let more: Vec<_> = (len..now).map(|_| numbers.below(256) as u8).collect();
                        file.write_all_at(&more, len).unwrap();
                    } else {
                        file.set_len(now).unwrap();
                    }
                    How::Length
                }
                1 => {
                    let ranges: Vec<Range<u64>> = (0..1 + numbers.below(4))
                        .map(|_| {
                            let start = numbers.below(len);
                            let end = start + 1 + numbers.below((len - start).min(9000));
                            let end = end.min(len);
                            file.write_all_at(&vec![numbers.below(256) as u8; (end - start) as usize], start).unwrap();
                            start..end
                        })
                        .collect();
                    How::Ranges(ranges)
                }
                _ => {
                    file.write_all_at(&[numbers.below(256) as u8], numbers.below(len)).unwrap();
                    file.write_all_at(b"appended", len).unwrap();
                    How::Unknown
                }
            };
            let old = open(&place).unwrap();
            let before: Outboard<Vec<u8>> = Outboard::open(fs::read(&place).unwrap()).unwrap();
            let updated = update(File::open(&path, &options()).unwrap(), &old, &how, &place, Changes::Refuse).unwrap();
            let context = format!("{format}, {len} bytes in units of {unit}, {how:?}");
            assert_eq!(updated.root, spec.root(&fs::read(&path).unwrap()).unwrap(), "{context}");
            assert_eq!(fs::read(&place).unwrap(), kept(&path, &spec, unit, &anew), "{context}");
            assert_eq!(damage(&path, &place), [], "{context}");
            // Whatever changed is told.
            let changed = updated.changed.unwrap();
            let now = fs::read(&path).unwrap();
            for unit in before.damaged_in(&now[..]).unwrap_or_default() {
                let told = changed.iter().any(|range| range.start <= unit.start && unit.end() <= range.end);
                assert!(told, "{context}: {unit:?} in {changed:?}");
            }
        }
    }
}

#[test]
fn an_update_trusts_no_digest_that_its_root_does_not_vouch_for() {
    let folder = tempfile::tempdir().unwrap();
    let (path, place) = (folder.path().join("f"), folder.path().join("f.mkt"));
    let spec: Spec = "rfc6962:sha256:1000".parse().unwrap();
    fs::write(&path, vec![7; 10_000]).unwrap();
    let bytes = kept(&path, &spec, 1000, &place);
    for at in (1024..bytes.len()).step_by(32) {
        let mut wrong = bytes.clone();
        wrong[at] ^= 1;
        fs::write(&place, &wrong).unwrap();
        fs::write(&path, vec![7; 10_500]).unwrap();
        let old = open(&place).unwrap();
        let root = spec.root(&vec![7; 10_500]).unwrap();
        // Refused where the digest is needed, and else the root is right.
        match update(File::open(&path, &options()).unwrap(), &old, &How::Length, &place, Changes::Refuse) {
            Ok(updated) => assert_eq!(updated.root, root),
            Err(error) => assert!(error.to_string().contains("damaged"), "{error}"),
        }
    }
}

#[test]
fn the_end_of_a_file_that_is_cut_off_or_grew_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let (path, place) = (folder.path().join("f"), folder.path().join("f.mkt"));
    for format in FORMATS {
        let spec: Spec = format.parse().unwrap();
        let bytes = mksum_vectors::Pattern::Mod251.bytes(100_000);
        fs::write(&path, &bytes).unwrap();
        let unit = KeptLayout::unit_within(spec.shape(), 5000);
        kept(&path, &spec, unit, &place);
        fs::write(&path, [&bytes[..], b"more"].concat()).unwrap();
        assert_eq!(damage(&path, &place), [Finding::Grown(100_000..100_004)], "{format}");
        for cut in [0, 1, 1000, 50_000, 99_999] {
            fs::write(&path, &bytes[..cut]).unwrap();
            let start = open(&place).unwrap().layout().unit_over(cut as u64).unwrap().start;
            let mut expected = vec![Finding::Missing(cut as u64..100_000)];
            if start < cut as u64 {
                expected.insert(0, Finding::Damaged(start..cut as u64));
            }
            assert_eq!(damage(&path, &place), expected, "{format} cut to {cut}");
        }
    }
}
