//! `mksum import`: the roots of a list become rows of a catalogue, to be verified later.

use super::findings::Findings;
use super::{DRY, report, side, wait};
use crate::args::Import;
use crate::exit::Ended;
use crate::summary::counted;
use crate::tool::Tool;
use mksum_catalogue::{Catalogue, Side, State, import, place};
use mksum_cli::name::Shown;
use mksum_io::Input;
use std::path::Path;

/// Takes the roots of each list.
pub fn run(tool: &Tool, args: &Import) -> Ended {
    tool.console.use_json(args.json);
    tool.console.flush_regularly();
    if !args.directory.is_dir() {
        return Err(tool.console.fail_with(&args.directory, &"not a directory"));
    }
    let choice = tool.formats.first().filter(|_| args.choices.any());
    for list in &args.lists {
        let side = match side(tool, list, choice) {
            Ok(side) => side,
            Err(error) => {
                report(tool, &error);
                continue;
            }
        };
        let path = args.catalogue.clone().unwrap_or_else(|| place(&args.directory));
        let opened = match args.dry_run {
            false => Catalogue::create(&path, &mut || wait(tool, &path)),
            true => Catalogue::trial(&path),
        };
        match opened {
            Ok(mut catalogue) => one(tool, args, (list, side, &path), &mut catalogue),
            Err(error) => report(tool, &error),
        }
    }
    Ok(tool.console.exit())
}

fn one(tool: &Tool, args: &Import, (name, list, path): (&Input, Side, &Path), catalogue: &mut Catalogue) {
    let mut found = Findings::new(tool, args.json, &args.directory);
    let imported = import(catalogue, &args.directory, list.into_entries(), &tool.options, &mut |finding| {
        found.count(&finding);
        if finding.error.is_some() || (args.json && finding.state == State::Imported) {
            found.print(finding, None);
        }
    });
    tool.console.flush();
    if let Err(error) = imported {
        return report(tool, &error);
    }
    if !found.has_others(&[]) {
        return tool.console.error(name, &"there is nothing in it: expected lines with a path and a root");
    }
    let [taken, known, missing] = [State::Imported, State::Known, State::Gone].map(|state| found.number(state));
    let refused = found.number(State::Refused) + found.number(State::Unreadable);
    let counts = [(taken, "imported"), (known, "known already"), (missing, "missing"), (refused, "refused")];
    let how = match taken {
        _ if args.dry_run => DRY.into(),
        0 => String::new(),
        _ => format!(". Nothing was read: 'mksum verify -r {}' compares the files", Shown(&args.directory)),
    };
    tool.console.note(&format_args!("{}: {}{how}", Shown(path), counted(&counts, "")));
}
