//! Catalogues of directories: kept, compared, verified, repaired, imported and exported.

pub mod diff;
pub mod export;
mod findings;
pub mod get;
pub mod import;
pub mod keep;
pub mod leaves;
pub mod repair;
pub mod status;
pub mod verify;

use crate::exit::{Ended, Exit, refuse};
use crate::print::unwritable;
use crate::ranges::line;
use crate::tool::Tool;
use mksum_catalogue::{Access, Catalogue, Error, Side, place};
use mksum_cli::choice::Choice;
use mksum_cli::name::{self, Shown};
use mksum_io::Input;
use std::path::{Path, PathBuf};

/// The end of a summary of what was not done.
pub const DRY: &str = " (dry run: nothing was written)";

/// Whether `paths` are directories that have catalogues; a refusal if only some have.
pub fn have_catalogues(paths: &[Input], given: Option<&PathBuf>) -> Result<bool, Exit> {
    if given.is_some() {
        return match paths {
            [_] => Ok(true),
            _ => refuse(&"--catalogue can be used with one directory only"),
        };
    }
    let count = paths.iter().filter_map(Input::file).filter(|path| place(path).exists()).count();
    match count {
        0 => Ok(false),
        count if count == paths.len() => Ok(true),
        _ => refuse(&"some of these directories have a catalogue, and some do not: run the command for each kind"),
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
    let opened = Catalogue::open(&path, access, &mut || wait(tool, &path));
    opened.map_err(|error| report(tool, &explained(error, directory, &path))).ok()
}

/// The same, to be written.
fn open_to_write(tool: &Tool, directory: &Path, given: Option<&PathBuf>) -> Option<Catalogue> {
    open(tool, directory, given, Access::Write)
}

/// The catalogue of a directory, in which the times of a verification are noted; or not, after a warning, if it cannot be written.
fn open_to_verify(tool: &Tool, directory: &Path, given: Option<&PathBuf>) -> Option<Catalogue> {
    let path = given.cloned().unwrap_or_else(|| place(directory));
    match Catalogue::open(&path, Access::Write, &mut || wait(tool, &path)) {
        Err(Error::Io(error)) if let Some((_, why)) = unwritable(&error) => {
            let text = format_args!(
                "{}: it cannot be written ({why}): the times of this verification are not noted",
                Shown(&path)
            );
            tool.console.note(&text);
            open(tool, directory, given, Access::Read)
        }
        opened => opened.map_err(|error| report(tool, &explained(error, directory, &path))).ok(),
    }
}

/// Works on the catalogue of each directory, and reports its errors.
fn on_each(
    tool: &Tool,
    json: bool,
    (inputs, given): (&[Input], Option<&PathBuf>),
    open: fn(&Tool, &Path, Option<&PathBuf>) -> Option<Catalogue>,
    work: &mut dyn FnMut(&Path, &mut Catalogue) -> Result<(), Error>,
) -> Ended {
    tool.console.use_json(json);
    tool.console.flush_regularly();
    let _progress = tool.progress(|| [None].into_iter());
    for directory in directories(tool, inputs) {
        if let Some(mut catalogue) = open(tool, directory, given)
            && let Err(error) = work(directory, &mut catalogue)
        {
            report(tool, &error);
        }
    }
    Ok(tool.console.exit())
}

/// Why the catalogue at `path` cannot be opened: if there is none, with what to do.
fn explained(error: Error, directory: &Path, path: &Path) -> Error {
    match error {
        Error::Io(mksum_io::Error::Open { error, .. })
            if error.kind() == std::io::ErrorKind::NotFound && directory.is_dir() =>
        {
            let given = if path == place(directory) { String::new() } else { format!("-o {} ", Shown(path)) };
            let (path, shown) = (Shown(path), Shown(directory));
            let how = format!("there is no catalogue {path}: run 'mksum keep -r {given}{shown}' first");
            Error::refused(directory, how)
        }
        // Nothing can be below it.
        Error::Io(mksum_io::Error::Open { error, .. }) if !directory.is_dir() => {
            Error::Io(mksum_io::Error::Open { path: directory.into(), error })
        }
        Error::Io(error) if let Some((_, why)) = unwritable(&error) => {
            let how = "make it writable, or copy it and name the copy with --catalogue";
            Error::refused(path, format_args!("it cannot be written ({why}): {how}"))
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
fn path_of(path: &[u8]) -> PathBuf {
    name::path(path).unwrap_or_else(|| name::lossy_path(path))
}

/// Says that another process is waited for.
pub fn wait(tool: &Tool, path: &Path) {
    tool.console.note(&format_args!("{}: another process writes to it: waiting up to 10 s for its end", Shown(path)));
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
    if directory == Path::new(".") { path_of(path) } else { directory.join(path_of(path)) }
}
