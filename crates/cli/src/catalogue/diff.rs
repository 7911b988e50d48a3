//! `mksum diff` of catalogues, directories and sum files.

use super::findings::Findings;
use super::{report, shown_path, side};
use crate::args::Diff;
use crate::exit::Ended;
use crate::summary::counted;
use crate::tool::Tool;
use mksum::Spec;
use mksum_catalogue::{Error, Side, State, place};
use mksum_cli::name::Shown;
use mksum_io::Input;
use std::path::Path;

/// Whether an input is one that this compares, and not a file with an outboard.
pub fn is_side(input: &Input) -> bool {
    Side::is_one(input)
}

/// Prints each entry that differs; fails if there is one.
pub fn run(tool: &Tool, args: &Diff) -> Ended {
    tool.console.use_json(args.json);
    let _progress = tool.progress(|| [None].into_iter());
    let mut found = Findings::new(tool, args.json, Path::new("."));
    match compare(tool, args, &mut found) {
        Ok(equal) => {
            if found.has_others(&[]) {
                tool.console.fail();
            }
            let counts = [found.counts(&[State::Added, State::Removed]), vec![(equal, "equal")]].concat();
            tool.console.flush();
            tool.console.note(&counted(&counts, "no entries"));
        }
        Err(error) => report(tool, &error),
    }
    Ok(tool.console.exit())
}

/// The path of a directory that has no catalogue.
fn bare(input: &Input) -> Option<&Path> {
    input.file().filter(|path| path.is_dir() && place(path).symlink_metadata().is_err())
}

/// A directory without a catalogue, whose files are read in these formats, or in the default one.
fn hashed(tool: &Tool, directory: &Path, formats: &[Spec]) -> Result<Side, Error> {
    let default = [tool.formats[0].spec().clone()];
    let formats = if formats.is_empty() { &default[..] } else { formats };
    let console = &tool.console;
    let side = Side::hashed(directory, formats, &tool.options, &mut |finding| {
        let reason = finding.reason().unwrap_or_default();
        console.error(&shown_path(directory, &finding.path), &reason);
    })?;
    if console.is_verbose() {
        console
            .note(&format_args!("{}: it has no catalogue: all files were read, and nothing is kept", Shown(directory)));
    }
    Ok(side)
}

/// Returns the number of entries that are equal.
fn compare(tool: &Tool, args: &Diff, found: &mut Findings<'_>) -> Result<u64, Error> {
    let open = |input: &Input, formats: &[Spec]| match bare(input) {
        Some(directory) => hashed(tool, directory, formats),
        None => side(tool, input, None),
    };
    // A directory that has no catalogue is read in the formats of the other side.
    let (left, right) = if bare(&args.left).is_some() && bare(&args.right).is_none() {
        let right = open(&args.right, &[])?;
        (open(&args.left, &right.formats())?, right)
    } else {
        let left = open(&args.left, &[])?;
        let formats = left.formats();
        (left, open(&args.right, &formats)?)
    };
    left.diff(right, &tool.options.stop, &mut |finding| {
        found.count(&finding);
        found.print(finding, None);
    })
}
