//! `mksum status`: what differs from a catalogue, without reading any content.

use super::{State, open, print, report, shown_path, summary};
use crate::args::Catalogued;
use crate::exit::Exit;
use crate::tool::Tool;
use mksum_catalogue::{Access, Catalogue, Error, State as Differs, Status as Found, status};
use mksum_cli::name::Shown;
use std::path::Path;

/// Prints a line for each file and link that differs; fails if there is one.
pub fn run(tool: &Tool, args: &Catalogued) -> Exit {
    tool.console.use_json(args.json);
    if let Some(catalogue) = open(tool, &args.directory, args.catalogue.as_ref(), Access::Read)
        && let Err(error) = show(tool, args.json, &args.directory, &catalogue)
    {
        report(tool, &error);
    }
    tool.console.exit()
}

fn show(tool: &Tool, json: bool, directory: &Path, catalogue: &Catalogue) -> Result<(), Error> {
    let Found { differ, same, unknown } = status(catalogue, directory, &tool.options)?;
    let [mut new, mut incomplete, mut changed, mut moved, mut gone, mut unreadable] = [0_u64; 6];
    for (path, state) in &differ {
        let path = shown_path(directory, path);
        let line = |state: State<'_>, text: &str| print(tool, json, &path, state, &text);
        match state {
            Differs::New(_) => {
                new += 1;
                line(State::of("new"), "NEW");
            }
            Differs::Incomplete => {
                incomplete += 1;
                let text = "INCOMPLETE: it has no root yet in some formats of the catalogue ('mksum update' reads it)";
                line(State::of("incomplete"), text);
            }
            Differs::Changed => {
                changed += 1;
                line(State::of("changed"), "CHANGED");
            }
            Differs::Missing(_) => {
                gone += 1;
                line(State::of("gone"), "GONE");
            }
            Differs::Moved(from) => {
                moved += 1;
                let from = shown_path(directory, from);
                let text = format!("MOVED from {}", Shown(&from));
                line(State::moved(&from), &text);
            }
            Differs::Unreadable(error) => {
                unreadable += 1;
                tool.console.error(&path, error);
            }
        }
    }
    if !differ.is_empty() {
        tool.console.fail();
    }
    let counts = [
        (new, "new"),
        (incomplete, "incomplete"),
        (changed, "changed"),
        (moved, "moved"),
        (gone, "gone"),
        (unreadable, "unreadable"),
        (unknown, "not known"),
        (same, "unchanged"),
    ];
    tool.console.flush();
    tool.console.note(&format_args!("{}: {}", Shown(catalogue.path()), summary(&counts, "no files")));
    Ok(())
}
