//! `mksum diff`: reports where two files differ, from their outboards.

use super::{is_missing, outboard_of};
use crate::args::Diff;
use crate::catalogue;
use crate::exit::Ended;
use crate::failure::Failure;
use crate::print::report;
use crate::ranges::RangeLine;
use crate::tool::Tool;
use mksum::outboard::{Outboard, OutboardError};
use mksum::{Shape, Spec};
use mksum_cli::name::Shown;
use mksum_io::outboard::{EXTENSION, Finding, Stored, append, is_unchanged, open_with, verify};
use mksum_io::{Error, File, Input, Unreadable};
use std::io::ErrorKind;
use std::ops::Range;
use std::path::Path;

/// Prints each range that differs; fails if there is one.
pub fn run(tool: &Tool, args: &Diff) -> Ended {
    let (left, right) = (catalogue::diff::is_side(&args.left), catalogue::diff::is_side(&args.right));
    // A directory can be compared only with another one or a list.
    if (left && right) || [&args.left, &args.right].iter().any(|side| side.file().is_some_and(Path::is_dir)) {
        return catalogue::diff::run(tool, args);
    }
    tool.console.use_json(args.json);
    match compare(tool, args) {
        Ok(Differences { ranges, unreadable, shape, longest }) => {
            for range in &ranges {
                RangeLine::new("differs", range.clone(), shape, longest).print(tool, args.json, &args.right);
            }
            // These may differ or not.
            for (path, unit, parts) in &unreadable {
                let line = RangeLine::new("unreadable", unit.clone(), shape, longest).with_unreadable(parts);
                line.print(tool, args.json, path);
            }
            if !ranges.is_empty() || !unreadable.is_empty() {
                tool.console.fail();
            }
        }
        Err(error) => report(&tool.console, &error),
    }
    Ok(tool.console.exit())
}

/// One of the two files.
enum Side {
    Outboard(Box<Outboard<Stored>>),
    /// A file without an outboard.
    File(Box<File>),
}

/// The differences of two files.
struct Differences {
    ranges: Vec<Range<u64>>,
    /// The units that the disk cannot read, each with its path and the parts that cannot be read.
    unreadable: Vec<(Input, Range<u64>, Vec<Unreadable>)>,
    shape: Shape,
    /// The length of the longer one, in bytes.
    longest: u64,
}

fn compare(tool: &Tool, args: &Diff) -> Result<Differences, Failure> {
    let mut ranges = Vec::new();
    match (side(tool, &args.left)?, side(tool, &args.right)?) {
        (Side::Outboard(left), Side::Outboard(right)) => {
            let differ = left.diff(&right, &mut |range| {
                append(&mut ranges, range);
                Ok(())
            });
            differ.map_err(|error| Error::from_outboard(error, &args.left))?;
            let longest = left.len().max(right.len());
            Ok(Differences { ranges, unreadable: Vec::new(), shape: left.spec().shape(), longest })
        }
        (Side::Outboard(outboard), Side::File(file)) | (Side::File(file), Side::Outboard(outboard)) => {
            let (longest, path) = (outboard.len().max(file.len()), file.input().clone());
            let mut unreadable: Vec<(Input, Range<u64>, Vec<Unreadable>)> = Vec::new();
            tool.options.meter.expect(file.len());
            let _progress = tool.progress(|| [].into_iter());
            verify(*file, (&outboard, outboard.bytes().place()), 0..outboard.len(), &mut |finding| match finding {
                Finding::Damaged(range) | Finding::Missing(range) | Finding::Grown(range) => {
                    append(&mut ranges, range);
                    Ok(())
                }
                Finding::Unreadable { unit, parts } => {
                    match unreadable.last_mut() {
                        Some((_, last, before)) if last.end == unit.start => {
                            last.end = unit.end;
                            before.extend(parts);
                        }
                        _ => unreadable.push((path.clone(), unit, parts)),
                    }
                    Ok(())
                }
                Finding::Node(node) => Err(Error::from_outboard(OutboardError::Node(node), outboard.bytes().place())),
            })?;
            Ok(Differences { ranges, unreadable, shape: outboard.spec().shape(), longest })
        }
        (Side::File(left), Side::File(right)) => both_read(tool, *left, *right),
    }
}

/// Compares two files without outboards: their bytes are read, leaf by leaf of the default format.
fn both_read(tool: &Tool, left: File, right: File) -> Result<Differences, Failure> {
    let shape = Spec::default().shape();
    let unit = shape.leaf() as usize;
    let (both, longest) = (left.len().min(right.len()), left.len().max(right.len()));
    tool.options.meter.expect(2 * both);
    let _progress = tool.progress(|| [].into_iter());
    let mut ranges = Vec::new();
    let (mut one, mut other) = (vec![0; 16 * unit], vec![0; 16 * unit]);
    let mut done = 0;
    while done < both {
        let length = (both - done).min(one.len() as u64) as usize;
        let (one, other) = (&mut one[..length], &mut other[..length]);
        left.fill(done, one)?;
        right.fill(done, other)?;
        for (index, (one, other)) in one.chunks(unit).zip(other.chunks(unit)).enumerate() {
            if one != other {
                let start = done + (index * unit) as u64;
                append(&mut ranges, start..start + one.len() as u64);
            }
        }
        done += length as u64;
    }
    if longest > both {
        append(&mut ranges, both..longest);
    }
    left.finish()?;
    right.finish()?;
    Ok(Differences { ranges, unreadable: Vec::new(), shape, longest })
}

fn side(tool: &Tool, path: &Input) -> Result<Side, Failure> {
    let boxed = |outboard| Ok(Side::Outboard(Box::new(outboard)));
    match open_with(path, &tool.options) {
        Ok(outboard) => return boxed(outboard),
        Err(error) if is_not_outboard(&error) => {}
        Err(error) => return Err(error.into()),
    }
    let (file, place) = (File::open(path, &tool.options)?, outboard_of(path, None, EXTENSION));
    let kept = match open_with(&place, &tool.options) {
        // The tree of an object may lie beside it.
        Err(error) if path.url().is_some() && is_missing(&error, &place) => {
            open_with(&path.with_extension(EXTENSION), &tool.options)
        }
        kept => kept,
    };
    match kept {
        Ok(outboard) if is_unchanged(&file, outboard.header()) => boxed(outboard),
        Ok(outboard) if file.len() == outboard.len() => {
            // As after copying both: the outboards are compared, and the user must know it.
            let how = format!("its mtime or inode differs from {}", Shown(&place));
            tool.console.note(&format_args!("{}: {how}: the comparison uses the outboard", Shown(path)));
            boxed(outboard)
        }
        Ok(outboard) => {
            let (then, place) = (outboard.len(), Shown(&place));
            let how = format!("it had {then} bytes when {place} was written: run 'mksum keep --update' first");
            Err(Failure::refused(path, how))
        }
        Err(Error::Open { error, .. }) if error.kind() == ErrorKind::NotFound => Ok(Side::File(Box::new(file))),
        Err(error) => Err(error.into()),
    }
}

/// Whether a file is simply not an outboard.
fn is_not_outboard(error: &Error) -> bool {
    let Error::Outboard { error: mksum::Error::Source(error), .. } = error else { return false };
    // An empty file is more likely one to be compared.
    matches!(error.downcast_ref(), Some(OutboardError::Magic | OutboardError::Short { size: 0 }))
}
