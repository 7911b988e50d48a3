//! Subtrees computed from bytes in memory, level by level, as many nodes at once as a kernel has lanes.

#[cfg(feature = "checksums")]
use crate::hashing::{self, NodeHash};
use crate::{
    Cuts, Digest, Digests, Edge, Error, Found, Layout, Messages, Part, PartScan, Plan, Role, Shape, Spec, Subtree,
    Subtrees,
};
use core::mem;

/// Bytes in memory: those of the input from an offset on.
#[derive(Clone, Copy, Debug)]
pub struct Memory<'a> {
    start: u64,
    bytes: &'a [u8],
}

impl<'a> Memory<'a> {
    /// Subtrees of at most this many bytes are hashed level by level, larger ones split: as much as a second-level cache
    /// holds.
    pub const BATCH: u64 = 1 << 18;

    /// The bytes of a whole input.
    pub fn new(bytes: &'a [u8]) -> Self {
        Memory { start: 0, bytes }
    }

    /// The bytes of an input from offset `start` on.
    pub fn from(start: u64, bytes: &'a [u8]) -> Self {
        Memory { start, bytes }
    }

    fn bytes(&self, node: Subtree) -> Option<&'a [u8]> {
        let from = usize::try_from(node.start.checked_sub(self.start)?).ok()?;
        self.bytes.get(from..)?.get(..usize::try_from(node.len).ok()?)
    }
}

impl Spec {
    /// The digest of `node`, a subtree of a tree over `len` bytes, from its bytes.
    ///
    /// # Errors
    /// If there are fewer or more bytes than `node` has.
    pub fn map(&self, len: u64, node: Subtree, bytes: &[u8]) -> Result<Digest, Error> {
        if bytes.len() as u64 != node.len {
            return Err(Error::Missing(node));
        }
        self.join(&Memory::from(node.start, bytes), node, self.role(len, node))
    }
}

impl Subtrees for Memory<'_> {
    fn digest(&self, spec: &Spec, node: Subtree, role: Role) -> Result<Option<Digest>, Error> {
        let Some(bytes) = self.bytes(node) else { return Ok(None) };
        let shape = spec.shape();
        Ok(match shape {
            _ if node.level == 0 => Some(spec.leaf_digest(node.start, bytes, role)),
            Shape::Even { leaf, .. } if node.len <= shape.batch(Self::BATCH).max(leaf) => {
                let leaf = leaf as usize;
                let (whole, tail) = bytes.split_at(bytes.len() - bytes.len() % leaf);
                Some(spec.subtree_digest(node, role, Messages::new(whole, leaf), tail))
            }
            _ => None,
        })
    }

    fn digests(&self, spec: &Spec, nodes: &[Subtree], out: &mut Digests) -> Result<(), Error> {
        let is_leaf = |node: &Subtree| node.level == 0 && node.len > 0;
        for run in nodes.chunk_by(|a, b| is_leaf(a) && is_leaf(b) && a.len == b.len) {
            let (first, len) = (run[0], run[0].len * run.len() as u64);
            match self.bytes(Subtree { len, ..first }) {
                // Leaves that follow one another are hashed side by side, however long they are.
                Some(bytes) if run.len() > 1 => {
                    spec.leaf_digests(first.start, Messages::new(bytes, first.len as usize), out);
                }
                _ => {
                    for &node in run {
                        out.push(spec.join(self, node, Role::Inner)?);
                    }
                }
            }
        }
        Ok(())
    }

    fn scan(&self, spec: &Spec, part: Part) -> Result<Option<Found>, Error> {
        let node = Subtree { start: part.start, len: part.end - part.start, level: 0 };
        let (Layout::Found(cuts), Some(bytes)) = (spec.layout(), self.bytes(node)) else { return Ok(None) };
        let mut scan = PartScan::new(cuts, part);
        scan.update(bytes);
        Ok(Some(scan.finish()))
    }
}

impl Plan {
    /// Threads are worth their start for at least this many bytes each, some 200 µs of BLAKE3 and a millisecond of SHA-256: inputs of up
    /// to 4 MiB are never to be slower than on one thread, also on a busy machine, where a thread may begin late. With half as much they
    /// are (`lab`, *Python*).
    const SHARE: u64 = 2 << 20;

    /// Returns the plan that cuts an input of `len` bytes for scans by `threads` threads.
    pub fn scanning(cuts: Cuts, len: u64, threads: usize) -> Plan {
        // One thread scans all in one go: no leaf is hashed twice then.
        let piece = if threads > 1 { cuts.part(len, threads) } else { len };
        let parts = usize::try_from(len.div_ceil(piece.max(1))).unwrap_or(usize::MAX);
        Plan { threads: threads.min(parts).max(1), piece, group: 1 }
    }

    /// Returns the plan that cuts a tree over `len` bytes in memory for at most `threads` threads, and for the lanes of each.
    pub fn in_memory(spec: &Spec, len: u64, threads: usize) -> Plan {
        const PIECE: u64 = Memory::BATCH;
        let worth = usize::try_from(len / Plan::SHARE).unwrap_or(usize::MAX);
        let threads = threads.min(worth).max(1);
        if let Layout::Found(cuts) = spec.layout() {
            return Plan::scanning(cuts, len, threads);
        }
        let shape = spec.shape();
        let (leaf, lanes) = (shape.leaf(), spec.hash().lanes() as u64);
        match shape {
            Shape::Even { .. } if leaf <= PIECE => {
                // Threads get longer pieces, since each costs them a turn.
                let longest = if threads == 1 { PIECE } else { (len / (8 * threads as u64)).clamp(PIECE, 8 * PIECE) };
                Plan { threads, piece: shape.batch(longest).max(leaf), group: 1 }
            }
            // Long leaves side by side: as many as there are lanes, if every thread has some then.
            _ => {
                let group = len.div_ceil(leaf).div_ceil(threads as u64).clamp(1, lanes.max(PIECE / leaf)) as usize;
                Plan { threads, piece: leaf, group }
            }
        }
    }
}

impl Spec {
    /// The digest of a subtree of an even shape over `leaves` of the shape's length and then a shorter `tail`, perhaps none.
    ///
    /// # Panics
    /// If the shape is not even, or `node` is not over exactly these bytes.
    pub fn subtree_digest(&self, node: Subtree, role: Role, leaves: Messages<'_>, tail: &[u8]) -> Digest {
        let Shape::Even { leaf, arity, edge, .. } = self.shape() else { panic!("the shape is not even") };
        let (nodes, arity) = (self.nodes(), arity as usize);
        let run = arity * nodes.size();
        assert_eq!(leaves.count() as u64 * leaf + tail.len() as u64, node.len, "the bytes of the subtree");
        if node.level == 0 {
            let bytes = if tail.is_empty() { leaves.get(0) } else { tail };
            return nodes.leaf(node.start, bytes, role);
        }
        #[cfg(feature = "checksums")]
        if let NodeHash::Checksum { sum, .. } = nodes {
            return hashing::sum(*sum, leaves.iter().chain([tail]));
        }
        let (mut level, mut above) = (Digests::new(nodes.size()), Digests::new(nodes.size()));
        nodes.leaves(node.start, leaves, &mut level);
        if !tail.is_empty() {
            level.push(nodes.leaf(node.start + leaves.count() as u64 * leaf, tail, Role::Inner));
        }
        for height in 1..=node.level {
            if matches!(edge, Edge::PadZero | Edge::PadSubtree) && !level.len().is_multiple_of(arity) {
                let missing = level.len().next_multiple_of(arity) - level.len();
                level.extend(core::iter::repeat_n(self.pad(height), missing));
            }
            if height == node.level {
                break;
            }
            let (whole, rest) = level.as_bytes().split_at(level.as_bytes().len() / run * run);
            above.clear();
            nodes.parents(whole, arity, &mut above);
            match rest.chunks_exact(nodes.size()).len() {
                0 => {}
                // A lone child moves up unchanged.
                1 => above.push(Digest::new(rest)),
                _ => {
                    above.push(nodes.parent(unmeasured(rest.chunks_exact(nodes.size()).map(Digest::new)), Role::Inner))
                }
            }
            mem::swap(&mut level, &mut above);
        }
        nodes.parent(unmeasured(level.iter()), role)
    }

    /// Appends the digests of equal full subtrees of an even shape, `height` levels above `leaves`, the first of which
    /// begins at byte `start`: many side by side.
    ///
    /// # Panics
    /// If the shape is not even, or the leaves are not those of whole subtrees.
    pub fn subtree_digests(&self, start: u64, height: u32, leaves: Messages<'_>, out: &mut Digests) {
        let Shape::Even { arity, .. } = self.shape() else { panic!("the shape is not even") };
        let (nodes, arity) = (self.nodes(), arity as usize);
        #[cfg(feature = "checksums")]
        if let NodeHash::Checksum { sum, .. } = nodes {
            let (mut bytes, each) = (leaves.iter(), arity.pow(height));
            assert!(leaves.count().is_multiple_of(each), "whole subtrees");
            return out.extend((0..leaves.count() / each).map(|_| hashing::sum(*sum, bytes.by_ref().take(each))));
        }
        let (mut level, mut above) = (Digests::new(nodes.size()), Digests::new(nodes.size()));
        nodes.leaves(start, leaves, &mut level);
        for _ in 0..height {
            assert!(level.len().is_multiple_of(arity), "whole subtrees");
            above.clear();
            nodes.parents(level.as_bytes(), arity, &mut above);
            mem::swap(&mut level, &mut above);
        }
        out.extend_from_bytes(level.as_bytes());
    }
}

/// Children whose lengths do not matter: those of hashes.
fn unmeasured(children: impl Iterator<Item = Digest>) -> impl Iterator<Item = (Digest, u64)> {
    children.map(|child| (child, 0))
}
