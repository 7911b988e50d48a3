//! An outboard as a source of subtrees: nothing is handed out that does not lead up to the root.

use super::{Outboard, OutboardError, ReadAt};
use crate::framed::padded;
use crate::lock::Lock;
use crate::{Error, Format, NodeHash, Role, Subtree, Subtrees};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// The digests of an outboard, each checked against its parent's on the way down from the root when it is asked for.
///
/// One that was not asked for before costs a read of its siblings and a hash for each level that is new: O(log n), and in
/// a flat tree O(n) once. It never answers a root: that is what a join is to find.
#[derive(Debug)]
pub struct Checked<'a, N: NodeHash, R> {
    format: &'a Format<N>,
    outboard: &'a Outboard<R>,
    /// What was found to be right.
    known: Lock<BTreeMap<Subtree, N::Digest>>,
}

impl<'a, const D: usize, N: NodeHash<Digest = [u8; D]>, R: ReadAt> Checked<'a, N, R> {
    /// The digests remembered at most, but for those of one path.
    const REMEMBERED: usize = 1 << 16;

    /// The source that `outboard` is to `format`, the format of its own [`Spec`](crate::Spec).
    pub fn new(format: &'a Format<N>, outboard: &'a Outboard<R>) -> Self {
        Checked { format, outboard, known: Lock::default() }
    }

    /// The digest of a kept node, the root's included; `None` if `node` is not kept.
    ///
    /// # Errors
    /// If the outboard cannot be read, or is damaged on the way from the root to `node`.
    pub fn trusted(&self, node: Subtree) -> Result<Option<[u8; D]>, Error> {
        let kept = self.outboard.kept();
        let (Some(root), Some(_)) = (kept.root(), kept.place(node)) else { return Ok(None) };
        let mut known = self.known.lock();
        if known.len() > Self::REMEMBERED {
            known.clear();
        }
        if !known.contains_key(&root) {
            let (digest, children) = match kept.is_unit(root) {
                true => (self.outboard.stored(root)?.expect("the root is kept"), Vec::new()),
                false => self.children(root, Role::Root)?,
            };
            if self.format.nodes.seal(digest, kept.len()) != padded(&self.outboard.root) {
                return Err(OutboardError::Node(root).into());
            }
            known.extend(children);
            known.insert(root, digest);
        }
        let mut at = root;
        while at != node {
            let child = kept.shape().child_over(at, node).1;
            if !known.contains_key(&child) {
                let (digest, children) = self.children(at, Role::Inner)?;
                if known.get(&at) != Some(&digest) && at != root {
                    return Err(OutboardError::Node(at).into());
                }
                known.extend(children);
            }
            at = child;
        }
        Ok(known.get(&node).copied())
    }

    /// The digests stored for the children of `node`, and the one that they make.
    #[allow(clippy::type_complexity)]
    fn children(&self, node: Subtree, role: Role) -> Result<([u8; D], Vec<(Subtree, [u8; D])>), Error> {
        let children: Vec<_> = self.outboard.kept().children(node).collect();
        let stored = children.iter().map(|&child| Ok((child, self.outboard.stored(child)?.expect("it is kept"))));
        let stored = stored.collect::<Result<Vec<_>, Error>>()?;
        let mut digests: Vec<_> = stored.iter().map(|(_, digest)| *digest).collect();
        digests.extend(self.format.padding(node));
        Ok((self.format.nodes.parent(&digests, role), stored))
    }
}

impl<const D: usize, N: NodeHash<Digest = [u8; D]>, R: ReadAt> Subtrees<N> for Checked<'_, N, R> {
    fn digest(&self, _: &Format<N>, node: Subtree, role: Role) -> Result<Option<[u8; D]>, Error> {
        if role == Role::Root { Ok(None) } else { self.trusted(node) }
    }
}
