//! What is hashed for one node, and for many at once.

use crate::Recipe;
use alloc::vec::Vec;
use core::fmt::Debug;
use mksum_lanes::{Hash, Messages, blake3};

/// Whether a node is the root: some formats mark the root apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A node with a parent.
    Inner,
    /// The node without a parent.
    Root,
}

/// How a format hashes its nodes.
pub trait NodeHash: Sync {
    /// The digest of a node.
    type Digest: Clone + Debug + PartialEq + Send + Sync;
    /// Leaves being hashed side by side, slice by slice.
    type Leaves: Clone + Send;
    /// A parent being hashed, child by child.
    type Parent: Clone + Send;

    /// The digest that stands in for a missing node: zero bits.
    fn zero(&self) -> Self::Digest;

    /// The digest at the top of an input without bytes, if the format defines one.
    fn empty(&self) -> Option<Self::Digest>;

    /// The format's root, from the digest at the top of the tree and the input's length in bytes.
    fn seal(&self, top: Self::Digest, _len: u64) -> Self::Digest {
        top
    }

    /// Whether a root has another digest than the same node within a larger tree.
    fn marks_root(&self) -> bool;

    /// Whether equal bytes at another offset give another digest.
    fn depends_on_start(&self) -> bool;

    /// What a node's hash is, as plain data; `None` where it is none of the kinds that a [`Recipe`] tells.
    fn recipe(&self) -> Option<Recipe<'_>> {
        None
    }

    /// How many leaves are hashed side by side at full speed: a planner asks for multiples of it.
    fn lanes(&self) -> usize;

    /// The digest of the leaf that begins at byte `start`.
    fn leaf(&self, start: u64, bytes: &[u8], role: Role) -> Self::Digest;

    /// Appends the digests of consecutive inner leaves of equal length, the first beginning at byte `start`.
    fn leaves(&self, start: u64, leaves: Messages<'_>, out: &mut Vec<Self::Digest>);

    /// Begins `count` leaves, each at its own byte offset.
    ///
    /// Only leaves longer than a reader's buffer are hashed in slices.
    fn open_leaves(&self, starts: &[u64]) -> Self::Leaves;

    /// Appends to each leaf its next slice.
    fn slices(&self, open: &mut Self::Leaves, slices: Messages<'_>);

    /// Appends the digests of the leaves, whose last bytes (none, or a few of a length of their own) are `ends`.
    fn close_leaves(&self, open: Self::Leaves, ends: &[&[u8]], role: Role, out: &mut Vec<Self::Digest>);

    /// Begins a parent.
    fn open_parent(&self, role: Role) -> Self::Parent;

    /// Appends children to a parent, left to right.
    fn children(&self, open: &mut Self::Parent, children: &[Self::Digest]);

    /// The digest of a parent with all its children.
    fn close_parent(&self, open: Self::Parent) -> Self::Digest;

    /// The digest of a node over its children's digests, left to right.
    fn parent(&self, children: &[Self::Digest], role: Role) -> Self::Digest {
        let mut open = self.open_parent(role);
        self.children(&mut open, children);
        self.close_parent(open)
    }

    /// Appends the digest of the inner parent of each run of `arity` digests; `children.len()` is a multiple of it.
    fn parents(&self, children: &[Self::Digest], arity: usize, out: &mut Vec<Self::Digest>);
}

/// BLAKE3's chunks and parents (the BLAKE3 paper, 2.4 and 2.5).
#[derive(Clone, Copy, Debug)]
pub struct Blake3;

impl NodeHash for Blake3 {
    type Digest = [u8; 32];
    /// The offset and the bytes so far of each leaf: at most a chunk.
    type Leaves = Vec<(u64, Vec<u8>)>;
    type Parent = (Role, Vec<[u8; 32]>);

    fn zero(&self) -> [u8; 32] {
        [0; 32]
    }

    fn empty(&self) -> Option<[u8; 32]> {
        Some(blake3::root_chunk(&[]))
    }

    fn marks_root(&self) -> bool {
        true
    }

    fn depends_on_start(&self) -> bool {
        true
    }

    fn recipe(&self) -> Option<Recipe<'_>> {
        Some(Recipe::Blake3)
    }

    fn lanes(&self) -> usize {
        Hash::Blake3.lanes()
    }

    fn leaf(&self, start: u64, bytes: &[u8], role: Role) -> [u8; 32] {
        match role {
            Role::Root => blake3::root_chunk(bytes),
            Role::Inner => {
                let mut out = [[0; 32]];
                blake3::chunks(start / blake3::CHUNK as u64, Messages::one(bytes), &mut out);
                out[0]
            }
        }
    }

    fn leaves(&self, start: u64, leaves: Messages<'_>, out: &mut Vec<[u8; 32]>) {
        let from = out.len();
        out.resize(from + leaves.count(), [0; 32]);
        blake3::chunks(start / blake3::CHUNK as u64, leaves, &mut out[from..]);
    }

    fn open_leaves(&self, starts: &[u64]) -> Self::Leaves {
        starts.iter().map(|&start| (start, Vec::new())).collect()
    }

    fn slices(&self, open: &mut Self::Leaves, slices: Messages<'_>) {
        for ((_, bytes), slice) in open.iter_mut().zip(slices.iter()) {
            bytes.extend_from_slice(slice);
        }
    }

    fn close_leaves(&self, open: Self::Leaves, ends: &[&[u8]], role: Role, out: &mut Vec<[u8; 32]>) {
        out.extend(open.into_iter().zip(ends).map(|((start, mut bytes), end)| {
            bytes.extend_from_slice(end);
            self.leaf(start, &bytes, role)
        }));
    }

    fn open_parent(&self, role: Role) -> Self::Parent {
        (role, Vec::with_capacity(2))
    }

    fn children(&self, open: &mut Self::Parent, children: &[[u8; 32]]) {
        open.1.extend_from_slice(children);
    }

    fn close_parent(&self, (role, children): Self::Parent) -> [u8; 32] {
        match role {
            Role::Root => blake3::root_parent(&children[0], &children[1]),
            Role::Inner => {
                let mut out = [[0; 32]];
                blake3::parents(&children, &mut out);
                out[0]
            }
        }
    }

    fn parents(&self, children: &[[u8; 32]], _: usize, out: &mut Vec<[u8; 32]>) {
        let from = out.len();
        out.resize(from + children.len() / 2, [0; 32]);
        blake3::parents(children, &mut out[from..]);
    }
}
