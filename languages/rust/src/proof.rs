//! Inclusion proofs: made while the bytes stream by, verified by the one join of `mksum`.

use crate::Tree;
use mksum::{Digest, Edge, Error, Memory, NeedsLength, Shape, Spec, Subtree, Tail};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Digests that prove that a leaf is under a root (RFC 6962, 2.1.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    /// The leaf, the first being 0.
    pub index: u64,
    /// The length of the whole input, in bytes.
    pub len: u64,
    /// The siblings on the way from the leaf up.
    pub path: Vec<Digest>,
}

impl Proof {
    /// Whether this proves that `leaf` is the leaf at `self.index` of the input with this root.
    ///
    /// `self.len` must come from the same place as the root. In `plain` anything else can be forged: two digests of a tree
    /// are themselves the leaf of a shorter input with the same root.
    pub fn verify(&self, spec: &Spec, root: Digest, leaf: &[u8]) -> bool {
        let Some(start) = self.index.checked_mul(spec.leaf()).filter(|&start| start < self.len) else {
            return false;
        };
        if leaf.len() as u64 != spec.leaf().min(self.len - start) {
            return false;
        }
        let siblings = siblings(spec.shape(), self.len, start);
        let sized = |digest: &Digest| digest.as_bytes().len() == spec.hash().size();
        if siblings.len() != self.path.len() || !self.path.iter().all(sized) {
            return false;
        }
        let known: BTreeMap<Subtree, Digest> = siblings.into_iter().zip(self.path.iter().copied()).collect();
        // The join gets the leaf and the siblings, and hashes the nodes above them.
        spec.root_from(&(known, Memory::from(start, leaf)), self.len).is_ok_and(|found| found.digest() == root)
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
#[derive(Clone, Debug)]
pub struct Prover {
    spec: Spec,
    index: u64,
    position: u64,
    /// The roots of the siblings that are complete, by level.
    done: Vec<(u32, Digest)>,
    now: Range,
    tree: Tree,
}

/// The bytes that come next: a sibling of this level, or the leaf itself.
#[derive(Clone, Copy, Debug)]
struct Range {
    end: u64,
    level: Option<u32>,
}

impl Prover {
    /// A prover of leaf `index`, before the first byte.
    ///
    /// # Errors
    /// If the format needs the input's length first.
    ///
    /// # Panics
    /// If the format has another shape than `plain` and `rfc6962`.
    pub fn new(spec: &Spec, index: u64) -> Result<Self, NeedsLength> {
        let binary = Shape::Even { leaf: spec.leaf(), arity: 2, edge: Edge::Promote, tail: Tail::Short };
        assert_eq!(spec.shape(), binary, "proofs are for binary trees");
        let now = range(index, 0, spec.leaf());
        Ok(Prover { spec: spec.clone(), index, position: 0, done: Vec::new(), now, tree: Tree::new(spec)? })
    }

    /// The proof in the tree so far, or `None` while the leaf has not begun.
    ///
    /// # Errors
    /// Never in `plain` and `rfc6962`.
    pub fn proof(&self) -> Result<Option<Proof>, Error> {
        if self.index.saturating_mul(self.spec.leaf()) >= self.position {
            return Ok(None);
        }
        let mut done = self.done.clone();
        if let (Some(level), true) = (self.now.level, self.tree.position() > 0) {
            done.push((level, self.tree.root()?.digest()));
        }
        done.sort_by_key(|(level, _)| *level);
        let path = done.into_iter().map(|(_, digest)| digest).collect();
        Ok(Some(Proof { index: self.index, len: self.position, path }))
    }

    /// Removes all bytes.
    pub fn reset(&mut self) {
        self.position = 0;
        self.done.clear();
        self.now = range(self.index, 0, self.spec.leaf());
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

impl Write for Prover {
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
                    self.done.push((level, self.tree.root().map_err(io::Error::other)?.digest()));
                    self.tree.reset();
                }
                let leaf = self.spec.leaf();
                self.now = range(self.index, self.position / leaf, leaf);
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
