//! Blocks that are put together from a template and the bytes of each message.

use core::ptr;

/// The largest block of any hash, in bytes (SHA3-224).
pub(crate) const MAX_BLOCK: usize = 144;

/// The distance between the blocks of two messages that were put together, in bytes.
pub(crate) const PITCH: usize = MAX_BLOCK.next_multiple_of(64);

/// One block for each of some messages: the template's bytes, except for `from..end`, which are the message's.
///
/// Whoever makes one promises that `len <= MAX_BLOCK` bytes can be read at `template`; that, for each message, the bytes
/// `from..end` (`from <= end <= len`) can be read `offset` bytes after its pointer; and that [`PITCH`] bytes can be written at
/// its place.
#[derive(Clone, Copy)]
pub(crate) struct Overlay {
    /// The bytes that all blocks share.
    pub template: *const u8,
    /// The size of a block, in bytes.
    pub len: usize,
    /// A pointer to each message.
    pub pointers: *const *const u8,
    /// The distance from a message's pointer to the begin of its block, in bytes.
    pub offset: isize,
    /// The first byte that is the message's.
    pub from: usize,
    /// The first byte after those.
    pub end: usize,
    /// The place of the first message's block; each further one is [`PITCH`] bytes after the one before.
    pub to: *mut u8,
}

impl Overlay {
    /// Without the first messages.
    #[inline(always)]
    pub fn skip(self, messages: usize) -> Self {
        Overlay { pointers: self.pointers.wrapping_add(messages), to: self.to.wrapping_add(messages * PITCH), ..self }
    }

    /// Writes the blocks of `count` messages.
    ///
    /// # Safety
    /// There are `count` messages for which an [`Overlay`]'s promises hold.
    #[inline(always)]
    pub unsafe fn write(self, count: usize) {
        let Overlay { template, len, pointers, offset, from, end, to } = self;
        let mut index = 0;
        while index < count {
            // SAFETY: `index < count`, so there is a pointer and a place. `template` has `len` bytes, the message has those at
            // `from..end`, and the place has room for `PITCH`, which is no less than `len`. The place is the caller's own memory,
            // so it overlaps neither.
            unsafe {
                let to = to.add(index * PITCH);
                let block = (*pointers.add(index)).wrapping_offset(offset);
                ptr::copy_nonoverlapping(template, to, len);
                ptr::copy_nonoverlapping(block.wrapping_add(from), to.add(from), end - from);
            }
            index += 1;
        }
    }
}
