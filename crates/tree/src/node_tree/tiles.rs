//! A node tree cut into tiles: equal subtrees over leaves beside each other, whose nodes lie apart in heap order.

use super::NodeTree;
use alloc::vec::Vec;
use core::mem;
use core::ops::Range;

/// The leaves of a tile, and the places of its nodes.
#[derive(Debug)]
pub struct Tile<'a> {
    /// The leaves, one digest after the other.
    pub leaves: &'a [u8],
    /// The places of the tile's nodes, level by level, the highest first.
    pub levels: Vec<&'a mut [u8]>,
}

impl NodeTree {
    /// Cuts the lowest `levels` levels of this tree into `tiles` equal tiles, left to right.
    ///
    /// The nodes above them are the first `self.bytes() >> levels` bytes of `nodes`, and not in any tile.
    ///
    /// # Panics
    /// If `leaves` or `nodes` are not as long as this tree's, or it has no such tiles.
    pub fn tiles<'a>(
        self,
        leaves: &'a [u8],
        nodes: &'a mut [u8],
        tiles: usize,
        levels: u32,
    ) -> impl Iterator<Item = Tile<'a>> + Send {
        assert!(leaves.len() == self.bytes() && nodes.len() == self.bytes(), "the leaves and nodes of this tree");
        assert!(tiles.is_power_of_two() && self.leaves() / tiles >= 1 << levels, "tiles of whole levels");
        let above = self.bytes() >> levels;
        let mut rest = &mut nodes[above..];
        // Each level is as long as all nodes above it, and cut into as many parts as there are tiles.
        let mut parts: Vec<_> = (0..levels)
            .map(|level| {
                let (own, lower) = mem::take(&mut rest).split_at_mut(above << level);
                rest = lower;
                own.chunks_exact_mut(own.len() / tiles)
            })
            .collect();
        leaves.chunks_exact(leaves.len() / tiles).map(move |leaves| {
            let levels = parts.iter_mut().map(|level| level.next().expect("a part for each tile")).collect();
            Tile { leaves, levels }
        })
    }

    /// The places of all nodes of tile `at` of `tiles`, level by level, its root first, in bytes.
    ///
    /// For each level: its range in the nodes of the tile as a tree of its own, and its offset in the nodes of this tree.
    pub fn tile_places(self, tiles: usize, at: usize) -> impl Iterator<Item = (Range<usize>, u64)> {
        let (size, leaves) = (self.hash().size(), self.leaves() / tiles);
        (0..leaves.ilog2()).map(move |level| {
            let width = size << level;
            (width..2 * width, (tiles + at) as u64 * width as u64)
        })
    }
}
