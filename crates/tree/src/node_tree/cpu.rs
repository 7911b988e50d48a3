//! Node trees on the CPU: subtrees that stay in the cache, shared among threads.

use super::{Merklize, NodeTree, NodeTreeError, Tile, Timings};
use crate::ordered::ordered;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use mksum_lanes::{Hash, Messages, Stores, copy_streaming, digests, stores};
use std::array;
use std::time::{Duration, Instant};

/// The CPU: many nodes side by side in each thread.
#[derive(Clone, Copy, Debug)]
pub struct CpuLanes {
    /// The threads that hash: 1 is the calling one, and so is 0.
    pub threads: usize,
}

impl CpuLanes {
    /// The leaves of a subtree that one thread finishes before the next, in bytes: they and their nodes fit half of the
    /// second-level caches that are common. From 64 KiB to 1 MiB the speed is the same within a few per cent.
    const BLOCK: usize = 256 << 10;

    /// The nodes of the highest level in a block. The levels above are hashed together with those of other blocks:
    /// fewer would not fill the lanes.
    const TOP: usize = 64;
}

impl Merklize for CpuLanes {
    fn name(&self) -> String {
        match self.threads {
            0 | 1 => "CPU, 1 thread".into(),
            threads => format!("CPU, {threads} threads"),
        }
    }

    fn merklize(&self, hash: Hash, leaves: &[u8], nodes: &mut [u8]) -> Result<Timings, NodeTreeError> {
        let mut tree = NodeTree::between(hash, leaves, nodes)?;
        let begin = Instant::now();
        let (mut leaves, mut nodes) = (leaves, nodes);
        // The lowest levels by blocks; the highest of them are the leaves of the rest, until that is small.
        while let Some(levels) = block_levels(tree) {
            self.hash_blocks(tree, levels, leaves, nodes);
            let (above, below) = nodes.split_at_mut(tree.bytes() >> levels);
            (leaves, nodes) = (&below[..above.len()], above);
            tree = NodeTree { leaves: tree.leaves >> levels, ..tree };
        }
        level_by_level(hash, leaves, nodes);
        nodes[..hash.size()].fill(0);
        Ok(Timings::new(begin.elapsed(), Duration::ZERO, Duration::ZERO))
    }
}

/// Writes all nodes but place 0.
fn level_by_level(hash: Hash, leaves: &[u8], nodes: &mut [u8]) {
    let (size, mut level) = (hash.size(), leaves.len() / 2);
    digests(hash, &[], Messages::new(leaves, 2 * size), &mut nodes[level..]);
    while level > size {
        let (above, children) = nodes[..2 * level].split_at_mut(level);
        level /= 2;
        digests(hash, &[], Messages::new(children, 2 * size), &mut above[level..]);
    }
}

/// The leaves of a block of this tree.
fn block_leaves(tree: NodeTree) -> usize {
    1 << (CpuLanes::BLOCK / tree.hash().size()).ilog2()
}

/// The levels of nodes of a block; `None` where there would be fewer than two blocks.
fn block_levels(tree: NodeTree) -> Option<u32> {
    let leaves = block_leaves(tree);
    (tree.leaves() > leaves).then(|| leaves.ilog2() - CpuLanes::TOP.ilog2())
}

impl CpuLanes {
    /// Writes the nodes of all blocks.
    fn hash_blocks(self, tree: NodeTree, levels: u32, leaves: &[u8], nodes: &mut [u8]) {
        let blocks = tree.leaves() / block_leaves(tree);
        let threads = self.threads.min(blocks);
        let memory = || array::from_fn(|_| vec![0; leaves.len() / blocks / 2]);
        let stores = stores();
        let work = |memory: &mut _, block: Tile<'_>| hash_block(tree.hash(), block, stores, memory);
        let tiles = tree.tiles(leaves, nodes, blocks, levels);
        ordered(threads, 4 * threads, tiles, memory, work, |results| results.for_each(drop));
    }
}

/// Writes the nodes of a block, level by level. Streaming stores go through `memory`, which stays in the cache, and from there past the
/// cache to their place.
fn hash_block(hash: Hash, block: Tile<'_>, stores: Stores, memory: &mut [Vec<u8>; 2]) {
    let (pair, levels) = (2 * hash.size(), block.levels.into_iter().rev());
    match stores {
        Stores::Plain => {
            let mut below = block.leaves;
            for level in levels {
                digests(hash, &[], Messages::new(below, pair), level);
                below = level;
            }
        }
        Stores::Streaming => {
            let [mut here, mut there] = memory.each_mut();
            let mut children = block.leaves.len();
            for (level, height) in levels.zip(0..) {
                let below = if height == 0 { block.leaves } else { &there[..children] };
                digests(hash, &[], Messages::new(below, pair), &mut here[..level.len()]);
                copy_streaming(&here[..level.len()], level);
                children = level.len();
                (here, there) = (there, here);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_stores_write_the_same_nodes() {
        let leaves: Vec<u8> = (0..CpuLanes::BLOCK).map(|at| (at * 7 + at / 251) as u8).collect();
        let written = |stores| {
            let mut nodes = vec![0xa5; leaves.len()];
            let tree = NodeTree::between(Hash::Blake3, &leaves, &nodes).unwrap();
            let mut memory = array::from_fn(|_| vec![0; leaves.len() / 2]);
            let block = tree.tiles(&leaves, &mut nodes, 1, tree.levels()).next().unwrap();
            hash_block(tree.hash(), block, stores, &mut memory);
            nodes
        };
        let mut expected = vec![0; leaves.len()];
        level_by_level(Hash::Blake3, &leaves, &mut expected);
        for stores in [Stores::Plain, Stores::Streaming] {
            assert!(written(stores)[32..] == expected[32..], "{stores:?}");
        }
    }
}
