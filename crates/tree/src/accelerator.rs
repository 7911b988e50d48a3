//! Large subtrees that something else than the CPU computes, from the bytes under them.

use crate::{Error, Format, NodeHash, Role, Shape, Subtree, Subtrees};
use core::fmt;
use core::ops::RangeInclusive;
use mksum_lanes::Hash;

/// What a node's hash is, as plain data: for whoever computes nodes without [`NodeHash`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recipe<'a> {
    /// A full leaf is the hash of a prefix and its bytes, an inner node that of a prefix and its children's digests.
    Prefixed {
        /// The hash.
        hash: Hash,
        /// The prefix of a leaf.
        leaf: &'a [u8],
        /// The prefix of an inner node.
        inner: &'a [u8],
    },
    /// BLAKE3's own chunks and parents.
    Blake3,
}

/// A device that computes large subtrees.
pub trait Accelerator: fmt::Debug + Send + Sync {
    /// The lengths of the subtrees that it computes, in bytes; `None` if it computes none of this format.
    fn lengths(&self, shape: Shape, recipe: Recipe<'_>) -> Option<RangeInclusive<u64>>;

    /// How many threads should ask it at once, so that it reads, moves and hashes at the same time.
    fn threads(&self) -> usize;

    /// Writes the digest of an inner subtree that is perfect: `read` fills memory with its bytes from some offset on.
    ///
    /// Returns whether it did; if not, the subtree is to be joined from its children.
    ///
    /// # Errors
    /// If `read` fails, or the device does.
    fn digest(&self, node: Perfect<'_>, read: Read<'_>, out: &mut [u8]) -> Result<bool, Error>;
}

/// Fills memory with the bytes from an offset of the input on.
pub type Read<'a> = &'a (dyn Fn(u64, &mut [u8]) -> Result<(), Error> + Sync);

/// An inner subtree all of whose leaves are full.
#[derive(Clone, Copy, Debug)]
pub struct Perfect<'a> {
    /// Which.
    pub node: Subtree,
    /// The shape of its tree: [`Shape::Even`].
    pub shape: Shape,
    /// What its nodes are.
    pub recipe: Recipe<'a>,
}

/// A device as a source of large subtrees.
pub struct Accelerated<'a> {
    accelerator: &'a dyn Accelerator,
    read: Read<'a>,
    lengths: RangeInclusive<u64>,
}

impl<'a> Accelerated<'a> {
    /// A source for one format, if the device computes subtrees of it.
    pub fn new<N: NodeHash>(accelerator: &'a dyn Accelerator, format: &Format<N>, read: Read<'a>) -> Option<Self> {
        let lengths = accelerator.lengths(format.shape, format.nodes.recipe()?)?;
        Some(Accelerated { accelerator, read, lengths })
    }

    /// The longest subtree that it answers, in bytes.
    pub fn longest(&self) -> u64 {
        *self.lengths.end()
    }
}

impl<const D: usize, N: NodeHash<Digest = [u8; D]>> Subtrees<N> for Accelerated<'_> {
    fn digest(&self, format: &Format<N>, node: Subtree, role: Role) -> Result<Option<[u8; D]>, Error> {
        let Some(recipe) = format.nodes.recipe() else { return Ok(None) };
        let asked = role == Role::Inner && node.level > 0 && self.lengths.contains(&node.len);
        if !asked || !format.shape.is_perfect(node) {
            return Ok(None);
        }
        let (mut out, perfect) = ([0; D], Perfect { node, shape: format.shape, recipe });
        Ok(self.accelerator.digest(perfect, self.read, &mut out)?.then_some(out))
    }
}
