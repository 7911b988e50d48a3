//! `mksum verify`: reports the damaged ranges of files.

use super::ranges::{self, RangeLine};
use super::rounds::Rounds;
use super::{files, is_unchanged, lengths, outboard_of};
use crate::args::Verify;
use crate::exit::{Exit, usage};
use crate::failure::Failure;
use crate::print::report;
use crate::progress::left;
use crate::report::grouped;
use crate::tool::Tool;
use crate::walk::Rules;
use mksum::outboard::{Foreign, ForeignLayout, Outboard, ReadAt};
use mksum_cli::name::Shown;
use mksum_cli::range::{ByteRange, merged};
use mksum_io::outboard::{EXTENSION, Finding, Stored, verify, with_extension};
use mksum_io::{Error, File, Input};
use std::io::ErrorKind;
use std::mem;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Verifies each file.
pub fn run(tool: &Tool, args: &Verify) -> Exit {
    let rules = match Rules::new(&args.directories) {
        Ok(rules) => rules,
        Err(reason) => return usage(&reason),
    };
    let several = args.files.len() > 1 || args.directories.recursive;
    if several && (args.outboard.is_some() || args.root.is_some() || !args.range.is_empty()) {
        return usage(&"--outboard, --root and --range are of one file");
    }
    let _progress = tool.progress(lengths(&rules, &args.files));
    if several {
        tool.console.flush_regularly();
    }
    let mut skipped = 0;
    for file in files(&rules, &args.files) {
        match file {
            Ok(path) => match one(tool, args, &path) {
                Ok(Did::Verified) => {}
                Ok(Did::Skipped) => skipped += 1,
                Err(error) => report(&tool.console, &error),
            },
            Err((path, reason)) => tool.console.error(&path, &reason),
        }
    }
    if args.directories.recursive {
        missing(tool, args, &rules);
    }
    if skipped > 0 {
        let plural = if skipped == 1 { "file was" } else { "files were" };
        tool.console.tell(&format_args!("{skipped} unchanged {plural} not read (same size, time and inode)"));
    }
    tool.console.exit()
}

enum Did {
    Verified,
    /// The file's size, mtime and inode match the outboard, and it was not read.
    Skipped,
}

/// Reports the outboards in directories whose file is gone.
fn missing(tool: &Tool, args: &Verify, rules: &Rules) {
    let outboards = rules.walk(&args.files).filter_map(|input| match input {
        Ok(Input::Path(path)) if path.extension().is_some_and(|end| end == EXTENSION) => Some(path),
        _ => None,
    });
    for outboard in outboards {
        let file = outboard.with_extension("");
        if !file.exists() && !args.files.contains(&outboard) {
            tool.console.fail();
            match args.json {
                true => ranges::json(tool, &file, State { kind: "gone" }),
                false => ranges::line(tool, &file, &"GONE (its outboard is there)"),
            }
        }
    }
}

#[derive(serde::Serialize)]
struct State {
    kind: &'static str,
}

fn one(tool: &Tool, args: &Verify, path: &Path) -> Result<Did, Failure> {
    let (file, place, outboard) = match opened(tool, args, path) {
        Err(Error::Open { error, .. }) if error.kind() == ErrorKind::NotFound && args.directories.recursive => {
            match args.json {
                true => ranges::json(tool, path, State { kind: "new" }),
                false => ranges::line(tool, path, &"NEW (it has no outboard)"),
            }
            return Ok(Did::Verified);
        }
        opened => opened?,
    };
    let trust = trust(args.root.as_deref(), &outboard, &place)?;
    if args.quick && is_unchanged(&file, outboard.header()) {
        return Ok(Did::Skipped);
    }
    let within = |reason| Failure::Refused(path.into(), reason);
    let whole = [ByteRange { start: 0, end: None }];
    let ranges = if args.range.is_empty() { &whole[..] } else { &args.range };
    let ranges = merged(ranges, outboard.len()).map_err(within)?;
    let mut report = Report::new(tool, args.json, path, &place, &outboard, file.len());
    if args.sample.is_some() || args.budget.is_some() {
        drop(file);
        let bytes = some(tool, args, path, &mut report)?;
        report.end(bytes, &trust);
        return Ok(Did::Verified);
    }
    let mut file = Some(file);
    for range in &ranges {
        let file = file.take().map_or_else(|| File::open(path, &tool.options), Ok)?;
        verify(file, (&outboard, &place), range.clone(), &mut |finding| {
            report.add(finding);
            Ok(())
        })?;
    }
    report.end(ranges.iter().map(|range| range.end - range.start).sum(), &trust);
    Ok(Did::Verified)
}

/// Verifies a share of the file, or for some time, the least recently verified data first. The number of bytes verified.
fn some(tool: &Tool, args: &Verify, path: &Path, report: &mut Report<'_>) -> Result<u64, Failure> {
    let (outboard, place) = (report.outboard, report.place);
    let memory = with_extension(place, "checked");
    let fail = |error| Error::Write { path: memory.clone(), error };
    let mut rounds = Rounds::open(memory.clone(), &outboard.root(), outboard.layout().unit()).map_err(fail)?;
    let share = args.sample.map_or(f64::INFINITY, |percent| percent / 100.0 * outboard.len() as f64);
    let (begin, mut bytes) = (Instant::now(), 0);
    for part in rounds.due() {
        if bytes as f64 >= share || args.budget.is_some_and(|budget| begin.elapsed() >= budget) {
            break;
        }
        let (range, before) = (rounds.range(part), report.found());
        bytes += range.end - range.start;
        verify(File::open(path, &tool.options)?, (outboard, place), range, &mut |finding| {
            report.add(finding);
            Ok(())
        })?;
        // A damaged part stays the first one due.
        if report.found() == before {
            rounds.good(part).map_err(fail)?;
        }
    }
    rounds.write().map_err(fail)?;
    let state = match (rounds.never(), rounds.oldest()) {
        (0, Some(age)) => format!("all data was verified within the last {}", left(age.as_secs_f64().max(1.0))),
        (never, _) => format!("{} bytes are not verified yet", grouped(never)),
    };
    tool.console.tell(&format_args!("{}: {state} ({})", Shown(path), Shown(rounds.path())));
    Ok(bytes)
}

/// An outboard of this project or another.
type Any = Outboard<Box<dyn ReadAt>>;

/// A file, and its outboard with the place where it is.
fn opened(tool: &Tool, args: &Verify, path: &Path) -> Result<(File, PathBuf, Any), Error> {
    let boxed = |bytes: Box<dyn ReadAt>, place: &Path| {
        Outboard::open(bytes).map_err(|error| Error::from_outboard(error, place))
    };
    let Some(spec) = &args.foreign else {
        let place = outboard_of(path, args.outboard.as_ref(), EXTENSION);
        let outboard = boxed(Box::new(Stored::open(&place)?), &place)?;
        return Ok((File::open(path, &tool.options)?, place, outboard));
    };
    let file = File::open(path, &tool.options)?;
    let layout = ForeignLayout::new(spec, file.len()).map_err(|error| Error::from_join(error, path, spec))?;
    let place = outboard_of(path, args.outboard.as_ref(), layout.extension());
    let stored = Stored::open(&place)?;
    let foreign = Foreign::open(stored, layout).map_err(|error| Error::from_outboard(error, &place))?;
    let outboard = boxed(Box::new(foreign), &place)?;
    Ok((file, place, outboard))
}

/// The root that the file is compared with and where it comes from, as words.
///
/// # Errors
/// If the given root is not that of the outboard.
pub fn trust(given: Option<&str>, outboard: &Outboard<impl ReadAt>, place: &Path) -> Result<String, Failure> {
    let root = outboard.root();
    let Some(given) = given else { return Ok(format!("root {root} from the outboard")) };
    let claimed = outboard.spec().claimed_root(given);
    let claimed =
        claimed.map_err(|error| Failure::refused(place, format_args!("--root: {error} ({})", outboard.spec())))?;
    match root.matches(&claimed) {
        true => Ok(format!("root {root} as given")),
        false => {
            let roots = format!("expected root {given}\n  found root    {root}");
            Err(Failure::refused(place, format_args!("this outboard is of another file:\n  {roots}")))
        }
    }
}

/// The report about one file, range by range.
struct Report<'a> {
    tool: &'a Tool,
    json: bool,
    path: &'a Path,
    place: &'a Path,
    outboard: &'a Any,
    /// The longer of the file's length and its outboard's.
    longest: u64,
    /// The last range, which the next may continue.
    open: Option<(&'static str, Range<u64>)>,
    damaged: u64,
    ranges: u64,
    nodes: u64,
}

impl<'a> Report<'a> {
    fn new(tool: &'a Tool, json: bool, path: &'a Path, place: &'a Path, outboard: &'a Any, len: u64) -> Self {
        let longest = len.max(outboard.len());
        Report { tool, json, path, place, outboard, longest, open: None, damaged: 0, ranges: 0, nodes: 0 }
    }

    fn add(&mut self, finding: Finding) {
        let (kind, range) = match finding {
            Finding::Damaged(range) => ("damaged", range),
            Finding::Missing(range) => ("missing", range),
            Finding::Grown(range) => ("grown", range),
            Finding::Node(node) => {
                self.nodes += 1;
                self.tool.console.fail();
                let mut line = self.line("outboard", node.start..node.end());
                if self.json {
                    return ranges::json(self.tool, self.place, &line);
                }
                line.kind = "damaged node over";
                return ranges::line(self.tool, self.place, &line.text());
            }
        };
        match &mut self.open {
            Some((last, open)) if *last == kind && open.end == range.start => open.end = range.end,
            _ => {
                self.close();
                self.open = Some((kind, range));
            }
        }
    }

    /// The amount of damage found so far: it differs when there is more.
    fn found(&self) -> (u64, u64, Option<u64>) {
        (self.ranges, self.nodes, self.open.as_ref().map(|(_, range)| range.end))
    }

    /// Reports the open range: the next one does not continue it.
    fn close(&mut self) {
        let Some((kind, range)) = self.open.take() else { return };
        self.tool.console.fail();
        self.ranges += 1;
        self.damaged += range.end - range.start;
        let line = self.line(kind, range);
        match self.json {
            true => ranges::json(self.tool, self.path, &line),
            false => ranges::line(self.tool, self.path, &line.text()),
        }
    }

    fn line(&self, kind: &'static str, range: Range<u64>) -> RangeLine {
        RangeLine::new(kind, range, self.outboard.spec().shape(), self.longest)
    }

    /// Reports the result for the file, of which `bytes` bytes were verified.
    fn end(mut self, bytes: u64, trust: &str) {
        self.close();
        let (verified, len) = (grouped(bytes), grouped(self.outboard.len()));
        let text = match self.ranges {
            0 if bytes == self.outboard.len() => format!("OK ({len} bytes, {trust})"),
            0 => format!("OK ({verified} of {len} bytes, {trust})"),
            count => {
                let ranges = if count == 1 { "1 range".into() } else { format!("{count} ranges") };
                let damaged = grouped(self.damaged);
                match bytes == self.outboard.len() {
                    true => format!("FAILED: {damaged} of {len} bytes are damaged ({ranges}, {trust})"),
                    false => {
                        format!("FAILED: {damaged} bytes are damaged ({ranges}, {verified} of {len} verified, {trust})")
                    }
                }
            }
        };
        match self.json {
            // The lines of the output are ranges.
            true => self.tool.console.tell(&format_args!("{}: {text}", Shown(self.path))),
            false => ranges::line(self.tool, self.path, &text),
        }
        let nodes = mem::take(&mut self.nodes);
        if nodes > 0 {
            let plural = if nodes == 1 { "node is" } else { "nodes are" };
            let how = "write it again with 'mksum keep' when the file is right";
            self.tool.console.tell(&format_args!("{}: {nodes} {plural} damaged: {how}", Shown(self.place)));
        }
    }
}
