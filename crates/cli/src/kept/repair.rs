//! `mksum repair`: what is damaged of a file, and nothing else, from a good copy.

use super::outboard_of;
use super::tell::{self, Told};
use super::verify::trust;
use crate::args::Repair as Args;
use crate::exit::Exit;
use crate::report::grouped;
use crate::tool::Tool;
use mksum_cli::name::Shown;
use mksum_io::outboard::{EXTENSION, Repair, open, repair};
use mksum_io::{Error, good};
use serde::Serialize;
use std::ops::Range;

/// Repairs the file.
pub fn run(tool: &Tool, args: &Args) -> Exit {
    if let Err(error) = mend(tool, args) {
        crate::print::tell(&tool.console, &error);
    }
    tool.console.exit()
}

fn mend(tool: &Tool, args: &Args) -> Result<(), Error> {
    let place = outboard_of(&args.file, args.outboard.as_ref(), EXTENSION);
    let outboard = open(&place)?;
    let trust = trust(args.root.as_deref(), &outboard, &place)?;
    let mut good = good(&args.from)?;
    let len = outboard.len();
    // It is read once for the damage and once more when that is gone.
    let _progress = tool.progress(move || [Some(len), Some(len)].into_iter());
    let (mut done, mut ranges) = (None::<Range<u64>>, 0);
    let mut tell_done = |range: Range<u64>| {
        ranges += 1;
        let told = Told::new("repaired", range, outboard.spec().shape(), len);
        match args.json {
            true => tell::json(tool, &args.file, told),
            false => tell::line(tool, &args.file, &told.text()),
        }
    };
    let mut failed = 0_u64;
    let result = repair(&args.file, (&outboard, &place), &mut *good, &tool.options, &mut |repair| match repair {
        Repair::Done(range) => match &mut done {
            // A range that was fetched in several requests is one.
            Some(before) if before.end == range.start => before.end = range.end,
            _ => {
                if let Some(before) = done.replace(range) {
                    tell_done(before);
                }
            }
        },
        Repair::Failed(range, why) => {
            failed += 1;
            tool.console.error(&args.file, &format_args!("{}..{} is not repaired: {why}", range.start, range.end));
        }
    });
    if let Some(before) = done {
        tell_done(before);
    }
    let repaired = result?;
    if args.json {
        let mksum_io::outboard::Repaired { written, fetched, whole, resumed } = repaired;
        let (format, root) = (outboard.spec().to_string(), outboard.root().to_string());
        tell::json(
            tool,
            &args.file,
            Object { kind: "file", ok: whole, format, root, ranges, written, fetched, resumed },
        );
    } else if repaired.whole {
        let (written, fetched) = (grouped(repaired.written), grouped(repaired.fetched));
        let what = match repaired.fetched {
            0 if repaired.written == 0 => "OK, nothing to repair".into(),
            _ => format!("OK, {written} bytes repaired and {fetched} fetched"),
        };
        tell::line(tool, &args.file, &format_args!("{what} ({trust})"));
    }
    if !repaired.whole {
        let (path, from) = (Shown(&args.file), Shown(&args.from));
        let plural = if failed == 1 { "range is" } else { "ranges are" };
        tool.console.fail();
        tool.console
            .tell(&format_args!("{path}: {failed} {plural} still damaged: {from} did not help, another copy may"));
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
