//! A file whose tree is watched while it is joined.

use super::picture::Node;
use mksum::{Format, NodeHash, Role, Root, Spec, Subtree, Subtrees, Visitor};
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
    let digest = spec.visit(&watched).map_err(|error| Error::from_join(error, file.path(), spec))?;
    let mut seen = watched.seen.into_inner().unwrap_or_else(PoisonError::into_inner);
    tree.for_each(&mut |node| {
        // Nothing is joined for an empty file: its only digest is the root.
        node.digest = seen.remove(&node.subtree).unwrap_or_else(|| digest.clone());
    });
    Ok(spec.sealed(file.len(), digest))
}

struct Watched<'a> {
    file: &'a File,
    /// Nodes whose children are shown: the file must not answer these whole.
    opened: HashSet<Subtree>,
    shown: HashSet<Subtree>,
    seen: Mutex<HashMap<Subtree, Vec<u8>>>,
}

impl Visitor for &Watched<'_> {
    type Output = Result<Vec<u8>, mksum::Error>;

    fn visit<const N: usize, H: NodeHash<Digest = [u8; N]>>(self, format: &Format<H>) -> Self::Output {
        let plan = self.file.plan(format);
        Ok(format.root_parallel(self, self.file.len(), &plan)?.into())
    }
}

impl<N: NodeHash> Subtrees<N> for Watched<'_>
where
    N::Digest: AsRef<[u8]>,
{
    fn digest(&self, format: &Format<N>, node: Subtree, role: Role) -> Result<Option<N::Digest>, mksum::Error> {
        if self.opened.contains(&node) { Ok(None) } else { self.file.digest(format, node, role) }
    }

    fn digests(&self, format: &Format<N>, nodes: &[Subtree], out: &mut Vec<N::Digest>) -> Result<(), mksum::Error> {
        if !nodes.iter().any(|node| self.opened.contains(node)) {
            return self.file.digests(format, nodes, out);
        }
        for &node in nodes {
            out.push(format.join(self, node, Role::Inner)?);
        }
        Ok(())
    }

    fn joined(&self, node: Subtree, digest: &N::Digest) {
        if self.shown.contains(&node) {
            self.seen.lock().unwrap_or_else(PoisonError::into_inner).insert(node, digest.as_ref().into());
        }
    }
}
