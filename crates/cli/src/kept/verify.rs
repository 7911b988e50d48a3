//! `mksum verify`: which ranges of a file are not as its outboard has them.

use super::rounds::Rounds;
use super::tell::{self, Told};
use super::{files, is_unchanged, lengths, outboard_of};
use crate::args::Verify;
use crate::exit::{Exit, usage};
use crate::print::tell as tell_error;
use crate::progress::left;
use crate::report::grouped;
use crate::tool::Tool;
use crate::walk::Rules;
use mksum::{Foreign, Layout, Outboard, ReadAt};
use mksum_cli::name::Shown;
use mksum_cli::range::{ByteRange, merged};
use mksum_io::outboard::{EXTENSION, Finding, Stored, verify, with_extension};
use mksum_io::{Error, File, Input};
use std::io::{self, ErrorKind};
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
                Err(error) => tell_error(&tool.console, &error),
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
    /// The file is as its outboard tells, and was not read.
    Skipped,
}

/// Tells the outboards in directories whose file is gone.
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
                true => tell::json(tool, &file, State { kind: "gone" }),
                false => tell::line(tool, &file, &"GONE, its outboard is there"),
            }
        }
    }
}

#[derive(serde::Serialize)]
struct State {
    kind: &'static str,
}

fn one(tool: &Tool, args: &Verify, path: &Path) -> Result<Did, Error> {
    let (file, place, outboard) = match opened(tool, args, path) {
        Err(Error::Open { error, .. }) if error.kind() == ErrorKind::NotFound && args.directories.recursive => {
            match args.json {
                true => tell::json(tool, path, State { kind: "new" }),
                false => tell::line(tool, path, &"NEW, it has no outboard"),
            }
            return Ok(Did::Verified);
        }
        opened => opened?,
    };
    let trust = trust(args.root.as_deref(), &outboard, &place)?;
    if args.quick && is_unchanged(&file, outboard.header()) {
        return Ok(Did::Skipped);
    }
    let within = |reason| Error::Open { path: path.into(), error: io::Error::other(reason) };
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

/// Verifies what was not verified for longest: a share of the file, or for some time. The bytes that were.
fn some(tool: &Tool, args: &Verify, path: &Path, report: &mut Report<'_>) -> Result<u64, Error> {
    let (outboard, place) = (report.outboard, report.place);
    let memory = with_extension(place, "checked");
    let fail = |error| Error::Write { path: memory.clone(), error };
    let mut rounds = Rounds::open(memory.clone(), &outboard.root(), outboard.kept().unit()).map_err(fail)?;
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
        // What is damaged stays the first that is due.
        if report.found() == before {
            rounds.good(part).map_err(fail)?;
        }
    }
    rounds.write().map_err(fail)?;
    let state = match (rounds.never(), rounds.oldest()) {
        (0, Some(age)) => format!("every part was verified within the last {}", left(age.as_secs_f64().max(1.0))),
        (never, _) => format!("{} bytes were never verified", grouped(never)),
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
    let layout = Layout::new(spec, file.len()).map_err(|error| Error::from_join(error, path, spec))?;
    let place = outboard_of(path, args.outboard.as_ref(), layout.extension());
    let stored = Stored::open(&place)?;
    let foreign = Foreign::open(stored, layout).map_err(|error| Error::from_outboard(error, &place))?;
    let outboard = boxed(Box::new(foreign), &place)?;
    Ok((file, place, outboard))
}

/// The root against which the file is held, and who says that it is the right one.
pub fn trust(given: Option<&str>, outboard: &Outboard<impl ReadAt>, place: &Path) -> Result<String, Error> {
    let root = outboard.root();
    let Some(given) = given else { return Ok(format!("root {root} as the outboard has it")) };
    let refuse = |reason: String| Error::Open { path: place.into(), error: io::Error::other(reason) };
    let told = outboard.spec().told(given).map_err(|error| refuse(format!("--root: {error} ({})", outboard.spec())))?;
    if !root.is(&told) {
        return Err(refuse(format!("it is of another file:\n  expected root {given}\n  found         {root}")));
    }
    Ok(format!("root {root} as given"))
}

/// What is told of one file, range by range.
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
                let mut told = self.told("outboard", node.start..node.end());
                if self.json {
                    return tell::json(self.tool, self.place, &told);
                }
                told.kind = "damaged node over";
                return tell::line(self.tool, self.place, &told.text());
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

    /// How much was found so far: another number when there is more.
    fn found(&self) -> (u64, u64, Option<u64>) {
        (self.ranges, self.nodes, self.open.as_ref().map(|(_, range)| range.end))
    }

    /// Tells the range that nothing continues.
    fn close(&mut self) {
        let Some((kind, range)) = self.open.take() else { return };
        self.tool.console.fail();
        self.ranges += 1;
        self.damaged += range.end - range.start;
        let told = self.told(kind, range);
        match self.json {
            true => tell::json(self.tool, self.path, &told),
            false => tell::line(self.tool, self.path, &told.text()),
        }
    }

    fn told(&self, kind: &'static str, range: Range<u64>) -> Told {
        Told::new(kind, range, self.outboard.spec().shape(), self.longest)
    }

    /// Tells how it stands with the file.
    fn end(mut self, bytes: u64, trust: &str) {
        self.close();
        let of = match bytes == self.outboard.len() {
            true => format!("all {} bytes", grouped(bytes)),
            false => format!("{} of {} bytes", grouped(bytes), grouped(self.outboard.len())),
        };
        if self.ranges == 0 {
            let text = format!("OK, {of}, {trust}");
            match self.json {
                // A line a range: that there is none is no range.
                true => self.tool.console.tell(&format_args!("{}: {text}", Shown(self.path))),
                false => tell::line(self.tool, self.path, &text),
            }
        } else {
            let ranges = if self.ranges == 1 { "1 range".into() } else { format!("{} ranges", self.ranges) };
            let text = format!("FAILED, {} bytes in {ranges}; {of} verified, {trust}", grouped(self.damaged));
            match self.json {
                true => self.tool.console.tell(&format_args!("{}: {text}", Shown(self.path))),
                false => tell::line(self.tool, self.path, &text),
            }
        }
        let nodes = mem::take(&mut self.nodes);
        if nodes > 0 {
            let plural = if nodes == 1 { "node is" } else { "nodes are" };
            let how = "'mksum keep' writes it anew, once the file is good";
            self.tool.console.tell(&format_args!("{}: {nodes} {plural} damaged: {how}", Shown(self.place)));
        }
    }
}
