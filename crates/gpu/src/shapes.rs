//! The division of a tree's levels among a device's work-groups, measured once for each device and hash.

use crate::call::{Buffer, Queue};
use crate::launch::{LaunchShape, Levels};
use crate::slot::LONGEST;
use crate::source::{self, Kind};
use crate::{Class, Device, Error};
use mksum::Hash;
use std::sync::PoisonError;
use std::time::Duration;

impl Device {
    /// Returns the kernel for pairs of a hash, with the fastest shape on this device.
    pub(crate) fn levels(&self, queue: &Queue, hash: Hash, kind: Kind) -> Result<Levels, Error> {
        let kernel = self.kernel(hash, kind, "pairs")?;
        let lanes = source::side_by_side(hash, self.info.lanes);
        let mut levels = Levels { kernel, hash, shape: LaunchShape { group: 1, tile: lanes, levels: 1 }, lanes };
        // Other threads wait, because concurrent measurements would disturb each other.
        let mut shapes = self.shapes.lock().unwrap_or_else(PoisonError::into_inner);
        levels.shape = match shapes.get(&(hash, kind)) {
            Some(&shape) => shape,
            None => {
                let shape = self.shape(queue, &mut levels, kind)?;
                shapes.insert((hash, kind), shape);
                shape
            }
        };
        Ok(levels)
    }

    /// Returns the fastest shape, from the cache or by measurement.
    fn shape(&self, queue: &Queue, levels: &mut Levels, kind: Kind) -> Result<LaunchShape, Error> {
        if let Some(shape) = self.options.shape {
            return self.fitting(shape, levels);
        }
        let candidates = self.candidates(levels)?;
        let (text, options) = self.source(levels.hash, kind);
        let key = self.key("shape", &[text.as_bytes(), options.as_bytes(), format!("{candidates:?}").as_bytes()]);
        let key: Vec<_> = key.iter().map(Vec::as_slice).collect();
        if let Some(&[index]) = self.cached(&key).as_deref()
            && let Some(&shape) = candidates.get(usize::from(index))
        {
            return Ok(shape);
        }
        let digests = self.measured(levels.hash);
        let bytes = digests * levels.hash.size();
        let (below, nodes) = (Buffer::new(&self.context, bytes)?, Buffer::new(&self.context, bytes)?);
        let leaves = vec![0x5a; bytes];
        queue.submit(|batch| batch.write(&below, 0, &leaves))?;
        let mut best = (Duration::MAX, 0);
        for (&shape, index) in candidates.iter().zip(0..) {
            levels.shape = shape;
            for _ in 0..3 {
                let ((), ran) = queue.submit(|batch| levels.run(batch, (&below, 0), &nodes, digests / 2))?;
                best = best.min((ran.kernel()?, index));
            }
        }
        self.store(&key, &[best.1]);
        Ok(candidates[usize::from(best.1)])
    }

    /// The number of digests for measuring shapes, a power of two: the longest tile of a tree, if the device has memory for it. For a CPU,
    /// which has few groups at a time and takes far longer, a smaller tree shows the same.
    fn measured(&self, hash: Hash) -> usize {
        const CPU: usize = 1 << 17;
        if self.info.class == Class::Cpu {
            return CPU;
        }
        let most = self.share(2).min(LONGEST as u64) as usize / hash.size();
        1 << most.max(2).ilog2()
    }

    /// Reduces a shape to what fits the device's group size and local memory.
    fn fitting(&self, shape: LaunchShape, levels: &Levels) -> Result<LaunchShape, Error> {
        let most = levels.kernel.max_group()?.min(self.info.items as usize).max(1);
        let mut tile = shape.tile.max(levels.lanes).next_power_of_two();
        while (tile + tile / 2) * levels.hash.size() > self.info.local as usize && tile > levels.lanes {
            tile /= 2;
        }
        let group = 1 << shape.group.clamp(1, most).ilog2();
        Ok(LaunchShape { group, tile, levels: shape.levels.max(1) })
    }

    /// Returns the shapes to measure, at most 255: those that fit the device's local memory and group size.
    fn candidates(&self, levels: &Levels) -> Result<Vec<LaunchShape>, Error> {
        let (lanes, size) = (levels.lanes, levels.hash.size());
        let most = levels.kernel.max_group()?.min(self.info.items as usize).max(1);
        // A work-item of a CPU fills the vector registers, and a group of one never waits at a barrier.
        let groups: &[usize] = if self.info.class == Class::Cpu { &[1] } else { &[32, 64, 128, 256] };
        let tiles: &[usize] = if self.info.class == Class::Cpu { &[16, 64, 128] } else { &[1, 2, 4] };
        let mut shapes = Vec::new();
        for &group in groups.iter().filter(|&&group| group <= most) {
            for &times in tiles {
                let tile = group * lanes * times;
                let fits = (tile + tile / 2) * size <= self.info.local as usize;
                for depth in [2, 4, 20] {
                    let shape = LaunchShape { group, tile, levels: depth };
                    if fits && (tile / lanes).ilog2() + 1 >= depth.min(3) {
                        shapes.push(shape);
                    }
                }
            }
            shapes.push(LaunchShape { group, tile: group * lanes, levels: 1 });
        }
        Ok(if shapes.is_empty() { vec![LaunchShape { group: 1, tile: lanes, levels: 1 }] } else { shapes })
    }
}
