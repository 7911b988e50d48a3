//! `mksum get` of directories: their catalogues as lists.

use super::report;
use crate::exit::Exit;
use crate::tool::Tool;
use mksum::Root;
pub use mksum_catalogue::place_below;
use mksum_catalogue::{Directory, list_directory, list_files};
use mksum_cli::name::Shown;
use mksum_get::{Expected, List};
use mksum_io::{Input, Options};

/// The entries of the directory that has the trusted root, and that root: by a catalogue at `places`, or else in the directories of the
/// mirrors. The exit if there is none, after the reason was reported.
pub fn trusted(
    tool: &Tool,
    (places, mirrors): (&[Input], &[Input]),
    expected: &Expected,
    options: &Options,
) -> Result<(Root, List), Exit> {
    let places = if places.is_empty() { mirrors.iter().map(place_below).collect() } else { places.to_vec() };
    let found = list_directory(&places, expected, options, &mut |error| {
        tool.console.note(&format_args!("{}: not used: {error}", Shown(error.input())));
    });
    found.map(|Directory { root, list }| (root, list)).map_err(|error| {
        report(tool, &error);
        tool.console.exit()
    })
}

/// The files of a trusted catalogue; the exit if it cannot be read, after the reason was reported.
pub fn files(tool: &Tool, place: &Input, options: &Options) -> Result<List, Exit> {
    reported(tool, list_files(place, options))
}

/// The entries of a trusted catalogue, with their attributes; the exit if it cannot be read, after the reason was reported.
#[cfg(all(feature = "mount", target_os = "linux"))]
pub fn entries(tool: &Tool, place: &Input, options: &Options) -> Result<List, Exit> {
    reported(tool, mksum_catalogue::list_entries(place, options))
}

fn reported(tool: &Tool, list: Result<List, mksum_catalogue::Error>) -> Result<List, Exit> {
    list.map_err(|error| {
        report(tool, &error);
        tool.console.exit()
    })
}
