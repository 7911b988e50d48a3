//! A file whose tree is observed while it is joined.

use mksum::{Digest, Digests, Role, Root, Spec, Subtree, Subtrees};
use mksum_cli::picture::Node;
use mksum_io::{Error, File};
use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

/// The file's root; each node that is shown gets its digest.
///
/// # Errors
/// If the file cannot be read, or the format has no root for it.
pub fn root(file: &File, spec: &Spec, tree: &mut Node) -> Result<Root, Error> {
    let (mut shown, mut opened) = (HashSet::new(), HashSet::new());
    tree.for_each(&mut |node| {
        shown.insert(node.subtree);
        if !node.children.is_empty() {
            opened.insert(node.subtree);
        }
    });
    let watched = Watched { file, opened, shown, seen: Mutex::default() };
    let root = file.format(spec).root_parallel(&watched, file.len(), &file.plan(spec));
    let root = root.map_err(|error| Error::from_join(error, file.input(), spec))?;
    let mut seen = watched.seen.into_inner().unwrap_or_else(PoisonError::into_inner);
    tree.for_each(&mut |node| {
        // Nothing is joined for an empty file: its only digest is the root.
        node.digest = seen.remove(&node.subtree).unwrap_or(root.digest()).as_bytes().into();
    });
    Ok(root)
}

struct Watched<'a> {
    file: &'a File,
    /// Nodes whose children are shown: the file must not answer these whole.
    opened: HashSet<Subtree>,
    shown: HashSet<Subtree>,
    seen: Mutex<HashMap<Subtree, Digest>>,
}

impl Subtrees for Watched<'_> {
    fn digest(&self, spec: &Spec, node: Subtree, role: Role) -> Result<Option<Digest>, mksum::Error> {
        if self.opened.contains(&node) { Ok(None) } else { self.file.digest(spec, node, role) }
    }

    fn digests(&self, spec: &Spec, nodes: &[Subtree], out: &mut Digests) -> Result<(), mksum::Error> {
        if !nodes.iter().any(|node| self.opened.contains(node)) {
            return self.file.digests(spec, nodes, out);
        }
        for &node in nodes {
            out.push(spec.join(self, node, Role::Inner)?);
        }
        Ok(())
    }

    fn joined(&self, node: Subtree, digest: &Digest) {
        if self.shown.contains(&node) {
            self.seen.lock().unwrap_or_else(PoisonError::into_inner).insert(node, *digest);
        }
    }
}
