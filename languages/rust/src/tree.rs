//! The tree over the bytes written so far.

use mksum::{Digest, Digests, Error, Frontier, MAX_LEN, Messages, NeedsLength, Role, Root, Spec, Subtree};
use std::io::{self, Write};

/// The most leaves that are hashed side by side: one in each 32-bit word of a 512-bit register.
const LEAVES: u64 = 16;

/// How many bytes of each of these leaves are read at once.
const SLICE: usize = 1 << 14;

/// The distance of two slices in memory, in bytes. If it were a power of two, all of them would share a few lines of the
/// first-level cache.
const STRIDE: usize = SLICE + 64;

/// How many bytes that follow one another are read at once: a second-level cache holds them.
const READ: u64 = 1 << 17;

/// The tree over the bytes written so far: a [`Frontier`] that implements [`io::Write`].
#[derive(Clone, Debug)]
pub struct Tree {
    frontier: Frontier,
    /// The leaf after the frontier, if it was hashed elsewhere. A frontier takes a digest only if more bytes follow it.
    last: Option<(Subtree, Digest)>,
}

impl Tree {
    /// Leaves of more bytes are hashed side by side by [`update_from`](Tree::update_from): 16 KiB.
    pub const LONG: u64 = SLICE as u64;

    /// An empty tree.
    ///
    /// # Errors
    /// If the format needs the input's length first.
    pub fn new(spec: &Spec) -> Result<Self, NeedsLength> {
        Ok(Tree { frontier: spec.frontier()?, last: None })
    }

    /// Appends the `len` bytes at `offset` of an input that can be read anywhere, such as a file; `read` fills a slice with the
    /// bytes at an offset.
    ///
    /// Several leaves of more than [`LONG`](Tree::LONG) bytes are hashed side by side. A stream does not allow that: there, one leaf ends before the
    /// next begins.
    ///
    /// ```
    /// use std::io::Read;
    ///
    /// let bytes = vec![7; 1 << 20];
    /// let format: mksum::Spec = "rfc6962:sha256:64KiB".parse()?;
    /// let mut tree = merkle::Tree::new(&format)?;
    /// // For a file: |slice, offset| file.read_exact_at(slice, offset)
    /// tree.update_from(|slice, offset| (&bytes[offset as usize..]).read_exact(slice), 0, 1 << 20)?;
    /// assert_eq!(tree.root()?, format.root(&bytes)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of `read`, and if there are more than 2^63 bytes in all. After an error the tree must be [reset](Tree::reset).
    pub fn update_from(
        &mut self,
        mut read: impl FnMut(&mut [u8], u64) -> io::Result<()>,
        mut offset: u64,
        mut len: u64,
    ) -> io::Result<()> {
        let spec = self.frontier.spec().clone();
        let leaf = spec.leaf();
        // The frontier takes this many bytes at once: some leaves, or one.
        let unit = spec.shape().unit(Frontier::BUFFER).map_or(leaf, |unit| unit.len);
        // It begins at a multiple of 64: into other places, some processors copy at a third of the speed.
        let mut memory = vec![0; STRIDE * LEAVES as usize + 63];
        let start = memory.as_ptr().align_offset(64);
        let buffer = &mut memory[start..start + STRIDE * LEAVES as usize];
        while len > 0 {
            let begun = self.position() % unit;
            let count = LEAVES.min(len / leaf) / (unit / leaf) * (unit / leaf);
            let used = if leaf > Self::LONG && begun == 0 && count > 1 {
                self.update_leaves(&mut read, offset, count, buffer)?;
                count * leaf
            } else {
                // Not beyond the place from which leaves may be hashed side by side.
                let used = len.min(READ).min(unit - begun);
                read(&mut buffer[..used as usize], offset)?;
                self.write_all(&buffer[..used as usize])?;
                used
            };
            (offset, len) = (offset + used, len - used);
        }
        Ok(())
    }

    /// Reads `count` leaves at once, slice by slice, and appends their digests.
    fn update_leaves(
        &mut self,
        read: &mut impl FnMut(&mut [u8], u64) -> io::Result<()>,
        offset: u64,
        count: u64,
        buffer: &mut [u8],
    ) -> io::Result<()> {
        let (spec, position) = (self.frontier.spec().clone(), self.position());
        if position.checked_add(count * spec.leaf()).is_none_or(|end| end > MAX_LEN) {
            return Err(io::Error::other("more than 2^63 bytes"));
        }
        let node = |index| Subtree { start: position + index * spec.leaf(), len: spec.leaf(), level: 0 };
        let nodes: Vec<_> = (0..count).map(node).collect();
        let mut leaves = spec.leaf_hasher(&nodes);
        for done in (0..spec.leaf()).step_by(SLICE) {
            let slice = (spec.leaf() - done).min(SLICE as u64) as usize;
            for (memory, index) in buffer.chunks_exact_mut(STRIDE).zip(0..count) {
                read(&mut memory[..slice], offset + index * spec.leaf() + done)?;
            }
            leaves.update(Messages::strided(buffer, slice, STRIDE, count as usize));
        }
        let mut digests = Digests::new(spec.hash().size());
        leaves.finish(&vec![&[][..]; count as usize], Role::Inner, &mut digests);
        for (node, digest) in nodes.into_iter().zip(digests.iter()) {
            self.settle();
            self.last = Some((node, digest));
        }
        Ok(())
    }

    /// Moves the last leaf into the frontier: more bytes follow.
    fn settle(&mut self) {
        if let Some((leaf, digest)) = self.last.take() {
            self.frontier.push(leaf, digest).expect("the leaf begins where the frontier ends");
        }
    }

    /// The root of the bytes so far; more may be written afterwards.
    ///
    /// # Errors
    /// If the format has no root for this length.
    pub fn root(&self) -> Result<Root, Error> {
        match self.last {
            None => self.frontier.root(),
            Some(last) => self.frontier.root_with(&vec![last], self.position()),
        }
    }

    /// The number of bytes so far.
    pub fn position(&self) -> u64 {
        self.frontier.position() + self.last.map_or(0, |(leaf, _)| leaf.len)
    }

    /// Removes all bytes.
    pub fn reset(&mut self) {
        self.frontier = self.frontier.spec().frontier().expect("the format made a frontier before");
        self.last = None;
    }
}

impl Write for Tree {
    /// Takes all bytes.
    ///
    /// # Errors
    /// If there are more than 2^63 in all.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !bytes.is_empty() {
            self.settle();
        }
        self.frontier.update(bytes).map_err(io::Error::other)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
