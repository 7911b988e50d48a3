//! Hashing a file while its tree is kept.

use super::draft::{Draft, Finished};
use super::{Finding, Stored, is_unchanged, open, verify};
use crate::holes::Sparse;
use crate::{Error, File, Input, Refusal};
use mksum::outboard::{Header, Observed, Outboard, OutboardError, Sequence};
use mksum::{Digest, Root, Spec, Subtree};
use std::io::ErrorKind;
use std::ops::Range;
use std::path::Path;
use std::time::Duration;

/// A file whose tree was kept.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Kept {
    /// The file's root.
    pub root: Root,
    /// The bytes that an earlier run had hashed: they were not read again.
    pub resumed: u64,
}

/// Options for keeping a tree.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Keeping<'a> {
    /// The path of the outboard.
    pub target: &'a Path,
    /// The length of the subtrees that digests are kept of, in bytes: see [`KeptLayout`](mksum::outboard::KeptLayout).
    pub unit: u64,
    /// The time between checkpoints: at most twice that time is lost by a crash.
    pub checkpoint: Duration,
    /// Whether the outboard that is there may be replaced although the file seems to be damaged.
    pub changes: Changes,
}

impl<'a> Keeping<'a> {
    /// Subtrees of `unit` bytes, a checkpoint a second, and no evidence of damage is replaced.
    pub fn new(unit: u64, target: &'a Path) -> Self {
        Keeping { target, unit, checkpoint: Duration::from_secs(1), changes: Changes::Refuse }
    }
}

/// The rule for a file whose size, mtime and inode match its outboard, but whose root differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Changes {
    /// The file is damaged: an error, and the outboard stays, since it is the evidence.
    Refuse,
    /// The file was changed on purpose: the outboard is replaced.
    Accept,
}

/// A tree that was computed, but is not safe against a crash and not at its path yet: see [`commit`].
#[derive(Debug)]
pub struct Pending {
    kept: Kept,
    finished: Finished,
}

impl Pending {
    /// The file's root.
    pub fn root(&self) -> &Root {
        &self.kept.root
    }
}

/// Writes the outboard of `file`.
///
/// An earlier run that was ended is resumed if the file has the same length, mtime and inode. Until the end the outboard has
/// another name, so that the target is never an unfinished one.
///
/// # Errors
/// If the file cannot be read, changes meanwhile, has no root in this format, or is [damaged](Error::Damaged); if the target
/// is not an outboard, or the outboard cannot be written.
pub fn keep(file: File, spec: &Spec, options: &Keeping<'_>) -> Result<Kept, Error> {
    commit(vec![prepare(file, spec, options)?]).remove(0)
}

/// Does the work of [`keep`], up to [`commit`].
///
/// # Errors
/// As [`keep`].
pub fn prepare(file: File, spec: &Spec, options: &Keeping<'_>) -> Result<Pending, Error> {
    let (path, len) = (file.input().clone(), file.len());
    // A format that refuses the length says so as it does without an outboard.
    spec.shape().check(len).map_err(|error| Error::from_join(error.into(), &path, spec))?;
    let old = replaceable(options.target, options.changes)?;
    let evidence = old.filter(|old| options.changes == Changes::Refuse && is_unchanged(&file, old.header()));
    let (file, evidence) = match evidence {
        // Roots of different formats cannot be compared: the file is verified first.
        Some(old) if old.spec() != spec => (verified(file, &old)?, None),
        evidence => (file, evidence),
    };
    let header = Header { spec: spec.clone(), len, unit: options.unit, identity: file.identity() };
    let mut draft = Draft::open(options.target, header)?;
    draft.interval = options.checkpoint;
    let resumed = draft.position();
    file.options().meter.skip(resumed);
    let root = keep_nodes(&file, spec, &mut draft).map_err(|error| Error::from_join(error, &path, spec))?;
    if let Err(error) = file.finish() {
        draft.discard();
        return Err(error);
    }
    let finished = draft.finish(root.digest())?;
    let finished = guard(finished, &root, evidence.as_ref(), &path)?;
    Ok(Pending { kept: Kept { root, resumed }, finished })
}

/// Makes the outboard of an input from the digests of its units or of smaller subtrees, left to right, which others hashed.
///
/// `header` has no identity: the input itself is not opened.
///
/// # Errors
/// If there is no root in this format, `digests` fails or lacks some; if the target is not an outboard, is one of another root and
/// `changes` are refused, or the outboard cannot be written.
pub fn assemble(
    header: Header,
    digests: impl Iterator<Item = Result<(Subtree, Digest), mksum::Error>> + Send,
    target: &Path,
    changes: Changes,
) -> Result<Pending, Error> {
    let (spec, len) = (header.spec.clone(), header.len);
    let fail = |error| Error::from_join(error, target, &spec);
    let old = replaceable(target, changes)?;
    let mut draft = Draft::fresh(target, header)?;
    let layout = draft.layout();
    let (source, mut push) = (Sequence::new(digests), |node, digest: &Digest| Ok(draft.push(node, digest)?));
    let observed = Observed::new(&source, layout.post_order(0), &mut push);
    let joined = spec.root_from(&observed, len);
    let root = observed.finish(joined).map_err(fail)?;
    if let Some(old) = old.filter(|old| changes == Changes::Refuse && old.spec() == &spec && old.root() != root) {
        return Err(Error::refused(target, Refusal::OtherRoot(old.root().to_string())));
    }
    Ok(Pending { finished: draft.finish(root.digest())?, kept: Kept { root, resumed: 0 } })
}

/// Makes outboards safe against a crash and moves them to their paths, many at once: a result for each, in their order.
pub fn commit(all: Vec<Pending>) -> Vec<Result<Kept, Error>> {
    let (kept, finished): (Vec<_>, Vec<_>) = all.into_iter().map(|one| (one.kept, one.finished)).unzip();
    kept.into_iter().zip(Finished::commit(finished)).map(|(kept, done)| done.map(|()| kept)).collect()
}

/// The outboard that is at `target`, if there is one; only an outboard is replaced.
fn replaceable(target: &Path, changes: Changes) -> Result<Option<Outboard<Stored>>, Error> {
    match open(target) {
        Ok(old) => Ok(Some(old)),
        Err(Error::Open { error, .. }) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(Error::Outboard { error: mksum::Error::Source(error), .. }) => match error.downcast_ref() {
            Some(OutboardError::Magic) => Err(Error::refused(target, Refusal::NotOutboard)),
            _ if changes == Changes::Accept => Ok(None),
            _ => Err(Error::refused(target, Refusal::Unverifiable(error.to_string()))),
        },
        Err(error) => Err(error),
    }
}

/// The file, if it is as its outboard has it.
fn verified(file: File, old: &Outboard<Stored>) -> Result<File, Error> {
    let (path, options, mut ranges) = (file.input().clone(), file.options().clone(), Vec::new());
    options.meter.expect(file.len());
    verify(file, (old, old.bytes().place()), 0..old.len(), &mut |finding| {
        match finding {
            Finding::Damaged(range) | Finding::Missing(range) | Finding::Grown(range) => {
                super::append(&mut ranges, range);
            }
            Finding::Unreadable { unit, .. } => super::append(&mut ranges, unit),
            Finding::Node(_) => {}
        }
        Ok(())
    })?;
    if !ranges.is_empty() {
        return Err(Error::Damaged { path, outboard: old.bytes().place().clone(), ranges });
    }
    File::open(&path, &options)
}

/// The new outboard, unless `evidence`, the old one of an unchanged file, has another root: then it is removed.
pub(super) fn guard(
    finished: Finished,
    root: &Root,
    evidence: Option<&Outboard<Stored>>,
    path: &Input,
) -> Result<Finished, Error> {
    let Some(old) = evidence.filter(|old| old.root() != *root) else { return Ok(finished) };
    let outboard = old.bytes().place().clone();
    let ranges = finished.outboard().map(|new| differences(old, &new)).unwrap_or_default();
    finished.discard();
    Err(Error::Damaged { path: path.into(), outboard, ranges })
}

/// The ranges in which two outboards differ; none if one is damaged there.
fn differences(old: &Outboard<Stored>, new: &Outboard<Stored>) -> Vec<Range<u64>> {
    let mut ranges = Vec::new();
    let differ = old.diff(new, &mut |range| {
        super::append(&mut ranges, range);
        Ok(())
    });
    if differ.is_ok() { ranges } else { Vec::new() }
}

/// The root of a file; its kept nodes are appended to a draft, after those that are there.
pub(super) fn keep_nodes(file: &File, spec: &Spec, draft: &mut Draft) -> Result<Root, mksum::Error> {
    let source = Sparse::of(file, spec);
    let (layout, done, position, known) = (draft.layout(), draft.done(), draft.position(), draft.known());
    let mut push = |node, digest: &Digest| Ok(draft.push(node, digest)?);
    let observed = Observed::new(&source, layout.post_order(done), &mut push);
    let plan = file.plan_of(spec, layout.unit());
    let joined = spec.root_resumed((&known, position), &observed, file.len(), &plan);
    observed.finish(joined)
}
