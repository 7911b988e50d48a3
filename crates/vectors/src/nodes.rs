//! Whole trees over digests: the rows of `vectors/nodes.tsv`, and a slow reference that hashes one node at a time.

use crate::{Pattern, reference};
use mksum_lanes::Hash;
use std::fs;
use std::path::Path;

/// A tree over 2^`levels` digests of a hash, whose bytes are [`Pattern::Pat`].
#[derive(Clone, Debug)]
pub struct NodeRow {
    /// The file and line, for messages.
    pub at: String,
    /// The hash of the nodes.
    pub hash: Hash,
    /// The number of levels above the leaves.
    pub levels: u32,
    /// The SHA-256 of the leaves, in hex.
    pub leaves: String,
    /// The root, in hex.
    pub root: String,
    /// The SHA-256 of the nodes in heap order, without the zeros before the root, in hex.
    pub nodes: String,
}

impl NodeRow {
    /// Returns the leaves.
    pub fn input(&self) -> Vec<u8> {
        Pattern::Pat.bytes((self.hash.size() as u64) << self.levels)
    }
}

/// Returns every row of `vectors/nodes.tsv`.
///
/// # Panics
/// If it cannot be read, or a row has an unknown hash or pattern: rows are never skipped.
pub fn node_rows() -> Vec<NodeRow> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/nodes.tsv");
    let mut rows = Vec::new();
    for (line, number) in fs::read_to_string(&path).expect("vectors/nodes.tsv").lines().zip(1..) {
        if line.starts_with('#') || line.starts_with("hash\t") {
            continue;
        }
        let at = format!("{}:{number}", path.display());
        let columns: Vec<_> = line.split('\t').collect();
        let [hash, "pat", levels, leaves, root, nodes] = columns[..] else { panic!("{at}: expected six columns") };
        let hash = Hash::from_name(&hash.replace('_', "-")).unwrap_or_else(|| panic!("{at}: unknown hash {hash}"));
        let levels = levels.parse().unwrap_or_else(|_| panic!("{at}: invalid number of levels {levels}"));
        rows.push(NodeRow { at, hash, levels, leaves: leaves.into(), root: root.into(), nodes: nodes.into() });
    }
    assert_eq!(rows.len(), 65, "thirteen hashes, five trees each");
    rows
}

/// Returns the nodes over 2^k leaves in heap order, each computed by [`reference`](fn@reference); slot 0 is zero.
pub fn nodes(hash: Hash, leaves: &[u8]) -> Vec<u8> {
    let (size, count) = (hash.size(), leaves.len() / hash.size());
    assert!(count.is_power_of_two() && leaves.len() == count * size, "leaves");
    // The whole heap, with the leaves in its second half.
    let mut heap = [vec![0; leaves.len()], leaves.to_vec()].concat();
    for node in (1..count).rev() {
        let parent = reference(hash, &[&heap[2 * node * size..][..2 * size]]);
        heap[node * size..][..size].copy_from_slice(&parent);
    }
    heap.truncate(leaves.len());
    heap
}

/// Compares every node of a heap with a slow tree over more leaves, which begin with the heap's own: level i of a heap
/// holds the roots of 2^i trees.
///
/// # Panics
/// If a node differs, or slot 0 is not zero; the message names the heap `at`.
pub fn same_nodes(hash: Hash, nodes: &[u8], slow: &[u8], at: &str) {
    let size = hash.size();
    let [levels, most] = [nodes, slow].map(|heap| (heap.len() / size).ilog2());
    for level in 0..levels {
        // The same nodes in the slow tree: the first 2^level on the level at the same height above the leaves.
        let (from, to) = (1 << level, 1 << (most - levels + level));
        assert!(nodes[from * size..2 * from * size] == slow[to * size..][..from * size], "{at}, level {level}");
    }
    assert_eq!(nodes[..size], vec![0; size], "{at}");
}
