//! `mksum diff` of catalogues, directories and sum files.

use super::{State, path_of, print, report, side, summary};
use crate::args::Diff;
use crate::exit::Exit;
use crate::tool::Tool;
use mksum_catalogue::{Difference, Differences, Error, Side};
use mksum_cli::name::Shown;
use mksum_io::Input;

/// Whether an input is one that this compares, and not a file with an outboard.
pub fn is_side(input: &Input) -> bool {
    Side::is_one(input)
}

/// Prints each entry that differs; fails if there is one.
pub fn run(tool: &Tool, args: &Diff) -> Exit {
    tool.console.use_json(args.json);
    match compare(tool, args) {
        Ok(count) => {
            if count != (Differences { equal: count.equal, ..Differences::default() }) {
                tool.console.fail();
            }
            let counts = [
                (count.added, "added"),
                (count.removed, "removed"),
                (count.changed, "changed"),
                (count.moved, "moved"),
                (count.incomparable, "without a root in a common format"),
                (count.equal, "equal"),
            ];
            tool.console.flush();
            tool.console.note(&summary(&counts, "no entries"));
        }
        Err(error) => report(tool, &error),
    }
    tool.console.exit()
}

fn compare(tool: &Tool, args: &Diff) -> Result<Differences, Error> {
    let (left, right) = (side(tool, &args.left, None)?, side(tool, &args.right, None)?);
    left.diff(right, &tool.options.stop, &mut |difference| {
        let line = |known, state: State<'_>, text: &str| print(tool, args.json, &path_of(known), state, &text);
        match difference {
            Difference::Added(known) => line(known, State::of("added"), "ADDED"),
            Difference::Removed(known) => line(known, State::of("removed"), "REMOVED"),
            Difference::Changed(_, known) => line(known, State::of("changed"), "CHANGED"),
            Difference::Moved(before, known) => {
                let from = path_of(before);
                let text = format!("MOVED from {}", Shown(&from));
                line(known, State::moved(&from), &text);
            }
            Difference::Incomparable(_, known) => {
                line(known, State::of("incomparable"), "NOT COMPARED (no root in a common format)");
            }
        }
    })
}
