//! Runs the scripts in `tests/scripts`: commands as a person types them, with what they print.
//!
//! A script has files, commands and what is expected of them:
//!
//! ```text
//! # A comment.
//! -- disk/f: 512..1024 --     from now on, the folder `disk` is a disk with the file `f`, on which these sectors are bad
//! -- name.txt --          a file; its lines follow, up to the next line that begins like one of these
//! $ mksum name.txt        a command for sh, in the directory of the files
//! expected output         `[..]` stands for anything within a line
//! ! expected error        a line of standard error; they come after the output
//! ? 1                     the exit code, if it is not 0
//! ```
//!
//! Whatever is printed and not expected fails. `BLESS=1 cargo test` writes down what is printed.

#[cfg(target_os = "linux")]
mod disk;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

#[test]
fn every_script_prints_what_it_says() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts");
    let mut scripts: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    scripts.sort();
    assert!(scripts.len() >= 10, "{} has its scripts", folder.display());
    let failures: Vec<_> = thread::scope(|scope| {
        let runs: Vec<_> = scripts.iter().map(|script| scope.spawn(|| run(script))).collect();
        runs.into_iter().filter_map(|run| run.join().unwrap().err()).collect()
    });
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn run(script: &Path) -> Result<(), String> {
    let name = script.file_stem().unwrap().to_str().unwrap();
    let place = fresh_directory(name);
    let text = fs::read_to_string(script).unwrap();
    let mut lines = text.lines().peekable();
    let mut mounted = None;
    let (mut found, mut differences) = (String::new(), String::new());
    while let Some(line) = lines.next() {
        found += &format!("{line}\n");
        let mut following = Vec::new();
        if line.starts_with("-- ") || line.starts_with("$ ") {
            while let Some(line) = lines.next_if(|line| !["-- ", "$ ", "# "].iter().any(|mark| line.starts_with(mark)))
            {
                following.push(line);
            }
        }
        // Blank lines before the next command are the script's.
        let blank = following.iter().rev().take_while(|line| line.is_empty()).count();
        following.truncate(following.len() - blank);
        let heading = line.strip_prefix("-- ").and_then(|line| line.strip_suffix(" --"));
        if let Some((file, ranges)) = heading.and_then(|heading| heading.split_once(": ")) {
            // The last one is unmounted first.
            drop(mounted.take());
            let folder = place.join(file).parent().unwrap().to_path_buf();
            fs::create_dir_all(&folder).unwrap();
            match mount(&place.join(Path::new(file).file_name().unwrap()), &folder, ranges) {
                Ok(disk) => mounted = Some(disk),
                Err(error) => {
                    // Past the test harness, which would hide it.
                    let what = format!("NOT RUN: the script {name} from '{line}' on: {error}\n");
                    std::io::stderr().write_all(what.as_bytes()).unwrap();
                    found += &"\n".repeat(blank);
                    found += &lines.map(|line| format!("{line}\n")).collect::<String>();
                    break;
                }
            }
        } else if let Some(file) = heading {
            fs::write(place.join(file), following.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
            following.iter().for_each(|line| found += &format!("{line}\n"));
        } else if let Some(command) = line.strip_prefix("$ ") {
            let printed = printed(command, &place);
            let same = printed.len() == following.len()
                && printed.iter().zip(&following).all(|(printed, expected)| matches(printed, expected));
            if same {
                following.iter().for_each(|line| found += &format!("{line}\n"));
            } else {
                let block = |lines: &[String]| lines.iter().map(|line| format!("    {line}\n")).collect::<String>();
                let expected: Vec<_> = following.iter().map(|line| line.to_string()).collect();
                let (expected, printed) = (block(&expected), block(&printed));
                differences += &format!("{name}: $ {command}\n  expected\n{expected}  printed\n{printed}");
                found += &printed.lines().map(|line| format!("{}\n", &line[4..])).collect::<String>();
            }
        } else if !line.is_empty() && !line.starts_with("# ") {
            differences += &format!("{name}: what is this line? {line}\n");
        }
        found += &"\n".repeat(blank);
    }
    drop(mounted);
    fs::remove_dir_all(&place).unwrap();
    if std::env::var_os("BLESS").is_some() && found != text {
        fs::write(script, found).unwrap();
    }
    if differences.is_empty() { Ok(()) } else { Err(differences) }
}

/// Mounts a disk with the file `backing`, on which the sectors of these ranges are bad.
#[cfg(target_os = "linux")]
fn mount(backing: &Path, folder: &Path, ranges: &str) -> Result<disk::Disk, String> {
    let range = |text: &str| {
        let (start, end) = text.split_once("..").unwrap();
        start.parse().unwrap()..end.parse().unwrap()
    };
    let bad: Vec<_> = ranges.split(' ').map(range).collect();
    let needs = "FUSE needs root or fusermount3, and /dev/fuse";
    disk::mount(backing, folder, &bad).map_err(|error| format!("{needs}: {error}"))
}

#[cfg(not(target_os = "linux"))]
fn mount(_: &Path, _: &Path, _: &str) -> Result<(), String> {
    Err("FUSE is there only on Linux".into())
}

fn fresh_directory(name: &str) -> PathBuf {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
    fs::create_dir_all(&place).unwrap();
    place
}

/// The lines of a command's output, errors and exit code, as a script has them.
fn printed(command: &str, place: &Path) -> Vec<String> {
    let bin = Path::new(env!("CARGO_BIN_EXE_mksum")).parent().unwrap();
    let path = std::env::var("PATH").unwrap();
    let output = Command::new("sh")
        .args(["-c", command])
        .current_dir(place)
        .env("PATH", format!("{}:{path}", bin.display()))
        .env("LC_ALL", "C")
        // What `script` runs its command with.
        .env("SHELL", "/bin/sh")
        .env_remove("MKSUM_CPU")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let lines = |bytes: &[u8], mark: &str| {
        let text = match str::from_utf8(bytes) {
            Ok(text) => text.into(),
            // Bytes that are no text are shown as \xff.
            Err(_) => bytes.split_inclusive(|&byte| byte == b'\n').fold(String::new(), |text, line| {
                let line = line.strip_suffix(b"\n").unwrap_or(line);
                text + &line.utf8_chunks().fold(String::new(), |text, part| {
                    text + part.valid()
                        + &part.invalid().iter().map(|byte| format!("\\x{byte:02x}")).collect::<String>()
                }) + "\n"
            }),
        };
        let text: String = text;
        text.replace('\0', "\\0").lines().map(|line| format!("{mark}{line}").trim_end().into()).collect::<Vec<_>>()
    };
    let mut all = lines(&output.stdout, "");
    all.extend(lines(&output.stderr, "! "));
    match output.status.code() {
        Some(0) => {}
        code => all.push(format!("? {}", code.map_or("signal".into(), |code| code.to_string()))),
    }
    while all.last().is_some_and(String::is_empty) {
        all.pop();
    }
    all
}

/// Whether a line is as expected, where `[..]` stands for anything.
fn matches(line: &str, expected: &str) -> bool {
    let Some((start, rest)) = expected.split_once("[..]") else { return line == expected };
    let Some(line) = line.strip_prefix(start) else { return false };
    line.char_indices().map(|(at, _)| at).chain([line.len()]).any(|at| matches(&line[at..], rest))
}
