//! Large subtrees of files on the device: leaves, and the nodes over them.

use crate::call::{Buffer, Pinned, Queue};
use crate::messages::{DeviceMessages, GUARD, Hashing, Part};
use crate::source::{Kind, Mode};
use crate::{Class, Device, Error, Fallback, source};
use mksum::accelerator::{Accelerator, Perfect, Read, Recipe};
use mksum::{Hash, Messages, Shape};
use mksum_lanes::{blake3, digests};
use std::ops::RangeInclusive;
use std::sync::{Arc, PoisonError};

/// The number of threads that read, transfer and hash.
const QUEUES: usize = 2;

/// The smallest length limit of a subtree, in bytes, which applies to short leaves.
const TARGET: u64 = 32 << 20;

/// The largest length limit of a subtree, in bytes, which applies to long leaves.
const MOST: u64 = 1 << 30;

/// The kind of subtree that a worker computes.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Job {
    hash: Hash,
    leaf: Vec<u8>,
    inner: Vec<u8>,
    /// Whether this is BLAKE3's own tree.
    own: bool,
    bytes: usize,
    arity: usize,
    leaves: usize,
}

impl Job {
    fn of(shape: Shape, recipe: Recipe<'_>, longest: u64) -> Option<Self> {
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
    job: Job,
    queue: Arc<Queue>,
    leaves: Hashing,
    /// The kernel for nodes with a prefix or more than two children; `None` if one launch computes several levels.
    parents: Option<Hashing>,
    bytes: Buffer,
    nodes: [Buffer; 2],
    pinned: Pinned,
}

impl Worker {
    fn new(device: &Device, job: Job) -> Result<Option<Self>, Error> {
        let (queue, size) = (device.queue()?, job.hash.size());
        let Some(leaves) = Hashing::new(device, &queue, job.hash, &job.leaf, job.bytes)? else { return Ok(None) };
        let parents = match job.inner.is_empty() && job.arity == 2 {
            true => None,
            false => match Hashing::new(device, &queue, job.hash, &job.inner, job.arity * size)? {
                None => return Ok(None),
                parents => parents,
            },
        };
        let above = job.leaves / job.arity;
        let room = parents.as_ref().map_or(0, |parents| parents.room(above, job.arity * size));
        let room = room.max(leaves.digests_room(job.leaves));
        let room = room.max(parents.as_ref().map_or(0, |parents| parents.digests_room(above)));
        let context = &device.context;
        let bytes = Buffer::new(context, leaves.room(job.leaves, job.bytes))?;
        let nodes = [Buffer::new(context, room)?, Buffer::new(context, room)?];
        let pinned = Pinned::new(&queue, job.leaves * job.bytes)?;
        Ok(Some(Worker { job, queue, leaves, parents, bytes, nodes, pinned }))
    }

    /// Computes the digest of the subtree over the first `len` pinned bytes.
    fn run(&self, device: &Device, perfect: &Perfect<'_>, len: usize, out: &mut [u8]) -> Result<(), Error> {
        let Job { hash, ref inner, own, bytes, arity, .. } = self.job;
        let (size, count) = (hash.size(), len / bytes);
        let levels = match self.parents {
            None => {
                let kind = Kind::Pairs(if own { Mode::Parent } else { Mode::Message });
                Some(device.levels(&self.queue, hash, kind)?)
            }
            Some(_) => None,
        };
        let part = if own { Part::Chunk(perfect.node.start / bytes as u64) } else { Part::Whole };
        let messages = DeviceMessages { buffer: &self.bytes, first: GUARD, stride: bytes, count };
        let ((digests_at, at, mut count), _) = self.queue.submit(|batch| {
            batch.write(&self.bytes, GUARD, &self.pinned[..len])?;
            let [one, other] = &self.nodes;
            let [mut below, mut above] = self.leaves.run(batch, messages, part, [one, other])?;
            let mut count = count;
            if let Some(levels) = &levels
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

impl Device {
    fn longest(&self, shape: Shape, recipe: Recipe<'_>) -> Option<u64> {
        let Shape::Even { leaf, arity, .. } = shape else { return None };
        let hash = match recipe {
            Recipe::Prefixed { hash, leaf, inner } => {
                let fits = |prefix: &[u8]| prefix.len() <= crate::messages::PREFIX;
                (source::has(hash) && fits(leaf) && fits(inner)).then_some(hash)?
            }
            Recipe::Blake3 => Hash::Blake3,
            _ => return None,
        };
        // Enough leaves that every compute unit has several work-items.
        let items = self.info.units * if self.info.class == Class::Cpu { 4 } else { 256 };
        let busy = leaf.saturating_mul(items * source::side_by_side(hash, self.info.lanes) as u64);
        // The bytes, their copy on the host, and the digests, which are shorter unless leaves are as short as digests.
        let share = self.share(QUEUES as u64 * 4) / 2;
        let most =
            busy.clamp(TARGET, MOST).min(share).min((share / (hash.size() as u64 * 4)).saturating_mul(leaf.max(64)));
        let mut longest = leaf.checked_mul(arity).filter(|&len| len <= most)?;
        while let Some(more) = longest.checked_mul(arity).filter(|&len| len <= most) {
            longest = more;
        }
        Some(longest)
    }

    fn subtree(&self, perfect: &Perfect<'_>, read: Read<'_>, out: &mut [u8]) -> Result<bool, mksum::Error> {
        let Some(longest) = self.longest(perfect.shape, perfect.recipe) else { return Ok(false) };
        let Some(job) = Job::of(perfect.shape, perfect.recipe, longest) else { return Ok(false) };
        let mut workers = self.workers.lock().unwrap_or_else(PoisonError::into_inner);
        // Drop the workers for other formats.
        workers.retain(|worker| worker.job == job);
        let worker = workers.pop();
        drop(workers);
        let worker = match worker {
            Some(worker) => Some(worker),
            None => Worker::new(self, job)?,
        };
        let Some(mut worker) = worker else { return Ok(false) };
        let len = perfect.node.len as usize;
        read(perfect.node.start, &mut worker.pinned[..len])?;
        worker.run(self, perfect, len, out)?;
        self.workers.lock().unwrap_or_else(PoisonError::into_inner).push(worker);
        Ok(true)
    }
}

impl Accelerator for Device {
    fn lengths(&self, shape: Shape, recipe: Recipe<'_>) -> Option<RangeInclusive<u64>> {
        let longest = self.longest(shape, recipe)?;
        (self.options.shortest <= longest).then_some(self.options.shortest..=longest)
    }

    fn threads(&self) -> usize {
        QUEUES
    }

    fn digest(&self, perfect: Perfect<'_>, read: Read<'_>, out: &mut [u8]) -> Result<bool, mksum::Error> {
        match self.subtree(&perfect, read, out) {
            Err(mksum::Error::Source(error)) if self.options.fallback == Fallback::Cpu && error.is::<Error>() => {
                (self.options.notice)(&format!("{}: {error}; the CPU hashes instead", self.info.name));
                Ok(false)
            }
            result => result,
        }
    }
}
