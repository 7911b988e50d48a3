//! `mksum repair -r` of directories that have catalogues.

use super::findings::Findings;
use super::{DRY, on_each, open, open_to_write, shown_path};
use crate::args::Repair;
use crate::exit::{Ended, refuse};
use crate::figures::bytes;
use crate::replica::passed;
use crate::summary::counted;
use crate::tool::Tool;
use mksum_catalogue::{Access, Catalogue, Effort, Error, State, repair, verify};
use mksum_cli::name::Shown;
use std::path::Path;

/// Repairs the damaged files of each directory.
pub fn run(tool: &Tool, args: &Repair) -> Ended {
    if args.outboard.is_some() || args.root.is_some() {
        return refuse(&"--outboard and --root are not for directories that have a catalogue");
    }
    let directories = (&args.files[..], args.catalogue.as_ref());
    if args.dry_run {
        let open = |tool: &_, directory: &_, given: Option<&_>| open(tool, directory, given, Access::Read);
        return on_each(tool, args.json, directories, open, &mut |directory, catalogue| {
            look(tool, args, directory, catalogue)
        });
    }
    on_each(tool, args.json, directories, open_to_write, &mut |directory, catalogue| {
        one(tool, args, directory, catalogue)
    })
}

/// Reports what a repair would do: the files are read, and no copy is.
fn look(tool: &Tool, args: &Repair, directory: &Path, catalogue: &mut Catalogue) -> Result<(), Error> {
    let (mut found, mut wanted) = (Findings::new(tool, args.json, directory), 0);
    verify(catalogue, directory, &tool.options, Effort::All, &mut |finding| {
        found.count(&finding);
        if finding.state == State::Damaged {
            let ranges: u64 = finding.ranges.iter().map(|range| range.end - range.start).sum();
            // Without a kept tree, all of it.
            wanted += if ranges > 0 { ranges } else { finding.length.unwrap_or(0) };
        }
        match finding.state {
            State::Intact | State::New => {}
            State::Changed => found.print(finding, Some(&"CHANGED since it was kept, so it would be left alone")),
            _ => found.print(finding, None),
        }
    })?;
    let counts = counted(&found.counts(&[State::Intact, State::Damaged]), "no files");
    let (wanted, path) = (bytes(wanted), Shown(catalogue.path()));
    tool.console.flush();
    tool.console.note(&format_args!("{path}: {counts}: {wanted} would be fetched{DRY}"));
    Ok(())
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
