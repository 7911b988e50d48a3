//! `mksum diff` of catalogues, directories and sum files.

use super::findings::Findings;
use super::{report, side};
use crate::args::Diff;
use crate::exit::Exit;
use crate::summary::counted;
use crate::tool::Tool;
use mksum_catalogue::{Error, Side, State};
use mksum_io::Input;
use std::path::Path;

/// Whether an input is one that this compares, and not a file with an outboard.
pub fn is_side(input: &Input) -> bool {
    Side::is_one(input)
}

/// Prints each entry that differs; fails if there is one.
pub fn run(tool: &Tool, args: &Diff) -> Exit {
    tool.console.use_json(args.json);
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
    tool.console.exit()
}

/// Returns the number of entries that are equal.
fn compare(tool: &Tool, args: &Diff, found: &mut Findings<'_>) -> Result<u64, Error> {
    let (left, right) = (side(tool, &args.left, None)?, side(tool, &args.right, None)?);
    left.diff(right, &tool.options.stop, &mut |finding| {
        found.count(&finding);
        found.print(finding, None);
    })
}
