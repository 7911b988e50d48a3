//! Streaming: the root of bytes whose number is not known yet.

use crate::hashing::ParentHasher;
use crate::{
    Digest, Error, LeafHasher, LengthError, MAX_LEN, Memory, Messages, NeedsLength, PushError, Role, Root, Shape, Spec,
    Subtree, Subtrees,
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
    /// If the final length moves the splits of this format, or is hashed first.
    pub fn frontier(&self) -> Result<Frontier, NeedsLength> {
        let shape = self.shape();
        let unit = shape.unit(Frontier::BUFFER).filter(|_| self.family().streams()).ok_or(NeedsLength)?;
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

    /// The most bytes that are held back of a leaf that is longer than the buffer: the chunks of BLAKE3 in them fill the lanes, and other
    /// hashes take one message's blocks one after another anyway.
    const SLICE: u64 = 1 << 14;

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
            if self.buffer.is_empty() {
                bytes = self.hash(bytes, Amount::Worthwhile)?;
            } else if self.buffer.len() == self.full() {
                self.hash_buffer()?;
            }
            let room = self.full() - self.buffer.len();
            let (now, later) = bytes.split_at(bytes.len().min(room));
            self.buffer.extend_from_slice(now);
            bytes = later;
        }
        Ok(())
    }

    /// The bytes of a full buffer: to the end of a unit, or a slice of a longer leaf.
    fn full(&self) -> usize {
        let most = if self.unit.len > Self::BUFFER { Self::SLICE } else { Self::BUFFER };
        self.left.min(most) as usize
    }

    /// Hashes the next bytes where they lie, and returns those that are left.
    fn hash<'a>(&mut self, bytes: &'a [u8], amount: Amount) -> Result<&'a [u8], Error> {
        /// The number of leaves that fill the lanes of every hash.
        const LEAVES: u64 = 16;
        let all = amount == Amount::All;
        if self.unit.len > Self::BUFFER {
            if !all && bytes.len() < self.full() {
                return Ok(bytes);
            }
            self.hash_slice(bytes);
            return Ok(&[]);
        }
        let memory = Memory::from(self.start, bytes);
        let end = self.start + bytes.len() as u64;
        // The first node waits for the byte after it: only then is it certain that it is not the root.
        while let Some(node) = self.next_unit(end - self.start - u64::from(!all && self.start == 0))
            && (all || end - self.start >= self.left || node.len >= LEAVES * self.spec.shape().leaf())
        {
            let digest = self.spec.join(&memory, node, Role::Inner)?;
            self.append(node, digest);
        }
        Ok(&bytes[bytes.len() - (end - self.start) as usize..])
    }

    /// The longest next perfect subtree that fits a buffer and `at_most` bytes.
    fn next_unit(&self, at_most: u64) -> Option<Subtree> {
        let mut unit = self.spec.shape().unit(at_most.min(Self::BUFFER))?;
        while !self.start.is_multiple_of(unit.len) {
            unit = self.spec.shape().unit(unit.len - 1)?;
        }
        (unit.len <= at_most).then_some(Subtree { start: self.start, ..unit })
    }

    /// Hashes the buffer, which ends where a unit does or is a slice of a longer leaf, and more bytes follow.
    fn hash_buffer(&mut self) -> Result<(), Error> {
        let mut buffer = mem::take(&mut self.buffer);
        let hashed = self.hash(&buffer, Amount::All).map(|_| ());
        buffer.clear();
        self.buffer = buffer;
        hashed
    }

    /// Hashes bytes of leaves that are longer than the buffer.
    fn hash_slice(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let (mut leaf, len) = self
                .leaf
                .take()
                .unwrap_or_else(|| (self.spec.leaf_hasher(&[Subtree { start: self.start, ..self.unit }]), 0));
            let rest = (self.unit.len - len).min(bytes.len() as u64) as usize;
            let (now, later) = bytes.split_at(rest);
            leaf.update(Messages::one(now));
            if later.is_empty() {
                self.leaf = Some((leaf, len + now.len() as u64));
            } else {
                self.append(Subtree { start: self.start, ..self.unit }, leaf.finish_one(Role::Inner));
            }
            bytes = later;
        }
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
        self.hash_buffer().unwrap_or_else(|_| unreachable!("all bytes of the unit are in memory"));
        if let Some((leaf, _)) = self.leaf.take() {
            self.append(Subtree { start: self.start, ..self.unit }, leaf.finish_one(Role::Inner));
        }
    }

    fn append(&mut self, node: Subtree, digest: Digest) {
        self.start = node.end();
        self.left = self.unit.len - self.start % self.unit.len;
        if let Some(parent) = &mut self.flat {
            return parent.push(&digest, node.len);
        }
        self.complete();
        self.known.push((node, digest));
    }

    /// Hashes each level that is complete into one node: more bytes follow, so none of them is the root.
    fn complete(&mut self) {
        while let Some((last, _)) = self.known.last()
            && let Some(above) = self.spec.shape().completed_by(*last)
        {
            let digest = self
                .spec
                .join(&self.known, above, Role::Inner)
                .unwrap_or_else(|_| unreachable!("all its children are known"));
            let before = self.known.partition_point(|(known, _)| known.start < above.start);
            self.known.truncate(before);
            self.known.push((above, digest));
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
        let split = (self.unit.len - hashed).min(self.buffer.len() as u64) as usize;
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

/// The part of some bytes that is hashed at once.
#[derive(Clone, Copy, PartialEq)]
enum Amount {
    /// All: they end where a subtree does or lie in a longer leaf, and more bytes follow.
    All,
    /// Only bytes that fill the lanes, or end where a unit does.
    Worthwhile,
}

/// A leaf and its digest.
struct Leaf(Subtree, Digest);

impl Subtrees for Leaf {
    fn digest(&self, _: &Spec, node: Subtree, _: Role) -> Result<Option<Digest>, Error> {
        Ok((self.0 == node).then_some(self.1))
    }
}
