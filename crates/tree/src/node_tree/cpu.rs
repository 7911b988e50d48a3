//! Node trees on the CPU.

use super::{Limits, Merklize, NodeTree, NodeTreeError, Spent, limits};
use mksum_lanes::{Hash, Messages, digests};
use std::time::Instant;

/// The CPU: many nodes side by side in each thread.
#[derive(Clone, Copy, Debug)]
pub struct CpuLanes {
    /// The threads that hash: 1 is the calling one.
    pub threads: usize,
}

impl Merklize for CpuLanes {
    fn name(&self) -> String {
        match self.threads {
            1 => "CPU, 1 thread".into(),
            threads => format!("CPU, {threads} threads"),
        }
    }

    fn merklize(&self, hash: Hash, leaves: &[u8], nodes: &mut [u8]) -> Result<Spent, NodeTreeError> {
        let tree = NodeTree::between(hash, leaves, nodes)?;
        let (begin, size, mut parents) = (Instant::now(), hash.size(), tree.leaves() / 2);
        digests(hash, &[], Messages::new(leaves, 2 * size), &mut nodes[parents * size..]);
        while parents > 1 {
            let (above, level) = nodes[..2 * parents * size].split_at_mut(parents * size);
            parents /= 2;
            digests(hash, &[], Messages::new(level, 2 * size), &mut above[parents * size..]);
        }
        nodes[..size].fill(0);
        Ok(Spent { kernel: begin.elapsed(), ..Spent::default() })
    }

    fn limits(&self, hash: Hash) -> Result<Limits, NodeTreeError> {
        NodeTree::over(hash, 2 * hash.size())?;
        Ok(Limits { copy: limits::copy(self.threads), nodes: limits::nodes(hash, self.threads) })
    }
}
