//! Ctrl-C, SIGTERM and SIGHUP, whatever the tool waits for.
#![cfg(target_os = "linux")]

use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The tool, waiting on pipes that nobody serves.
fn start(arguments: &[&str]) -> Child {
    // Whoever runs the tests in the background of a script has them ignore Ctrl-C, which the tool would inherit.
    let child = Command::new("env")
        .args(["--default-signal=INT,TERM,HUP", env!("CARGO_BIN_EXE_mksum")])
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Until it handles Ctrl-C, or ignores it: before, it would end as the system has it end.
    let handles = || {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        caught.is_some_and(|mask| u64::from_str_radix(mask.trim(), 16).is_ok_and(|mask| mask & 2 != 0))
    };
    let begin = Instant::now();
    while !handles() && begin.elapsed() < Duration::from_secs(10) {
        thread::sleep(Duration::from_millis(10));
    }
    thread::sleep(Duration::from_millis(300));
    child
}

/// Ctrl-C, and what comes of it: the exit code, the output and the errors.
fn interrupt(child: Child) -> (Option<i32>, Vec<u8>, Vec<u8>) {
    end(child, "INT")
}

/// A signal, and what comes of it.
fn end(mut child: Child, signal: &str) -> (Option<i32>, Vec<u8>, Vec<u8>) {
    // Waiting would close it, and an end of the input is an answer too.
    let _open = child.stdin.take();
    let sent = Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let asked = Instant::now();
    let status = loop {
        match child.try_wait().unwrap() {
            Some(status) => break status,
            None => thread::sleep(Duration::from_millis(10)),
        }
        if asked.elapsed() > Duration::from_secs(10) {
            child.kill().unwrap();
            panic!("it does not end");
        }
    };
    let (mut output, mut errors) = (Vec::new(), Vec::new());
    child.stdout.take().unwrap().read_to_end(&mut output).unwrap();
    child.stderr.take().unwrap().read_to_end(&mut errors).unwrap();
    (status.code(), output, errors)
}

#[test]
fn while_it_waits_for_its_input() {
    for arguments in [&[][..], &["-"], &["--check"], &["-f", "blake3", "-f", "btv2", "-j1"]] {
        let mut child = start(arguments);
        child.stdin.as_mut().unwrap().write_all(b"some bytes without an end").unwrap();
        assert_eq!(interrupt(child), (Some(130), vec![], vec![]), "{arguments:?}");
    }
}

#[test]
fn while_it_hashes_slowly() {
    let big = std::env::temp_dir().join(format!("mksum-interrupt-{}", std::process::id()));
    std::fs::write(&big, vec![7; 8 << 20]).unwrap();
    let small = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    let (code, output, errors) = interrupt(start(&["--throttle", "1MB", small, big.to_str().unwrap()]));
    std::fs::remove_file(&big).unwrap();
    assert_eq!((code, errors), (Some(130), vec![]));
    // What was done before is there, line by line.
    assert!(output.is_empty() || output.ends_with(b"\n"), "{output:?}");
}

#[test]
fn while_nobody_reads_its_output() {
    let names: Vec<_> = (0..20_000).map(|_| concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")).collect();
    let (code, output, _) = interrupt(start(&names));
    assert_eq!(code, Some(130));
    assert!(output.starts_with(b"rfc6962:"));
}

#[test]
fn while_nodes_are_written() {
    let folder = std::env::temp_dir().join(format!("mksum-nodes-{}", std::process::id()));
    std::fs::create_dir(&folder).unwrap();
    let (leaves, nodes) = (folder.join("leaves"), folder.join("nodes"));
    std::fs::write(&leaves, vec![7; 8 << 20]).unwrap();
    std::fs::write(&nodes, "old").unwrap();
    let count = || std::fs::read_dir(&folder).unwrap().count();
    let arguments = ["merklize", "--throttle", "1MB", leaves.to_str().unwrap(), "-o", nodes.to_str().unwrap()];
    for (signal, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        let ended = end(start(&arguments), signal);
        assert_eq!(ended, (Some(code), vec![], vec![]), "{signal}");
        assert_eq!((count(), &std::fs::read(&nodes).unwrap()[..]), (2, &b"old"[..]), "{signal}: what was there stays");
    }
    // Killed, it can clean nothing up: the next run does.
    let mut child = start(&arguments);
    child.kill().unwrap();
    child.wait().unwrap();
    let done =
        start(&["merklize", leaves.to_str().unwrap(), "-o", nodes.to_str().unwrap()]).wait_with_output().unwrap();
    assert!(done.status.success(), "{done:?}");
    assert_eq!((count(), std::fs::metadata(&nodes).unwrap().len()), (2, 8 << 20));
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn while_a_tree_is_kept() {
    let folder = std::env::temp_dir().join(format!("mksum-kept-{}", std::process::id()));
    std::fs::create_dir(&folder).unwrap();
    let file = folder.join("file");
    std::fs::write(&file, vec![7; 32 << 20]).unwrap();
    let names = || {
        let names = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = names.collect();
        names.sort();
        names
    };
    for (extension, more) in [("mkt", &[][..]), ("obao", &["--foreign", "-f", "blake3"])] {
        let (part, whole) = (format!("file.{extension}.part"), format!("file.{extension}"));
        let keep = |throttle, checkpoint| {
            let options = ["keep", "--throttle", throttle, "--checkpoint", checkpoint, file.to_str().unwrap()];
            start(&[&options, more].concat())
        };
        let wait_until = |done: &dyn Fn() -> bool| {
            let begin = Instant::now();
            while !done() {
                assert!(begin.elapsed() < Duration::from_secs(60), "{:?}", names());
                thread::sleep(Duration::from_millis(1));
            }
        };
        for (signal, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
            let child = keep("1MB", "1h");
            wait_until(&|| folder.join(&part).exists());
            assert_eq!(end(child, signal), (Some(code), vec![], vec![]), "{signal}");
            assert_eq!(names(), ["file"], "{signal}: nothing could be resumed from it");
        }
        // With a checkpoint, the next run resumes; killed before, it leaves what the next run takes over.
        let mut child = keep("1MB", "1h");
        wait_until(&|| folder.join(&part).exists());
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(names(), ["file", &part]);
        let child = keep("1MB", "1ms");
        wait_until(&|| {
            std::fs::read(folder.join(&part))
                .is_ok_and(|bytes| bytes[768.min(bytes.len())..].iter().take(256).any(|&byte| byte > 0))
        });
        assert_eq!(end(child, "TERM").0, Some(143));
        assert_eq!(names(), ["file", &part]);
        let done = keep("1GB", "1s").wait_with_output().unwrap();
        let errors = String::from_utf8(done.stderr).unwrap();
        assert!(done.status.success() && errors.contains("resumed at byte"), "{errors}");
        assert_eq!(names(), ["file", &whole]);
        std::fs::remove_file(folder.join(whole)).unwrap();
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_process_that_was_started_to_ignore_a_signal_does() {
    let child = Command::new("env")
        .args(["--ignore-signal=HUP", env!("CARGO_BIN_EXE_mksum"), "--throttle", "1MB"])
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"))
        .arg("-")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    thread::sleep(Duration::from_millis(300));
    assert!(Command::new("kill").args(["-HUP", &child.id().to_string()]).status().unwrap().success());
    thread::sleep(Duration::from_millis(100));
    // The end of the input lets it end.
    let done = child.wait_with_output().unwrap();
    assert!(done.status.success(), "{done:?}");
    assert_eq!(done.stdout.iter().filter(|&&byte| byte == b'\n').count(), 2);
}
