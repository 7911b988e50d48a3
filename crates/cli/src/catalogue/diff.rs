//! `mksum diff` of catalogues, directories and sum files.

use super::sources::{Side, open, path_of};
use super::{State, print, report, summary};
use crate::args::Diff;
use crate::exit::Exit;
use crate::tool::Tool;
use mksum_catalogue::{Difference, Differences, Error, Sorted, diff, diff_catalogues};
use mksum_cli::name::Shown;
use mksum_io::EntryKind;

pub use super::sources::is_side;

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
    let (left, right) = (open(tool, &args.left, None)?, open(tool, &args.right, None)?);
    let mut each = |difference: Difference<'_>| {
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
    };
    match (left, right) {
        // Two catalogues are compared by their spans. What was fetched is removed at the end.
        (Side::Catalogue(left, _left), Side::Catalogue(right, _right)) => diff_catalogues(*left, *right, &mut each),
        (left, right) => {
            let files_only = left.has_files_only() || right.has_files_only();
            let ((left, _left), (right, _right)) = (left.into_entries(), right.into_entries());
            diff(only(left, files_only), only(right, files_only), &mut each)
        }
    }
}

/// The entries of a side; a sum file has no directories and links, so that they are no difference from one.
fn only(entries: Sorted<'static>, files_only: bool) -> Sorted<'static> {
    let wanted = move |kind| kind == EntryKind::File || !files_only;
    Box::new(entries.filter(move |entry| entry.as_ref().map_or(true, |known| wanted(known.kind))))
}
