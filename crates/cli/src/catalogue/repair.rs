//! `mksum repair -r` of directories that have catalogues.

use super::findings::Findings;
use super::{on_each, open_to_write, shown_path};
use crate::args::Repair;
use crate::exit::{Exit, usage};
use crate::replica::passed;
use crate::tool::Tool;
use mksum_catalogue::{Catalogue, Error, State, repair};
use std::path::Path;

/// Repairs the damaged files of each directory.
pub fn run(tool: &Tool, args: &Repair) -> Exit {
    if args.outboard.is_some() || args.root.is_some() {
        return usage(&"--outboard and --root are not for directories that have a catalogue");
    }
    let directories = (&args.files[..], args.catalogue.as_ref());
    on_each(tool, args.json, directories, open_to_write, &mut |directory, catalogue| {
        one(tool, args, directory, catalogue)
    })
}

fn one(tool: &Tool, args: &Repair, directory: &Path, catalogue: &mut Catalogue) -> Result<(), Error> {
    let copies_of = |path: &[u8]| {
        let below = mksum_cli::name::path(path).unwrap_or_default();
        args.from.iter().map(|from| from.join(&below)).collect()
    };
    let mut found = Findings::new(tool, args.json, directory);
    repair(catalogue, directory, &tool.options, &copies_of, &mut |finding| {
        found.count(&finding);
        let path = shown_path(directory, &finding.path);
        for (copy, why) in &finding.passed {
            tool.console.note(&passed(&path, copy, why));
        }
        match finding.state {
            State::Intact => {}
            State::Changed => found.print(finding, Some(&"CHANGED since it was kept, so it is left alone")),
            _ => found.print(finding, None),
        }
    })?;
    if found.has_others(&[State::Intact, State::Repaired]) {
        tool.console.fail();
    }
    found.end(catalogue, &[State::Intact, State::Repaired, State::NotRepaired], &[], "no files");
    Ok(())
}
