//! `mksum verify -r` of directories that have catalogues.

use super::{State, directories, open, print, report, shown_path, summary};
use crate::args::{Symlinks, Verify};
use crate::exit::{Exit, usage};
use crate::ranges::RangeLine;
use crate::report::{bytes, grouped};
use crate::tool::Tool;
use mksum::Spec;
use mksum_catalogue::{Access, Catalogue, DAMAGE, Effort, Row, Verdict, verify};
use mksum_cli::name::Shown;
use std::ops::Range;
use std::path::Path;

/// Verifies the files of each directory.
pub fn run(tool: &Tool, args: &Verify) -> Exit {
    if args.foreign.is_some() || args.quick || args.outboard.is_some() || args.root.is_some() || !args.range.is_empty()
    {
        return usage(
            &"--foreign, --quick, --outboard, --root and --range are not for directories that have a catalogue",
        );
    }
    let others = [
        (!args.directories.exclude.is_empty(), "--exclude"),
        (args.directories.symlinks == Symlinks::Follow, "--symlinks follow"),
    ];
    if let Some((_, flag)) = others.iter().find(|(given, _)| *given) {
        return usage(&format_args!("{flag} is not for a catalogue, which covers all of a directory: omit it"));
    }
    let effort = match (args.budget, args.sample) {
        (Some(time), _) => Effort::Time(time),
        (_, Some(percent)) => Effort::Share(percent / 100.0),
        _ => Effort::All,
    };
    if args.files.len() > 1 && matches!(effort, Effort::Time(_)) {
        return usage(&"--budget is for one directory that has a catalogue");
    }
    tool.console.use_json(args.json);
    tool.console.flush_regularly();
    let _progress = tool.progress(|| [None].into_iter());
    for directory in directories(tool, &args.files) {
        if let Some(mut catalogue) = open(tool, directory, args.catalogue.as_ref(), Access::Write) {
            one(tool, args, directory, &mut catalogue, effort);
        }
    }
    tool.console.exit()
}

fn one(tool: &Tool, args: &Verify, directory: &Path, catalogue: &mut Catalogue, effort: Effort) {
    let json = args.json;
    let specs: Vec<Spec> = catalogue.formats().cloned().collect();
    let [mut good, mut read, mut damaged, mut trees, mut changed, mut new, mut gone, mut busy, mut failed] = [0_u64; 9];
    let mut each = |path: &[u8], verdict: Verdict<'_>| {
        let path = &*shown_path(directory, path);
        let bad = |state: State<'_>, text: &str| {
            tool.console.fail();
            print(tool, json, path, state, &text);
        };
        match verdict {
            Verdict::Good(verified, row) => {
                good += 1;
                read += verified;
                let len = row.facts.size;
                let text = match verified == len {
                    true => format!("OK ({})", bytes(len)),
                    false => format!("OK ({} of {})", grouped(verified), bytes(len)),
                };
                let state = State { length: Some(len), verified: Some(verified), ..State::of("ok") };
                if !args.quiet {
                    print(tool, json, path, state, &text);
                }
            }
            Verdict::Damaged(ranges, row) => {
                damaged += 1;
                tool.console.fail();
                print_damage(tool, json, path, (ranges, row), &specs);
            }
            Verdict::DamagedTree => {
                trees += 1;
                let text = "its kept tree is damaged or gone: 'mksum update' reads the file and keeps it again";
                bad(State::of("damaged tree"), text);
            }
            Verdict::Changed => {
                changed += 1;
                bad(State::of("changed"), "CHANGED since it was kept, so it is not verified ('mksum update' reads it)");
            }
            Verdict::New => {
                new += 1;
                print(tool, json, path, State::of("new"), &"NEW (it is not in the catalogue)");
            }
            Verdict::Missing => {
                gone += 1;
                bad(State::of("gone"), "GONE");
            }
            Verdict::Busy(error) => {
                busy += 1;
                tool.console.error(path, &format_args!("it is being written, so it is not verified ({error})"));
            }
            Verdict::Failed(error) => {
                failed += 1;
                tool.console.error(path, error);
            }
        }
    };
    if let Err(error) = verify(catalogue, directory, &tool.options, effort, &mut each) {
        report(tool, &error);
        return;
    }
    let counts = [
        (good, "intact"),
        (damaged, "damaged"),
        (trees, "with a damaged tree"),
        (changed, "changed"),
        (new, "new"),
        (gone, "gone"),
        (busy, "being written"),
        (failed, "unreadable"),
    ];
    let summary = summary(&counts, "no files");
    tool.console.flush();
    if args.quiet && damaged + trees + changed + new + gone + busy + failed == 0 {
        return;
    }
    tool.console.note(&format_args!("{}: {summary} ({} verified)", Shown(catalogue.path()), bytes(read)));
}

fn print_damage(tool: &Tool, json: bool, path: &Path, (ranges, row): (&[Range<u64>], &Row), specs: &[Spec]) {
    let len = row.facts.size;
    if json {
        let ranges = (!ranges.is_empty()).then(|| ranges.iter().map(|range| [range.start, range.end]).collect());
        return print(tool, json, path, State { length: Some(len), ranges, ..State::of("damaged") }, &"");
    }
    let shape = specs.iter().find(|spec| spec.leaf() < len).or(specs.first()).map(Spec::shape);
    for range in ranges {
        if let Some(shape) = shape {
            RangeLine::new("damaged", range.clone(), shape, len.max(range.end)).print(tool, json, path);
        }
    }
    let count: u64 = ranges.iter().map(|range| range.end - range.start).sum();
    let text = match ranges.len() {
        0 => format!("FAILED: {DAMAGE}"),
        1 => format!("FAILED: {} of {} are damaged (1 range)", grouped(count), bytes(len)),
        several => format!("FAILED: {} of {} are damaged ({several} ranges)", grouped(count), bytes(len)),
    };
    print(tool, json, path, State::of("damaged"), &text);
}
