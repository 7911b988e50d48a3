//! `mksum keep`: writes and updates outboards.

use super::ranges::{self, RangeLine};
use super::{files, is_unchanged, lengths, outboard_of};
use crate::args::Keep;
use crate::exit::{Exit, usage};
use crate::failure::Failure;
use crate::print::report;
use crate::tool::Tool;
use crate::walk::Rules;
use mksum::outboard::{ForeignLayout, KeptLayout, Outboard};
use mksum::{Root, Spec};
use mksum_cli::name::{self, Shown};
use mksum_cli::range::merged;
use mksum_cli::sum::{self, End, Style};
use mksum_io::outboard::{EXTENSION, How, Stored, Updated, keep, keep_foreign, open, update};
use mksum_io::{Error, File};
use serde::Serialize;
use std::path::Path;
use std::time::Instant;

/// Keeps the tree of each file.
pub fn run(tool: &Tool, args: &Keep) -> Exit {
    let [choice] = &tool.formats[..] else { return usage(&"keep takes one --format: an outboard has one tree") };
    let rules = match Rules::new(&args.directories) {
        Ok(rules) => rules,
        Err(reason) => return usage(&reason),
    };
    if (args.output.is_some() || !args.range.is_empty()) && (args.files.len() > 1 || args.directories.recursive) {
        return usage(&"--output and --range are of one file");
    }
    let _progress = tool.progress(lengths(&rules, &args.files));
    if args.files.len() > 1 || args.directories.recursive {
        tool.console.flush_regularly();
    }
    let mut skipped = 0;
    for file in files(&rules, &args.files) {
        match file {
            Ok(path) => match one(tool, args, choice.spec(), &path) {
                Ok(Did::Kept) => {}
                Ok(Did::Skipped) => skipped += 1,
                Err(error) => report(&tool.console, &error),
            },
            Err((path, reason)) => tool.console.error(&path, &reason),
        }
    }
    if skipped > 0 {
        let plural = if skipped == 1 { "file was" } else { "files were" };
        tool.console.tell(&format_args!("{skipped} unchanged {plural} not read (same size, time and inode)"));
    }
    tool.console.exit()
}

enum Did {
    Kept,
    /// The file's size, mtime and inode match the outboard, and it was not read.
    Skipped,
}

fn one(tool: &Tool, args: &Keep, spec: &Spec, path: &Path) -> Result<Did, Failure> {
    let begin = Instant::now();
    let file = File::open(path, &tool.options)?;
    if args.foreign {
        return foreign(tool, args, spec, path, file);
    }
    let target = outboard_of(path, args.output.as_ref(), EXTENSION);
    let old = if args.update || args.quick { existing(&target)? } else { None };
    let printed = Printed { tool, args, path, target: &target, begin };
    if let Some(old) = old {
        if args.choices.any() && old.spec() != spec {
            let how = format!("the outboard is in {}, not in {spec}: omit --update to write a new one", old.spec());
            return Err(Failure::Refused(target, how));
        }
        if is_unchanged(&file, old.header()) && args.range.is_empty() && !args.all {
            if args.quick {
                return Ok(Did::Skipped);
            }
            tool.console.tell(&format_args!("{}: unchanged (same size, time and inode), not read", Shown(path)));
            printed.root(&old.root(), file.len());
            return Ok(Did::Kept);
        }
        if args.update {
            let (how, len) = (how(args, &file, &old)?, file.len());
            let updated = update(file, &old, &how, &target)?;
            printed.changes(&how, &old, &updated, len);
            printed.root(&updated.root, 0);
            return Ok(Did::Kept);
        }
    } else if !args.range.is_empty() {
        return Err(Failure::refused(&target, "there is no outboard to update: omit --range to write one"));
    }
    let size = spec.hash().size();
    let unit = match args.keep_leaf {
        Some(most) => KeptLayout::unit_within(spec.shape(), most),
        None => KeptLayout::default_unit(spec.shape(), size),
    };
    let kept = keep(file, spec, unit, args.checkpoint, &target)?;
    if kept.resumed > 0 {
        tool.console.tell(&format_args!("{}: resumed at byte {}", Shown(path), kept.resumed));
    }
    printed.root(&kept.root, kept.resumed);
    Ok(Did::Kept)
}

/// Writes the tree as another program would.
fn foreign(tool: &Tool, args: &Keep, spec: &Spec, path: &Path, file: File) -> Result<Did, Failure> {
    let begin = Instant::now();
    let layout = ForeignLayout::new(spec, file.len()).map_err(|error| Error::from_join(error, path, spec))?;
    let target = outboard_of(path, args.output.as_ref(), layout.extension());
    let uuid = args.uuid.unwrap_or_default().0;
    let root = keep_foreign(file, spec, uuid, &target)?;
    Printed { tool, args, path, target: &target, begin }.root(&root, 0);
    Ok(Did::Kept)
}

/// The existing outboard, if there is one.
fn existing(target: &Path) -> Result<Option<Outboard<Stored>>, Error> {
    match open(target) {
        Ok(old) => Ok(Some(old)),
        Err(Error::Open { error, .. }) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// The changes that are possible, given the arguments.
fn how(args: &Keep, file: &File, old: &Outboard<Stored>) -> Result<How, Failure> {
    if !args.range.is_empty() {
        let within = |reason| Failure::Refused(file.path().into(), reason);
        return Ok(How::Ranges(merged(&args.range, file.len()).map_err(within)?));
    }
    Ok(if file.len() != old.len() && !args.all { How::Length } else { How::Unknown })
}

/// The output for a file.
struct Printed<'a> {
    tool: &'a Tool,
    args: &'a Keep,
    path: &'a Path,
    target: &'a Path,
    begin: Instant,
}

impl Printed<'_> {
    fn root(&self, root: &Root, resumed: u64) {
        #[derive(Serialize)]
        struct Record<'a> {
            outboard: &'a str,
            format: String,
            length: u64,
            root: String,
            resumed: u64,
            seconds: f64,
        }
        let format = root.spec().to_string();
        if self.args.json {
            let seconds = (self.begin.elapsed().as_secs_f64() * 1e6).round() / 1e6;
            let outboard = &*name::lossy(self.target);
            let record = Record { outboard, format, length: root.len(), root: root.to_string(), resumed, seconds };
            return ranges::json(self.tool, self.path, record);
        }
        let line = sum::line(Style::Tagged, End::Newline, &format, name::bytes(self.path), &root.to_string());
        self.tool.console.print(&line);
    }

    fn changes(&self, how: &How, old: &Outboard<Stored>, updated: &Updated, len: u64) {
        let shape = old.spec().shape();
        let both = old.len().min(len);
        let changed = match &updated.changed {
            Ok(ranges) => ranges,
            Err(error) => {
                let text = "so the changed ranges are not known";
                return self.tool.console.tell(&format_args!("{}: {error}, {text}", Shown(error.path())));
            }
        };
        for range in changed {
            // If only the length changed, the bytes of the ragged unit at the end did not change.
            let same = range.start..range.end.min(both);
            if !same.is_empty() && *how != How::Length {
                self.range(&RangeLine::new("changed", same, shape, old.len()));
            }
        }
        if len > both {
            self.range(&RangeLine::new("appended", both..len, shape, len));
        } else if old.len() > both {
            self.range(&RangeLine::new("removed", both..old.len(), shape, old.len()));
        }
    }

    fn range(&self, line: &RangeLine) {
        match self.args.json {
            true => ranges::json(self.tool, self.path, line),
            false => ranges::line(self.tool, self.path, &line.text()),
        }
    }
}
