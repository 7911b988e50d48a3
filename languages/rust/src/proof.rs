//! Inclusion proofs: made while the bytes stream by, verified by the one join of `mksum`.

use crate::Tree;
use mksum::{Edge, Error, Format, Framed, Hash, Memory, NeedsLength, NodeHash, Shape, Subtree, Tail};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// `plain` or, with prefixes, `rfc6962`: the formats that proofs are for.
///
/// # Panics
/// If digests of `hash` have not `N` bytes.
pub fn prefixed<const N: usize>(hash: Hash, leaf: u64, prefixes: bool) -> Format<Framed<N>> {
    let shape = Shape::Even { leaf, arity: 2, edge: Edge::Promote, tail: Tail::Short };
    let (leaf, node): (&[u8], &[u8]) = if prefixes { (&[0], &[1]) } else { (&[], &[]) };
    Format { shape, nodes: Framed::new(hash, leaf, node, node) }
}

/// Digests that prove that a leaf is under a root (RFC 6962, 2.1.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof<D> {
    /// The leaf, the first being 0.
    pub index: u64,
    /// The bytes of the whole input.
    pub len: u64,
    /// The siblings on the way from the leaf up.
    pub path: Vec<D>,
}

impl<D: PartialEq + Clone> Proof<D> {
    /// Whether this proves that `leaf` is what the input with this root has there.
    ///
    /// `len` has to come from where the root comes from. In `plain` anything else can be forged: two digests of a tree are
    /// themselves the leaf of a shorter one with the same root.
    pub fn verify<N: NodeHash<Digest = D>>(&self, format: &Format<N>, root: &D, leaf: &[u8]) -> bool {
        let Some(start) = self.index.checked_mul(format.shape.leaf()).filter(|&start| start < self.len) else {
            return false;
        };
        if leaf.len() as u64 != format.shape.leaf().min(self.len - start) {
            return false;
        }
        let siblings = siblings(format.shape, self.len, start);
        if siblings.len() != self.path.len() {
            return false;
        }
        let known: BTreeMap<Subtree, D> = siblings.into_iter().zip(self.path.iter().cloned()).collect();
        // The join is given the leaf and the siblings, and hashes what is above them.
        matches!(format.root(&(&known, &Memory::from(start, leaf)), self.len), Ok(found) if found == *root)
    }
}

/// The subtrees beside the way from the root of `len` bytes to the leaf at `start`, the lowest first.
fn siblings(shape: Shape, len: u64, start: u64) -> Vec<Subtree> {
    let mut siblings = Vec::new();
    let mut node = shape.root(len);
    while node.level > 0 {
        let mut below = None;
        for child in shape.children(node) {
            if (child.start..child.end()).contains(&start) {
                below = Some(child);
            } else {
                siblings.push(child);
            }
        }
        node = below.expect("a node's children hold all its bytes");
    }
    siblings.reverse();
    siblings
}

/// Makes the proof for one leaf while the bytes stream by, in the memory of one [`Tree`] and a digest a level.
///
/// Every sibling on the way is itself the root of its own bytes, so each is one tree after the other.
#[derive(Clone)]
pub struct Prover<'f, N: NodeHash> {
    format: &'f Format<N>,
    index: u64,
    position: u64,
    /// The roots of the siblings that are complete, by level.
    done: Vec<(u32, N::Digest)>,
    now: Range,
    tree: Tree<'f, N>,
}

/// The bytes that come next: a sibling of this level, or the leaf itself.
#[derive(Clone, Copy, Debug)]
struct Range {
    end: u64,
    level: Option<u32>,
}

impl<'f, N: NodeHash> Prover<'f, N> {
    /// A prover of leaf `index`, before the first byte.
    ///
    /// # Errors
    /// If the format has to know the length before.
    ///
    /// # Panics
    /// If the format has another shape than [`prefixed`] gives.
    pub fn new(format: &'f Format<N>, index: u64) -> Result<Self, NeedsLength> {
        let binary = Shape::Even { leaf: format.shape.leaf(), arity: 2, edge: Edge::Promote, tail: Tail::Short };
        assert_eq!(format.shape, binary, "proofs are for binary trees");
        let tree = Tree::new(format)?;
        let now = range(index, 0, format.shape.leaf());
        Ok(Prover { format, index, position: 0, done: Vec::new(), now, tree })
    }

    /// The proof in the tree so far, or `None` while the leaf has not begun.
    ///
    /// # Errors
    /// Never in the formats that [`prefixed`] gives.
    pub fn proof(&self) -> Result<Option<Proof<N::Digest>>, Error> {
        if self.index.saturating_mul(self.format.shape.leaf()) >= self.position {
            return Ok(None);
        }
        let mut done = self.done.clone();
        if let (Some(level), true) = (self.now.level, self.tree.position() > 0) {
            done.push((level, self.tree.root()?));
        }
        done.sort_by_key(|(level, _)| *level);
        let path = done.into_iter().map(|(_, digest)| digest).collect();
        Ok(Some(Proof { index: self.index, len: self.position, path }))
    }

    /// Forgets all bytes.
    pub fn reset(&mut self) {
        self.position = 0;
        self.done.clear();
        self.now = range(self.index, 0, self.format.shape.leaf());
        self.tree.reset();
    }
}

/// The range that begins after `leaves` leaves.
fn range(index: u64, leaves: u64, leaf: u64) -> Range {
    // Saturation is beyond 2^63 bytes, which no input has.
    let end = |leaves: u64| leaves.saturating_mul(leaf);
    if leaves == index {
        return Range { end: end(leaves.saturating_add(1)), level: None };
    }
    // The sibling on a level has the leaf's index there with the last bit flipped.
    for level in 0..u64::BITS {
        let sibling = (index >> level) ^ 1;
        if sibling << level == leaves && (sibling << level) >> level == sibling {
            return Range { end: end((sibling + 1).saturating_mul(1 << level)), level: Some(level) };
        }
    }
    unreachable!("a leaf and its siblings are the whole tree")
}

impl<N: NodeHash> Write for Prover<'_, N> {
    /// Takes all bytes.
    ///
    /// # Errors
    /// If there are more than 2^63 in all.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let room = self.now.end - self.position;
            let now = &rest[..rest.len().min(usize::try_from(room).unwrap_or(usize::MAX))];
            if self.now.level.is_some() {
                self.tree.write_all(now)?;
            }
            self.position += now.len() as u64;
            rest = &rest[now.len()..];
            if self.position == self.now.end {
                if let Some(level) = self.now.level {
                    self.done.push((level, self.tree.root().map_err(io::Error::other)?));
                    self.tree.reset();
                }
                let leaf = self.format.shape.leaf();
                self.now = range(self.index, self.position / leaf, leaf);
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
