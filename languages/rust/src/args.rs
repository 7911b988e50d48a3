//! The command line.

use mksum::Spec;
use mksum::formats::Family;
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;

pub const USAGE: &str = "\
Usage: merkle [--format plain|rfc6962] [--segment N] [FILE]
       merkle --rows < ROWS
       merkle --hash-rate N

Prints the Merkle root of FILE, or of the standard input, over SHA-256.

  --format NAME   plain (the default): leaf H(bytes), node H(left || right);
                  rfc6962: leaf H(00 || bytes), node H(01 || left || right)
  --segment N     the length of a leaf in bytes, 1 to 2^40 (64)
  --rows          read test vectors, write them with the root computed here
  --hash-rate N   hash the string \"test.dat\" N times: seconds and MH/s
  --help          print this

Exits with 1 when something cannot be read or written, with 2 on a bad option.
";

/// What is to be done.
#[derive(Debug)]
pub enum Command {
    Help,
    Rows,
    HashRate(u64),
    Root { spec: Spec, source: Source },
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

/// The command, or what is wrong with it.
pub fn parse(arguments: impl Iterator<Item = OsString>) -> Result<Command, String> {
    let mut arguments = arguments.peekable();
    let (mut format, mut segment, mut path) = (format_named("plain"), 64, None);
    let (mut rows, mut times) = (false, None);
    while let Some(argument) = arguments.next() {
        let mut value = |option: &str| {
            let value = arguments.next().ok_or_else(|| format!("{option}: a value is missing"))?;
            value.into_string().map_err(|value| format!("{option}: bad value '{}'", value.display()))
        };
        match argument.to_str() {
            Some("--help") => return Ok(Command::Help),
            Some("--rows") => rows = true,
            Some(option @ "--format") => {
                let name = value(option)?;
                format = Some(format_named(&name).ok_or_else(|| format!("{option}: unknown format '{name}'"))?);
            }
            Some(option @ "--segment") => segment = positive(option, &value(option)?)?,
            Some(option @ "--hash-rate") => times = Some(positive(option, &value(option)?)?),
            Some(option) if option.starts_with('-') => return Err(format!("unknown option '{option}'")),
            _ if path.is_some() => return Err("too many arguments".into()),
            _ => path = Some(PathBuf::from(argument)),
        }
    }
    match (rows, times, path) {
        (true, None, None) => Ok(Command::Rows),
        (false, Some(times), None) => Ok(Command::HashRate(times)),
        (false, None, path) => {
            let family = format.expect("plain is a format");
            let spec = Spec::new(family).with_leaf(segment).map_err(|error| error.to_string())?;
            Ok(Command::Root { spec, source: path.map_or(Source::Stdin, Source::Path) })
        }
        _ => Err("too many arguments".into()),
    }
}

/// Digits only: `parse` would take a sign.
fn positive(option: &str, text: &str) -> Result<u64, String> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse() {
        Ok(value) if digits && value > 0 => Ok(value),
        _ => Err(format!("{option}: bad value '{text}': expected a number from 1 on")),
    }
}
