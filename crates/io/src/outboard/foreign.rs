//! Trees written as other programs write them.

use super::draft::{Draft, Finished};
use super::keep::keep_nodes;
use super::{Changes, Keeping, Kept, Stored};
use crate::holes::Sparse;
use crate::replacement::Replacement;
use crate::{Error, File, Input, Refusal};
use mksum::outboard::{Foreign, ForeignFormat, ForeignLayout, Header, KeptLayout, Outboard};
use mksum::{Digest, Role, Root, Spec, Subtree, Subtrees};
use std::cell::RefCell;
use std::collections::HashMap;
use std::fs;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// Writes the tree of `file` as another program does. The unit of the options is ignored: it is that program's.
///
/// `uuid` is the name of dm-verity's hash device; other formats ignore it. Until it is whole, the tree is kept as an
/// unfinished outboard of this project, which another run resumes.
///
/// # Errors
/// If the file cannot be read, changes meanwhile, has no root in this format, or is
/// [damaged](Error::Damaged): it was not modified since the tree that is there was written, but has another root; if the target
/// is not such a tree, or the tree cannot be written.
pub fn keep_foreign(file: File, format: &ForeignFormat, uuid: [u8; 16], options: &Keeping<'_>) -> Result<Kept, Error> {
    let spec = format.spec();
    let (path, len, target) = (file.input().clone(), file.len(), options.target);
    spec.shape().check(len).map_err(|error| Error::from_join(error.into(), &path, spec))?;
    let layout = format.layout(len).map_err(|error| Error::from_outboard(error, target))?;
    let kept = KeptLayout::new(spec.shape(), len, layout.unit()).expect("it is the length of subtrees");
    let evidence = replaceable(&path, &layout, options)?;
    let header = Header { spec: spec.clone(), len, unit: layout.unit(), identity: file.identity() };
    let mut draft = Draft::open(target, header)?;
    draft.interval = options.checkpoint;
    let resumed = draft.position();
    file.options().meter.skip(resumed);
    let nodes = keep_nodes(&file, spec, &mut draft).and_then(|root| Ok((root, below_units(&file, spec, kept)?)));
    let (root, below) = nodes.map_err(|error| Error::from_join(error, &path, spec))?;
    if let Err(error) = file.finish() {
        draft.discard();
        return Err(error);
    }
    let finished = draft.finish(root.digest())?;
    if evidence.is_some_and(|evidence| evidence != root) {
        finished.discard();
        return Err(Error::Damaged { path, outboard: target.into(), ranges: Vec::new() });
    }
    let mut tree = Tree::create(target, layout)?;
    tree.write(&tree.layout.head(uuid), 0)?;
    copy(&finished, kept, spec, &mut tree)?;
    below.iter().try_for_each(|(node, digest)| tree.put(*node, digest))?;
    tree.finish()?;
    finished.discard();
    Ok(Kept { root, resumed })
}

/// Refuses to replace a file that is not such a tree. The root of one that was written after the file's last change: the file
/// should still have it.
fn replaceable(path: &Input, layout: &ForeignLayout, options: &Keeping<'_>) -> Result<Option<Root>, Error> {
    let target = options.target;
    let stored = match Stored::open(target) {
        Ok(stored) => stored,
        Err(Error::Open { error, .. }) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if options.changes == Changes::Accept {
        return Ok(None);
    }
    if Foreign::check(&stored, layout).is_err() {
        return match Foreign::is_begun(layout.format(), &stored) {
            true => Ok(None),
            false => Err(Error::refused(target, Refusal::NotTree)),
        };
    }
    let modified = |path: &Path| fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
    let unchanged = path.file().and_then(modified).zip(modified(target)).is_some_and(|(file, tree)| file < tree);
    let root = Foreign::open(stored, layout.clone()).and_then(Outboard::open).map(|old| old.root());
    Ok(root.ok().filter(|_| unchanged))
}

/// Writes the digests of a finished outboard to their places in a foreign tree.
fn copy(finished: &Finished, kept: KeptLayout, spec: &Spec, tree: &mut Tree) -> Result<(), Error> {
    let mut digests = finished.digests()?;
    let mut digest = vec![0; spec.hash().size()];
    for node in kept.post_order(0) {
        digests.read_exact(&mut digest).map_err(|error| tree.fail(error))?;
        tree.put(node, &Digest::new(&digest))?;
    }
    Ok(())
}

/// A foreign tree being written: each digest at its place, many in one write where they lie side by side.
struct Tree {
    file: Replacement,
    layout: ForeignLayout,
    /// The bytes that wait at each level, and the offset of the first.
    waiting: HashMap<u32, (u64, Vec<u8>)>,
}

impl Tree {
    const BUFFER: usize = 64 << 10;
    /// Between digests that are not as long as the places for them are zeros, fewer than this.
    const GAP: u64 = 32;

    fn create(target: &Path, layout: ForeignLayout) -> Result<Tree, Error> {
        let tree = Tree { file: Replacement::create(target)?, layout, waiting: HashMap::new() };
        tree.file.file().set_len(tree.layout.size()).map_err(|error| tree.fail(error))?;
        Ok(tree)
    }

    fn write(&self, bytes: &[u8], at: u64) -> Result<(), Error> {
        self.file.write_at(bytes, at)
    }

    fn fail(&self, error: io::Error) -> Error {
        Error::Write { path: self.file.target().into(), error }
    }

    fn put(&mut self, node: Subtree, digest: &Digest) -> Result<(), Error> {
        let Some(place) = self.layout.place(node) else { return Ok(()) };
        let (start, bytes) = self.waiting.entry(node.level).or_default();
        let end = *start + bytes.len() as u64;
        let full = bytes.len() >= Self::BUFFER;
        match place.checked_sub(end) {
            Some(gap) if gap < Self::GAP && !full && !bytes.is_empty() => bytes.resize(bytes.len() + gap as usize, 0),
            _ => {
                let (start, bytes) = (std::mem::replace(start, place), std::mem::take(bytes));
                self.write(&bytes, start)?;
            }
        }
        self.waiting.entry(node.level).or_default().1.extend_from_slice(digest.as_bytes());
        Ok(())
    }

    fn finish(mut self) -> Result<(), Error> {
        for (start, bytes) in std::mem::take(&mut self.waiting).into_values() {
            self.write(&bytes, start)?;
        }
        self.file.finish()
    }
}

/// The nodes of a foreign tree that lie below units: at the ragged edge a unit may be a node above a single leaf.
fn below_units(file: &File, spec: &Spec, kept: KeptLayout) -> Result<Vec<(Subtree, Digest)>, mksum::Error> {
    let last = file.len().checked_sub(1).and_then(|last| kept.unit_over(last));
    let Some(unit) = last.filter(|unit| unit.level > 0) else { return Ok(Vec::new()) };
    let below = Below { source: &Sparse::of(file, spec), joined: RefCell::default() };
    spec.join(&below, unit, Role::Inner)?;
    Ok(below.joined.into_inner())
}

/// Every node of a small subtree, joined from its leaves.
struct Below<'a> {
    source: &'a dyn Subtrees,
    joined: RefCell<Vec<(Subtree, Digest)>>,
}

impl Subtrees for Below<'_> {
    fn digest(&self, spec: &Spec, node: Subtree, role: Role) -> Result<Option<Digest>, mksum::Error> {
        if node.level == 0 { self.source.digest(spec, node, role) } else { Ok(None) }
    }

    fn joined(&self, node: Subtree, digest: &Digest) {
        self.joined.borrow_mut().push((node, *digest));
    }
}
