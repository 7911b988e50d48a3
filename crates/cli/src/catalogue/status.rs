//! `mksum status`: what differs from a catalogue, without reading any content.

use super::findings::Findings;
use super::{DRY, open, report, shown_path};
use crate::args::Catalogued;
use crate::exit::Exit;
use crate::figures::bytes;
use crate::summary::counted;
use crate::tool::Tool;
use mksum_catalogue::{Access, Catalogue, Error, State, Status, status};
use mksum_cli::name::Shown;
use mksum_io::Facts;
use std::path::Path;

/// `mksum update --dry-run`: what an update would do, as far as it is known without reading any content.
pub fn run_dry(tool: &Tool, args: &Catalogued) -> Exit {
    tool.console.use_json(args.json);
    let Some(catalogue) = open(tool, &args.directory, args.catalogue.as_ref(), Access::Read) else {
        return tool.console.exit();
    };
    let status = match status(&catalogue, &args.directory, &tool.options) {
        Ok(status) => status,
        Err(error) => {
            report(tool, &error);
            return tool.console.exit();
        }
    };
    let (mut found, mut len) = (Findings::new(tool, args.json, &args.directory), 0);
    for finding in status.differ {
        found.count(&finding);
        if matches!(finding.state, State::New | State::Changed | State::Incomplete) {
            let facts = Facts::of(&shown_path(&args.directory, &finding.path));
            len += facts.map_or(0, |facts| facts.size);
        }
        found.print(finding, None);
    }
    let counts = counted(&found.counts(&[]), "nothing has changed");
    tool.console.flush();
    let read = bytes(len);
    tool.console.note(&format_args!("{}: {counts}: {read} would be read{DRY}", Shown(catalogue.path())));
    tool.console.exit()
}

/// Prints a line for each file and link that differs; fails if there is one.
pub fn run(tool: &Tool, args: &Catalogued) -> Exit {
    tool.console.use_json(args.json);
    let _progress = tool.progress(|| [None].into_iter());
    if let Some(catalogue) = open(tool, &args.directory, args.catalogue.as_ref(), Access::Read)
        && let Err(error) = show(tool, args.json, &args.directory, &catalogue)
    {
        report(tool, &error);
    }
    tool.console.exit()
}

fn show(tool: &Tool, json: bool, directory: &Path, catalogue: &Catalogue) -> Result<(), Error> {
    let Status { differ, same, unknown } = status(catalogue, directory, &tool.options)?;
    let mut found = Findings::new(tool, json, directory);
    for finding in differ {
        found.count(&finding);
        found.print(finding, None);
        tool.console.fail();
    }
    found.end(catalogue, &[], &[(unknown, "not known"), (same, "unchanged")], "no files");
    Ok(())
}
