//! Trees written as other programs write them.

use super::with_extension;
use crate::holes::Sparse;
use crate::platform::{sync_folder, write_at};
use crate::{Error, File};
use mksum::outboard::{ForeignLayout, KeptLayout, Observed};
use mksum::{Digest, Role, Root, Spec, Subtree, Subtrees};
use std::cell::RefCell;
use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Writes the tree of `file` to `target` as the format's own program does; under another name, until it is whole.
///
/// `uuid` is the name of dm-verity's hash device; other formats ignore it.
///
/// # Errors
/// If no program keeps trees of this format; if the file cannot be read, changes meanwhile, or has no root in this format;
/// if the tree cannot be written.
pub fn keep_foreign(file: File, spec: &Spec, uuid: [u8; 16], target: &Path) -> Result<Root, Error> {
    let (path, len) = (file.path().to_path_buf(), file.len());
    spec.shape().check(len).map_err(|error| Error::from_join(error.into(), &path, spec))?;
    let layout = ForeignLayout::new(spec, len).map_err(|error| Error::from_outboard(error, target))?;
    let kept = KeptLayout::new(spec.shape(), len, spec.leaf()).expect("a leaf is a unit");
    let mut tree = Tree::create(with_extension(target, "part"), layout)?;
    tree.write(&tree.layout.head(uuid), 0)?;
    let root = place_nodes(&file, spec, kept, &mut tree).map_err(|error| Error::from_join(error, &path, spec))?;
    if let Err(error) = file.finish() {
        // An unfinished foreign tree is never resumed.
        let _ = fs::remove_file(&tree.path);
        return Err(error);
    }
    tree.finish(target)?;
    Ok(root)
}

/// A foreign tree being written: each digest at its place, many in one write where they lie side by side.
struct Tree {
    path: PathBuf,
    file: fs::File,
    layout: ForeignLayout,
    /// By level: the bytes that wait, and the offset of the first.
    waiting: HashMap<u32, (u64, Vec<u8>)>,
}

impl Tree {
    const BUFFER: usize = 64 << 10;
    /// Between digests that are not as long as the places for them are zeros, fewer than this.
    const GAP: u64 = 32;

    fn create(path: PathBuf, layout: ForeignLayout) -> Result<Tree, Error> {
        let create = || {
            let file = fs::File::create(&path)?;
            file.set_len(layout.size())?;
            Ok(file)
        };
        match create() {
            Ok(file) => Ok(Tree { path, file, layout, waiting: HashMap::new() }),
            Err(error) => Err(Error::Write { path, error }),
        }
    }

    fn write(&self, bytes: &[u8], at: u64) -> Result<(), Error> {
        write_at(&self.file, bytes, at).map_err(|error| self.fail(error))
    }

    fn fail(&self, error: io::Error) -> Error {
        Error::Write { path: self.path.clone(), error }
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

    fn finish(mut self, target: &Path) -> Result<(), Error> {
        for (start, bytes) in std::mem::take(&mut self.waiting).into_values() {
            self.write(&bytes, start)?;
        }
        let end = || {
            self.file.sync_all()?;
            fs::rename(&self.path, target)?;
            sync_folder(target)
        };
        end().map_err(|error| self.fail(error))
    }
}

/// The root of a file; every node below it is written to its place.
fn place_nodes(file: &File, spec: &Spec, kept: KeptLayout, tree: &mut Tree) -> Result<Root, mksum::Error> {
    let source = Sparse::of(file, spec);
    // At the ragged edge a unit may be a node above a single leaf, which the foreign tree has too.
    let mut above = None;
    let mut put = |node: Subtree, digest: &Digest| {
        if node.level > 0 && kept.is_unit(node) {
            above = Some(node);
        }
        Ok(tree.put(node, digest)?)
    };
    let observed = Observed::new(&source, kept.post_order(0), &mut put);
    let joined = spec.root_parallel(&observed, file.len(), &file.plan_of(spec, kept.unit()));
    let root = observed.finish(joined)?;
    if let Some(node) = above {
        let below = Below { source: &source, joined: RefCell::default() };
        spec.join(&below, node, Role::Inner)?;
        for (node, digest) in below.joined.into_inner() {
            tree.put(node, &digest)?;
        }
    }
    Ok(root)
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
