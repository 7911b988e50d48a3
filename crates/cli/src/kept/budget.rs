//! `mksum verify --budget`: as much as fits into some time, the least recently verified data of all files first.

use super::opened::{Opened, opened, trusted, verify_part};
use super::report::Report;
use super::rounds::{Rounds, state};
use super::{files, lengths, report_skipped, report_unchanged};
use crate::args::Verify;
use crate::failure::Failure;
use crate::print::report;
use crate::tool::Tool;
use crate::walk::Rules;
use mksum_io::Input;
use mksum_io::outboard::is_unchanged;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashSet};
use std::time::{Duration, Instant};

/// Verifies parts of files until the time is over; at least one.
///
/// Returns whether there is nothing to verify: files, but no tree of one.
pub fn run(tool: &Tool, args: &Verify, rules: &Rules, time: Duration) -> bool {
    let deadline = Instant::now() + time;
    let lengths = lengths(rules, &args.files);
    let _progress = tool.progress_until(Some(deadline), move || lengths().map(|_| Some(0)));
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
    while let Some(Reverse((_, index))) = plan.due.pop() {
        let next = plan.due.peek().map_or(u64::MAX, |Reverse((time, _))| *time);
        if let Err(error) = plan.verify(tool, args, index, (next, deadline), &mut reports) {
            report(&tool.console, &error);
        }
        if !plan.due.iter().any(|Reverse((_, other))| *other == index) {
            tool.options.meter.finish_file();
        }
        if Instant::now() >= deadline {
            break;
        }
    }
    reports.into_values().for_each(Report::end);
    report_skipped(tool, skipped, "size, mtime and inode");
    plan.report(tool);
    new > 0 && skipped == 0 && plan.files.is_empty()
}

/// The files to be verified.
#[derive(Default)]
struct Plan {
    files: Vec<Planned>,
    /// The time at which a part of a file was verified, and the index of the file: the oldest first.
    due: BinaryHeap<Reverse<(u64, usize)>>,
    /// Parts that were verified in this run, each with the index of its file: once is enough, also for damaged ones.
    done: HashSet<(usize, usize)>,
}

struct Planned {
    path: Input,
    /// The bytes that are not verified yet.
    never: u64,
    /// The age of the least recently verified part, if all are verified.
    oldest: Option<Duration>,
}

enum Added {
    Planned,
    /// It has no parts to be verified.
    Nothing,
    /// It has no outboard.
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
        let rounds = Rounds::of(&outboard, &place)?;
        let first = rounds.due().first().copied();
        if let Some(part) = first {
            self.due.push(Reverse((rounds.verified(part), self.files.len())));
        }
        self.files.push(Planned { path, never: rounds.never(), oldest: rounds.oldest() });
        Ok(if first.is_some() { Added::Planned } else { Added::Nothing })
    }

    /// Verifies the parts of a file that are due before those of the others, whose first was verified at `next`.
    fn verify<'a>(
        &mut self,
        tool: &'a Tool,
        args: &'a Verify,
        index: usize,
        (next, deadline): (u64, Instant),
        reports: &mut BTreeMap<usize, Report<'a>>,
    ) -> Result<(), Failure> {
        let path = self.files[index].path.clone();
        let Opened::Outboard(file, place, outboard) = opened(tool, args, &path)? else { return Ok(()) };
        let trust = trusted(args.root.as_deref(), &outboard, &place)?;
        let mut rounds = Rounds::of(&outboard, &place)?;
        let new = || Report::new((tool, args), &path, (outboard.root().into(), &place), trust, file.len());
        let report = reports.entry(index).or_insert_with(new);
        drop(file);
        let due: Vec<_> = rounds.due().into_iter().filter(|&part| !self.done.contains(&(index, part))).collect();
        let mut ended = None;
        for part in due {
            let time = rounds.verified(part);
            if time > next {
                ended = Some(time);
                break;
            }
            verify_part(tool, &path, (&outboard, &place), part, &mut rounds, report)?;
            self.done.insert((index, part));
            if Instant::now() >= deadline {
                break;
            }
        }
        rounds.write()?;
        if let Some(time) = ended {
            self.due.push(Reverse((time, index)));
        }
        let planned = &mut self.files[index];
        (planned.never, planned.oldest) = (rounds.never(), rounds.oldest());
        Ok(())
    }

    /// Reports how much of all files is verified.
    fn report(&self, tool: &Tool) {
        let never: u64 = self.files.iter().map(|file| file.never).sum();
        let oldest = self.files.iter().filter_map(|file| file.oldest).max();
        let of = match &self.files[..] {
            [] => return,
            [file] => mksum_cli::name::Shown(&file.path).to_string(),
            files => format!("{} files", files.len()),
        };
        tool.console.note(&format_args!("{of}: {}", state(never, oldest)));
    }
}
