//! Nodes that are hashed as a prefix and a body: every format but BLAKE3.

use crate::{NodeHash, Recipe, Role};
use alloc::vec;
use alloc::vec::Vec;
use mksum_lanes::{Hash, Messages, Streams, digests};

/// A hash of a prefix and the leaf's bytes, or of a prefix and the children's digests; digests have `N` bytes.
#[derive(Clone, Debug)]
pub struct Framed<const N: usize> {
    hash: Hash,
    leaf: Vec<u8>,
    inner: Vec<u8>,
    root: Vec<u8>,
    fill: usize,
    slot: usize,
    empty: Option<[u8; N]>,
    descriptor: Option<Descriptor>,
}

impl<const N: usize> Framed<N> {
    /// A hash with the prefixes of a leaf, of an inner node and of a root that is not a leaf.
    ///
    /// The digest of no bytes is that of an empty leaf.
    ///
    /// # Panics
    /// If digests of `hash` have more than `N` bytes. Fewer are followed by zeros.
    pub fn new(hash: Hash, leaf: &[u8], inner: &[u8], root: &[u8]) -> Self {
        assert!(hash.size() <= N, "a digest of {}", hash.name());
        let (leaf, inner, root) = (leaf.into(), inner.into(), root.into());
        let framed = Framed { hash, leaf, inner, root, fill: 0, slot: hash.size(), empty: None, descriptor: None };
        Framed { empty: Some(framed.leaf(0, &[], Role::Root)), ..framed }
    }

    /// Leaves are zero-filled to `fill` bytes.
    pub fn fill(self, fill: usize) -> Self {
        Framed { fill, ..self }
    }

    /// Each child takes `slot` bytes of its parent's body: its digest, then zeros.
    pub fn slot(self, slot: usize) -> Self {
        Framed { slot, ..self }
    }

    /// The digest at the top of an input without bytes, if there is one.
    pub fn with_empty(self, empty: Option<[u8; N]>) -> Self {
        Framed { empty, ..self }
    }

    /// The root is the digest of an fs-verity descriptor.
    pub fn descriptor(self, descriptor: Descriptor) -> Self {
        Framed { descriptor: Some(descriptor), ..self }
    }

    fn prefix(&self, role: Role) -> &[u8] {
        match role {
            Role::Inner => &self.inner,
            Role::Root => &self.root,
        }
    }

    fn digest(&self, parts: &[&[u8]]) -> [u8; N] {
        let mut digest = [0; N];
        digest.copy_from_slice(&mksum_lanes::digest(self.hash, parts)[..N]);
        digest
    }

    /// The digests of messages, `N` bytes each.
    fn all(&self, prefix: &[u8], messages: Messages<'_>, out: &mut Vec<[u8; N]>) {
        let (from, size, count) = (out.len(), self.hash.size(), messages.count());
        out.resize(from + count, [0; N]);
        let bytes = out[from..].as_flattened_mut();
        digests(self.hash, prefix, messages, &mut bytes[..count * size]);
        if size < N {
            // From the last on, so that none is overwritten.
            for index in (0..count).rev() {
                bytes.copy_within(index * size..(index + 1) * size, index * N);
                bytes[index * N + size..(index + 1) * N].fill(0);
            }
        }
    }

    fn finished(&self, stream: Streams) -> [u8; N] {
        let mut digest = [0; N];
        stream.finish(&mut digest[..self.hash.size()]);
        digest
    }

    fn padding(&self, len: usize) -> Vec<u8> {
        vec![0; self.fill.saturating_sub(len)]
    }
}

impl<const N: usize> NodeHash for Framed<N> {
    type Digest = [u8; N];
    /// The leaves and the length of each so far.
    type Leaves = (Streams, usize);
    type Parent = Streams;

    fn zero(&self) -> [u8; N] {
        [0; N]
    }

    fn empty(&self) -> Option<[u8; N]> {
        self.empty
    }

    fn seal(&self, top: [u8; N], len: u64) -> [u8; N] {
        self.descriptor.as_ref().map_or(top, |descriptor| self.digest(&[&descriptor.bytes(&top, len)]))
    }

    fn marks_root(&self) -> bool {
        self.inner != self.root || self.descriptor.is_some()
    }

    fn depends_on_start(&self) -> bool {
        false
    }

    fn recipe(&self) -> Option<Recipe<'_>> {
        // Children that take more than their digests are no message of digests.
        (self.slot == N).then_some(Recipe::Prefixed { hash: self.hash, leaf: &self.leaf, inner: &self.inner })
    }

    fn lanes(&self) -> usize {
        self.hash.lanes()
    }

    fn leaf(&self, _: u64, bytes: &[u8], _: Role) -> [u8; N] {
        self.digest(&[&self.leaf, bytes, &self.padding(bytes.len())])
    }

    fn leaves(&self, start: u64, leaves: Messages<'_>, out: &mut Vec<[u8; N]>) {
        if leaves.len() < self.fill {
            out.extend(leaves.iter().map(|bytes| self.leaf(start, bytes, Role::Inner)));
            return;
        }
        self.all(&self.leaf, leaves, out);
    }

    fn open_leaves(&self, starts: &[u64]) -> Self::Leaves {
        (Streams::new(self.hash, &self.leaf, starts.len()), 0)
    }

    fn slices(&self, (streams, len): &mut Self::Leaves, slices: Messages<'_>) {
        streams.update(slices);
        *len += slices.len();
    }

    fn close_leaves(&self, (streams, len): Self::Leaves, ends: &[&[u8]], _: Role, out: &mut Vec<[u8; N]>) {
        assert_eq!(ends.len(), streams.count(), "an end for each leaf");
        if self.hash.size() == N && ends.iter().all(|end| end.is_empty()) && len >= self.fill {
            let from = out.len();
            out.resize(from + streams.count(), [0; N]);
            return streams.finish(out[from..].as_flattened_mut());
        }
        for (mut stream, end) in streams.split().zip(ends) {
            stream.append(end);
            stream.append(&self.padding(len + end.len()));
            out.push(self.finished(stream));
        }
    }

    fn open_parent(&self, role: Role) -> Streams {
        Streams::new(self.hash, self.prefix(role), 1)
    }

    fn children(&self, open: &mut Streams, children: &[[u8; N]]) {
        if self.slot == N {
            return open.append(children.as_flattened());
        }
        let size = self.hash.size();
        for child in children {
            open.append(&child[..size]);
            open.append(&[0; Hash::MAX_SIZE][..self.slot - size]);
        }
    }

    fn close_parent(&self, open: Streams) -> [u8; N] {
        self.finished(open)
    }

    fn parents(&self, children: &[[u8; N]], arity: usize, out: &mut Vec<[u8; N]>) {
        if self.slot == N {
            return self.all(&self.inner, Messages::new(children.as_flattened(), arity * N), out);
        }
        let (size, mut bodies) = (self.hash.size(), vec![0; children.len() * self.slot]);
        for (slot, child) in bodies.chunks_exact_mut(self.slot).zip(children) {
            slot[..size].copy_from_slice(&child[..size]);
        }
        self.all(&self.inner, Messages::new(&bodies, arity * self.slot), out);
    }
}

/// A digest in an array that may be longer: followed by zeros.
pub(crate) fn padded<const N: usize>(digest: &[u8]) -> [u8; N] {
    let mut wide = [0; N];
    wide[..digest.len()].copy_from_slice(digest);
    wide
}

/// What fs-verity hashes last: `struct fsverity_descriptor` of Linux's `include/uapi/linux/fsverity.h`.
#[derive(Clone, Debug)]
pub struct Descriptor {
    /// The kernel's number of the hash: 1 for SHA-256, 2 for SHA-512.
    pub algorithm: u8,
    /// The binary logarithm of the block size.
    pub log_block: u8,
    /// The salt as the user gave it: at most 32 bytes.
    pub salt: Vec<u8>,
}

impl Descriptor {
    /// The descriptor of a file of `len` bytes with `top` at the top of its tree.
    fn bytes(&self, top: &[u8], len: u64) -> [u8; 256] {
        let mut bytes = [0; 256];
        bytes[0] = 1; // version
        bytes[1] = self.algorithm;
        bytes[2] = self.log_block;
        bytes[3] = self.salt.len() as u8;
        bytes[8..16].copy_from_slice(&len.to_le_bytes());
        bytes[16..16 + top.len()].copy_from_slice(top); // 64 bytes at most
        bytes[80..80 + self.salt.len()].copy_from_slice(&self.salt);
        bytes
    }
}

/// Leaves are digests already; a node is the hash of its two children's.
#[derive(Clone, Debug)]
pub struct Pairs<const N: usize>(Framed<N>);

impl<const N: usize> Pairs<N> {
    /// Nodes hashed with `hash`.
    ///
    /// # Panics
    /// If digests of `hash` have not `N` bytes.
    pub fn new(hash: Hash) -> Self {
        Pairs(Framed::new(hash, &[], &[], &[]))
    }
}

impl<const N: usize> NodeHash for Pairs<N> {
    type Digest = [u8; N];
    type Leaves = Vec<Vec<u8>>;
    type Parent = Streams;

    fn zero(&self) -> [u8; N] {
        [0; N]
    }

    fn empty(&self) -> Option<[u8; N]> {
        None
    }

    fn marks_root(&self) -> bool {
        false
    }

    fn depends_on_start(&self) -> bool {
        false
    }

    fn lanes(&self) -> usize {
        self.0.lanes()
    }

    fn leaf(&self, _: u64, bytes: &[u8], _: Role) -> [u8; N] {
        padded(bytes)
    }

    fn leaves(&self, _: u64, leaves: Messages<'_>, out: &mut Vec<[u8; N]>) {
        out.extend(leaves.iter().map(|bytes| self.leaf(0, bytes, Role::Inner)));
    }

    fn open_leaves(&self, starts: &[u64]) -> Self::Leaves {
        vec![Vec::new(); starts.len()]
    }

    fn slices(&self, open: &mut Self::Leaves, slices: Messages<'_>) {
        for (leaf, slice) in open.iter_mut().zip(slices.iter()) {
            leaf.extend_from_slice(slice);
        }
    }

    fn close_leaves(&self, open: Self::Leaves, ends: &[&[u8]], role: Role, out: &mut Vec<[u8; N]>) {
        out.extend(open.into_iter().zip(ends).map(|(leaf, end)| self.leaf(0, &[&leaf, *end].concat(), role)));
    }

    fn open_parent(&self, role: Role) -> Streams {
        self.0.open_parent(role)
    }

    fn children(&self, open: &mut Streams, children: &[[u8; N]]) {
        self.0.children(open, children);
    }

    fn close_parent(&self, open: Streams) -> [u8; N] {
        self.0.close_parent(open)
    }

    fn parents(&self, children: &[[u8; N]], arity: usize, out: &mut Vec<[u8; N]>) {
        self.0.parents(children, arity, out);
    }
}
