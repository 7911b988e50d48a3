//! Node trees on the CPU: subtrees that stay in the cache, shared among threads.

use super::{Limits, Merklize, NodeTree, NodeTreeError, Span, Step, Tile, Timeline, limits};
use crate::ordered::ordered;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use mksum_lanes::{Hash, Messages, Stores, copy_streaming, digests, stores};
use std::array;
use std::sync::{Mutex, PoisonError};
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

    /// The blocks in a row that are stored alike while both kinds of stores are [compared](CpuLanes::compare_stores): what is written to
    /// memory late is written during blocks of the same kind.
    const RUN: usize = 16;

    /// The least length of leaves over which both kinds of stores are compared, in bytes: four runs of blocks of each.
    pub const COMPARED: usize = 8 * Self::RUN * Self::BLOCK;

    /// Does what [`merklize_timed`](Merklize::merklize_timed) does, with plain stores for one half of the blocks and with streaming ones for
    /// the other, and returns the times of both; `None` if the leaves are shorter than [`COMPARED`](CpuLanes::COMPARED).
    ///
    /// # Errors
    /// As [`merklize_timed`](Merklize::merklize_timed).
    pub fn compare_stores(
        &self,
        hash: Hash,
        leaves: &[u8],
        nodes: &mut [u8],
    ) -> Result<(Timeline, Option<StoreTimes>), NodeTreeError> {
        let times = Mutex::new([const { Vec::new() }; 2]);
        let timeline = self.merklize_with(hash, leaves, nodes, Some(&times))?;
        let mut times = times.into_inner().unwrap_or_else(PoisonError::into_inner);
        let median = |times: &mut Vec<Duration>| {
            times.sort();
            times.get(times.len() / 2).copied()
        };
        let [plain, streaming] = times.each_mut().map(median);
        let both = plain.zip(streaming).filter(|_| leaves.len() >= Self::COMPARED);
        Ok((timeline, both.map(|(plain, streaming)| StoreTimes { plain, streaming })))
    }
}

/// The times of a block of a node tree with each kind of stores: medians.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreTimes {
    /// With plain stores.
    pub plain: Duration,
    /// With streaming ones.
    pub streaming: Duration,
}

impl StoreTimes {
    /// The faster stores.
    pub fn faster(self) -> Stores {
        if self.plain < self.streaming { Stores::Plain } else { Stores::Streaming }
    }
}

/// The times of blocks with plain and with streaming stores.
type Times = Mutex<[Vec<Duration>; 2]>;

impl Merklize for CpuLanes {
    fn name(&self) -> String {
        match self.threads {
            0 | 1 => "CPU, 1 thread".into(),
            threads => format!("CPU, {threads} threads"),
        }
    }

    fn merklize_timed(&self, hash: Hash, leaves: &[u8], nodes: &mut [u8]) -> Result<Timeline, NodeTreeError> {
        self.merklize_with(hash, leaves, nodes, None)
    }

    fn limits(&self, hash: Hash) -> Result<Limits, NodeTreeError> {
        NodeTree::over(hash, 2 * hash.size())?;
        let threads = self.threads.max(1);
        Ok(Limits { copy: limits::copy(threads), nodes: limits::nodes(hash, threads) })
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
    /// Computes a tree; with `times`, its lowest blocks are stored in both ways and timed.
    fn merklize_with(
        &self,
        hash: Hash,
        leaves: &[u8],
        nodes: &mut [u8],
        mut times: Option<&Times>,
    ) -> Result<Timeline, NodeTreeError> {
        let mut tree = NodeTree::between(hash, leaves, nodes)?;
        let begin = Instant::now();
        let (mut leaves, mut nodes) = (leaves, nodes);
        // The lowest levels by blocks; the highest of them are the leaves of the rest, until that is small.
        while let Some(levels) = block_levels(tree) {
            self.hash_blocks(tree, levels, leaves, nodes, times.take());
            let (above, below) = nodes.split_at_mut(tree.bytes() >> levels);
            (leaves, nodes) = (&below[..above.len()], above);
            tree = NodeTree { leaves: tree.leaves >> levels, ..tree };
        }
        level_by_level(hash, leaves, nodes);
        nodes[..hash.size()].fill(0);
        let time = Duration::ZERO..begin.elapsed();
        Ok(Timeline::new(vec![Span { queue: 0, tile: 0, step: Step::Kernel, time }]))
    }

    /// Writes the nodes of all blocks.
    fn hash_blocks(self, tree: NodeTree, levels: u32, leaves: &[u8], nodes: &mut [u8], times: Option<&Times>) {
        let blocks = tree.leaves() / block_leaves(tree);
        let threads = self.threads.min(blocks);
        let memory = || array::from_fn(|_| vec![0; leaves.len() / blocks / 2]);
        let stores = stores();
        let work = |memory: &mut _, (block, index): (Tile<'_>, usize)| {
            let Some(times) = times else { return hash_block(tree.hash(), block, stores, memory) };
            let stores = if index / Self::RUN % 2 == 0 { Stores::Plain } else { Stores::Streaming };
            let begin = Instant::now();
            hash_block(tree.hash(), block, stores, memory);
            let time = begin.elapsed();
            let [plain, streaming] = &mut *times.lock().unwrap_or_else(PoisonError::into_inner);
            if stores == Stores::Plain { plain } else { streaming }.push(time);
        };
        let tiles = tree.tiles(leaves, nodes, blocks, levels).zip(0..);
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
