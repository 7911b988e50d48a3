//! Node trees on the CPU: subtrees that stay in the cache, shared among threads.

use super::{Limits, Merklize, NodeTree, NodeTreeError, Spent, limits};
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use mksum_lanes::{Hash, Messages, copy_streaming, digests};
use std::array;
use std::slice::{ChunksExact, ChunksExactMut};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

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

    /// The nodes of the highest level that is finished so. What is above is hashed level by level with others' nodes:
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

    fn merklize(&self, hash: Hash, leaves: &[u8], nodes: &mut [u8]) -> Result<Spent, NodeTreeError> {
        NodeTree::between(hash, leaves, nodes)?;
        let begin = Instant::now();
        let (mut leaves, mut nodes, size) = (leaves, nodes, hash.size());
        // The lowest levels by blocks; the highest of them are the leaves of what remains, until that is small.
        while let Some(blocks) = Blocks::of(size, leaves.len()) {
            let (above, levels) = nodes.split_at_mut(leaves.len() >> blocks.levels);
            blocks.hash(self.threads, hash, leaves, levels);
            (leaves, nodes) = (&levels[..above.len()], above);
        }
        level_by_level(hash, leaves, nodes);
        nodes[..size].fill(0);
        Ok(Spent { kernel: begin.elapsed(), ..Spent::default() })
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

/// How the lowest levels of a tree are cut into equal blocks.
struct Blocks {
    /// The number of levels of nodes: 1 or more.
    levels: u32,
    /// The leaves of one, in bytes.
    leaves: usize,
}

impl Blocks {
    /// The blocks of a tree over `bytes` of leaves; `None` where there would be fewer than two.
    fn of(size: usize, bytes: usize) -> Option<Self> {
        let leaves = (CpuLanes::BLOCK / size).ilog2();
        let block = Blocks { levels: leaves - CpuLanes::TOP.ilog2(), leaves: size << leaves };
        (bytes > block.leaves).then_some(block)
    }

    /// Writes the nodes of all blocks: `levels` are the tree's, the highest first.
    fn hash(&self, threads: usize, hash: Hash, leaves: &[u8], levels: &mut [u8]) {
        let mut rest = levels;
        let by_level = (1..=self.levels).rev().map(|height| {
            let (level, lower) = std::mem::take(&mut rest).split_at_mut(leaves.len() >> height);
            rest = lower;
            level.chunks_exact_mut(self.leaves >> height)
        });
        let mut by_level: Vec<_> = by_level.collect();
        by_level.reverse();
        let todo = Mutex::new(Todo { leaves: leaves.chunks_exact(self.leaves), levels: by_level });
        let work = || {
            let mut memory = array::from_fn(|_| vec![0; self.leaves / 2]);
            loop {
                let block = todo.lock().unwrap_or_else(PoisonError::into_inner).next();
                let Some((leaves, levels)) = block else { return };
                block_by_level(hash, leaves, levels, &mut memory);
            }
        };
        thread::scope(|scope| {
            for _ in 1..threads.min(leaves.len() / self.leaves) {
                // A thread that cannot be had is not needed: the others take its blocks.
                if thread::Builder::new().name("nodes".into()).spawn_scoped(scope, work).is_err() {
                    break;
                }
            }
            work();
        });
    }
}

/// The blocks that nobody has begun.
struct Todo<'a> {
    leaves: ChunksExact<'a, u8>,
    /// The places of each level, the lowest first.
    levels: Vec<ChunksExactMut<'a, u8>>,
}

impl<'a> Iterator for Todo<'a> {
    /// The leaves of a block and the places for its nodes, the lowest level first.
    type Item = (&'a [u8], Vec<&'a mut [u8]>);

    fn next(&mut self) -> Option<Self::Item> {
        let leaves = self.leaves.next()?;
        Some((leaves, self.levels.iter_mut().filter_map(Iterator::next).collect()))
    }
}

/// Writes the nodes of a block: each level in `memory`, which stays in the cache, and from there past the cache to its place.
fn block_by_level(hash: Hash, leaves: &[u8], levels: Vec<&mut [u8]>, memory: &mut [Vec<u8>; 2]) {
    let pair = 2 * hash.size();
    let [mut here, mut there] = memory.each_mut();
    let mut children = leaves.len();
    for (level, height) in levels.into_iter().zip(0..) {
        let below = if height == 0 { leaves } else { &there[..children] };
        digests(hash, &[], Messages::new(below, pair), &mut here[..level.len()]);
        copy_streaming(&here[..level.len()], level);
        children = level.len();
        (here, there) = (there, here);
    }
}
