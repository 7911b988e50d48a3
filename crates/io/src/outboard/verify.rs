//! A file compared with its outboard.

use crate::holes::Sparse;
use crate::unreadable::{Tolerant, Unreadable};
use crate::{Error, File, Input};
use mksum::outboard::{Damage, Outboard, OutboardError, ReadAt};
use mksum::{Spec, Subtree};
use std::ops::Range;

/// A difference between a file and its outboard; ranges are half-open, in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// A range is damaged: a unit, or the part of one that is left where the file is truncated.
    Damaged(Range<u64>),
    /// A range is missing at the end of the file.
    Missing(Range<u64>),
    /// A range was appended to the file.
    Grown(Range<u64>),
    /// The disk cannot read some of the bytes of this unit, so none of them can be verified.
    Unreadable {
        /// The bytes of the unit.
        unit: Range<u64>,
        /// The bytes that cannot be read, left to right, as narrow as the system can tell.
        parts: Vec<Unreadable>,
    },
    /// The outboard's digest of this node is damaged; its other digests are right.
    Node(Subtree),
}

impl Finding {
    /// The kind, as `spec/json.md` names it.
    pub fn kind(&self) -> &'static str {
        match self {
            Finding::Damaged(_) => "damaged",
            Finding::Missing(_) => "missing",
            Finding::Grown(_) => "grown",
            Finding::Unreadable { .. } => "unreadable",
            Finding::Node(_) => "outboard",
        }
    }

    /// The bytes of the file that it is about.
    pub fn range(&self) -> Range<u64> {
        match self {
            Finding::Damaged(range) | Finding::Missing(range) | Finding::Grown(range) => range.clone(),
            Finding::Unreadable { unit, .. } => unit.clone(),
            Finding::Node(node) => node.start..node.end(),
        }
    }
}

/// Reports to `found` where the bytes `range` of `file` differ from its outboard, read from `place`, left to right.
///
/// Reads the units that have a byte of `range`, and the nodes above them: see [`Outboard::damaged`]. A unit that the disk cannot
/// read is reported, and the reading goes on behind it. Appended bytes are reported only if `range` is the whole length of the
/// outboard.
///
/// # Errors
/// If the file cannot be read for another reason, the outboard cannot be read, the file changes meanwhile, the outboard is damaged above `range`, or `found`
/// fails.
#[doc(alias = "verify_range")]
pub fn verify<R: ReadAt>(
    file: File,
    (outboard, place): (&Outboard<R>, impl Into<Input>),
    range: Range<u64>,
    found: &mut (dyn FnMut(Finding) -> Result<(), Error> + Send),
) -> Result<(), Error> {
    let (place, kept, there) = (place.into(), outboard.layout(), file.len());
    let range = range.start..range.end.min(kept.len());
    let whole = range == (0..kept.len());
    // The bytes of a truncated unit cannot be verified.
    let cut = kept.unit_over(there).filter(|_| there < kept.len()).map(|unit| unit.start);
    let end = cut.unwrap_or(range.end).min(range.end);
    if range.start < end || kept.len() == 0 {
        compare(&file, outboard, range.start..end, found)
            .map_err(|error| of_either(error, &file, outboard.spec(), &place))?;
    }
    let mut report = |from: u64, to: u64, finding: fn(Range<u64>) -> Finding| {
        let part = from.max(range.start)..to.min(range.end);
        if part.is_empty() { Ok(()) } else { found(finding(part)) }
    };
    if let Some(start) = cut {
        report(start, there, Finding::Damaged)?;
        report(there, kept.len(), Finding::Missing)?;
    }
    if whole && there > kept.len() {
        found(Finding::Grown(kept.len()..there))?;
    }
    file.finish()
}

/// An error of either the file or its outboard at `place`, with the path of that one.
pub(super) fn of_either(error: mksum::Error, file: &File, spec: &Spec, place: &Input) -> Error {
    match error {
        mksum::Error::Source(error) if error.is::<OutboardError>() => {
            Error::from_outboard(mksum::Error::Source(error), place)
        }
        error => Error::from_join(error, file.input(), spec),
    }
}

fn compare<R: ReadAt>(
    file: &File,
    outboard: &Outboard<R>,
    range: Range<u64>,
    found: &mut (dyn FnMut(Finding) -> Result<(), Error> + Send),
) -> Result<(), mksum::Error> {
    let sparse = Sparse::of(file, outboard.spec());
    let source = Tolerant::new(file, &sparse, outboard.layout(), outboard.spec());
    let mut plan = file.plan_of(outboard.spec(), outboard.layout().unit());
    let pieces = (range.end - range.start).div_ceil(plan.piece.saturating_mul(plan.group as u64));
    plan.threads = plan.threads.min(usize::try_from(pieces).unwrap_or(usize::MAX)).max(1);
    outboard.damaged(&source, range, &plan, &mut |damage| {
        let finding = match damage {
            Damage::File(unit) => match source.take(unit.start) {
                Some((unit, parts)) => Finding::Unreadable { unit, parts },
                None => Finding::Damaged(unit.start..unit.end()),
            },
            Damage::Outboard(node) => Finding::Node(node),
        };
        Ok(found(finding)?)
    })?;
    // The comparison reports them all, since their digests are never right: it must not be left to that.
    source.rest().into_iter().try_for_each(|(unit, parts)| Ok(found(Finding::Unreadable { unit, parts })?))
}
