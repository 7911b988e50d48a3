//! `mksum verify`: reports the damaged ranges of files.

use super::opened::{Any, Opened, claimed, opened, trusted, verify_part, words};
use super::report::{Expected, Report, Trust};
use super::{
    Did, attributes, budget, files, is_missing, lengths, report_gone, report_none_kept, report_skipped,
    report_unchanged,
};
use crate::args::Verify;
use crate::catalogue;
use crate::exit::{Ended, refuse};
use crate::failure::Failure;
use crate::print::report;
use crate::summary::Verdict;
use crate::tool::Tool;
use mksum::Spec;
use mksum_cli::name::Shown;
use mksum_cli::range::{ByteRange, merged};
use mksum_io::outboard::{Finding, Rounds, is_unchanged, verify};
use mksum_io::{Effort, File, Input, Job, hash};

/// Verifies each file.
pub fn run(tool: &Tool, args: &Verify) -> Ended {
    if args.xattr {
        return attributes::verify(tool, args);
    }
    if args.directories.recursive && catalogue::have_catalogues(&args.files, args.catalogue.as_ref())? {
        return catalogue::verify::run(tool, args);
    }
    tool.console.use_json(args.json);
    let rules = tool.rules(&args.directories)?;
    let several = args.files.len() > 1 || args.directories.recursive;
    if several && (args.outboard.is_some() || args.root.is_some() || !args.range.is_empty()) {
        return refuse(&"--outboard, --root and --range can be used with one file only");
    }
    if args.outboard.as_ref().and_then(Input::url).is_some() && (args.sample.is_some() || args.budget.is_some()) {
        return refuse(&"--sample and --budget write a record beside the outboard: fetch the outboard first");
    }
    if several {
        tool.console.flush_regularly();
    }
    let none_kept = if let Some(time) = args.budget {
        budget::run(tool, args, &rules, time)
    } else {
        // Of a part of a file, less is read than its length.
        let part = args.sample.is_some() || !args.range.is_empty();
        let lengths = lengths(&rules, &args.files);
        let _progress = tool.progress(move || lengths().map(move |length| length.filter(|_| !part)));
        let [mut skipped, mut new, mut others] = [0_u64; 3];
        for file in files(&rules, &args.files) {
            match file.map(|path| one(tool, args, &path)) {
                Ok(Ok(Did::Done)) => others += 1,
                Ok(Ok(Did::New)) => {
                    tool.console.count(Verdict::New, 1);
                    new += 1;
                }
                Ok(Ok(Did::Skipped)) => skipped += 1,
                Ok(Err(error)) => {
                    let is_gone = matches!(&error, Failure::Io(error) if is_missing(error, error.input()));
                    tool.console.count(if is_gone { Verdict::Missing } else { Verdict::Unreadable }, 1);
                    report(&tool.console, &error);
                }
                Err((path, reason)) => {
                    tool.console.count(Verdict::Unreadable, 1);
                    tool.console.error(&path, &reason);
                }
            }
            tool.options.meter.finish_file();
        }
        tool.console.count(Verdict::Unchanged, skipped);
        report_skipped(tool, skipped, "size, mtime and inode");
        new > 0 && others + skipped == 0
    };
    if none_kept {
        report_none_kept(tool, &args.files[0], "verified");
    }
    if args.directories.recursive {
        report_gone(tool, args.json, &rules, &args.files);
    }
    if several && !none_kept {
        tool.console.summarize(tool.options.meter.bytes());
    }
    Ok(tool.console.exit())
}

fn one(tool: &Tool, args: &Verify, path: &Input) -> Result<Did, Failure> {
    let (file, place, outboard) = match opened(tool, args, path)? {
        Opened::Outboard(file, place, outboard) => (file, place, outboard),
        Opened::New => return Ok(Did::New),
        Opened::SingleLeaf(file, place, spec) => return single_leaf(tool, args, (file, path), &place, &spec),
    };
    let trust = trusted(args.root.as_deref(), &outboard, &place)?;
    if args.quick && is_unchanged(&file, outboard.header()) {
        tool.options.meter.skip(file.len());
        report_unchanged(tool, args.json, path);
        return Ok(Did::Skipped);
    }
    let within = |reason| Failure::Refused(path.into(), reason);
    let whole = [ByteRange { start: 0, end: None }];
    let ranges = if args.range.is_empty() { &whole[..] } else { &args.range };
    let ranges = merged(ranges, outboard.len()).map_err(within)?;
    let mut report = Report::new((tool, args), path, (outboard.root().into(), &place), trust, file.len());
    if let Some(percent) = args.sample {
        drop(file);
        sample(tool, percent, path, (&outboard, &place), &mut report)?;
        report.end();
        return Ok(Did::Done);
    }
    let mut file = Some(file);
    for range in &ranges {
        let file = file.take().map_or_else(|| File::open(path, &tool.options), Ok)?;
        verify(file, (&outboard, &place), range.clone(), &mut |finding| {
            report.add(finding);
            Ok(())
        })?;
        report.verified += range.end - range.start;
    }
    report.end();
    Ok(Did::Done)
}

/// Verifies a share of the file, the least recently verified data first.
fn sample(
    tool: &Tool,
    percent: f64,
    path: &Input,
    (outboard, place): (&Any, &Input),
    report: &mut Report<'_>,
) -> Result<(), Failure> {
    let mut rounds = Rounds::of(outboard, place)?;
    let mut left = Effort::Share(percent / 100.0).start(outboard.len());
    rounds.run(&mut left, &mut verify_part(tool, path, (outboard, place), report))?;
    tool.console.note(&format_args!("{}: {} ({})", Shown(path), words(rounds.age()), Shown(rounds.path())));
    Ok(())
}

/// Verifies a file that is a single leaf: only its root shows whether it is right, and another program's tree has none.
fn single_leaf(
    tool: &Tool,
    args: &Verify,
    (file, path): (File, &Input),
    place: &Input,
    spec: &Spec,
) -> Result<Did, Failure> {
    let Some(given) = args.root.as_deref() else {
        let how = "the tree of a file of a single leaf has no digests: give the root with --root";
        return Err(Failure::refused(place, how));
    };
    let claimed = claimed(given, spec)?;
    let len = file.len();
    drop(file);
    let job = Job::new(path.clone(), vec![spec.clone()]);
    let root = hash(&job, &tool.options)?.remove(0)?;
    let expected = Expected { spec: spec.clone(), root: claimed.text(spec), len };
    let mut report = Report::new((tool, args), path, (expected, place), Trust::Given, len);
    if !root.matches(&claimed) {
        report.add(Finding::Damaged(0..len));
    }
    report.verified = len;
    report.end();
    Ok(Did::Done)
}
