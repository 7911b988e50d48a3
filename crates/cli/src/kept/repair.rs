//! `mksum repair`: fetches the damaged ranges of files, and nothing else, from a replica.

use super::opened::trusted;
use super::report::describe;
use super::{Did, is_missing, needs_outboard, outboard_of, report_gone, report_new, report_none_kept};
use crate::args::{Repair as Args, Symlinks};
use crate::catalogue;
use crate::exit::{Ended, refuse};
use crate::failure::Failure;
use crate::figures::bytes;
use crate::ranges::{self, RangeLine};
use crate::replica::{passed, replica_of};
use crate::tool::Tool;
use mksum::outboard::Outboard;
use mksum_cli::name::Shown;
use mksum_cli::url::masked;
use mksum_io::outboard::{EXTENSION, Finding, Repair, Repaired, Stored, append, open_with, repair, verify};
use mksum_io::{Error, File, HeldDirectory, HeldFile, Input, open_replicas};
use serde::Serialize;
use std::collections::BTreeSet;
use std::fs;
use std::ops::Range;
use std::path::Path;

/// Repairs the files.
pub fn run(tool: &Tool, args: &Args) -> Ended {
    /// The copies that are asked in turn, at most.
    const COPIES: usize = 64;
    if args.from.len() > COPIES {
        return refuse(&format_args!("--from can be given {COPIES} times at most"));
    }
    if args.directories.recursive && catalogue::have_catalogues(&args.files, args.catalogue.as_ref())? {
        return catalogue::repair::run(tool, args);
    }
    tool.console.use_json(args.json);
    let rules = tool.rules(&args.directories)?;
    let several = args.files.len() > 1 || args.directories.recursive;
    if several && (args.outboard.is_some() || args.root.is_some()) {
        return refuse(&"--outboard and --root can be used with one file only");
    }
    if several {
        tool.console.flush_regularly();
    }
    // The reading adds to the amount of work as it goes on: only the files are counted before.
    let (counted, files) = (rules.clone(), args.files.clone());
    let _progress = tool.progress(move || counted.walk(&files).map(|_| Some(0)));
    let [mut new, mut others] = [0_u64; 2];
    for argument in &args.files {
        let held = match args.directories.recursive && args.directories.symlinks != Symlinks::Follow {
            true => argument.file().and_then(|path| HeldDirectory::open(path).ok()),
            false => None,
        };
        for input in rules.walk(std::slice::from_ref(argument)) {
            let repaired = match input {
                Ok(Input::File(path)) => {
                    let argument = Path::new(argument.as_os_str());
                    let copy = |from: &Input| if several { replica_of(from, argument, &path) } else { from.clone() };
                    let from: Vec<_> = args.from.iter().map(copy).collect();
                    let below = path.strip_prefix(argument).ok().filter(|below| !below.as_os_str().is_empty());
                    one(tool, args, &path, held.as_ref().zip(below), &from)
                }
                Ok(Input::Stdin) => Err(Failure::refused(Input::Stdin, "a stream cannot be repaired")),
                Ok(input @ Input::Url(_)) => Err(Failure::refused(
                    input,
                    "objects are not written: fetch it, repair the file and put that in its place",
                )),
                Err((path, reason)) => Err(Failure::Refused(path, reason)),
            };
            match repaired {
                Ok(Did::New) => new += 1,
                Ok(Did::Done | Did::Skipped) => others += 1,
                Err(error) => {
                    others += 1;
                    crate::print::report(&tool.console, &error);
                }
            }
            tool.options.meter.finish_file();
        }
    }
    if new > 0 && others == 0 {
        report_none_kept(tool, &args.files[0], "repaired");
    }
    if args.directories.recursive {
        report_gone(tool, args.json, &rules, &args.files);
    }
    Ok(tool.console.exit())
}

/// Repairs the file at a path; one below a directory without following links.
fn one(
    tool: &Tool,
    args: &Args,
    path: &Path,
    below: Option<(&HeldDirectory, &Path)>,
    from: &[Input],
) -> Result<Did, Failure> {
    let input = &Input::from(path);
    let place = outboard_of(input, args.outboard.as_ref(), EXTENSION);
    let outboard = match open_with(&place, &tool.options) {
        Err(error) if is_missing(&error, &place) => {
            let facts = fs::metadata(path).and_then(|facts| match facts.is_dir() {
                true => Err(std::io::ErrorKind::IsADirectory.into()),
                false => Ok(()),
            });
            if let Err(error) = facts {
                return Err(Error::Open { path: path.into(), error }.into());
            }
            if args.directories.recursive {
                report_new(tool, args.json, input, "outboard");
                return Ok(Did::New);
            }
            return Err(Failure::refused(input, needs_outboard(input, &place)));
        }
        outboard => outboard?,
    };
    let trust = trusted(args.root.as_deref(), &outboard, &place)?;
    if args.dry_run {
        return look(tool, args, input, (&outboard, &place));
    }
    let mut replica = open_replicas(from, &tool.options)?;
    let mut file = below.map_or_else(|| HeldFile::open(path), |(held, below)| HeldFile::open_below(held, below))?;
    let len = outboard.len();
    let (mut done, mut count) = (None::<(Range<u64>, Input)>, 0);
    let mut report_done = |(range, copy): (Range<u64>, Input)| {
        count += 1;
        let copied = RangeLine::new("repaired", range, outboard.spec().shape(), len).with_copy(&copy);
        match args.json || from.len() == 1 {
            true => copied.print(tool, args.json, path),
            false => ranges::line(tool, path, &format_args!("{} from {}", copied.text(), Shown(&copy))),
        }
    };
    let (mut failed, mut named) = (0_u64, BTreeSet::new());
    let result = repair(&mut file, (&outboard, &place), &mut *replica, &tool.options, &mut |repair| match repair {
        Repair::Done(range, copy) => match &mut done {
            // A range that was fetched in several requests is one range.
            Some((before, from)) if before.end == range.start && *from == copy => before.end = range.end,
            _ => {
                if let Some(before) = done.replace((range, copy)) {
                    report_done(before);
                }
            }
        },
        Repair::Passed(range, copy, why) => {
            if args.json {
                let mut line = RangeLine::new("passed", range.clone(), outboard.spec().shape(), len).with_copy(&copy);
                line.error = Some(masked(&why).into_owned());
                tool.console.print_json(path, line);
            }
            // Of a server that is gone, each range would be said.
            if named.insert(copy.as_os_str().to_os_string()) {
                let why = format!("bytes {}..{}: {why}", range.start, range.end);
                tool.console.note(&passed(path, &copy, &why));
            }
        }
        Repair::Failed(range, why) => {
            failed += 1;
            tool.console.error(path, &format_args!("bytes {}..{} are not repaired: {why}", range.start, range.end));
        }
    });
    if let Some(before) = done {
        report_done(before);
    }
    let repaired = result?;
    if args.json {
        tool.console.print_json(path, Verdict::new(&repaired, outboard.spec(), &outboard.root(), count));
    } else if repaired.whole {
        let (written, fetched) = (bytes(repaired.written), bytes(repaired.fetched));
        let what = match repaired.fetched {
            0 if repaired.written == 0 => "OK: nothing to repair".into(),
            _ => format!("OK: {written} repaired, {fetched} fetched"),
        };
        ranges::line(tool, path, &format_args!("{what} ({})", describe(&outboard.root(), trust)));
    }
    if !repaired.whole {
        let from: Vec<_> = from.iter().map(|from| Shown(from).to_string()).collect();
        let (path, from) = (Shown(path), from.join(", "));
        let plural = if failed == 1 { "range is" } else { "ranges are" };
        tool.console.fail();
        tool.console.note(&format_args!("{path}: {failed} {plural} still damaged: try another copy than {from}"));
    }
    Ok(Did::Done)
}

/// Reports what a repair would do: the file is read, and no copy is.
fn look(
    tool: &Tool,
    args: &Args,
    path: &Input,
    (outboard, place): (&Outboard<Stored>, &Input),
) -> Result<Did, Failure> {
    let file = File::open(path, &tool.options)?;
    let mut ranges = Vec::new();
    verify(file, (outboard, place), 0..outboard.len(), &mut |finding| {
        match finding {
            // They are no bytes that a copy could have.
            Finding::Node(_) | Finding::Grown(_) => {}
            finding => append(&mut ranges, finding.range()),
        }
        Ok(())
    })?;
    let wanted = ranges.iter().map(|range| range.end - range.start).sum();
    let count = ranges.len();
    for range in ranges {
        RangeLine::new("damaged", range, outboard.spec().shape(), outboard.len()).print(tool, args.json, path);
    }
    match args.json {
        true => tool.console.print_json(path, Planned { kind: "dry run", ranges: count, bytes: wanted }),
        false if count == 0 => ranges::line(tool, path, &"OK: nothing to repair"),
        false => {
            let plural = if count == 1 { "range" } else { "ranges" };
            let words =
                format!("{} in {count} {plural} would be fetched (dry run: nothing was written)", bytes(wanted));
            ranges::line(tool, path, &words);
        }
    }
    Ok(Did::Done)
}

/// What a repair would fetch, as JSON.
#[derive(Serialize)]
struct Planned {
    kind: &'static str,
    ranges: usize,
    bytes: u64,
}

/// The result for a file, as JSON.
#[derive(Serialize)]
struct Verdict {
    kind: &'static str,
    ok: bool,
    format: String,
    root: String,
    ranges: u64,
    written: u64,
    fetched: u64,
    resumed: bool,
}

impl Verdict {
    fn new(repaired: &Repaired, spec: &mksum::Spec, root: &mksum::Root, ranges: u64) -> Self {
        let Repaired { written, fetched, whole, resumed, .. } = *repaired;
        let (format, root) = (spec.to_string(), root.to_string());
        Verdict { kind: "repair", ok: whole, format, root, ranges, written, fetched, resumed }
    }
}
