//! `mksum verify -r` of directories that have catalogues.

use super::findings::{Findings, excluded};
use super::{on_each, open_to_verify, shown_path};
use crate::args::{Symlinks, Verify};
use crate::exit::{Ended, refuse};
use crate::figures::{bytes, grouped};
use crate::ranges::RangeLine;
use crate::summary::counted;
use crate::tool::Tool;
use mksum::Spec;
use mksum_catalogue::{Catalogue, Effort, Error, Finding, State, verify};
use mksum_cli::name::Shown;
use std::fmt::Display;
use std::path::Path;

/// Verifies the files of each directory.
pub fn run(tool: &Tool, args: &Verify) -> Ended {
    if args.foreign.is_some() || args.quick || args.outboard.is_some() || args.root.is_some() || !args.range.is_empty()
    {
        return refuse(
            &"--foreign, --quick, --outboard, --root and --range are not for directories that have a catalogue",
        );
    }
    if !args.directories.exclude.is_empty() {
        return refuse(
            &"--exclude is remembered by a catalogue: give it to 'mksum keep -r', or edit DIR/.mksum/config",
        );
    }
    if args.directories.symlinks == Symlinks::Follow {
        return refuse(&"--symlinks follow is not for a catalogue, which covers all of a directory: omit it");
    }
    if args.files.len() > 1 && args.budget.is_some() {
        return refuse(&"--budget is for one directory that has a catalogue");
    }
    let directories = (&args.files[..], args.catalogue.as_ref());
    on_each(tool, args.json, directories, open_to_verify, &mut |directory, catalogue| {
        // A directory may have a budget of its own.
        let effort = match (args.budget, args.sample, catalogue.budget()) {
            (_, Some(percent), _) => Effort::Share(percent / 100.0),
            (Some(time), ..) | (_, _, Some(time)) => Effort::Time(time),
            (None, None, None) => Effort::All,
        };
        one(tool, args, directory, catalogue, effort)
    })
}

fn one(tool: &Tool, args: &Verify, directory: &Path, catalogue: &mut Catalogue, effort: Effort) -> Result<(), Error> {
    let specs: Vec<Spec> = catalogue.formats().cloned().collect();
    let (mut found, mut read, mut damaged) = (Findings::new(tool, args.json, directory), 0, 0);
    let total = verify(catalogue, directory, &tool.options, effort, &mut |finding| {
        found.count(&finding);
        if finding.state == State::Damaged {
            damaged += finding.length.unwrap_or(0);
        }
        let words: &dyn Display = match finding.state {
            State::Intact => {
                read += finding.bytes.unwrap_or(0);
                if !args.common.quiet && !tool.console.is_brief() {
                    found.print(finding, None);
                }
                return;
            }
            State::New => &"NEW (it is not in the catalogue)",
            State::Moved => {
                let from = shown_path(directory, finding.from.as_deref().unwrap_or_default());
                &format!("MOVED from {}, so it is not verified ('mksum update' takes it over)", Shown(&from))
            }
            State::Changed => &"CHANGED since it was kept, so it is not verified ('mksum update' reads it)",
            State::Busy => {
                let reason = finding.reason().unwrap_or_default();
                &format!("it is being written, so it is not verified ({reason})")
            }
            _ => {
                if !args.json {
                    print_ranges(tool, &shown_path(directory, &finding.path), &finding, &specs);
                }
                return found.print(finding, None);
            }
        };
        found.print(finding, Some(words));
    })?;
    if found.has_others(&[State::Intact, State::New]) {
        tool.console.fail();
    }
    tool.console.flush();
    if !args.common.quiet || found.has_others(&[State::Intact]) {
        let first = [State::Intact, State::Damaged, State::DamagedTree, State::Changed];
        let counts = counted(&found.counts(&first), "no files") + &excluded(catalogue);
        let verified = match effort {
            Effort::All => format!("{} verified", bytes(read)),
            _ => format!("{} of {} verified{}", grouped(read), bytes(total), coverage(read, total, damaged)),
        };
        tool.console.note(&format_args!("{}: {counts} ({verified}{})", Shown(catalogue.path()), tool.console.took()));
    }
    Ok(())
}

/// The share of a run that does not verify all, and the number of runs like it that do; damaged files were looked at, too.
fn coverage(read: u64, total: u64, damaged: u64) -> String {
    match read {
        0 => String::new(),
        read if read.saturating_add(damaged) >= total => ": all".into(),
        read => {
            let percent = 100.0 * read as f64 / total as f64;
            format!(": {percent:.1} %, all in {} such runs", grouped(total.div_ceil(read)))
        }
    }
}

/// Prints a line for each damaged range.
fn print_ranges(tool: &Tool, path: &Path, finding: &Finding, specs: &[Spec]) {
    let len = finding.length.unwrap_or(0);
    let Some(spec) = specs.iter().find(|spec| spec.leaf() < len).or(specs.first()) else { return };
    for range in &finding.ranges {
        RangeLine::new("damaged", range.clone(), spec.shape(), len.max(range.end)).print(tool, false, path);
    }
}
