//! `mksum diff`: where two files differ, from their outboards.

use super::is_unchanged;
use super::tell::{self, Told};
use crate::args::Diff;
use crate::exit::Exit;
use crate::print::tell as tell_error;
use crate::tool::Tool;
use mksum::{Outboard, OutboardError, Shape};
use mksum_cli::name::Shown;
use mksum_io::outboard::{Finding, Stored, append, beside, open, verify};
use mksum_io::{Error, File};
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::path::Path;

/// Prints each range that differs; fails if there is one.
pub fn run(tool: &Tool, args: &Diff) -> Exit {
    match compare(tool, args) {
        Ok(Differences { ranges, shape, longest }) => {
            for range in &ranges {
                let told = Told::new("differs", range.clone(), shape, longest);
                match args.json {
                    true => tell::json(tool, &args.right, &told),
                    false => tell::line(tool, &args.right, &told.text()),
                }
            }
            if !ranges.is_empty() {
                tool.console.fail();
            }
        }
        Err(error) => tell_error(&tool.console, &error),
    }
    tool.console.exit()
}

/// What a path stands for.
enum Side {
    Outboard(Box<Outboard<Stored>>),
    /// A file that has none.
    File(Box<File>),
}

/// Where two files differ.
struct Differences {
    ranges: Vec<Range<u64>>,
    shape: Shape,
    /// The length of the longer one, in bytes.
    longest: u64,
}

fn compare(tool: &Tool, args: &Diff) -> Result<Differences, Error> {
    let mut ranges = Vec::new();
    match (side(tool, &args.left)?, side(tool, &args.right)?) {
        (Side::Outboard(left), Side::Outboard(right)) => {
            let differ = left.diff(&right, |range| {
                append(&mut ranges, range);
                Ok(())
            });
            differ.map_err(|error| Error::from_outboard(error, &args.left))?;
            let longest = left.len().max(right.len());
            Ok(Differences { ranges, shape: left.spec().shape(), longest })
        }
        (Side::Outboard(outboard), Side::File(file)) | (Side::File(file), Side::Outboard(outboard)) => {
            let longest = outboard.len().max(file.len());
            verify(*file, (&outboard, outboard.bytes().path()), 0..outboard.len(), &mut |finding| match finding {
                Finding::Damaged(range) | Finding::Missing(range) | Finding::Grown(range) => {
                    append(&mut ranges, range);
                    Ok(())
                }
                Finding::Node(node) => {
                    Err(Error::Outboard { path: outboard.bytes().path().into(), error: OutboardError::Node(node) })
                }
            })?;
            Ok(Differences { ranges, shape: outboard.spec().shape(), longest })
        }
        (Side::File(_), Side::File(_)) => {
            let error = io::Error::other("neither file has an outboard: 'mksum keep' one of them first");
            Err(Error::Open { path: args.left.clone(), error })
        }
    }
}

fn side(tool: &Tool, path: &Path) -> Result<Side, Error> {
    let boxed = |outboard| Ok(Side::Outboard(Box::new(outboard)));
    match open(path) {
        Ok(outboard) => return boxed(outboard),
        Err(Error::Outboard { error: OutboardError::Magic, .. }) => {}
        Err(error) => return Err(error),
    }
    let (file, place) = (File::open(path, &tool.options)?, beside(path));
    match open(&place) {
        Ok(outboard) if is_unchanged(&file, outboard.header()) => boxed(outboard),
        Ok(outboard) if file.len() == outboard.len() => {
            // As after copying both: what is compared is the outboards, and this has to be said.
            let how = format!("{} was written when it had another time or inode", Shown(&place));
            tool.console.tell(&format_args!("{}: {how}: compared as it was then", Shown(path)));
            boxed(outboard)
        }
        Ok(outboard) => {
            let (then, place) = (outboard.len(), Shown(&place));
            let how = format!("it had {then} bytes when {place} was written: 'mksum keep --update' first");
            Err(Error::Open { path: path.into(), error: io::Error::other(how) })
        }
        Err(Error::Open { error, .. }) if error.kind() == ErrorKind::NotFound => Ok(Side::File(Box::new(file))),
        Err(error) => Err(error),
    }
}
