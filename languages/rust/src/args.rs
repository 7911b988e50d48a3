//! The command line: `contract.sh`, beside the languages, has its grammar.

use mksum::formats::Family;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

pub const USAGE: &str = include_str!("usage.txt");

/// The largest number on a command line or in a row.
pub const LIMIT: u64 = 1 << 40;

/// What is to be done.
#[derive(Debug)]
pub enum Command {
    Help,
    Rows(Rows),
    HashRate(u64),
    Root { format: &'static str, segment: u64, source: Source },
}

/// What completes rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rows {
    Roots,
    Proofs,
    Verdicts,
}

/// Where the bytes come from.
#[derive(Debug)]
pub enum Source {
    Stdin,
    Path(PathBuf),
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Stdin => f.write_str("standard input"),
            Source::Path(path) => path.display().fmt(f),
        }
    }
}

/// The formats that this program has.
pub fn format_named(name: &str) -> Option<&'static Family> {
    ["plain", "rfc6962"].contains(&name).then(|| Family::named(name)).flatten()
}

/// What the arguments so far ask for.
struct Asked {
    format: &'static str,
    segment: u64,
    /// `--format` or `--segment`, if one was given.
    shaped: Option<&'static str>,
    mode: Option<(&'static str, Command)>,
    path: Option<OsString>,
}

/// The command, or what is wrong with it.
pub fn parse(mut arguments: impl Iterator<Item = OsString>) -> Result<Command, String> {
    let mut asked = Asked { format: "plain", segment: 64, shaped: None, mode: None, path: None };
    let mut options = true;
    while let Some(argument) = arguments.next() {
        let bytes = argument.as_bytes();
        if options && bytes == b"--" {
            options = false;
        } else if options && bytes.len() > 1 && bytes[0] == b'-' {
            if asked.option(&argument, &mut arguments)? {
                return Ok(Command::Help);
            }
        } else if asked.path.is_some() {
            return Err(format!("one FILE is expected, '{}' is one more", argument.display()));
        } else {
            asked.path = Some(argument);
        }
    }
    match (asked.mode, asked.path, asked.shaped) {
        (Some((mode, _)), Some(path), _) => Err(format!("{mode} takes no FILE: '{}'", path.display())),
        (Some((mode, _)), _, Some(option)) => Err(format!("{mode} takes no {option}")),
        (Some((_, command)), None, None) => Ok(command),
        (None, path, _) => {
            let source = path.filter(|path| path != "-").map_or(Source::Stdin, |path| Source::Path(path.into()));
            Ok(Command::Root { format: asked.format, segment: asked.segment, source })
        }
    }
}

impl Asked {
    /// Applies an option, whose value may be the next argument. Whether it is `--help`.
    fn option(&mut self, argument: &OsStr, rest: &mut impl Iterator<Item = OsString>) -> Result<bool, String> {
        let unknown = || format!("unknown option '{}'", argument.display());
        let bytes = argument.as_bytes();
        let (name, value) = match bytes.iter().position(|&byte| byte == b'=') {
            Some(at) => (&bytes[..at], Some(OsStr::from_bytes(&bytes[at + 1..]).to_owned())),
            None => (bytes, None),
        };
        const VALUED: [&str; 3] = ["--format", "--segment", "--hash-rate"];
        const FLAGS: [(&str, Command); 4] = [
            ("--rows", Command::Rows(Rows::Roots)),
            ("--prove", Command::Rows(Rows::Proofs)),
            ("--verify", Command::Rows(Rows::Verdicts)),
            ("--help", Command::Help),
        ];
        if let Some(name) = VALUED.into_iter().find(|known| known.as_bytes() == name) {
            let value = value.or_else(|| rest.next()).ok_or_else(|| format!("{name}: its value is missing"))?;
            self.value(name, &value)?;
            return Ok(false);
        }
        let (name, command) = FLAGS.into_iter().find(|(known, _)| known.as_bytes() == name).ok_or_else(unknown)?;
        match (value, command) {
            (Some(_), _) => Err(format!("{name} takes no value")),
            (None, Command::Help) => Ok(true),
            (None, command) => self.set_mode(name, command).map(|()| false),
        }
    }

    fn value(&mut self, name: &'static str, value: &OsStr) -> Result<(), String> {
        let shown = value.display();
        let text = value.to_str().unwrap_or_default();
        if name == "--format" {
            self.shaped = Some(name);
            let known = format_named(text).ok_or_else(|| format!("{name}: '{shown}' is neither plain nor rfc6962"))?;
            self.format = known.name;
            return Ok(());
        }
        let number = number(text, 1).map_err(|_| format!("{name}: '{shown}' is not a number from 1 to {LIMIT}"))?;
        if name == "--segment" {
            (self.shaped, self.segment) = (Some(name), number);
            return Ok(());
        }
        self.set_mode(name, Command::HashRate(number))
    }

    fn set_mode(&mut self, name: &'static str, command: Command) -> Result<(), String> {
        match self.mode.replace((name, command)) {
            Some((before, _)) if before != name => Err(format!("{before} and {name} exclude each other")),
            _ => Ok(()),
        }
    }
}

/// Reads decimal digits, without a leading zero, as a number from `least` to [`LIMIT`].
pub fn number(text: &str, least: u64) -> Result<u64, String> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit()) && (text.len() == 1 || !text.starts_with('0'));
    match text.parse() {
        Ok(value) if digits && (least..=LIMIT).contains(&value) => Ok(value),
        _ => Err(format!("'{text}' is not a number from {least} to {LIMIT}")),
    }
}
