//! Large subtrees that a device computes from the bytes under them.

pub use crate::hashing::Recipe;
use crate::{Digest, Error, Role, Shape, Spec, Subtree, Subtrees};
use core::fmt;
use core::ops::RangeInclusive;

/// A device that computes large subtrees.
pub trait Accelerator: fmt::Debug + Send + Sync {
    /// The lengths of the subtrees that it computes, in bytes; `None` if it computes none of this format.
    fn lengths(&self, shape: Shape, recipe: Recipe<'_>) -> Option<RangeInclusive<u64>>;

    /// Returns the number of threads that should call it at once, so that it reads, transfers and hashes at the same time.
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

/// An inner subtree with full leaves only.
#[derive(Clone, Copy, Debug)]
pub struct Perfect<'a> {
    /// The subtree.
    pub node: Subtree,
    /// The shape of its tree: [`Shape::Even`].
    pub shape: Shape,
    /// The hashes of its nodes.
    pub recipe: Recipe<'a>,
}

/// A device as a source of large subtrees.
pub struct Accelerated<'a> {
    accelerator: &'a dyn Accelerator,
    read: Read<'a>,
    lengths: RangeInclusive<u64>,
}

impl<'a> Accelerated<'a> {
    /// The source of subtrees of this format, if the device computes them.
    pub fn new(accelerator: &'a dyn Accelerator, spec: &Spec, read: Read<'a>) -> Option<Self> {
        let lengths = accelerator.lengths(spec.shape(), spec.recipe()?)?;
        Some(Accelerated { accelerator, read, lengths })
    }

    /// The longest subtree that it answers, in bytes.
    pub fn longest(&self) -> u64 {
        *self.lengths.end()
    }
}

impl Subtrees for Accelerated<'_> {
    fn digest(&self, spec: &Spec, node: Subtree, role: Role) -> Result<Option<Digest>, Error> {
        let Some(recipe) = spec.recipe() else { return Ok(None) };
        let asked = role == Role::Inner && node.level > 0 && self.lengths.contains(&node.len);
        if !asked || !spec.shape().is_perfect(node) {
            return Ok(None);
        }
        let mut out = Digest::zero(spec.hash().size());
        let perfect = Perfect { node, shape: spec.shape(), recipe };
        Ok(self.accelerator.digest(perfect, self.read, out.as_mut())?.then_some(out))
    }
}
