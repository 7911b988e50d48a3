//! The program `merkle`: the Merkle root of a file.
#![forbid(unsafe_code)]

mod args;
mod rows;

use args::{Command, Source};
use merkle::Tree;
use mksum::{Hash, Spec};
use std::fs::File;
use std::hint::black_box;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::process::ExitCode;
use std::time::Instant;

fn main() -> ExitCode {
    let command = match args::parse(std::env::args_os().skip(1)) {
        Ok(command) => command,
        Err(problem) => {
            eprintln!("merkle: {problem}\nTry 'merkle --help'.");
            return ExitCode::from(2);
        }
    };
    match run(command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("merkle: {problem}");
            ExitCode::FAILURE
        }
    }
}

/// Does what was asked; the error is a message that names the file.
fn run(command: Command) -> Result<(), String> {
    let told = |error: io::Error| format!("standard output: {error}");
    let mut out = io::stdout().lock();
    match command {
        Command::Help => out.write_all(args::USAGE.as_bytes()).map_err(told)?,
        Command::Rows(kind) => rows::complete(kind, &mut io::stdin().lock(), &mut out)?,
        Command::HashRate(times) => {
            let seconds = hash_rate(times);
            writeln!(out, "{seconds:.6} s {:.3} MH/s", times as f64 / seconds / 1e6).map_err(told)?;
        }
        Command::Root { format, segment, source } => {
            let family = args::format_named(format).expect("the command line was checked");
            let spec = Spec::new(family).with_leaf(segment).map_err(|error| error.to_string())?;
            let file = match &source {
                Source::Stdin => io::stdin().as_fd().try_clone_to_owned().map(File::from),
                Source::Path(path) => File::open(path),
            };
            let root = file.and_then(|mut file| root_of_file(&spec, &mut file));
            writeln!(out, "{}", root.map_err(|error| format!("{source}: {error}"))?).map_err(told)?;
        }
    }
    out.flush().map_err(told)
}

/// The root of all bytes of a file from its position on, in hex. A pipe is a file, too.
fn root_of_file(spec: &Spec, file: &mut File) -> io::Result<String> {
    let mut tree = Tree::new(spec).map_err(io::Error::other)?;
    // Long leaves of a regular file are hashed side by side. Some files have no position, and the length of some is not true:
    // those in /proc and /sys, which are short.
    let metadata = file.metadata()?;
    if let (true, Ok(begin)) = (metadata.is_file() && spec.leaf() > Tree::LONG, file.stream_position()) {
        let whole = metadata.len().saturating_sub(begin) / spec.leaf() * spec.leaf();
        tree.update_from(|slice, offset| file.read_exact_at(slice, offset), begin, whole).map_err(|error| {
            let shorter = "the file became shorter while it was read";
            if error.kind() == ErrorKind::UnexpectedEof { io::Error::other(shorter) } else { error }
        })?;
        file.seek(SeekFrom::Start(begin + whole))?;
    }
    root_of_rest(tree, file)
}

/// The root of all bytes of `input`, in hex.
fn root(spec: &Spec, input: &mut dyn Read) -> io::Result<String> {
    root_of_rest(Tree::new(spec).map_err(io::Error::other)?, input)
}

/// The root of the bytes of a tree and those of `input` after them, in hex.
fn root_of_rest(mut tree: Tree, input: &mut dyn Read) -> io::Result<String> {
    // A second-level cache holds it.
    let mut buffer = vec![0; 1 << 17];
    loop {
        match input.read(&mut buffer) {
            Ok(0) => return Ok(tree.root().map_err(io::Error::other)?.to_string()),
            Ok(got) => tree.write_all(&buffer[..got])?,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// The seconds that it takes to hash a string so many times.
fn hash_rate(times: u64) -> f64 {
    let begin = Instant::now();
    for _ in 0..times {
        black_box(mksum_lanes::digest(Hash::Sha256, &[black_box(b"test.dat")]));
    }
    begin.elapsed().as_secs_f64()
}
