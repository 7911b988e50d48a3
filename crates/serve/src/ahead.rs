//! The memory for what is read ahead of what clients have taken.

use hyper::body::Bytes;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Memory that all clients share. Without any left, what a client takes next is read when it is wanted, in short pieces.
#[derive(Clone, Debug)]
pub struct Ahead(Arc<Semaphore>);

/// Memory that was taken, until it is dropped.
#[derive(Debug)]
pub struct Memory(#[expect(dead_code, reason = "dropped alone")] OwnedSemaphorePermit);

/// Bytes with the memory that they have.
struct Held {
    bytes: Vec<u8>,
    _memory: Memory,
}

impl Ahead {
    /// All of it, in bytes.
    const BYTES: usize = 64 << 20;

    /// Takes memory for `bytes` bytes, if as much is left.
    pub fn take(&self, bytes: u64) -> Option<Memory> {
        Arc::clone(&self.0).try_acquire_many_owned(u32::try_from(bytes).ok()?).ok().map(Memory)
    }

    /// Bytes that give back their memory once they are sent.
    pub fn held(bytes: Vec<u8>, memory: Option<Memory>) -> Bytes {
        match memory {
            Some(memory) => Bytes::from_owner(Held { bytes, _memory: memory }),
            None => bytes.into(),
        }
    }
}

impl Default for Ahead {
    fn default() -> Ahead {
        Ahead(Arc::new(Semaphore::new(Self::BYTES)))
    }
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}
