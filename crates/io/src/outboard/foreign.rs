//! Trees written as other programs write them.

use super::with_extension;
use crate::holes::Sparse;
use crate::platform::{sync_folder, write_at};
use crate::{Error, File};
use mksum::{Format, Kept, Layout, NodeHash, Role, Root, Spec, Subtree, Subtrees, Telling, Visitor};
use std::cell::RefCell;
use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Writes the tree of `file` to `target` as the format's own program does; under another name, until it is whole.
///
/// `uuid` names dm-verity's device of hashes, and is not looked at otherwise.
///
/// # Errors
/// If no program keeps trees of this format; if the file cannot be read, changes meanwhile, or has no root in this format;
/// if the tree cannot be written.
pub fn keep_foreign(file: File, spec: &Spec, uuid: [u8; 16], target: &Path) -> Result<Root, Error> {
    let (path, len) = (file.path().to_path_buf(), file.len());
    spec.shape().check(len).map_err(|error| Error::from_join(error.into(), &path, spec))?;
    let layout = Layout::new(spec, len).map_err(|error| Error::from_outboard(error, target))?;
    let kept = Kept::new(spec.shape(), len, spec.leaf()).expect("a leaf is a unit");
    let mut tree = Tree::create(with_extension(target, "part"), layout)?;
    tree.write(&tree.layout.head(uuid), 0)?;
    let digest = spec.visit(Placing { file: &file, kept, tree: &mut tree });
    let digest = digest.map_err(|error| Error::from_join(error, &path, spec))?;
    if let Err(error) = file.finish() {
        // Nothing goes on with it.
        let _ = fs::remove_file(&tree.path);
        return Err(error);
    }
    tree.finish(target)?;
    Ok(spec.sealed(len, digest))
}

/// A foreign tree being written: each digest at its place, many in one write where they lie side by side.
struct Tree {
    path: PathBuf,
    file: fs::File,
    layout: Layout,
    /// By level: where the bytes that wait begin, and they.
    waiting: HashMap<u32, (u64, Vec<u8>)>,
}

impl Tree {
    const BUFFER: usize = 64 << 10;
    /// Between digests that are not as long as the places for them are zeros, fewer than this.
    const GAP: u64 = 32;

    fn create(path: PathBuf, layout: Layout) -> Result<Tree, Error> {
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

    fn put(&mut self, node: Subtree, digest: &[u8]) -> Result<(), Error> {
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
        self.waiting.entry(node.level).or_default().1.extend_from_slice(digest);
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

/// The root of a file, every node below it written to its place.
struct Placing<'a> {
    file: &'a File,
    kept: Kept,
    tree: &'a mut Tree,
}

impl Visitor for Placing<'_> {
    type Output = Result<Vec<u8>, mksum::Error>;

    fn visit<const D: usize, N: NodeHash<Digest = [u8; D]>>(self, format: &Format<N>) -> Self::Output {
        let Placing { file, kept, tree } = self;
        let source = Sparse::of(file, format);
        // At the ragged edge a unit may be a node above a single leaf, which the foreign tree has too.
        let mut above = None;
        let tell = |node: Subtree, digest: &[u8; D]| {
            if node.level > 0 && kept.is_unit(node) {
                above = Some(node);
            }
            tree.put(node, digest).map_err(crate::file::source)
        };
        let telling = Telling::new(&source, kept.post_order(0), tell);
        let joined = format.root_parallel(&telling, file.len(), &file.plan_of(format, kept.unit()));
        let root = telling.finish(joined)?;
        if let Some(node) = above {
            let below = Below { source: &source, told: RefCell::default() };
            format.join(&below, node, Role::Inner)?;
            for (node, digest) in below.told.into_inner() {
                tree.put(node, &digest).map_err(crate::file::source)?;
            }
        }
        Ok(root.into())
    }
}

/// Every node of a small subtree, joined from its leaves.
struct Below<'a, S, D> {
    source: &'a S,
    told: RefCell<Vec<(Subtree, D)>>,
}

impl<N: NodeHash, S: Subtrees<N>> Subtrees<N> for Below<'_, S, N::Digest> {
    fn digest(&self, format: &Format<N>, node: Subtree, role: Role) -> Result<Option<N::Digest>, mksum::Error> {
        if node.level == 0 { self.source.digest(format, node, role) } else { Ok(None) }
    }

    fn joined(&self, node: Subtree, digest: &N::Digest) {
        self.told.borrow_mut().push((node, digest.clone()));
    }
}
