//! `mksum repair`: fetches the damaged ranges of a file, and nothing else, from a replica.

use super::outboard_of;
use super::ranges::{self, RangeLine};
use super::verify::trust;
use crate::args::Repair as Args;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::report::grouped;
use crate::tool::Tool;
use mksum_cli::name::Shown;
use mksum_io::open_replica;
use mksum_io::outboard::{EXTENSION, Repair, open, repair};
use serde::Serialize;
use std::ops::Range;

/// Repairs the file.
pub fn run(tool: &Tool, args: &Args) -> Exit {
    if let Err(error) = mend(tool, args) {
        crate::print::report(&tool.console, &error);
    }
    tool.console.exit()
}

fn mend(tool: &Tool, args: &Args) -> Result<(), Failure> {
    let place = outboard_of(&args.file, args.outboard.as_ref(), EXTENSION);
    let outboard = open(&place)?;
    let trust = trust(args.root.as_deref(), &outboard, &place)?;
    let mut replica = open_replica(&args.from)?;
    let len = outboard.len();
    // It is read once to find the damage and once more after the repair.
    let _progress = tool.progress(move || [Some(len), Some(len)].into_iter());
    let (mut done, mut count) = (None::<Range<u64>>, 0);
    let mut report_done = |range: Range<u64>| {
        count += 1;
        let line = RangeLine::new("repaired", range, outboard.spec().shape(), len);
        match args.json {
            true => ranges::json(tool, &args.file, line),
            false => ranges::line(tool, &args.file, &line.text()),
        }
    };
    let mut failed = 0_u64;
    let result = repair(&args.file, (&outboard, &place), &mut *replica, &tool.options, &mut |repair| match repair {
        Repair::Done(range) => match &mut done {
            // A range that was fetched in several requests is one range.
            Some(before) if before.end == range.start => before.end = range.end,
            _ => {
                if let Some(before) = done.replace(range) {
                    report_done(before);
                }
            }
        },
        Repair::Failed(range, why) => {
            failed += 1;
            tool.console
                .error(&args.file, &format_args!("bytes {}..{} are not repaired: {why}", range.start, range.end));
        }
    });
    if let Some(before) = done {
        report_done(before);
    }
    let repaired = result?;
    if args.json {
        let mksum_io::outboard::Repaired { written, fetched, whole, resumed, .. } = repaired;
        let (format, root) = (outboard.spec().to_string(), outboard.root().to_string());
        ranges::json(
            tool,
            &args.file,
            Object { kind: "file", ok: whole, format, root, ranges: count, written, fetched, resumed },
        );
    } else if repaired.whole {
        let (written, fetched) = (grouped(repaired.written), grouped(repaired.fetched));
        let what = match repaired.fetched {
            0 if repaired.written == 0 => "OK: nothing to repair".into(),
            _ => format!("OK: {written} bytes repaired, {fetched} bytes fetched"),
        };
        ranges::line(tool, &args.file, &format_args!("{what} ({trust})"));
    }
    if !repaired.whole {
        let (path, from) = (Shown(&args.file), Shown(&args.from));
        let plural = if failed == 1 { "range is" } else { "ranges are" };
        tool.console.fail();
        tool.console.tell(&format_args!("{path}: {failed} {plural} still damaged: try another copy than {from}"));
    }
    Ok(())
}

#[derive(Serialize)]
struct Object {
    kind: &'static str,
    ok: bool,
    format: String,
    root: String,
    ranges: u64,
    written: u64,
    fetched: u64,
    resumed: bool,
}
