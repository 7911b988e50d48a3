//! The buffers for one tile of a node tree, and the way of a tile through them.

use crate::Error;
use crate::call::{Buffer, Pinned, Queue, Ran};
use crate::launch::Levels;
use mksum::Messages;
use mksum::node_tree::Tile;
use mksum_lanes::digests;
use std::sync::Arc;

/// The longest tile, in bytes of leaves: its transfers take far longer than its launches, and a file's 64 MiB have several.
pub(crate) const LONGEST: usize = 16 << 20;

/// A queue with the buffers for one tile, kept by the device from tree to tree, whatever their hash.
#[derive(Debug)]
pub(crate) struct Slot {
    pub queue: Arc<Queue>,
    pub leaves: Buffer,
    pub nodes: Buffer,
    /// Buffers on the host, unless the device shares its memory.
    pub pinned: Option<[Pinned; 2]>,
}

impl Slot {
    /// Computes the nodes of a tile.
    pub fn run(&mut self, levels: &Levels, tile: Tile<'_>) -> Result<Ran, Error> {
        let (hash, size, bytes) = (levels.hash, levels.hash.size(), tile.leaves.len());
        let Slot { queue, leaves, nodes, pinned } = self;
        let parents = bytes / size / 2;
        // The CPU computes the levels with fewer nodes than the device has lanes.
        let least = levels.least();
        let mut places = tile.levels;
        let ran = match pinned {
            Some([to_device, from_device]) => {
                to_device[..bytes].copy_from_slice(tile.leaves);
                // The device's levels lie after one another.
                let computed = least * size..bytes;
                let ((), ran) = queue.submit(|batch| {
                    batch.write(leaves, 0, &to_device[..bytes])?;
                    levels.run(batch, (leaves, 0), nodes, parents)?;
                    batch.read(nodes, computed.start, &mut from_device[computed.clone()])
                })?;
                for (index, level) in places.iter_mut().enumerate().filter(|(index, _)| 1 << index >= least) {
                    level.copy_from_slice(&from_device[size << index..size << (index + 1)]);
                }
                ran
            }
            None => {
                let ((), ran) = queue.submit(|batch| {
                    batch.write(leaves, 0, tile.leaves)?;
                    levels.run(batch, (leaves, 0), nodes, parents)?;
                    for (index, level) in places.iter_mut().enumerate().filter(|(index, _)| 1 << index >= least) {
                        batch.read(nodes, size << index, level)?;
                    }
                    Ok(())
                })?;
                ran
            }
        };
        let mut below: Option<&[u8]> = None;
        for (index, level) in places.into_iter().enumerate().rev() {
            if 1 << index < least {
                let below = below.expect("the device computes the level above the leaves");
                digests(hash, &[], Messages::new(below, 2 * size), level);
            }
            below = Some(level);
        }
        Ok(ran)
    }
}
