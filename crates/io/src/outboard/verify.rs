//! A file held against its outboard.

use crate::holes::Sparse;
use crate::{Error, File};
use mksum::{Damage, Format, NodeHash, Outboard, ReadAt, Spec, Subtree, Visitor};
use std::ops::Range;
use std::path::Path;

/// Something that is not as it was when the outboard was written; ranges are half-open, in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// The bytes of a unit differ, or of the part of a unit that is left of it.
    Damaged(Range<u64>),
    /// The file ends before these.
    Missing(Range<u64>),
    /// The file has these, and had not.
    Grown(Range<u64>),
    /// The outboard's digest of this node is wrong; what it says of other nodes stands.
    Node(Subtree),
}

/// Tells `found` where the bytes `range` of `file` are not as its outboard, read from `place`, has them, left to right.
///
/// Reads the units that have a byte of `range`, and the nodes above them: see [`Outboard::damaged`]. Bytes behind the
/// outboard's length are told only if `range` is all of it.
///
/// # Errors
/// If the file or the outboard cannot be read, the file changes meanwhile, the outboard is damaged above `range`, or `found`
/// fails.
#[doc(alias = "verify_range")]
pub fn verify<R: ReadAt>(
    file: File,
    (outboard, place): (&Outboard<R>, &Path),
    range: Range<u64>,
    found: &mut (dyn FnMut(Finding) -> Result<(), Error> + Send),
) -> Result<(), Error> {
    let (kept, there) = (outboard.kept(), file.len());
    let range = range.start..range.end.min(kept.len());
    let whole = range == (0..kept.len());
    // Of a unit that is cut off nothing can be verified.
    let cut = kept.unit_over(there).filter(|_| there < kept.len()).map(|unit| unit.start);
    let end = cut.unwrap_or(range.end).min(range.end);
    if range.start < end || kept.len() == 0 {
        let comparing = Comparing { file: &file, outboard, range: range.start..end, found };
        let spec = outboard.spec();
        spec.visit(comparing).map_err(|error| told(error, &file, outboard.spec(), place))?;
    }
    let mut tell = |from: u64, to: u64, finding: fn(Range<u64>) -> Finding| {
        let part = from.max(range.start)..to.min(range.end);
        if part.is_empty() { Ok(()) } else { found(finding(part)) }
    };
    if let Some(start) = cut {
        tell(start, there, Finding::Damaged)?;
        tell(there, kept.len(), Finding::Missing)?;
    }
    if whole && there > kept.len() {
        found(Finding::Grown(kept.len()..there))?;
    }
    file.finish()
}

/// A failure of either the file or the outboard, with the path of the one.
pub(super) fn told(error: mksum::Error, file: &File, spec: &Spec, place: &Path) -> Error {
    match error {
        mksum::Error::Source(error) => match error.downcast::<Error>() {
            Ok(error) => *error,
            Err(error) => Error::from_outboard(mksum::Error::Source(error), place),
        },
        error => Error::from_join(error, file.path(), spec),
    }
}

struct Comparing<'a, R> {
    file: &'a File,
    outboard: &'a Outboard<R>,
    range: Range<u64>,
    found: &'a mut (dyn FnMut(Finding) -> Result<(), Error> + Send),
}

impl<R: ReadAt> Visitor for Comparing<'_, R> {
    type Output = Result<(), mksum::Error>;

    fn visit<const D: usize, N: NodeHash<Digest = [u8; D]>>(self, format: &Format<N>) -> Self::Output {
        let Comparing { file, outboard, range, found } = self;
        let source = Sparse::of(file, format);
        let mut plan = file.plan_of(format, outboard.kept().unit());
        let pieces = (range.end - range.start).div_ceil(plan.piece.saturating_mul(plan.group as u64));
        plan.threads = plan.threads.min(usize::try_from(pieces).unwrap_or(usize::MAX)).max(1);
        let tell = |damage| {
            let finding = match damage {
                Damage::File(unit) => Finding::Damaged(unit.start..unit.end()),
                Damage::Outboard(node) => Finding::Node(node),
            };
            found(finding).map_err(crate::file::source)
        };
        outboard.damaged(format, &source, range, &plan, tell)
    }
}
