//! Streaming: what must be remembered of the bytes so far, when nobody knows how many will come.

use crate::{
    Error, Format, LengthError, MAX_LEN, Memory, Messages, NeedsLength, NodeHash, Role, Shape, Subtree, Subtrees,
};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::mem;
use core::ops::Deref;

/// The root of bytes that come as they may: a compact range and a bounded buffer.
///
/// Holds the digests of the perfect subtrees so far, fewer than the arity for each level, and at most
/// [`Frontier::BUFFER`] bytes; the only node of a flat tree is hashed as its leaves come.
///
/// ```
/// use mksum::{Blake3, Edge, Format, Shape, Tail};
///
/// let shape = Shape::Even { leaf: 1024, arity: 2, edge: Edge::Promote, tail: Tail::Short };
/// let format = Format { shape, nodes: Blake3 };
/// let mut frontier = format.frontier()?;
/// frontier.update(b"some")?;
/// frontier.update(b" bytes")?;
/// assert_eq!(frontier.root()?, format.hash(b"some bytes")?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Frontier<'a, N: NodeHash> {
    format: Held<'a, Format<N>>,
    /// The bytes that one buffer holds: one subtree, or a slice of a longer leaf.
    unit: Subtree,
    /// The offset of the first byte that is not under `known` or `flat`.
    start: u64,
    /// From left to right.
    known: Vec<(Subtree, N::Digest)>,
    flat: Option<N::Parent>,
    /// The leaf that is longer than the buffer, and how much of it was hashed.
    leaf: Option<(N::Leaves, u64)>,
    buffer: Vec<u8>,
}

impl<N: NodeHash> Format<N> {
    /// A frontier before the first byte.
    ///
    /// # Errors
    /// If the final length moves the splits.
    pub fn frontier(&self) -> Result<Frontier<'_, N>, NeedsLength> {
        Frontier::new(Held::Lent(self))
    }

    /// The same, with the format in it: for whoever keeps it longer than a call.
    ///
    /// # Errors
    /// As [`Format::frontier`].
    pub fn into_frontier(self) -> Result<Frontier<'static, N>, NeedsLength> {
        Frontier::new(Held::Shared(Arc::new(self)))
    }
}

/// A format that is somebody else's, or shared by a frontier and its copies.
#[derive(Debug)]
enum Held<'a, T> {
    Lent(&'a T),
    Shared(Arc<T>),
}

impl<T> Clone for Held<'_, T> {
    fn clone(&self) -> Self {
        match self {
            Held::Lent(format) => Held::Lent(format),
            Held::Shared(format) => Held::Shared(format.clone()),
        }
    }
}

impl<T> Deref for Held<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        match self {
            Held::Lent(format) => format,
            Held::Shared(format) => format,
        }
    }
}

impl<'a, N: NodeHash> Frontier<'a, N> {
    /// The most bytes that are held back before they are hashed.
    pub const BUFFER: u64 = 1 << 18;

    fn new(format: Held<'a, Format<N>>) -> Result<Self, NeedsLength> {
        let unit = format.shape.unit(Self::BUFFER).ok_or(NeedsLength)?;
        let flat = matches!(format.shape, Shape::Flat { .. }).then(|| format.nodes.open_parent(Role::Root));
        Ok(Frontier { format, unit, start: 0, known: Vec::new(), flat, leaf: None, buffer: Vec::new() })
    }

    /// The bytes so far.
    pub fn position(&self) -> u64 {
        self.start + self.leaf.as_ref().map_or(0, |(_, len)| *len) + self.buffer.len() as u64
    }

    /// Appends bytes.
    ///
    /// # Errors
    /// If there are more than [`MAX_LEN`] bytes in all.
    pub fn update(&mut self, mut bytes: &[u8]) -> Result<(), Error> {
        let len = self.position() + bytes.len() as u64;
        if len > MAX_LEN {
            return Err(LengthError { len, rule: "at most 2^63 bytes".into() }.into());
        }
        let full = self.unit.len.min(Self::BUFFER) as usize;
        while !bytes.is_empty() {
            // A full buffer waits for the byte after it: only then is it certain that it is not the root.
            if self.buffer.len() == full {
                self.flush()?;
            }
            let (now, later) = bytes.split_at(bytes.len().min(full - self.buffer.len()));
            self.buffer.extend_from_slice(now);
            bytes = later;
        }
        Ok(())
    }

    /// Hashes the buffer, which more bytes follow.
    fn flush(&mut self) -> Result<(), Error> {
        let format = self.format.clone();
        if self.unit.len <= Self::BUFFER {
            let node = Subtree { start: self.start, ..self.unit };
            let digest = format.join(&Memory::from(self.start, &self.buffer), node, Role::Inner)?;
            self.push(node, digest)?;
        } else {
            self.slice();
        }
        self.buffer.clear();
        Ok(())
    }

    /// Hashes the buffer as a slice of a leaf that is longer, or ends in it.
    fn slice(&mut self) {
        let format = self.format.clone();
        let nodes = &format.nodes;
        let (mut leaf, len) = self.leaf.take().unwrap_or_else(|| (nodes.open_leaves(&[self.start]), 0));
        let rest = (self.unit.len - len).min(self.buffer.len() as u64) as usize;
        let buffer = mem::take(&mut self.buffer);
        let (now, later) = buffer.split_at(rest);
        nodes.slices(&mut leaf, Messages::one(now));
        if later.is_empty() {
            self.leaf = Some((leaf, len + rest as u64));
        } else {
            let mut digest = Vec::new();
            nodes.close_leaves(leaf, &[&[]], Role::Inner, &mut digest);
            self.append(Subtree { start: self.start, ..self.unit }, digest.remove(0));
            let mut next = nodes.open_leaves(&[self.start]);
            nodes.slices(&mut next, Messages::one(later));
            self.leaf = Some((next, later.len() as u64));
        }
        self.buffer = buffer;
    }

    /// Appends a perfect subtree that was hashed elsewhere: the bytes right after those so far, which more bytes follow.
    ///
    /// # Errors
    /// If the subtree does not begin at the frontier's position, or is not perfect.
    pub fn push(&mut self, node: Subtree, digest: N::Digest) -> Result<(), Error> {
        if node.start != self.start || self.leaf.is_some() || !self.format.shape.is_perfect(node) {
            return Err(Error::Missing(Subtree { start: self.start, ..node }));
        }
        self.append(node, digest);
        Ok(())
    }

    fn append(&mut self, node: Subtree, digest: N::Digest) {
        self.start = node.end();
        if let Some(parent) = &mut self.flat {
            return self.format.nodes.children(parent, &[digest]);
        }
        self.known.push((node, digest));
        // Each level that is complete becomes one node.
        let (mut node, shape) = (node, self.format.shape);
        while let Some(above) = shape.completed_by(node) {
            let digest = self.format.join(&self.known, above, Role::Inner).expect("all its children are known");
            let before = self.known.partition_point(|(known, _)| known.start < above.start);
            self.known.truncate(before);
            self.known.push((above, digest));
            node = above;
        }
    }

    /// The root of the bytes so far; more may be appended afterwards.
    ///
    /// # Errors
    /// If the format has no root for this length.
    pub fn root(&self) -> Result<N::Digest, Error> {
        match self.leaf.clone() {
            None => self.root_with(&Memory::from(self.start, &self.buffer), self.position()),
            Some((leaf, len)) => {
                let (start, nodes) = (self.start, &self.format.nodes);
                let split = ((self.unit.len - len) as usize).min(self.buffer.len());
                let (end, later) = self.buffer.split_at(split);
                let len = len + end.len() as u64;
                let node = Subtree { start, len, level: 0 };
                let role = if self.format.shape.root(self.position()) == node { Role::Root } else { Role::Inner };
                let mut digest = Vec::new();
                nodes.close_leaves(leaf, &[end], role, &mut digest);
                let leaf = Leaf(node, digest.remove(0));
                self.root_with(&(&leaf, &Memory::from(start + len, later)), self.position())
            }
        }
    }

    /// The root of `len` bytes, of which `rest` has those after the frontier.
    ///
    /// # Errors
    /// If the format has no root for this length, or `rest` fails or lacks a subtree.
    pub fn root_with(&self, rest: &dyn Subtrees<N>, len: u64) -> Result<N::Digest, Error> {
        let format = &self.format;
        format.root_by(len, |top| match &self.flat {
            None => format.join(&(&self.known, rest), top, Role::Root),
            Some(parent) => {
                let mut parent = parent.clone();
                let children = format.shape.children(top).starting_at(self.start);
                format.join_children(rest, &mut parent, children)?;
                Ok(format.nodes.close_parent(parent))
            }
        })
    }
}

/// A leaf and its digest.
struct Leaf<D>(Subtree, D);

impl<N: NodeHash<Digest = D>, D: Clone> Subtrees<N> for Leaf<D> {
    fn digest(&self, _: &Format<N>, node: Subtree, _: Role) -> Result<Option<D>, Error> {
        Ok((self.0 == node).then(|| self.1.clone()))
    }
}
