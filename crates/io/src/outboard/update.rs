//! A new outboard from an old one, after a change of the file.

use super::draft::{Draft, Finished};
use super::keep::{guard, keep_nodes};
use super::{Changes, Stored, is_unchanged, open};
use crate::holes::Sparse;
use crate::{Error, File};
use mksum::outboard::{Checked, Header, KeptLayout, Observed, Outboard};
use mksum::{Digest, Role, Root, Spec, Subtree, Subtrees};
use std::cell::RefCell;
use std::ops::Range;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// The known changes of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum How {
    /// The file became longer or shorter; the bytes that both versions have are equal.
    Length,
    /// Only these ranges were written to, in bytes; the length is the same.
    Ranges(Vec<Range<u64>>),
    /// Any change is possible, so every byte is read.
    Unknown,
}

/// A file whose outboard was updated.
#[derive(Debug)]
#[non_exhaustive]
pub struct Updated {
    /// The file's new root.
    pub root: Root,
    /// The ranges that changed, in whole units, ascending; appended and removed bytes are among them.
    ///
    /// An error if the old outboard is damaged where the file changed: the new one is right all the same.
    pub changed: Result<Vec<Range<u64>>, Error>,
}

/// Writes the new outboard of `file` to `target`, given its changes since `old` was written.
///
/// [`How::Length`] reads the appended bytes and the last unit, and [`How::Ranges`] the units in the ranges: digests taken
/// from `old` are checked against its root, but not against the file. [`How::Unknown`] reads the whole file.
///
/// # Errors
/// If the file cannot be read, changes meanwhile, has another length than `how` says, or is [damaged](Error::Damaged); if
/// `old` is damaged where it is needed, or the outboard cannot be written.
pub fn update(
    file: File,
    old: &Outboard<Stored>,
    how: &How,
    target: &Path,
    changes: Changes,
) -> Result<Updated, Error> {
    let (path, len, spec) = (file.input().clone(), file.len(), old.spec().clone());
    spec.shape().check(len).map_err(|error| Error::from_join(error.into(), &path, &spec))?;
    let identity = file.identity();
    let evidence = Some(old).filter(|old| changes == Changes::Refuse && is_unchanged(&file, old.header()));
    let header = Header { spec: spec.clone(), len, unit: old.layout().unit(), identity };
    let of_old = |error| Error::from_outboard(error, old.bytes().place());
    let (draft, root) = match how {
        How::Unknown => {
            let mut draft = Draft::open(target, header)?;
            file.options().meter.skip(draft.position());
            let root = keep_nodes(&file, &spec, &mut draft);
            (draft, root)
        }
        How::Length => {
            // Not the root: it is to be found.
            let layout = old.layout();
            let shared = layout.shared(len).min(layout.count().saturating_sub(1));
            let mut draft = Draft::copy(target, header, old, shared)?;
            let checked = Checked::new(old);
            draft.trust(|node| Ok(checked.trusted(node)?.expect("both trees have it"))).map_err(of_old)?;
            file.options().meter.skip(draft.position());
            let root = keep_nodes(&file, &spec, &mut draft);
            (draft, root)
        }
        How::Ranges(_) if len != old.len() => {
            let how = format!("it had {} bytes and has {len} now, so more than these ranges changed", old.len());
            return Err(Error::Changed { path, how });
        }
        How::Ranges(ranges) => {
            let mut draft = Draft::copy(target, header, old, old.layout().count())?;
            let root = rewrite_nodes(&file, old, &mut draft, ranges);
            (draft, root)
        }
    };
    let root = root.map_err(|error| super::verify::of_either(error, &file, &spec, old.bytes().place()))?;
    if let Err(error) = file.finish() {
        draft.discard();
        return Err(error);
    }
    let finished = guard(draft.finish(root.digest())?, &root, evidence, &path)?;
    Finished::commit(vec![finished]).remove(0)?;
    let new = open(target)?;
    let mut changed = Vec::new();
    let differ = old.diff(&new, &mut |range| {
        super::append(&mut changed, range);
        Ok(())
    });
    Ok(Updated { root, changed: differ.map(|()| changed).map_err(of_old) })
}

/// The root of a file of which only some ranges are read; the nodes above them are overwritten in a draft.
fn rewrite_nodes(
    file: &File,
    old: &Outboard<Stored>,
    draft: &mut Draft,
    ranges: &[Range<u64>],
) -> Result<Root, mksum::Error> {
    let rewritten = Rewritten {
        layout: old.layout(),
        old: Checked::new(old),
        file,
        source: Sparse::of(file, old.spec()),
        ranges,
        draft: Mutex::new(draft),
        failure: RefCell::new(None),
    };
    let root = old.spec().root_from(&rewritten, old.len());
    match rewritten.failure.into_inner() {
        Some(error) => Err(error.into()),
        None => root,
    }
}

/// Subtrees in the ranges from the file, all others from the old outboard.
struct Rewritten<'a, 'd> {
    layout: KeptLayout,
    old: Checked<'a, Stored>,
    file: &'a File,
    source: Sparse<'a>,
    ranges: &'a [Range<u64>],
    draft: Mutex<&'d mut Draft>,
    failure: RefCell<Option<Error>>,
}

impl Rewritten<'_, '_> {
    fn is_touched(&self, node: Subtree) -> bool {
        self.ranges.iter().any(|range| node.start < range.end && range.start < node.end())
    }

    fn is_inside(&self, node: Subtree) -> bool {
        self.ranges.iter().any(|range| range.start <= node.start && node.end() <= range.end)
    }

    fn overwrite(&self, node: Subtree, digest: &Digest) -> Result<(), Error> {
        self.draft.lock().unwrap_or_else(PoisonError::into_inner).overwrite(node, digest)
    }
}

impl Subtrees for Rewritten<'_, '_> {
    fn digest(&self, spec: &Spec, node: Subtree, role: Role) -> Result<Option<Digest>, mksum::Error> {
        if !self.is_touched(node) {
            return self.old.digest(spec, node, role);
        }
        if !self.is_inside(node) && !self.layout.is_unit(node) {
            return Ok(None);
        }
        let draft = &self.draft;
        let mut overwrite =
            |node, digest: &Digest| Ok(draft.lock().unwrap_or_else(PoisonError::into_inner).overwrite(node, digest)?);
        let observed = Observed::new(&self.source, self.layout.post_order_under(node), &mut overwrite);
        let joined = spec.join_parallel(&observed, node, role, &self.file.plan_of(spec, self.layout.unit()));
        observed.finish(joined).map(Some)
    }

    fn joined(&self, node: Subtree, digest: &Digest) {
        if self.is_touched(node) && self.failure.borrow().is_none() {
            *self.failure.borrow_mut() = self.overwrite(node, digest).err();
        }
    }
}
