//! Large subtrees of files on the device: leaves, and the nodes over them.

use crate::call::{Buffer, Pinned, Queue};
use crate::framing::Framing;
use crate::messages::{Hashing, PREFIX, chunks};
use crate::source::{Kind, Mode};
use crate::worker::{Job, Worker};
use crate::{Class, Device, Error, Fallback, source};
use mksum::accelerator::{Accelerator, Perfect, Read, Recipe};
use mksum::{Hash, Shape};
use std::ops::RangeInclusive;
use std::sync::PoisonError;

/// The number of threads that read, transfer and hash.
const QUEUES: usize = 2;

/// The smallest length limit of a subtree, in bytes, which applies to short leaves.
const TARGET: u64 = 32 << 20;

/// The largest length limit of a subtree, in bytes, which applies to long leaves.
const MOST: u64 = 1 << 30;

impl Hashing {
    /// Prepares to hash messages of a prefix and `len` bytes; `None` if no kernel supports them.
    pub fn new(device: &Device, queue: &Queue, hash: Hash, prefix: &[u8], len: usize) -> Result<Option<Self>, Error> {
        let framing = Framing::new(hash, prefix, len as u64).filter(|_| source::has(hash) && prefix.len() <= PREFIX);
        let Some(framing) = framing else { return Ok(None) };
        if hash == Hash::Blake3 && chunks(&framing) > device.info.rows {
            return Ok(None);
        }
        let kernel = device.kernel(hash, Kind::Messages, "messages")?;
        let parents = match hash {
            Hash::Blake3 => Some(device.kernel(hash, Kind::Messages, "chunk_parents")?),
            _ => None,
        };
        let edges = Buffer::new(&device.context, framing.edges.len().max(16))?;
        if !framing.edges.is_empty() {
            queue.submit(|batch| batch.write(&edges, 0, &framing.edges))?;
        }
        let group = if device.info.class == Class::Cpu { 1 } else { kernel.max_group()?.clamp(1, 64) };
        let lanes = source::side_by_side(hash, device.info.lanes);
        Ok(Some(Hashing { hash, kernel, parents, framing, edges, prefix: prefix.len(), lanes, group }))
    }
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
}

impl Device {
    fn longest(&self, shape: Shape, recipe: Recipe<'_>) -> Option<u64> {
        let Shape::Even { leaf, arity, .. } = shape else { return None };
        let hash = match recipe {
            Recipe::Prefixed { hash, leaf, inner } => {
                let fits = |prefix: &[u8]| prefix.len() <= PREFIX;
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
        let levels = match worker.parents {
            None => {
                let kind = Kind::Pairs(if worker.job.own { Mode::Parent } else { Mode::Message });
                Some(self.levels(&worker.queue, worker.job.hash, kind)?)
            }
            Some(_) => None,
        };
        worker.run(levels.as_ref(), perfect, len, out)?;
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
