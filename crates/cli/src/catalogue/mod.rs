//! Catalogues of directories: kept, compared, verified, repaired, imported and exported.

pub mod diff;
pub mod export;
pub mod import;
pub mod keep;
pub mod leaves;
pub mod repair;
pub mod status;
pub mod verify;

use crate::exit::{Exit, usage};
use crate::json;
use crate::ranges::line;
use crate::tool::Tool;
use mksum_catalogue::{Access, Catalogue, Error, Known, Side, place};
use mksum_cli::choice::Choice;
use mksum_cli::name::{self, Shown};
use mksum_io::Input;
use serde::Serialize;
use std::fmt::Display;
use std::path::{Path, PathBuf};

/// Whether `paths` are directories that have catalogues; a refusal if only some have.
pub fn have_catalogues(paths: &[Input], given: Option<&PathBuf>) -> Result<bool, Exit> {
    if given.is_some() {
        return match paths {
            [_] => Ok(true),
            _ => Err(usage(&"--catalogue can be used with one directory only")),
        };
    }
    let count = paths.iter().filter_map(Input::file).filter(|path| place(path).exists()).count();
    match count {
        0 => Ok(false),
        count if count == paths.len() => Ok(true),
        _ => Err(usage(&"some of these directories have a catalogue, and some do not: run the command for each kind")),
    }
}

/// The directories among inputs; reports the others.
fn directories<'a>(tool: &Tool, inputs: &'a [Input]) -> impl Iterator<Item = &'a Path> {
    inputs.iter().filter_map(|input| {
        if input.file().is_none() {
            tool.console.error(input, &"not a directory");
        }
        input.file()
    })
}

/// The catalogue of a directory; reports why it cannot be opened.
pub fn open(tool: &Tool, directory: &Path, given: Option<&PathBuf>, access: Access) -> Option<Catalogue> {
    let path = given.cloned().unwrap_or_else(|| place(directory));
    match Catalogue::open(&path, access, &mut || wait(tool, &path)) {
        Ok(catalogue) => Some(catalogue),
        Err(error) => {
            report(tool, &explained(error, directory, &path));
            None
        }
    }
}

/// Why the catalogue at `path` cannot be opened: if there is none, with what to do.
fn explained(error: Error, directory: &Path, path: &Path) -> Error {
    match error {
        Error::Io(mksum_io::Error::Open { error, .. })
            if error.kind() == std::io::ErrorKind::NotFound && directory.is_dir() =>
        {
            let how = format!("there is no catalogue {}: run 'mksum keep -r {}' first", Shown(path), Shown(directory));
            Error::refused(directory, how)
        }
        // Nothing can be below it.
        Error::Io(mksum_io::Error::Open { error, .. }) if !directory.is_dir() => {
            Error::Io(mksum_io::Error::Open { path: directory.into(), error })
        }
        error => error,
    }
}

/// Opens a side of a comparison, or a list; reports the lines of it that are not used.
fn side(tool: &Tool, input: &Input, format: Option<&Choice>) -> Result<Side, Error> {
    let side =
        Side::open(input, format, &tool.options).map_err(|error| match input.file().filter(|path| path.is_dir()) {
            Some(path) => explained(error, path, &place(path)),
            None => error,
        })?;
    match side.unused() {
        0 => {}
        count => {
            let plural = if count == 1 { "line is" } else { "lines are" };
            tool.console.error(input, &format_args!("{count} {plural} malformed or not about a whole file: not used"));
        }
    }
    Ok(side)
}

/// The path of an entry.
fn path_of(known: &Known) -> PathBuf {
    name::path(&known.path).unwrap_or_else(|| name::lossy_path(&known.path))
}

/// Says that another process is waited for.
pub fn wait(tool: &Tool, path: &Path) {
    tool.console.note(&format_args!("{}: another process writes to it: waiting for its end", Shown(path)));
}

/// Reports why a catalogue could not be used.
pub fn report(tool: &Tool, error: &Error) {
    match error {
        Error::Io(error) => crate::print::report_error(&tool.console, error),
        error => tool.console.error(error.input(), error),
    }
}

/// The path of an entry, as it is printed: below the directory as that was given.
pub fn shown_path(directory: &Path, path: &[u8]) -> PathBuf {
    let below = name::path(path).unwrap_or_else(|| name::lossy_path(path));
    if directory == Path::new(".") { below } else { directory.join(below) }
}

/// The state of an entry, as JSON.
#[derive(Debug, Default, Serialize)]
pub struct State<'a> {
    kind: &'static str,
    /// `new`, `changed`, `moved`, ...
    pub state: &'a str,
    /// Of an entry that was moved: its path before that.
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<String>,
    /// Its exact bytes, if they are not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    from_base64: Option<String>,
    /// The length, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub length: Option<u64>,
    /// The bytes that were verified.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verified: Option<u64>,
    /// The bytes that were fetched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fetched: Option<u64>,
    /// The first byte and the one after the last of each range.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ranges: Option<Vec<[u64; 2]>>,
}

impl<'a> State<'a> {
    /// The state alone.
    pub fn of(state: &'a str) -> Self {
        State { kind: "entry", state, ..State::default() }
    }

    /// `moved`, with the path before that.
    pub fn moved(from: &Path) -> Self {
        State { from: Some(name::lossy(from).into_owned()), from_base64: json::base64(from), ..State::of("moved") }
    }
}

/// Prints the state of an entry as a line or as JSON.
pub fn print(tool: &Tool, json: bool, path: &Path, state: State<'_>, text: &dyn Display) {
    match json {
        true => tool.console.print_json(path, state),
        false => line(tool, path, text),
    }
}

/// Counts, in words: `2 new, 1 gone`; `otherwise` if all are 0.
pub fn summary(counts: &[(u64, &str)], otherwise: &str) -> String {
    let counts = counts.iter().filter(|(count, _)| *count > 0);
    let words: Vec<_> = counts.map(|(count, word)| format!("{} {word}", crate::report::grouped(*count))).collect();
    if words.is_empty() { otherwise.into() } else { words.join(", ") }
}
