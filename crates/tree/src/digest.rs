//! Digests as values: one, and many of one size.

use alloc::vec::Vec;
use base16ct::HexDisplay;
use core::fmt;
use mksum_lanes::Hash;

/// The digest of a node: 1 to 64 bytes.
///
/// Digests of different sizes are never equal. A digest does not know its format: a [`Root`](crate::Root) does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest {
    /// The digest, followed by zeros.
    bytes: [u8; Hash::MAX_SIZE],
    size: u8,
}

impl Digest {
    /// The digest with these bytes.
    ///
    /// # Panics
    /// If there are none, or more than 64.
    pub fn new(bytes: &[u8]) -> Self {
        assert!((1..=Hash::MAX_SIZE).contains(&bytes.len()), "a digest has 1 to 64 bytes, not {}", bytes.len());
        let mut digest = Digest::zero(bytes.len());
        digest.as_mut().copy_from_slice(bytes);
        digest
    }

    /// `size` zero bytes.
    pub(crate) fn zero(size: usize) -> Self {
        Digest { bytes: [0; Hash::MAX_SIZE], size: size as u8 }
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.size)]
    }

    /// The bytes, to be written.
    pub(crate) fn as_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[..usize::from(self.size)]
    }
}

impl AsRef<[u8]> for Digest {
    fn as_ref(&self) -> &[u8] {
        self.as_bytes()
    }
}

impl PartialEq<[u8]> for Digest {
    fn eq(&self, other: &[u8]) -> bool {
        self.as_bytes() == other
    }
}

impl fmt::Display for Digest {
    /// Lower-case hex.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}", HexDisplay(self.as_bytes()))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Digests of one size, left to right, one right after the other in memory.
#[derive(Clone, PartialEq, Eq)]
pub struct Digests {
    size: usize,
    bytes: Vec<u8>,
}

impl Digests {
    /// An empty list of digests of `size` bytes each.
    pub fn new(size: usize) -> Self {
        Digests { size, bytes: Vec::new() }
    }

    /// The list of the digests in `bytes`, of `size` bytes each.
    ///
    /// # Panics
    /// If `size` is zero or does not divide the length of `bytes`.
    pub fn from_bytes(size: usize, bytes: Vec<u8>) -> Self {
        assert!(bytes.len().is_multiple_of(size), "{} bytes are no digests of {size}", bytes.len());
        Digests { size, bytes }
    }

    /// The size of each digest, in bytes.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The number of digests.
    pub fn len(&self) -> usize {
        self.bytes.len() / self.size
    }

    /// Whether there are no digests.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// All digests: `self.len() * self.size()` bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// All digests: `self.len() * self.size()` bytes.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// The digest at `index`, or `None` past the last.
    pub fn get(&self, index: usize) -> Option<Digest> {
        let start = index.checked_mul(self.size)?;
        Some(Digest::new(self.bytes.get(start..start.checked_add(self.size)?)?))
    }

    /// The digests, left to right.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Digest> {
        self.bytes.chunks_exact(self.size).map(Digest::new)
    }

    /// Appends a digest.
    ///
    /// # Panics
    /// If it has another size.
    pub fn push(&mut self, digest: Digest) {
        assert_eq!(digest.as_bytes().len(), self.size, "the size of a digest");
        self.bytes.extend_from_slice(digest.as_bytes());
    }

    /// Appends `count` digests to be written: their bytes, zeros for now.
    pub(crate) fn grow(&mut self, count: usize) -> &mut [u8] {
        let from = self.bytes.len();
        self.bytes.resize(from + count * self.size, 0);
        &mut self.bytes[from..]
    }

    /// Appends digests of this size, one right after the other.
    pub(crate) fn extend_from_bytes(&mut self, digests: &[u8]) {
        debug_assert!(digests.len().is_multiple_of(self.size), "digests of {} bytes", self.size);
        self.bytes.extend_from_slice(digests);
    }

    /// Removes all digests and keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
    }
}

impl Extend<Digest> for Digests {
    fn extend<T: IntoIterator<Item = Digest>>(&mut self, digests: T) {
        digests.into_iter().for_each(|digest| self.push(digest));
    }
}

impl fmt::Debug for Digests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
