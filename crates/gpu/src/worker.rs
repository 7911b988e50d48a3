//! The buffers and kernels for subtrees of one format, and the way of a subtree through them.

use crate::Error;
use crate::call::{Buffer, Pinned, Queue};
use crate::launch::Levels;
use crate::messages::{DeviceMessages, GUARD, Hashing, Part};
use mksum::accelerator::{Perfect, Recipe};
use mksum::{Hash, Messages, Shape};
use mksum_lanes::{blake3, digests};
use std::sync::Arc;

/// The kind of subtree that a worker computes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Job {
    pub hash: Hash,
    pub leaf: Vec<u8>,
    pub inner: Vec<u8>,
    /// Whether this is BLAKE3's own tree.
    pub own: bool,
    pub bytes: usize,
    pub arity: usize,
    pub leaves: usize,
}

impl Job {
    /// The job of the subtrees of a format; `None` if a device computes none of it.
    pub fn of(shape: Shape, recipe: Recipe<'_>, longest: u64) -> Option<Self> {
        let Shape::Even { leaf: bytes, arity, .. } = shape else { return None };
        let (hash, leaf, inner) = match recipe {
            Recipe::Prefixed { hash, leaf, inner } => (hash, leaf, inner),
            Recipe::Blake3 => (Hash::Blake3, &[][..], &[][..]),
            _ => return None,
        };
        Some(Job {
            hash,
            leaf: leaf.into(),
            inner: inner.into(),
            own: recipe == Recipe::Blake3,
            bytes: usize::try_from(bytes).ok()?,
            arity: usize::try_from(arity).ok()?,
            leaves: usize::try_from(longest / bytes).ok()?,
        })
    }
}

/// A queue with the buffers and kernels for subtrees of one format.
#[derive(Debug)]
pub(crate) struct Worker {
    pub job: Job,
    pub queue: Arc<Queue>,
    pub leaves: Hashing,
    /// The kernel for nodes with a prefix or more than two children; `None` if one launch computes several levels.
    pub parents: Option<Hashing>,
    pub bytes: Buffer,
    pub nodes: [Buffer; 2],
    pub pinned: Pinned,
}

impl Worker {
    /// Computes the digest of the subtree over the first `len` pinned bytes.
    ///
    /// `levels` computes several levels at once, where there is no kernel for single ones.
    pub fn run(&self, levels: Option<&Levels>, perfect: &Perfect<'_>, len: usize, out: &mut [u8]) -> Result<(), Error> {
        let Job { hash, ref inner, own, bytes, arity, .. } = self.job;
        let (size, count) = (hash.size(), len / bytes);
        let part = if own { Part::Chunk(perfect.node.start / bytes as u64) } else { Part::Whole };
        let messages = DeviceMessages { buffer: &self.bytes, first: GUARD, stride: bytes, count };
        let ((digests_at, at, mut count), _) = self.queue.submit(|batch| {
            batch.write(&self.bytes, GUARD, &self.pinned[..len])?;
            let [one, other] = &self.nodes;
            let [mut below, mut above] = self.leaves.run(batch, messages, part, [one, other])?;
            let mut count = count;
            if let Some(levels) = levels
                && count / 2 >= levels.least()
            {
                levels.run(batch, (below, GUARD), above, count / 2)?;
                // In a heap, the level of n nodes begins at slot n.
                count = levels.least();
                return Ok((above, count * size, count));
            }
            if let Some(parents) = &self.parents {
                while count / arity >= parents.padded(1).min(64) {
                    count /= arity;
                    let messages = DeviceMessages { buffer: below, first: GUARD, stride: arity * size, count };
                    [below, above] = parents.run(batch, messages, Part::Whole, [above, below])?;
                }
            }
            Ok((below, GUARD, count))
        })?;
        let mut level = vec![0; count * size];
        self.queue.submit(|batch| batch.read(digests_at, at, &mut level))?;
        // The remaining levels are too small for the device.
        while count > 1 {
            count /= arity;
            let mut above = vec![0; count * size];
            match own {
                true => blake3::parents(level.as_chunks().0, above.as_chunks_mut().0),
                false => digests(hash, inner, Messages::new(&level, arity * size), &mut above),
            }
            level = above;
        }
        out.copy_from_slice(&level);
        Ok(())
    }
}
