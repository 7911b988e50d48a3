//! Memory that threads read into, kept between reads.

use crate::platform::DIRECT_ALIGN;
use std::sync::{Mutex, PoisonError};

/// Bytes that begin at a page, as reads around the page cache need them.
#[derive(Debug, Default)]
pub(crate) struct Buffer {
    memory: Vec<u8>,
}

impl Buffer {
    /// At least `len` bytes of whatever was there before.
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

/// Buffers that wait for the next thread: as many are made as threads read at once.
#[derive(Debug, Default)]
pub(crate) struct Pool(Mutex<Vec<Buffer>>);

impl Pool {
    /// Runs `work` with a buffer of its own.
    pub fn with<R>(&self, work: impl FnOnce(&mut Buffer) -> R) -> R {
        let mut buffer = self.lock().pop().unwrap_or_default();
        let result = work(&mut buffer);
        self.lock().push(buffer);
        result
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Buffer>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
