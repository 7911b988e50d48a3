//! `mksum status`: what differs from a catalogue, without reading any content.

use super::findings::Findings;
use super::{open, report};
use crate::args::Catalogued;
use crate::exit::Exit;
use crate::tool::Tool;
use mksum_catalogue::{Access, Catalogue, Error, Status, status};
use std::path::Path;

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
