//! Streaming: the root of bytes whose number is not known yet.

use crate::hashing::{LeafHasher, ParentHasher};
use crate::{
    Digest, Error, LengthError, MAX_LEN, Memory, Messages, NeedsLength, PushError, Role, Root, Shape, Spec, Subtree,
    Subtrees,
};
use alloc::vec::Vec;
use core::mem;

/// Hashes a stream into a root: a compact range and a bounded buffer.
///
/// Holds the digests of the perfect subtrees so far, fewer than the arity for each level, and at most
/// [`Frontier::BUFFER`] bytes; the only node of a flat tree is hashed as its leaves come.
///
/// ```
/// let spec: mksum::Spec = "blake3".parse()?;
/// let mut frontier = spec.frontier()?;
/// frontier.update(b"some")?;
/// frontier.update(b" bytes")?;
/// assert_eq!(frontier.root()?, spec.root(b"some bytes")?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Frontier {
    spec: Spec,
    /// The bytes that one buffer holds: one subtree, or a slice of a longer leaf.
    unit: Subtree,
    /// The offset of the first byte that is not under `known` or `flat`.
    start: u64,
    /// The bytes from there to the end of the unit.
    left: u64,
    /// The perfect subtrees so far, left to right.
    known: Vec<(Subtree, Digest)>,
    flat: Option<ParentHasher>,
    /// The leaf that is longer than the buffer, and how much of it was hashed.
    leaf: Option<(LeafHasher, u64)>,
    buffer: Vec<u8>,
}

impl Spec {
    /// A frontier before the first byte: hashes a stream.
    ///
    /// # Errors
    /// If the final length moves the splits of this format.
    pub fn frontier(&self) -> Result<Frontier, NeedsLength> {
        let shape = self.shape();
        let unit = shape.unit(Frontier::BUFFER).ok_or(NeedsLength)?;
        let flat = matches!(shape, Shape::Flat { .. }).then(|| self.nodes().parent_hasher(Role::Root));
        Ok(Frontier {
            spec: self.clone(),
            unit,
            start: 0,
            left: unit.len,
            known: Vec::new(),
            flat,
            leaf: None,
            buffer: Vec::new(),
        })
    }
}

impl Frontier {
    /// The most bytes that are held back before they are hashed.
    pub const BUFFER: u64 = 1 << 18;

    /// The format.
    pub fn spec(&self) -> &Spec {
        &self.spec
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
        while !bytes.is_empty() {
            // A full buffer waits for the byte after it: only then is it certain that it is not the root.
            if self.buffer.len() == self.full() {
                self.flush()?;
            }
            let (now, later) = bytes.split_at(bytes.len().min(self.full() - self.buffer.len()));
            self.buffer.extend_from_slice(now);
            bytes = later;
        }
        Ok(())
    }

    /// The bytes of a full buffer: to the end of a unit, or a slice of a longer leaf.
    fn full(&self) -> usize {
        self.left.min(Self::BUFFER) as usize
    }

    /// Hashes the buffer, which is full and more bytes follow.
    fn flush(&mut self) -> Result<(), Error> {
        match self.unit.len {
            ..=Self::BUFFER => self.whole()?,
            _ => self.slice(),
        }
        self.buffer.clear();
        Ok(())
    }

    /// Hashes the buffer, which ends where a unit does.
    fn whole(&mut self) -> Result<(), Error> {
        let unit = Subtree { start: self.start, ..self.unit };
        let buffer = mem::take(&mut self.buffer);
        let memory = Memory::from(self.start, &buffer);
        // Within a unit after smaller subtrees were pushed: then its leaves follow one by one.
        let node = if buffer.len() as u64 == unit.len { unit } else { self.spec.shape().unit(0).unwrap_or(unit) };
        for start in (self.start..self.start + buffer.len() as u64).step_by(node.len as usize) {
            let node = Subtree { start, ..node };
            let digest = self.spec.join(&memory, node, Role::Inner)?;
            self.append(node, digest);
        }
        self.buffer = buffer;
        Ok(())
    }

    /// Hashes the buffer as a slice of a leaf that is longer, or ends in it.
    fn slice(&mut self) {
        let (mut leaf, len) = self.leaf.take().unwrap_or_else(|| (self.spec.leaf_hasher(&[self.start]), 0));
        let rest = (self.unit.len - len).min(self.buffer.len() as u64) as usize;
        let buffer = mem::take(&mut self.buffer);
        let (now, later) = buffer.split_at(rest);
        leaf.update(Messages::one(now));
        if later.is_empty() {
            self.leaf = Some((leaf, len + rest as u64));
        } else {
            self.append(Subtree { start: self.start, ..self.unit }, leaf.finish_one(Role::Inner));
            let mut next = self.spec.leaf_hasher(&[self.start]);
            next.update(Messages::one(later));
            self.leaf = Some((next, later.len() as u64));
        }
        self.buffer = buffer;
    }

    /// Appends a perfect subtree that was hashed elsewhere: the bytes right after those so far, which more bytes follow.
    ///
    /// # Errors
    /// If the frontier's position is within a subtree, if `node` begins elsewhere, or if the tree has no such perfect subtree.
    pub fn push(&mut self, node: Subtree, digest: Digest) -> Result<(), PushError> {
        let position = self.position();
        if position != self.start && position - self.start != self.left {
            return Err(PushError::WithinSubtree { position, start: self.start });
        }
        if node.start != position {
            return Err(PushError::Position { expected: position, found: node.start });
        }
        if !self.spec.shape().is_perfect(node) || !node.start.is_multiple_of(node.len) {
            return Err(PushError::NotPerfect(node));
        }
        if position != self.start {
            self.settle();
        }
        self.append(node, digest);
        Ok(())
    }

    /// Hashes the bytes after `start`, which more bytes follow: they end where a unit does.
    fn settle(&mut self) {
        match self.leaf.take() {
            None => self.whole().expect("all bytes of the unit are in memory"),
            Some((mut leaf, _)) => {
                leaf.update(Messages::one(&self.buffer));
                self.append(Subtree { start: self.start, ..self.unit }, leaf.finish_one(Role::Inner));
            }
        }
        self.buffer.clear();
    }

    fn append(&mut self, node: Subtree, digest: Digest) {
        self.start = node.end();
        self.left = self.unit.len - self.start % self.unit.len;
        if let Some(parent) = &mut self.flat {
            return parent.push(&digest, node.len);
        }
        self.known.push((node, digest));
        // Each level that is complete becomes one node.
        let mut node = node;
        while let Some(above) = self.spec.shape().completed_by(node) {
            let digest = self.spec.join(&self.known, above, Role::Inner).expect("all its children are known");
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
    pub fn root(&self) -> Result<Root, Error> {
        let len = self.position();
        let Some((mut leaf, hashed)) = self.leaf.clone() else {
            return self.root_with(&Memory::from(self.start, &self.buffer), len);
        };
        let split = ((self.unit.len - hashed) as usize).min(self.buffer.len());
        let (end, later) = self.buffer.split_at(split);
        let node = Subtree { start: self.start, len: hashed + end.len() as u64, level: 0 };
        leaf.update(Messages::one(end));
        let leaf = Leaf(node, leaf.finish_one(self.spec.role(len, node)));
        self.root_with(&(leaf, Memory::from(node.end(), later)), len)
    }

    /// The root of `len` bytes; `rest` has those after the frontier.
    ///
    /// # Errors
    /// If the format has no root for this length, or `rest` fails or lacks a leaf.
    pub fn root_with(&self, rest: &dyn Subtrees, len: u64) -> Result<Root, Error> {
        let spec = &self.spec;
        spec.root_by(len, |top| match &self.flat {
            None => spec.join(&(&self.known, rest), top, Role::Root),
            Some(parent) => {
                let mut parent = parent.clone();
                let children = spec.shape().children(top).starting_at(self.start);
                spec.join_children(rest, &mut parent, children)?;
                Ok(parent.finish())
            }
        })
    }
}

/// A leaf and its digest.
struct Leaf(Subtree, Digest);

impl Subtrees for Leaf {
    fn digest(&self, _: &Spec, node: Subtree, _: Role) -> Result<Option<Digest>, Error> {
        Ok((self.0 == node).then_some(self.1))
    }
}
