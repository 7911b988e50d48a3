//! `mksum verify --budget`: as much as fits into some time, the least recently verified data of all files first.

use super::opened::{Opened, opened, trusted, verify_part, words};
use super::report::Report;
use super::{files, lengths, report_skipped, report_unchanged};
use crate::args::Verify;
use crate::failure::Failure;
use crate::print::report;
use crate::tool::Tool;
use crate::walk::Rules;
use mksum_cli::name::Shown;
use mksum_io::outboard::{Rounds, Schedule, is_unchanged};
use mksum_io::{Effort, Input, Left};
use std::collections::BTreeMap;
use std::time::Duration;

/// Verifies parts of files until the time is over; at least one.
///
/// Returns whether there is nothing to verify: files, but no tree of one.
pub fn run(tool: &Tool, args: &Verify, rules: &Rules, time: Duration) -> bool {
    let mut left = Effort::Time(time).start(0);
    let lengths = lengths(rules, &args.files);
    let _progress = tool.progress_until(left.deadline, move || lengths().map(|_| Some(0)));
    let mut plan = Plan::default();
    let (mut skipped, mut new) = (0, 0_u64);
    for file in files(rules, &args.files) {
        let added = file.map(|path| plan.add(tool, args, path));
        if !matches!(added, Ok(Ok(Added::Planned))) {
            tool.options.meter.finish_file();
        }
        match added {
            Ok(Ok(Added::Planned | Added::Nothing)) => {}
            Ok(Ok(Added::New)) => new += 1,
            Ok(Ok(Added::Skipped)) => skipped += 1,
            Ok(Err(error)) => report(&tool.console, &error),
            Err((path, reason)) => tool.console.error(&path, &reason),
        }
    }
    let mut reports = BTreeMap::new();
    while let Some(index) = plan.schedule.next_file() {
        let goes_on = plan.verify(tool, args, index, &mut left, &mut reports).unwrap_or_else(|error| {
            report(&tool.console, &error);
            false
        });
        if !goes_on {
            tool.options.meter.finish_file();
        }
        if left.is_over() {
            break;
        }
    }
    reports.into_values().for_each(Report::end);
    report_skipped(tool, skipped, "size, mtime and inode");
    let of = match &plan.paths[..] {
        [] => return new > 0 && skipped == 0,
        [path] => Shown(path).to_string(),
        paths => format!("{} files", paths.len()),
    };
    tool.console.note(&format_args!("{of}: {}", words(plan.schedule.age())));
    false
}

/// The files to be verified, and what is due when.
#[derive(Default)]
struct Plan {
    paths: Vec<Input>,
    schedule: Schedule,
}

enum Added {
    Planned,
    /// No part of the file is to be verified.
    Nothing,
    /// The file has no outboard.
    New,
    /// The file's size, mtime and inode match the outboard.
    Skipped,
}

impl Plan {
    /// Looks up when the parts of a file were verified.
    fn add(&mut self, tool: &Tool, args: &Verify, path: Input) -> Result<Added, Failure> {
        let (file, place, outboard) = match opened(tool, args, &path)? {
            Opened::Outboard(file, place, outboard) => (file, place, outboard),
            Opened::New => return Ok(Added::New),
            Opened::SingleLeaf(..) => return Ok(Added::Nothing),
        };
        trusted(args.root.as_deref(), &outboard, &place)?;
        if args.quick && is_unchanged(&file, outboard.header()) {
            report_unchanged(tool, args.json, &path);
            return Ok(Added::Skipped);
        }
        let has_parts = self.schedule.add(&Rounds::of(&outboard, &place)?);
        self.paths.push(path);
        Ok(if has_parts { Added::Planned } else { Added::Nothing })
    }

    /// Verifies the parts of a file that are due before those of the others; returns whether others are due later.
    fn verify<'a>(
        &mut self,
        tool: &'a Tool,
        args: &'a Verify,
        index: usize,
        left: &mut Left,
        reports: &mut BTreeMap<usize, Report<'a>>,
    ) -> Result<bool, Failure> {
        let path = &self.paths[index];
        let Opened::Outboard(file, place, outboard) = opened(tool, args, path)? else { return Ok(false) };
        let trust = trusted(args.root.as_deref(), &outboard, &place)?;
        let mut rounds = Rounds::of(&outboard, &place)?;
        let new = || Report::new((tool, args), path, (outboard.root().into(), &place), trust, file.len());
        let report = reports.entry(index).or_insert_with(new);
        drop(file);
        let mut verify = verify_part(tool, path, (&outboard, &place), report);
        Ok(self.schedule.run(index, &mut rounds, left, &mut verify)?)
    }
}
