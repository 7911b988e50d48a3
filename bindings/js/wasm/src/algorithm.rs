//! A hash function by its number, and one message on its way through it.

use mksum_lanes::{Hash, Messages, Streams, digests};
use ripemd::{Digest, Ripemd160};

/// A hash function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// One of the engine's own.
    Engine(Hash),
    /// RIPEMD-160.
    Ripemd160,
}

impl Algorithm {
    /// The hash with this number: its place in [`Hash::ALL`], and RIPEMD-160 after them.
    ///
    /// # Panics
    /// If there is none.
    pub fn numbered(number: u32) -> Self {
        match Hash::ALL.get(number as usize) {
            Some(&hash) => Algorithm::Engine(hash),
            None => {
                assert_eq!(number as usize, Hash::ALL.len(), "a hash's number");
                Algorithm::Ripemd160
            }
        }
    }

    /// The digest's size, in bytes.
    pub fn size(self) -> usize {
        match self {
            Algorithm::Engine(hash) => hash.size(),
            Algorithm::Ripemd160 => 20,
        }
    }

    /// The size of a block, in bytes: what HMAC pads its key to.
    pub fn block_size(self) -> usize {
        match self {
            Algorithm::Engine(hash) => hash.block_size(),
            Algorithm::Ripemd160 => 64,
        }
    }

    /// Writes the digest of `bytes` to the first bytes of `out`.
    pub fn digest(self, bytes: &[u8], out: &mut [u8]) {
        let out = &mut out[..self.size()];
        match self {
            Algorithm::Engine(hash) => digests(hash, &[], Messages::one(bytes), out),
            Algorithm::Ripemd160 => out.copy_from_slice(&Ripemd160::digest(bytes)),
        }
    }

    /// A message that begins with `prefix`.
    pub fn begin(self, prefix: &[u8]) -> Message {
        match self {
            Algorithm::Engine(hash) => Message::Engine(Streams::new(hash, prefix, 1)),
            Algorithm::Ripemd160 => Message::Ripemd160(Ripemd160::new_with_prefix(prefix)),
        }
    }
}

/// A message that comes slice by slice.
#[derive(Clone)]
pub enum Message {
    /// Hashed by the engine.
    Engine(Streams),
    /// Hashed by RIPEMD-160.
    Ripemd160(Ripemd160),
}

impl Message {
    /// Appends bytes.
    pub fn append(&mut self, bytes: &[u8]) {
        match self {
            Message::Engine(streams) => streams.append(bytes),
            Message::Ripemd160(state) => state.update(bytes),
        }
    }

    /// Writes the digest to the first bytes of `out`: returns how many.
    pub fn finish(self, out: &mut [u8]) -> usize {
        match self {
            Message::Engine(streams) => {
                let size = streams.hash().size();
                streams.finish(&mut out[..size]);
                size
            }
            Message::Ripemd160(state) => {
                out[..20].copy_from_slice(&state.finalize());
                20
            }
        }
    }
}
