//! The program `merkle`: the Merkle root of a file.
#![forbid(unsafe_code)]

mod args;
mod root;
mod rows;

use args::{Command, Source};
use mksum::{Hash, Spec};
use std::fs::File;
use std::hint::black_box;
use std::io::{self, Write};
use std::os::fd::AsFd;
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
            let root = file.and_then(|mut file| root::root_of_file(&spec, &mut file));
            writeln!(out, "{}", root.map_err(|error| format!("{source}: {error}"))?).map_err(told)?;
        }
    }
    out.flush().map_err(told)
}

/// The seconds that it takes to hash a string so many times.
fn hash_rate(times: u64) -> f64 {
    let begin = Instant::now();
    for _ in 0..times {
        black_box(mksum_lanes::digest(Hash::Sha256, &[black_box(b"test.dat")]));
    }
    begin.elapsed().as_secs_f64()
}
