//! Many files side by side in the lanes: each has the root that its bytes have alone, whatever happens to its neighbours.

use mksum::Spec;
use mksum_io::{Error, Input, Job, Options, Roots, Throttle, Window, hash_all};
use proptest::prelude::*;
use std::fs::{self, File};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::{TempDir, tempdir};

/// The bytes of the file with this number.
fn bytes(number: usize, len: usize) -> Vec<u8> {
    let mut state = number as u64 + 1;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 56) as u8
    };
    (0..len).map(|_| next()).collect()
}

fn folder(lens: &[usize]) -> (TempDir, Vec<PathBuf>) {
    let folder = tempdir().unwrap();
    let write = |(number, &len): (usize, &usize)| {
        let path = folder.path().join(number.to_string());
        fs::write(&path, bytes(number, len)).unwrap();
        path
    };
    let paths = lens.iter().enumerate().map(write).collect();
    (folder, paths)
}

fn specs(texts: &[&str]) -> Vec<Spec> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

fn with_threads(threads: usize) -> Options {
    Options { threads, ..Options::new() }
}

/// The results in the order in which they come.
fn results(jobs: impl Iterator<Item = Job> + Send, options: &Options) -> Vec<(PathBuf, Result<Roots, Error>)> {
    let mut all = Vec::new();
    hash_all(jobs, options, |job, result, _| {
        let Input::File(path) = &job.input else { unreachable!() };
        all.push((path.clone(), result));
        ControlFlow::Continue(())
    });
    all
}

fn assert_roots(roots: Roots, specs: &[Spec], bytes: &[u8]) {
    assert_eq!(roots.len(), specs.len());
    for (root, spec) in roots.into_iter().zip(specs) {
        match (root, spec.root(bytes)) {
            (Ok(root), Ok(expected)) => assert_eq!(root, expected, "{spec} of {} bytes", bytes.len()),
            (Err(Error::Format { .. }), Err(_)) => {}
            (root, expected) => panic!("{spec} of {} bytes: {root:?}, not {expected:?}", bytes.len()),
        }
    }
}

/// Plain sums, formats whose short files are one leaf, and some that are always a tree or have no slots.
const FORMATS: [&str; 15] = [
    "md5",
    "sha1",
    "sha256",
    "sha512",
    "sha3-256",
    "sm3",
    "blake2b",
    "rfc6962:sha256:64KiB",
    "rfc6962:blake2s:64KiB",
    "plain:sha256:1MiB",
    "fsverity",
    "s3:md5:5MiB",
    "blake3",
    "btv2",
    "sha256tree",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn any_files_formats_and_threads(
        lens in prop::collection::vec(prop_oneof![0..200_usize, 0..5000_usize, 0..200_000_usize], 0..80),
        // Several sets of formats: jobs need not have the same.
        formats in prop::collection::vec(prop::sample::subsequence(&FORMATS[..], 1..4), 1..3),
        threads in 1..5_usize,
    ) {
        let (_folder, paths) = folder(&lens);
        let sets: Vec<Vec<Spec>> = formats.iter().map(|formats| specs(formats)).collect();
        let set = |number: usize| &sets[number % sets.len()];
        let jobs = paths.iter().enumerate().map(|(number, path)| {
            Job::new(path.into(), set(number).clone())
        });
        let results = results(jobs, &with_threads(threads));
        prop_assert_eq!(results.len(), lens.len());
        for (number, (path, roots)) in results.into_iter().enumerate() {
            prop_assert_eq!(&path, &paths[number]);
            assert_roots(roots.unwrap(), set(number), &bytes(number, lens[number]));
        }
    }
}

#[test]
fn two_formats_of_one_hash_share_a_read() {
    let (_folder, paths) = folder(&[100, 5000, 64, 0, 31_000]);
    let specs = specs(&["sha256", "rfc6962:sha256:64KiB", "plain:sha256:1MiB", "md5"]);
    let jobs = paths.iter().map(|path| Job::new(path.into(), specs.clone()));
    for (number, (_, roots)) in results(jobs, &with_threads(2)).into_iter().enumerate() {
        assert_roots(roots.unwrap(), &specs, &bytes(number, [100, 5000, 64, 0, 31_000][number]));
    }
}

#[test]
fn parts_of_files() {
    let (_folder, paths) = folder(&[100_000; 20]);
    let specs = specs(&["sha256"]);
    let window = Window { start: 1000, end: Some(70_001) };
    let jobs = paths.iter().map(|path| {
        let mut job = Job::new(path.into(), specs.clone());
        job.window = Some(window);
        job
    });
    for (number, (_, roots)) in results(jobs, &with_threads(2)).into_iter().enumerate() {
        assert_roots(roots.unwrap(), &specs, &bytes(number, 100_000)[1000..70_001]);
    }
}

/// More than 2^32 bits, beside files that end and begin.
#[test]
fn a_long_file_among_short_ones() {
    let (folder, mut paths) = folder(&[3000; 300]);
    let long = folder.path().join("long");
    let len = 520 << 20;
    File::create(&long).unwrap().set_len(len).unwrap();
    paths.insert(7, long.clone());
    let specs = specs(&["sha1", "sha512"]);
    let jobs = paths.iter().map(|path| Job::new(path.into(), specs.clone()));
    let mut results = results(jobs, &with_threads(2));
    let (path, roots) = results.remove(7);
    assert_eq!(path, long);
    let texts: Vec<_> = roots.unwrap().into_iter().map(|root| root.unwrap().to_string()).collect();
    // As `head -c 545259520 /dev/zero | sha1sum` and `sha512sum` print them.
    assert_eq!(texts[0], "ea5bbe584d9b601d7eb09496d075a39b155f6001");
    assert_eq!(
        texts[1],
        "fd912ec6fd009ec2f9a31f530a2196a2828ac08eccaac32165779df78fb592fc5533a3658349a51486d6d4156360ed44c2b0a3f8e8d9a33bc590c2e2546b2a90"
    );
    for (number, (_, roots)) in results.into_iter().enumerate() {
        assert_roots(roots.unwrap(), &specs, &bytes(number, 3000));
    }
}

#[test]
fn a_file_that_fails_spoils_no_other() {
    for threads in [1, 3] {
        let (folder, mut paths) = folder(&[10_000; 90]);
        let changing = folder.path().join("5");
        let absent = folder.path().join("absent");
        paths.insert(40, absent.clone());
        paths.insert(60, folder.path().into());
        let specs = specs(&["md5", "rfc6962:sha256:64KiB"]);
        // Slow enough for the change to come in the middle.
        let options = Options { throttle: Some(Arc::new(Throttle::new(4 << 20))), ..with_threads(threads) };
        let jobs = paths.iter().map(|path| Job::new(path.into(), specs.clone()));
        let change = |path: &Path| {
            let (len, path) = (paths.len(), path.to_path_buf());
            std::thread::spawn(move || {
                for turn in 0..200 {
                    fs::write(&path, vec![turn as u8; 9000 + turn % len]).unwrap();
                    std::thread::sleep(std::time::Duration::from_millis(1));
                }
            })
        };
        let writer = change(&changing);
        let all = results(jobs, &options);
        writer.join().unwrap();
        assert_eq!(all.len(), paths.len());
        for (path, roots) in all {
            if path == changing {
                // Either error or the root of what it was for a moment: no other root.
                continue;
            }
            match path.file_name().unwrap().to_str().unwrap().parse::<usize>() {
                Ok(number) => assert_roots(roots.unwrap(), &specs, &bytes(number, 10_000)),
                Err(_) => assert!(matches!(roots, Err(Error::Open { .. })), "{path:?}: {roots:?}"),
            }
        }
    }
}

#[test]
fn it_ends_when_no_more_results_are_wanted() {
    let (_folder, paths) = folder(&[20_000; 500]);
    let specs = specs(&["sha256"]);
    for threads in [1, 2, 4] {
        let jobs = paths.iter().map(|path| Job::new(path.into(), specs.clone()));
        let mut taken = 0;
        hash_all(jobs, &with_threads(threads), |_, result, _| {
            result.unwrap();
            taken += 1;
            if taken == 10 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        assert_eq!(taken, 10);
    }
}
