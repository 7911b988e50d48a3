//! Inputs that change, end early, have holes, are no files: an error with path and offset, or the right root.
#![cfg(unix)]

use mksum::{Root, Spec};
use mksum_io::{Error, File, Input, Job, Meter, Mode, Options, Refusal, Stop, Throttle, hash, hash_all, hash_reader};
use std::fs;
use std::ops::ControlFlow;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

const MIB: u64 = 1 << 20;

fn job(path: &Path, formats: &[&str]) -> Job {
    Job::new(path.into(), formats.iter().map(|text| text.parse().unwrap()).collect())
}

fn file_of(len: u64) -> (tempfile::TempDir, PathBuf, Vec<u8>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let bytes = mksum_vectors::Pattern::Mod251.bytes(len);
    fs::write(&path, &bytes).unwrap();
    (folder, path, bytes)
}

/// The roots of a file, if it has one in every format.
fn roots(path: &Path, formats: &[&str], options: &Options) -> Result<Vec<Root>, Error> {
    hash(&job(path, formats), options)?.into_iter().collect()
}

fn root(format: &str, bytes: &[u8]) -> String {
    format.parse::<Spec>().unwrap().root(bytes).unwrap().to_string()
}

/// What comes of hashing a file for about a second while another process does something to it.
fn while_hashed(formats: &[&str], threads: usize, mode: Mode, command: &str) -> Result<Vec<String>, Error> {
    let (_folder, path, _) = file_of(8 * MIB);
    // The file's times are to differ from those of the change, also where they are coarse.
    std::thread::sleep(std::time::Duration::from_millis(20));
    let throttle = Some(Arc::new(Throttle::new(8 * MIB)));
    let options = Options { threads, mode, throttle, ..Options::new() };
    let script = format!("sleep 0.4; {command}");
    let mut other = Command::new("sh").args(["-c", &script, "sh"]).arg(&path).spawn().unwrap();
    let result = roots(&path, formats, &options);
    assert!(other.wait().unwrap().success());
    result.map(|roots| roots.iter().map(ToString::to_string).collect())
}

#[test]
fn a_file_that_changes_while_it_is_read_has_no_root() {
    for (formats, threads, mode) in [
        (&["rfc6962:sha256:4KiB"][..], 1, Mode::Buffered),
        (&["blake3"], 3, Mode::Auto),
        (&["glacier"], 2, Mode::Direct),
        (&["blake3", "mtsum:sha256:1MiB"], 2, Mode::Auto),
    ] {
        let changed = |command, told: &str| match while_hashed(formats, threads, mode, command) {
            Err(error @ Error::Changed { .. }) => {
                assert!(error.to_string().contains(told), "{formats:?} after {command}: {error}");
                assert!(error.input().file().is_some_and(|path| path.ends_with("file")));
            }
            other => panic!("{formats:?} after {command}: {other:?}"),
        };
        changed("truncate -s 5000000 \"$1\"", "it had 8388608 bytes and has 5000000 now");
        changed("printf more >> \"$1\"", "had 8388608 bytes and has 8388612 now");
        changed("printf here | dd of=\"$1\" conv=notrunc status=none", "was written to");
        changed("cp \"$1\" \"$1.new\"; mv \"$1.new\" \"$1\"", "another file has taken its place");
        changed("rm \"$1\"", "it is gone");
        let (_folder, _, bytes) = file_of(8 * MIB);
        let expected: Vec<_> = formats.iter().map(|format| root(format, &bytes)).collect();
        assert_eq!(while_hashed(formats, threads, mode, "cat \"$1\" > /dev/null").unwrap(), expected);
    }
}

#[test]
fn long_leaves_side_by_side_and_alone() {
    let (_folder, path, bytes) = file_of(23 * MIB + 12345);
    for format in [
        "glacier",
        "dropbox",
        "s3:md5:5MiB",
        "s3:sha256:8MiB",
        "mtsum:sha1:1000000",
        "mtsum:sha256",
        "rfc6962:sha512:700KiB",
        "plain:sha256:1TiB",
        "rfc6962:blake3:3MiB",
        "fsverity:sha256:64KiB",
        "rfc6962:md5:100",
    ] {
        for mode in [Mode::Auto, Mode::Direct] {
            for threads in [1, 3] {
                let options = Options { threads, mode, ..Options::new() };
                let roots = roots(&path, &[format], &options).unwrap();
                assert_eq!(roots[0].to_string(), root(format, &bytes), "{format} with {options:?}");
                assert_eq!(options.meter.bytes(), bytes.len() as u64, "{format} with {options:?}");
            }
        }
    }
}

#[test]
fn holes_are_not_read_and_have_the_root_of_zeros() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sparse");
    let file = fs::File::create(&path).unwrap();
    file.set_len(20 * MIB + 77).unwrap();
    file.write_all_at(b"an island", 11 * MIB + 5).unwrap();
    let bytes = fs::read(&path).unwrap();
    for format in ["rfc6962:sha256:64KiB", "plain:sha1:7", "glacier", "blake3", "s3:md5:5MiB", "btv2", "mtsum:md5:1MiB"]
    {
        let roots = roots(&path, &[format], &Options::new()).unwrap();
        assert_eq!(roots[0].to_string(), root(format, &bytes), "{format}");
    }
    // A terabyte that nobody could read in the time of a test; its root as computed by doubling.
    file.set_len(0).unwrap();
    file.set_len(1 << 40).unwrap();
    let level = |bytes: &[u8]| mksum_lanes::digest(mksum::Hash::Sha256, &[bytes])[..32].to_vec();
    let mut node = level(&[&[0][..], &[0; 1 << 20]].concat());
    for _ in 20..40 {
        node = level(&[&[1][..], &node, &node].concat());
    }
    let roots = roots(&path, &["rfc6962:sha256:1MiB"], &Options::new()).unwrap();
    assert_eq!(roots[0].digest().as_bytes(), node);
}

#[test]
fn what_is_no_file_is_refused_with_a_reason_or_read_to_its_end() {
    let told = |path: &str| match roots(Path::new(path), &["blake3"], &Options::new()) {
        Ok(roots) => roots[0].to_string(),
        Err(error) => error.to_string(),
    };
    assert_eq!(told("/"), "is a directory");
    assert_eq!(told("/no/such/file"), "No such file or directory");
    assert!(told("/dev/zero").contains("never ends"), "{}", told("/dev/zero"));
    assert!(told("/dev/urandom").contains("never ends"));
    assert_eq!(told("/dev/null"), root("blake3", b""));
    assert_eq!(told("/proc/version"), root("blake3", &fs::read("/proc/version").unwrap()));
    // A read that fails: the memory of this process has nothing at its beginning.
    assert!(told("/proc/self/mem").starts_with("read failed at byte 0: "), "{}", told("/proc/self/mem"));
    let error = File::open(Path::new("/dev/null"), &Options::new()).unwrap_err();
    assert!(matches!(error, Error::Refused { refusal: Refusal::NoLength, .. }), "{error}");
}

#[test]
fn a_failure_leaves_the_other_files_alone() {
    let (folder, path, bytes) = file_of(100);
    let paths = [path.clone(), folder.path().into(), path.clone(), folder.path().join("none"), path];
    for threads in [1, 4] {
        let options = Options { threads, ..Options::new() };
        let mut told = Vec::new();
        hash_all(paths.iter().map(|path| job(path, &["glacier"])), &options, |_, result, _| {
            told.push(result.map_or_else(|error| error.to_string(), |roots| roots[0].as_ref().unwrap().to_string()));
            ControlFlow::Continue(())
        });
        let good = root("glacier", &bytes);
        assert_eq!(told, [&good, "is a directory", &good, "No such file or directory", &good]);
    }
}

#[test]
fn a_format_without_a_root_leaves_the_other_formats_alone() {
    let (folder, path, bytes) = file_of(3 * MIB + 1);
    let pipe = folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    // Whole blocks of 4 KiB alone have a dm-verity root, and mtsum needs the length first.
    let formats = ["dmverity", "blake3", "mtsum", "rfc6962"];
    let told = |path: &Path| {
        let roots = hash(&job(path, &formats), &Options::new()).unwrap();
        roots.into_iter().map(|root| root.map_or_else(|error| error.to_string(), |root| root.to_string()))
    };
    let expect = |path: &Path, mtsum: &str| {
        let told: Vec<_> = told(path).collect();
        assert!(told[0].contains("dmverity") && told[0].contains("a multiple of 4096 bytes"), "{}", told[0]);
        assert!(told[2].contains(mtsum), "{}", told[2]);
        assert_eq!([&told[1], &told[3]], [&root("blake3", &bytes), &root("rfc6962", &bytes)]);
    };
    expect(&path, &root("mtsum", &bytes));
    let mut writer = Command::new("cp").args([&path, &pipe]).spawn().unwrap();
    expect(&pipe, "needs the input's length first");
    assert!(writer.wait().unwrap().success());
}

#[test]
fn hashing_many_ends_when_told_to() {
    let (_folder, path, _) = file_of(10);
    let jobs = std::iter::repeat_with(|| job(&path, &["blake3"]));
    let mut told = 0;
    hash_all(jobs.take(1_000_000), &Options { threads: 3, ..Options::new() }, |_, result, _| {
        assert!(result.unwrap()[0].is_ok());
        told += 1;
        if told == 1000 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert_eq!(told, 1000);
}

#[test]
fn pipes_among_files_are_opened_once() {
    let (folder, path, bytes) = file_of(3 * MIB);
    let pipes: Vec<_> = (0..3).map(|i| folder.path().join(format!("pipe{i}"))).collect();
    assert!(Command::new("mkfifo").args(&pipes).status().unwrap().success());
    let mut writers: Vec<_> =
        pipes.iter().map(|pipe| Command::new("cp").arg(&path).arg(pipe).spawn().unwrap()).collect();
    let paths = [&pipes[0], &path, &pipes[1], &path, &pipes[2]];
    let mut told = Vec::new();
    hash_all(
        paths.iter().map(|path| job(path, &["rfc6962"])),
        &Options { threads: 2, ..Options::new() },
        |_, result, _| {
            told.push(result.unwrap()[0].as_ref().unwrap().to_string());
            ControlFlow::Continue(())
        },
    );
    assert_eq!(told, vec![root("rfc6962", &bytes); 5]);
    assert!(writers.iter_mut().all(|writer| writer.wait().unwrap().success()));
}

#[test]
fn a_throttle_bounds_the_rate() {
    let (_folder, path, _) = file_of(2 * MIB);
    let begin = std::time::Instant::now();
    let throttle = Some(Arc::new(Throttle::new(4 * MIB)));
    let options = Options { throttle, meter: Arc::new(Meter::default()), ..Options::new() };
    roots(&path, &["rfc6962"], &options).unwrap();
    roots(&path, &["rfc6962", "blake3"], &options).unwrap();
    assert!(begin.elapsed().as_secs_f64() > 0.8, "{:?} for 4 MiB at 4 MiB/s", begin.elapsed());
}

#[test]
fn work_that_is_stopped_ends_soon_and_has_no_root() {
    let (_folder, path, bytes) = file_of(8 * MIB);
    for (formats, threads) in [(&["blake3"][..], 1), (&["s3:md5:1MiB"], 2), (&["blake3", "sha256"], 2)] {
        let (throttle, stop) = (Some(Arc::new(Throttle::new(4 * MIB))), Stop::default());
        let options = Options { threads, throttle, stop: stop.clone(), ..Options::new() };
        let later = std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(100));
            stop.stop();
        });
        let result = roots(&path, formats, &options);
        assert!(matches!(&result, Err(Error::Stopped { path: at }) if *at == *path), "{formats:?}: {result:?}");
        assert!(options.meter.bytes() < bytes.len() as u64, "{formats:?}");
        later.join().unwrap();
    }
}

#[test]
fn a_reader_has_the_roots_of_its_bytes_or_none() {
    let bytes = mksum_vectors::Pattern::Mod251.bytes(3 * MIB + 7);
    let formats = ["blake3", "sha256", "s3:md5:1MiB"];
    let specs: Vec<Spec> = formats.iter().map(|text| text.parse().unwrap()).collect();
    for threads in [1, 3] {
        let options = Options { threads, ..Options::new() };
        let found = hash_reader(&mut &bytes[..], &Input::place("reader"), &specs, &options).unwrap();
        for (format, found) in formats.iter().zip(found) {
            assert_eq!(found.unwrap().to_string(), root(format, &bytes), "{format}");
        }
        assert_eq!(options.meter.bytes(), bytes.len() as u64);
        options.stop.stop();
        let stopped = hash_reader(&mut &bytes[..], &Input::place("reader"), &specs, &options);
        assert!(matches!(stopped, Err(Error::Stopped { .. })));
    }
}
