//! Many messages of equal length in one piece of memory.

/// Messages of equal length, each beginning `stride` bytes after the one before.
///
/// A stride a little above a power of two keeps messages of such a length out of each other's cache sets.
#[derive(Clone, Copy, Debug)]
pub struct Messages<'a> {
    bytes: &'a [u8],
    len: usize,
    stride: usize,
    count: usize,
}

impl<'a> Messages<'a> {
    /// `bytes.len() / len` messages of `len` bytes each, one right after the other.
    ///
    /// # Panics
    /// If `len` is 0 or does not divide `bytes.len()`.
    pub fn new(bytes: &'a [u8], len: usize) -> Self {
        let count = bytes.len() / len;
        assert_eq!(bytes.len(), count * len, "messages of {len} bytes");
        Messages { bytes, len, stride: len, count }
    }

    /// `count` messages of `len` bytes each, beginning at `0, stride, 2 * stride …` in `bytes`.
    ///
    /// # Panics
    /// If messages overlap (`stride < len`) or the last one does not end within `bytes`.
    pub fn strided(bytes: &'a [u8], len: usize, stride: usize, count: usize) -> Self {
        assert!(stride >= len, "messages of {len} bytes overlap at a stride of {stride}");
        let end = count.checked_sub(1).and_then(|last| last.checked_mul(stride)?.checked_add(len));
        assert!(count == 0 || end.is_some_and(|end| end <= bytes.len()), "messages end beyond their memory");
        Messages { bytes, len, stride, count }
    }

    /// One message, of any length.
    pub fn one(bytes: &'a [u8]) -> Self {
        Messages { bytes, len: bytes.len(), stride: bytes.len(), count: 1 }
    }

    /// The length of each message, in bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the messages have no bytes: there may still be many of them.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The distance from one message's first byte to the next one's, in bytes.
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// The number of messages.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The memory that the messages lie in: the first begins at index 0.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The message at `index`.
    ///
    /// # Panics
    /// If `index >= self.count()`.
    pub fn get(&self, index: usize) -> &'a [u8] {
        assert!(index < self.count, "message {index} of {}", self.count);
        &self.bytes[index * self.stride..][..self.len]
    }

    /// The messages, left to right.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &'a [u8]> {
        let messages = *self;
        (0..self.count).map(move |index| messages.get(index))
    }

    /// The first `count` messages, and the rest.
    ///
    /// # Panics
    /// If `count > self.count()`.
    pub fn split_at(&self, count: usize) -> (Self, Self) {
        let rest = self.count - count;
        let from = (count * self.stride).min(self.bytes.len());
        (Messages { count, ..*self }, Messages { bytes: &self.bytes[from..], count: rest, ..*self })
    }
}
