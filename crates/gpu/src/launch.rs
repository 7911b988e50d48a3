//! The launches that compute the levels of a tree.

use crate::Error;
use crate::call::{Arg, Batch, Buffer, Kernel};
use mksum::Hash;

/// The division of a tree's levels among work-groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchShape {
    /// The number of work-items in a group: a power of two.
    pub group: usize,
    /// The number of parents that a group computes on its lowest level: a power of two.
    pub tile: usize,
    /// The largest number of levels that a group computes.
    pub levels: u32,
}

/// The kernel that computes levels of a tree, with its shape.
#[derive(Debug)]
pub(crate) struct Levels {
    pub kernel: Kernel,
    pub hash: Hash,
    pub shape: LaunchShape,
    /// The number of parents that a work-item computes at once.
    pub lanes: usize,
}

impl Levels {
    /// Returns the smallest number of parents that the device computes; the CPU computes levels with fewer.
    pub fn least(&self) -> usize {
        self.lanes
    }

    /// Computes every level with at least [`Levels::least`] nodes above `2 * parents` digests, and writes it to `nodes` in
    /// heap order. `below` is the buffer of the digests and their offset in bytes.
    pub fn run<'a>(
        &'a self,
        batch: &Batch<'a>,
        below: (&'a Buffer, usize),
        nodes: &'a Buffer,
        parents: usize,
    ) -> Result<(), Error> {
        let (size, mut parents, mut below) = (self.hash.size(), parents, below);
        assert!(parents.is_power_of_two(), "parents");
        assert!(below.1 + 2 * parents * size <= below.0.len() && 2 * parents * size <= nodes.len(), "buffers");
        while parents >= self.least() {
            let tile = self.shape.tile.min(parents);
            let levels = (tile / self.lanes).ilog2() + 1;
            let levels = levels.min(self.shape.levels);
            let group = self.shape.group.min(tile / self.lanes);
            // Local memory holds the lowest two levels of a group, one after the other. A single level needs none.
            let near = if levels == 1 { 16 } else { tile * size + tile / 2 * size };
            let args = [
                Arg::Buffer(below.0),
                Arg::U64(below.1 as u64),
                Arg::Buffer(nodes),
                Arg::U64(parents as u64),
                Arg::U32(tile as u32),
                Arg::U32(levels),
                Arg::Local(near),
            ];
            batch.run(&self.kernel, &args, [parents / tile * group, 1], [group, 1])?;
            parents >>= levels;
            below = (nodes, 2 * parents * size);
        }
        Ok(())
    }
}
