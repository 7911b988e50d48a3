//! Bytes in memory that begin where a device can use them without copies.

use alloc::collections::TryReserveError;
use alloc::vec::Vec;
use core::ops::{Deref, DerefMut};

/// Bytes that begin at a multiple of [`Aligned::TO`], so that devices that share the host's memory copy neither leaves nor nodes.
///
/// ```
/// use mksum::node_tree::Aligned;
///
/// let nodes = Aligned::zeroed(1 << 20)?;
/// assert_eq!((nodes.len(), nodes.as_ptr().addr() % Aligned::TO), (1 << 20, 0));
/// # Ok::<(), std::collections::TryReserveError>(())
/// ```
#[derive(Debug, Default)]
pub struct Aligned {
    /// Bytes without a use, up to the first multiple of [`Aligned::TO`]; then the bytes.
    memory: Vec<u8>,
    /// The number of the former.
    before: usize,
}

impl Aligned {
    /// The alignment, in bytes: a page of the usual size. Intel's runtime copies memory that begins elsewhere.
    pub const TO: usize = 4096;

    /// `len` zero bytes.
    ///
    /// # Errors
    /// If memory has no room for them.
    pub fn zeroed(len: usize) -> Result<Self, TryReserveError> {
        let mut bytes = Self::default();
        bytes.try_resize(len)?;
        Ok(bytes)
    }

    /// Makes the bytes `len`: those past the end are dropped, or zero bytes are appended.
    ///
    /// # Errors
    /// If memory has no room for them. The bytes are unchanged then, or were shortened.
    pub fn try_resize(&mut self, len: usize) -> Result<(), TryReserveError> {
        let (old, kept) = (self.before, self.len().min(len));
        self.memory.truncate(old + kept);
        // Room for the bytes wherever the memory begins.
        let room = len.saturating_add(Self::TO - 1);
        self.memory.try_reserve_exact(room.saturating_sub(self.memory.len()))?;
        let begin = self.memory.as_ptr().addr();
        self.before = begin.next_multiple_of(Self::TO) - begin;
        if self.before != old {
            // The memory was moved, to another distance from a multiple.
            self.memory.resize(old.max(self.before) + kept, 0);
            self.memory.copy_within(old..old + kept, self.before);
            self.memory.truncate(self.before + kept);
        }
        self.memory.resize(self.before + len, 0);
        Ok(())
    }
}

impl Deref for Aligned {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.memory[self.before..]
    }
}

impl DerefMut for Aligned {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.memory[self.before..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn bytes_stay_as_they_are_and_aligned(lens in prop::collection::vec(0..100_000_usize, 1..8)) {
            let (mut bytes, mut expected) = (Aligned::default(), Vec::new());
            for (byte, len) in (1..).zip(lens) {
                bytes.try_resize(len).unwrap();
                expected.resize(len, 0);
                prop_assert!(*bytes == *expected);
                prop_assert!(len == 0 || bytes.as_ptr().addr().is_multiple_of(Aligned::TO));
                bytes.fill(byte);
                expected.fill(byte);
            }
        }
    }

    #[test]
    fn bytes_that_were_moved_are_aligned_again() {
        // As if the memory had begun elsewhere before: bytes of a larger and of a smaller distance.
        for before in 0..Aligned::TO {
            let mut memory = vec![0xa5; before];
            memory.extend(0..=u8::MAX);
            let mut bytes = Aligned { memory, before };
            bytes.try_resize(300).unwrap();
            assert!(
                bytes[..256].iter().copied().eq(0..=u8::MAX) && bytes[256..].iter().all(|&byte| byte == 0),
                "{before}"
            );
            assert!(bytes.as_ptr().addr().is_multiple_of(Aligned::TO));
        }
    }

    #[test]
    fn too_many_bytes_are_an_error_and_change_nothing() {
        let mut bytes = Aligned::zeroed(3).unwrap();
        bytes.fill(7);
        for len in [usize::MAX, usize::MAX - Aligned::TO, usize::MAX / 2] {
            assert!(bytes.try_resize(len).is_err());
            assert_eq!(*bytes, [7; 3]);
        }
    }
}
