//! Memory that a thread reads into, kept between reads.

use crate::platform::DIRECT_ALIGN;
use std::cell::RefCell;

/// Bytes that begin at a page, as reads around the page cache need them.
#[derive(Debug, Default)]
pub(crate) struct Buffer {
    memory: Vec<u8>,
}

impl Buffer {
    /// At least `len` bytes, aligned for direct reads, with unspecified content.
    pub fn at_least(&mut self, len: usize) -> &mut [u8] {
        if self.memory.len() < len + DIRECT_ALIGN {
            // Not grown in place: nobody wants the old bytes copied.
            self.memory = Vec::new();
            self.memory = vec![0; len + DIRECT_ALIGN];
        }
        let skip = self.memory.as_ptr().align_offset(DIRECT_ALIGN);
        &mut self.memory[skip..]
    }
}

thread_local! {
    /// This thread's idle buffers, reused from file to file, since small files are many.
    static SPARE: RefCell<Vec<Buffer>> = const { RefCell::new(Vec::new()) };
}

/// Runs `work` with a buffer of its own; calls may nest.
pub(crate) fn with_buffer<R>(work: impl FnOnce(&mut Buffer) -> R) -> R {
    let mut buffer = SPARE.with_borrow_mut(Vec::pop).unwrap_or_default();
    let result = work(&mut buffer);
    SPARE.with_borrow_mut(|spare| spare.push(buffer));
    result
}
