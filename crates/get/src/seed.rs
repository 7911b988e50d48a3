//! Verified bytes that are on this machine already.

use crate::kept::Tree;
use crate::sink::Sink;
use mksum::Subtree;
use mksum::outboard::{KeptLayout, Outboard, ReadAt};
use mksum_io::outboard::{Finding, append, verify};
use mksum_io::{Error, File, Input, Options, open_replica};
use std::ops::Range;
use std::path::Path;

/// The ranges of the unfinished file at `path` that are not right, as whole units.
///
/// # Errors
/// If it cannot be read.
pub fn missing<R: ReadAt>(
    path: &Path,
    (outboard, place): (&Outboard<R>, &Input),
    options: &Options,
) -> Result<Vec<Range<u64>>, Error> {
    let mut missing = Vec::new();
    options.meter.expect(outboard.len());
    verify(File::open(path, options)?, (outboard, place), 0..outboard.len(), &mut |finding| {
        match finding {
            Finding::Damaged(range) | Finding::Missing(range) | Finding::Unreadable { unit: range, .. } => {
                append(&mut missing, range);
            }
            Finding::Grown(_) | Finding::Node(_) => {}
        }
        Ok(())
    })?;
    Ok(missing)
}

/// The bytes that are read and hashed at once, unless one unit has more.
const GROUP: u64 = 1 << 20;

/// Copies the units of an older file that are right where they are missing. Returns what is missing then.
///
/// # Errors
/// If the copy cannot be written, or the outboard not be read. What the older file does not have, or the disk cannot read, is missing.
pub fn copy(
    seed: &Path,
    missing: Vec<Range<u64>>,
    tree: &Tree,
    sink: &mut Sink,
    options: &Options,
) -> Result<Vec<Range<u64>>, Error> {
    let Ok(mut replica) = open_replica(&seed.into(), options) else { return Ok(missing) };
    let (mut rest, mut bytes) = (Vec::new(), Vec::new());
    let wrong = |error| Error::from_outboard(error, seed);
    for group in missing.into_iter().flat_map(|range| groups(tree.outboard().layout(), range)) {
        let start = group[0].start;
        bytes.resize((group[group.len() - 1].end() - start) as usize, 0);
        let place = |unit: &Subtree| (unit.start - start) as usize..(unit.end() - start) as usize;
        let right = match replica.read(start, &mut bytes) {
            Ok(()) => tree.accepts_each(&group, &bytes).map_err(wrong)?,
            // It may be able to read others than the one that failed.
            Err(_) => {
                let mut one = |unit: &Subtree| {
                    let bytes = &mut bytes[place(unit)];
                    Ok(replica.read(unit.start, bytes).is_ok() && tree.accepts(*unit, bytes).map_err(wrong)?)
                };
                group.iter().map(&mut one).collect::<Result<_, Error>>()?
            }
        };
        for (unit, is_right) in group.iter().zip(right) {
            match is_right {
                true => {
                    options.meter.skip(unit.len);
                    sink.put(unit.start, &bytes[place(unit)])?;
                }
                false => append(&mut rest, unit.start..unit.end()),
            }
        }
    }
    Ok(rest)
}

/// The units of a range, as many at a time as are hashed at once.
fn groups(layout: KeptLayout, range: Range<u64>) -> impl Iterator<Item = Vec<Subtree>> {
    let mut units = units(layout, range).peekable();
    std::iter::from_fn(move || {
        let mut group = vec![units.next()?];
        while let Some(unit) = units.next_if(|unit| unit.end() - group[0].start <= GROUP) {
            group.push(unit);
        }
        Some(group)
    })
}

/// The units of a range.
pub fn units(layout: KeptLayout, range: Range<u64>) -> impl Iterator<Item = Subtree> {
    let mut at = range.start;
    std::iter::from_fn(move || {
        let unit = layout.unit_over(at).filter(|_| at < range.end)?;
        at = unit.end();
        Some(unit)
    })
}
