//! Node trees: tiles of leaves stream through the device, and the CPU's lanes compute the levels too small for it.

use crate::call::{Buffer, HostBuffer, Pinned, Recorder};
use crate::launch::Levels;
use crate::slot::{LONGEST, Slot};
use crate::source::{self, Kind, Mode};
use crate::{Device, Error, Fallback, Transfer};
use mksum::Hash;
use mksum::node_tree::{Aligned, CpuLanes, Merklize, NodeTree, NodeTreeError, Timings};
use mksum::ordered::ordered;
use std::ops::RangeInclusive;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// The number of threads that compute tiles, each with a slot: a tree of few tiles needs fewer. With three, one tile goes to the device
/// and one comes from it while the kernels run over another. The host's copies to and from pinned memory may be slower than the bus: more
/// threads share them.
const SLOTS: RangeInclusive<usize> = 3..=8;

/// The shortest tile of a longer tree, in bytes of leaves.
const SHORTEST: usize = 1 << 20;

/// The number of tiles that a tree is cut into if they are neither too short nor too long: enough that most transfers overlap kernels.
const TILES: usize = 8;

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
        if let Some(timings) = self.in_place(tree, leaves, nodes)? {
            return Ok(timings);
        }
        let slots = self.slots_of_tree();
        // Leaves and nodes, and both again on the host if they are pinned there: not if it shares its memory with the device.
        let buffers = slots as u64 * if self.is_pinned() { 4 } else { 2 };
        let longest = (tree.bytes() / TILES).clamp(SHORTEST, LONGEST) as u64;
        let most = self.share(buffers).min(longest) / size as u64;
        let smallest = 2 * source::side_by_side(hash, self.info.lanes);
        if most < smallest as u64 {
            return Err(Error::Memory { needed: (smallest * size) as u64, offered: self.share(buffers) });
        }
        let per_tile = count.min(1 << most.ilog2());
        if per_tile < smallest {
            on_cpu(hash, leaves, nodes);
            return Ok(Timings::default());
        }
        let timings = self.tiles(tree, leaves, nodes, per_tile)?;
        above(hash, leaves.len() / per_tile, nodes);
        Ok(timings)
    }

    /// Has kernels read the leaves and write the nodes where they lie, if the device shares the host's memory: nothing is copied. `None`
    /// if they cannot.
    fn in_place(&self, tree: NodeTree, leaves: &[u8], nodes: &mut [u8]) -> Result<Option<Timings>, Error> {
        let (hash, parents) = (tree.hash(), tree.leaves() / 2);
        let least = source::side_by_side(hash, self.info.lanes);
        let aligned = [leaves.as_ptr(), nodes.as_ptr()].iter().all(|bytes| bytes.addr().is_multiple_of(Aligned::TO));
        if self.transfer() != Transfer::InPlace || !aligned || parents < least || tree.bytes() as u64 > self.share(2) {
            return Ok(None);
        }
        let queue = self.queue()?;
        let levels = self.levels(&queue, hash, Kind::Pairs(Mode::Message))?;
        let Some(below) = HostBuffer::reading(&self.context, leaves)? else { return Ok(None) };
        let Some(wrapped) = HostBuffer::writing(&self.context, nodes)? else { return Ok(None) };
        let ((), ran) = queue.submit(|batch| {
            levels.run(batch, (&below, 0), &wrapped, parents)?;
            batch.show(&wrapped)
        })?;
        drop((below, wrapped));
        above(hash, least * hash.size(), nodes);
        let mut recorder = Recorder::default();
        recorder.add(ran)?;
        Ok(Some(recorder.timings()))
    }

    /// The largest number of slots for one tree.
    fn slots_of_tree(&self) -> usize {
        let threads = thread::available_parallelism().map_or(1, |threads| threads.get());
        if self.is_pinned() { threads.clamp(*SLOTS.start(), *SLOTS.end()) } else { *SLOTS.start() }
    }

    /// Computes the nodes of every tile of `per_tile` leaves.
    fn tiles(&self, tree: NodeTree, leaves: &[u8], nodes: &mut [u8], per_tile: usize) -> Result<Timings, Error> {
        let tiles = tree.leaves() / per_tile;
        let mut slots = self.take_slots(self.slots_of_tree().min(tiles), per_tile * tree.hash().size())?;
        let threads = slots.len();
        let levels = (0..threads)
            .map(|_| self.levels(&slots[0].queue, tree.hash(), Kind::Pairs(Mode::Message)))
            .collect::<Result<Vec<_>, Error>>()?;
        let unused = Mutex::new(slots.iter_mut().zip(&levels));
        let open = || unused.lock().unwrap_or_else(PoisonError::into_inner).next().expect("a slot for each thread");
        let run = |(slot, levels): &mut (&mut Slot, &Levels), tile| slot.run(levels, tile);
        let tiles = tree.tiles(leaves, nodes, tiles, per_tile.ilog2());
        let timings = ordered(threads, 2 * threads, tiles, open, run, |results| {
            let mut recorder = Recorder::default();
            for ran in results {
                recorder.add(ran?)?;
            }
            Ok(recorder.timings())
        });
        // After a failure, the slots are released: the device may have lost their memory.
        if timings.is_ok() {
            self.keep_slots(slots);
        }
        timings
    }

    /// Returns kept slots for tiles of `bytes` bytes of leaves, and makes the rest of `count`; fewer if there is no memory for more.
    fn take_slots(&self, count: usize, bytes: usize) -> Result<Vec<Slot>, Error> {
        let mut kept = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        // Slots that are too short make room for longer ones.
        kept.retain(|slot| slot.leaves.len() >= bytes);
        let start = kept.len().saturating_sub(count);
        let mut slots = kept.split_off(start);
        drop(kept);
        while slots.len() < count {
            match Slot::new(self, bytes) {
                Ok(slot) => slots.push(slot),
                Err(error) if slots.is_empty() => return Err(error),
                Err(_) => break,
            }
        }
        Ok(slots)
    }

    /// Keeps slots for later trees: as many as one tree uses.
    fn keep_slots(&self, slots: Vec<Slot>) {
        let mut kept = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(slots);
        let surplus = kept.len().saturating_sub(self.slots_of_tree());
        let surplus: Vec<_> = kept.drain(..surplus).collect();
        drop(kept);
        // Releases memory while nobody waits for the lock.
        drop(surplus);
    }
}

/// Has the CPU compute the nodes above the level that begins at byte `start`, and set place 0 to zero.
fn above(hash: Hash, start: usize, nodes: &mut [u8]) {
    let (above, below) = nodes.split_at_mut(start);
    match start == hash.size() {
        true => above.fill(0),
        false => on_cpu(hash, &below[..start], above),
    }
}

fn on_cpu(hash: Hash, leaves: &[u8], nodes: &mut [u8]) {
    let done = CpuLanes { threads: 1 }.merklize(hash, leaves, nodes);
    done.expect("2^k digests of a hash with node trees");
}

impl Slot {
    /// A slot for tiles of at most `bytes` bytes of leaves.
    fn new(device: &Device, bytes: usize) -> Result<Self, Error> {
        let queue = device.queue()?;
        let pinned = || Ok([Pinned::new(&queue, bytes)?, Pinned::new(&queue, bytes)?]);
        let pinned = if device.is_pinned() { Some(pinned()?) } else { None };
        let (leaves, nodes) = (Buffer::new(&device.context, bytes)?, Buffer::new(&device.context, bytes)?);
        Ok(Slot { queue, leaves, nodes, pinned })
    }
}
