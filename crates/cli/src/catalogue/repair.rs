//! `mksum repair -r` of directories that have catalogues.

use super::{State, directories, open, print, report, shown_path, summary};
use crate::args::Repair;
use crate::exit::{Exit, usage};
use crate::report::grouped;
use crate::tool::Tool;
use mksum_catalogue::{Access, Catalogue, Mended, repair};
use mksum_cli::name::Shown;
use std::path::Path;

/// Repairs the damaged files of each directory.
pub fn run(tool: &Tool, args: &Repair) -> Exit {
    if args.outboard.is_some() || args.root.is_some() {
        return usage(&"--outboard and --root are not for directories that have a catalogue");
    }
    tool.console.use_json(args.json);
    tool.console.flush_regularly();
    let _progress = tool.progress(|| [None].into_iter());
    for directory in directories(tool, &args.files) {
        if let Some(mut catalogue) = open(tool, directory, args.catalogue.as_ref(), Access::Write) {
            one(tool, args, directory, &mut catalogue);
        }
    }
    tool.console.exit()
}

fn one(tool: &Tool, args: &Repair, directory: &Path, catalogue: &mut Catalogue) {
    let [mut intact, mut repaired, mut damaged, mut changed, mut gone] = [0_u64; 5];
    let copy_of = |path: &[u8]| {
        let below = mksum_cli::name::path(path).unwrap_or_default();
        args.from.join(&below)
    };
    let mut each = |path: &[u8], mended: Mended| {
        let path = &*shown_path(directory, path);
        match mended {
            Mended::Intact => intact += 1,
            Mended::Done(ranges, fetched) => {
                repaired += 1;
                let count: u64 = ranges.iter().map(|range| range.end - range.start).sum();
                let text = format!("OK: {} bytes repaired, {} bytes fetched", grouped(count), grouped(fetched));
                let ranges = Some(ranges.iter().map(|range| [range.start, range.end]).collect());
                let state = State { ranges, fetched: Some(fetched), ..State::of("repaired") };
                print(tool, args.json, path, state, &text);
            }
            Mended::Failed(why) => {
                damaged += 1;
                tool.console.error(path, &why);
            }
            Mended::Changed => {
                changed += 1;
                tool.console.fail();
                print(tool, args.json, path, State::of("changed"), &"CHANGED since it was kept, so it is left alone");
            }
            Mended::Missing => {
                gone += 1;
                tool.console.fail();
                print(tool, args.json, path, State::of("gone"), &"GONE");
            }
        }
    };
    if let Err(error) = repair(catalogue, directory, &tool.options, &copy_of, &mut each) {
        report(tool, &error);
        return;
    }
    let counts =
        [(intact, "intact"), (repaired, "repaired"), (damaged, "still damaged"), (changed, "changed"), (gone, "gone")];
    tool.console.flush();
    tool.console.note(&format_args!("{}: {}", Shown(catalogue.path()), summary(&counts, "no files")));
}
