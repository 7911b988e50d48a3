//! Hashing a file while its tree is kept.

use super::draft::Draft;
use crate::holes::Sparse;
use crate::{Error, File};
use mksum::outboard::{Header, Observed};
use mksum::{Digest, Root, Spec};
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

/// Writes the outboard of `file` to `target`, with digests of subtrees of `unit` bytes: see
/// [`KeptLayout`](mksum::outboard::KeptLayout).
///
/// About every `checkpoint`, the digests so far are made safe against a crash: at most twice that time is lost by one. An
/// earlier run that was ended is resumed if the file has the same length, mtime and inode. Until the end the outboard has
/// another name, so that `target` is never an unfinished one.
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
    let root = keep_nodes(&file, spec, &mut draft).map_err(|error| Error::from_join(error, &path, spec))?;
    if let Err(error) = file.finish() {
        draft.discard();
        return Err(error);
    }
    draft.finish(root.digest())?;
    Ok(Kept { root, resumed })
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
