//! A new outboard from an old one, of a file that was changed since.

use super::draft::Draft;
use super::keep::Keeping;
use super::{Stored, open};
use crate::holes::Sparse;
use crate::{Error, File};
use mksum::{Checked, Format, Header, Kept, NodeHash, Outboard, Role, Root, Subtree, Subtrees, Telling, Visitor};
use std::cell::RefCell;
use std::ops::Range;
use std::path::Path;

/// What is known of how a file was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum How {
    /// It became longer or shorter, and the bytes that it had and has are the same.
    Length,
    /// It was written to in these ranges only, in bytes, and has the length that it had.
    Ranges(Vec<Range<u64>>),
    /// Nothing: every byte is read.
    Unknown,
}

/// What came of an update.
#[derive(Debug)]
pub struct Updated {
    /// The file's root now.
    pub root: Root,
    /// The ranges that are others than before, in whole units, ascending, what was appended or cut off included.
    ///
    /// An error if the old outboard is damaged where the file changed: the new one is none the worse for that.
    pub changed: Result<Vec<Range<u64>>, Error>,
}

/// Writes the outboard of `file` as it is now to `target`, by what is known of its changes since `old` was written.
///
/// [`How::Length`] reads what was appended and the last unit, and [`How::Ranges`] the units in the ranges: what they take
/// from `old` is checked against its root, but not against the file. [`How::Unknown`] reads all of the file.
///
/// # Errors
/// If the file cannot be read, changes meanwhile, or has not the length that `how` says; if `old` is damaged where it is
/// needed, or the outboard cannot be written.
pub fn update(file: File, old: &Outboard<Stored>, how: &How, target: &Path) -> Result<Updated, Error> {
    let (path, len, spec) = (file.path().to_path_buf(), file.len(), old.spec().clone());
    spec.shape().check(len).map_err(|error| Error::from_join(error.into(), &path, &spec))?;
    let identity = file.identity();
    let header = Header { spec: spec.clone(), len, unit: old.kept().unit(), identity };
    let of_old = |error| Error::from_outboard(error, old.bytes().path());
    let (draft, digest) = match how {
        How::Unknown => {
            let mut draft = Draft::open(target, header)?;
            file.reader.options.meter.add(draft.position());
            let digest = spec.visit(Keeping { file: &file, draft: &mut draft });
            (draft, digest)
        }
        How::Length => {
            // Not the root: it is what is to be found.
            let shared = old.kept().shared(len).min(old.kept().count().saturating_sub(1));
            let mut draft = Draft::copy(target, header, old, shared)?;
            file.reader.options.meter.add(draft.position());
            spec.visit(Trusting { old, draft: &mut draft }).map_err(of_old)?;
            let digest = spec.visit(Keeping { file: &file, draft: &mut draft });
            (draft, digest)
        }
        How::Ranges(_) if len != old.len() => {
            let how = format!("the outboard has {} bytes and the file has {len}: ranges are of one length", old.len());
            return Err(Error::Changed { path, how });
        }
        How::Ranges(ranges) => {
            let mut draft = Draft::copy(target, header, old, old.kept().count())?;
            let digest = spec.visit(Rewriting { file: &file, old, draft: &mut draft, ranges });
            (draft, digest)
        }
    };
    let digest = digest.map_err(|error| super::verify::told(error, &file, &spec, old.bytes().path()))?;
    if let Err(error) = file.finish() {
        draft.discard();
        return Err(error);
    }
    draft.finish(&digest)?;
    let new = open(target)?;
    let mut changed = Vec::new();
    let differ = old.diff(&new, |range| {
        super::append(&mut changed, range);
        Ok(())
    });
    Ok(Updated { root: spec.sealed(len, digest), changed: differ.map(|()| changed).map_err(of_old) })
}

/// Has a draft go on from digests of the old outboard, once they are found right.
struct Trusting<'a> {
    old: &'a Outboard<Stored>,
    draft: &'a mut Draft,
}

impl Visitor for Trusting<'_> {
    type Output = Result<(), mksum::Error>;

    fn visit<const D: usize, N: NodeHash<Digest = [u8; D]>>(self, format: &Format<N>) -> Self::Output {
        let checked = Checked::new(format, self.old);
        self.draft.trust(|node| Ok(checked.trusted(node)?.expect("both trees have it").into()))
    }
}

/// The root of a file of which only some ranges are read, the nodes above them overwritten in a draft.
struct Rewriting<'a> {
    file: &'a File,
    old: &'a Outboard<Stored>,
    draft: &'a mut Draft,
    ranges: &'a [Range<u64>],
}

impl Visitor for Rewriting<'_> {
    type Output = Result<Vec<u8>, mksum::Error>;

    fn visit<const D: usize, N: NodeHash<Digest = [u8; D]>>(self, format: &Format<N>) -> Self::Output {
        let rewritten = Rewritten {
            kept: self.old.kept(),
            old: Checked::new(format, self.old),
            file: self.file,
            source: Sparse::of(self.file, format),
            ranges: self.ranges,
            draft: RefCell::new(self.draft),
            failure: RefCell::new(None),
        };
        let root = format.root(&rewritten, self.old.len());
        match rewritten.failure.into_inner() {
            Some(error) => Err(error),
            None => Ok(root?.into()),
        }
    }
}

/// What was written to from the file, all else from the old outboard.
struct Rewritten<'a, 'd, N: NodeHash> {
    kept: Kept,
    old: Checked<'a, N, Stored>,
    file: &'a File,
    source: Sparse<'a, N>,
    ranges: &'a [Range<u64>],
    draft: RefCell<&'d mut Draft>,
    failure: RefCell<Option<mksum::Error>>,
}

impl<N: NodeHash> Rewritten<'_, '_, N> {
    fn is_touched(&self, node: Subtree) -> bool {
        self.ranges.iter().any(|range| node.start < range.end && range.start < node.end())
    }

    fn is_inside(&self, node: Subtree) -> bool {
        self.ranges.iter().any(|range| range.start <= node.start && node.end() <= range.end)
    }
}

impl<const D: usize, N: NodeHash<Digest = [u8; D]>> Subtrees<N> for Rewritten<'_, '_, N> {
    fn digest(&self, format: &Format<N>, node: Subtree, role: Role) -> Result<Option<[u8; D]>, mksum::Error> {
        if !self.is_touched(node) {
            return self.old.digest(format, node, role);
        }
        if !self.is_inside(node) && !self.kept.is_unit(node) {
            return Ok(None);
        }
        let draft = &mut **self.draft.borrow_mut();
        let tell = |node, digest: &[u8; D]| draft.overwrite(node, digest).map_err(crate::file::source);
        let telling = Telling::new(&self.source, self.kept.post_order_under(node), tell);
        let joined = format.join_parallel(&telling, node, role, &self.file.plan_of(format, self.kept.unit()));
        telling.finish(joined).map(Some)
    }

    fn joined(&self, node: Subtree, digest: &[u8; D]) {
        if self.is_touched(node) && self.failure.borrow().is_none() {
            let written = self.draft.borrow_mut().overwrite(node, digest);
            *self.failure.borrow_mut() = written.err().map(crate::file::source);
        }
    }
}
