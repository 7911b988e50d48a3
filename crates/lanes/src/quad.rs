//! The quad trait: one vector holds four words of a message, or four words of each of several.

use crate::lane::Lane;
use core::ptr;

/// A row of four words of the matrix that a message's state is, for one message or for several: the first message's four words,
/// then the second one's, and so on.
pub(crate) trait Quad: Lane {
    /// The words of a block of each message.
    type Blocks: Copy;

    /// The same four words for each message.
    ///
    /// # Safety
    /// The machine has the instruction set.
    unsafe fn fours(words: [Self::Word; 4]) -> Self;

    /// Reads a block of 16 words of each message.
    ///
    /// # Safety
    /// The machine has the instruction set. There is a pointer for each message, and 16 words `offset` bytes after it.
    unsafe fn blocks(pointers: *const *const u8, offset: isize) -> Self::Blocks;

    /// Reads less than a block of 64 bytes of each message, and adds zeros.
    ///
    /// # Safety
    /// The machine has the instruction set. There is a pointer for each message, to `len < 64` bytes.
    #[inline(always)]
    unsafe fn part(pointers: *const *const u8, len: usize) -> Self::Blocks {
        let (mut copies, mut at) = ([[0u8; 64]; 4], [ptr::null(); 4]);
        let mut message = 0;
        // SAFETY: a vector holds at most four messages, each with a pointer to `len` bytes, as promised; a copy has 64 bytes.
        unsafe {
            while message < Self::LANES / 4 {
                ptr::copy_nonoverlapping(*pointers.add(message), copies[message].as_mut_ptr(), len);
                at[message] = copies[message].as_ptr();
                message += 1;
            }
            Self::blocks(at.as_ptr(), 0)
        }
    }

    /// Four words of each block, by their places in it.
    fn words(blocks: &Self::Blocks, at: [usize; 4]) -> Self;

    /// Each message's four words, moved to the left by 1, 2 or 3 places.
    fn turn(self, by: usize) -> Self;
}

/// Quads whose words can be picked from two vectors at once.
pub(crate) trait Pick: Quad {
    /// Blends each four words: `other`'s where `places` has a one, lowest bit first, and else `self`'s.
    fn blend(self, places: usize, other: Self) -> Self;

    /// Picks any four words of each eight: `self`'s have the numbers 0 to 3, `other`'s 4 to 7.
    fn pick(self, other: Self, at: [usize; 4]) -> Self;
}
