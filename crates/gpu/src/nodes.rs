//! Node trees: tiles of leaves stream through the device, and the CPU's lanes compute the levels too small for it.

use crate::call::{Arg, Buffer, Event, Pinned, Queue};
use crate::source::{self, Kind, Mode};
use crate::{Device, Error, Fallback, Levels};
use mksum::node_tree::{CpuLanes, Limits, Merklize, NodeTree, NodeTreeError, Tile, Timings};
use mksum::ordered::ordered;
use mksum::{Hash, Messages};
use mksum_lanes::digests;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// The threads that compute tiles. Each has a queue, so that one transfers data while the other's kernels run.
const QUEUES: usize = 2;

/// The longest tile, in bytes of leaves: long enough that the launch time is negligible, short enough that a gigabyte has
/// many.
const TILE: usize = 64 << 20;

impl Merklize for Device {
    fn name(&self) -> String {
        self.info.name.clone()
    }

    fn merklize(&self, hash: Hash, leaves: &[u8], nodes: &mut [u8]) -> Result<Timings, NodeTreeError> {
        let tree = NodeTree::between(hash, leaves, nodes)?;
        match self.node_tree(tree, leaves, nodes) {
            Err(error) if self.options.fallback == Fallback::Cpu && error.is_of_device() => {
                (self.options.notice)(&format!("{}: {error}; the CPU hashes instead", self.info.name));
                let threads = thread::available_parallelism().map_or(1, |threads| threads.get());
                CpuLanes { threads }.merklize(hash, leaves, nodes)
            }
            timings => Ok(timings?),
        }
    }

    fn limits(&self, hash: Hash) -> Result<Limits, NodeTreeError> {
        NodeTree::over(hash, 2 * hash.size())?;
        Ok(Limits { copy: self.copy_rate()?, nodes: self.node_rate(hash)? })
    }
}

impl Device {
    /// Returns the largest length of each of `buffers` equal buffers, in bytes.
    pub(crate) fn share(&self, buffers: u64) -> u64 {
        // A quarter of the memory is left to the driver and to other programs.
        let memory = (self.info.memory / 4 * 3).min(self.options.memory);
        (memory / buffers).min(self.info.allocation)
    }

    fn node_tree(&self, tree: NodeTree, leaves: &[u8], nodes: &mut [u8]) -> Result<Timings, Error> {
        let (hash, size, count) = (tree.hash(), tree.hash().size(), tree.leaves());
        // Leaves and nodes, and both again on the host if they are pinned there: not if it shares its memory with the device.
        let buffers = QUEUES as u64 * if self.is_pinned() { 4 } else { 2 };
        let most = self.share(buffers).min(TILE as u64) / size as u64;
        let smallest = 2 * source::side_by_side(hash, self.info.lanes);
        if most < smallest as u64 {
            return Err(Error::Memory { needed: (smallest * size) as u64, offered: self.share(buffers) });
        }
        let per_tile = count.min(1 << most.ilog2());
        // The CPU computes the tree over the tiles' roots, or a whole small tree.
        let on_cpu = |leaves: &[u8], nodes: &mut [u8]| {
            let done = CpuLanes { threads: 1 }.merklize(hash, leaves, nodes);
            done.expect("2^k digests of a hash with node trees");
        };
        if per_tile < smallest {
            on_cpu(leaves, nodes);
            return Ok(Timings::default());
        }
        let timings = self.tiles(tree, leaves, nodes, per_tile)?;
        let roots = leaves.len() / per_tile;
        let (above, below) = nodes.split_at_mut(roots);
        match roots == size {
            true => above.fill(0),
            false => on_cpu(&below[..roots], above),
        }
        Ok(timings)
    }

    /// Computes the nodes of every tile of `per_tile` leaves.
    fn tiles(&self, tree: NodeTree, leaves: &[u8], nodes: &mut [u8], per_tile: usize) -> Result<Timings, Error> {
        let tiles = tree.leaves() / per_tile;
        let threads = QUEUES.min(tiles);
        let queues = (0..threads).map(|_| self.queue()).collect::<Result<Vec<_>, Error>>()?;
        let unused = Mutex::new(queues.iter());
        let open = || {
            let queue = unused.lock().unwrap_or_else(PoisonError::into_inner).next().expect("a queue for each thread");
            Lane::new(self, queue, tree.hash(), per_tile)
        };
        let run = |lane: &mut Result<Lane, Error>, tile| lane.as_mut().map_err(|error| error.clone())?.run(tile);
        ordered(threads, 2 * threads, tree.tiles(leaves, nodes, tiles, per_tile.ilog2()), open, run, |results| {
            let mut sum = Timings::default();
            for timings in results {
                sum += timings?;
            }
            Ok(sum)
        })
    }

    /// Measures how many bytes the device copies within its memory per second.
    fn copy_rate(&self) -> Result<f64, Error> {
        let len = self.share(4).clamp(1, 256 << 20) as usize;
        let queue = self.queue()?;
        let (from, to) = (Buffer::new(&self.context, len)?, Buffer::new(&self.context, len)?);
        queue.write(&from, 0, &vec![1; len])?;
        let mut least = Duration::MAX;
        for _ in 0..5 {
            least = least.min(queue.copy(&from, &to)?);
        }
        Ok(len as f64 / least.as_secs_f64().max(1e-9))
    }

    /// Measures how many nodes the device hashes per second without memory access.
    fn node_rate(&self, hash: Hash) -> Result<f64, Error> {
        const TIMES: u32 = 512;
        let queue = self.queue()?;
        let mut kernel = self.kernel(hash, Kind::Rate, "rate")?;
        let lanes = source::side_by_side(hash, self.info.lanes);
        let group = if lanes > 1 { 1 } else { kernel.max_group()?.clamp(1, 64) };
        // The same number of groups for every compute unit.
        let items = self.info.units as usize * group * if lanes > 1 { 8 } else { 64 };
        let nodes = Buffer::new(&self.context, items * lanes * hash.size())?;
        let mut least = Duration::MAX;
        for _ in 0..3 {
            let args = [Arg::Buffer(&nodes), Arg::U32(TIMES)];
            least = least.min(queue.run(&mut kernel, &args, [items, 1], [group, 1])?.elapsed()?);
        }
        Ok((items * lanes) as f64 * f64::from(TIMES) / least.as_secs_f64().max(1e-9))
    }
}

/// A queue with the buffers for one tile.
struct Lane<'a> {
    queue: &'a Arc<Queue>,
    levels: Levels<'a>,
    leaves: Buffer,
    nodes: Buffer,
    /// Buffers on the host, unless the device shares its memory.
    pinned: Option<[Pinned; 2]>,
}

impl<'a> Lane<'a> {
    fn new(device: &Device, queue: &'a Arc<Queue>, hash: Hash, leaves: usize) -> Result<Self, Error> {
        let bytes = leaves * hash.size();
        let pinned = || Ok([Pinned::new(queue, bytes)?, Pinned::new(queue, bytes)?]);
        Ok(Lane {
            queue,
            levels: device.levels(queue, hash, Kind::Pairs(Mode::Message))?,
            leaves: Buffer::new(&device.context, bytes)?,
            nodes: Buffer::new(&device.context, bytes)?,
            pinned: if device.is_pinned() { Some(pinned()?) } else { None },
        })
    }

    fn run(&mut self, tile: Tile<'_>) -> Result<Timings, Error> {
        let mut timings = Timings::default();
        let (hash, size) = (self.levels.hash, self.levels.hash.size());
        let leaves = match &mut self.pinned {
            Some([to_device, _]) => {
                to_device.copy_from_slice(tile.leaves);
                &to_device[..]
            }
            None => tile.leaves,
        };
        timings.to_device += self.queue.write(&self.leaves, 0, leaves)?.elapsed()?;
        timings.kernel += self.levels.run((&self.leaves, 0), &self.nodes, tile.leaves.len() / size / 2)?;
        let read = |at: usize, level: &mut [u8]| {
            self.queue.read(&self.nodes, at, level).and_then(|event: Event| event.elapsed())
        };
        // The CPU computes the levels with fewer nodes than the device has lanes.
        let least = self.levels.least();
        if let Some([_, from_device]) = &mut self.pinned {
            timings.from_device += read(0, from_device)?;
        }
        let mut below: Option<&[u8]> = None;
        for (index, level) in tile.levels.into_iter().enumerate().rev() {
            let nodes = 1_usize << index;
            if nodes < least {
                let below = below.expect("the device computes the level above the leaves");
                digests(hash, &[], Messages::new(below, 2 * size), level);
            } else {
                match &self.pinned {
                    Some([_, from_device]) => level.copy_from_slice(&from_device[nodes * size..2 * nodes * size]),
                    None => timings.from_device += read(nodes * size, level)?,
                }
            }
            below = Some(level);
        }
        Ok(timings)
    }
}
