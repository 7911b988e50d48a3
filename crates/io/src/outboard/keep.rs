//! Hashing a file while its tree is kept.

use super::draft::Draft;
use crate::holes::Sparse;
use crate::{Error, File};
use mksum::{Format, Header, NodeHash, Root, Spec, Subtree, Telling, Visitor};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// What came of keeping a file's tree.
#[derive(Clone, Debug)]
pub struct Kept {
    /// The file's root.
    pub root: Root,
    /// The bytes that an earlier run had hashed: they were not read again.
    pub resumed: u64,
}

/// Writes the outboard of `file` to `target`, with digests of subtrees of `unit` bytes: see [`mksum::Kept`].
///
/// Every `checkpoint`, about, what is done is made safe against a crash: twice that is what one costs at most. Goes on where
/// an earlier run was ended, if the file is the same by length, time and number. Until the end the outboard
/// has another name, so that at `target` is never anything but a whole one.
///
/// # Errors
/// If the file cannot be read, changes meanwhile, has no root in this format, or the outboard cannot be written.
pub fn keep(file: File, spec: &Spec, unit: u64, checkpoint: Duration, target: &Path) -> Result<Kept, Error> {
    let (path, len) = (file.path().to_path_buf(), file.len());
    // A format that refuses the length says so as it does without an outboard.
    spec.shape().check(len).map_err(|error| Error::from_join(error.into(), &path, spec))?;
    let mut draft = Draft::open(target, Header { spec: spec.clone(), len, unit, identity: file.identity() })?;
    draft.interval = checkpoint;
    let resumed = draft.position();
    file.reader.options.meter.add(resumed);
    let digest = spec.visit(Keeping { file: &file, draft: &mut draft });
    let digest = digest.map_err(|error| Error::from_join(error, &path, spec))?;
    if let Err(error) = file.finish() {
        draft.discard();
        return Err(error);
    }
    draft.finish(&digest)?;
    Ok(Kept { root: spec.sealed(len, digest), resumed })
}

/// The root of a file, its kept nodes appended to a draft from where that ends.
pub(super) struct Keeping<'a> {
    pub file: &'a File,
    pub draft: &'a mut Draft,
}

impl Visitor for Keeping<'_> {
    type Output = Result<Vec<u8>, mksum::Error>;

    fn visit<const D: usize, N: NodeHash<Digest = [u8; D]>>(self, format: &Format<N>) -> Self::Output {
        let Keeping { file, draft } = self;
        let source = Sparse::of(file, format);
        let (kept, done, position) = (draft.kept(), draft.done(), draft.position());
        let known: BTreeMap<Subtree, [u8; D]> = draft.known();
        let tell = |node, digest: &[u8; D]| draft.push(node, digest).map_err(crate::file::source);
        let telling = Telling::new(&source, kept.post_order(done), tell);
        let plan = file.plan_of(format, kept.unit());
        let joined = format.root_resumed((&known, position), &telling, file.len(), &plan);
        Ok(telling.finish(joined)?.into())
    }
}
