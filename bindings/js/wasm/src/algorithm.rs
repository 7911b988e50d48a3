//! Hash functions by number, and messages that they hash.

use alloc::vec::Vec;
use mksum_lanes::{Hash, Messages, Streams, digests};
#[cfg(feature = "ripemd160")]
use ripemd::{Digest, Ripemd160, digest::common::hazmat::SerializableState};

/// A hash function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// A hash of the engine.
    Engine(Hash),
    /// RIPEMD-160.
    #[cfg(feature = "ripemd160")]
    Ripemd160,
}

/// The hashes by number: those of [`Hash`], then RIPEMD-160.
const NUMBERED: [Option<Algorithm>; 18] = {
    let (mut all, mut at) = ([None; 18], 0);
    while at < Hash::ALL.len() {
        all[Hash::ALL[at] as usize] = Some(Algorithm::Engine(Hash::ALL[at]));
        at += 1;
    }
    #[cfg(feature = "ripemd160")]
    {
        all[17] = Some(Algorithm::Ripemd160);
    }
    all
};

impl Algorithm {
    /// Returns the hash with this number.
    ///
    /// # Panics
    /// If there is none.
    pub fn numbered(number: u32) -> Self {
        NUMBERED[number as usize].expect("a hash that is compiled in")
    }

    /// Returns the digest size, in bytes.
    pub fn size(self) -> usize {
        match self {
            Algorithm::Engine(hash) => hash.size(),
            #[cfg(feature = "ripemd160")]
            Algorithm::Ripemd160 => 20,
        }
    }

    /// Returns the block size, in bytes, to which HMAC pads its key.
    pub fn block_size(self) -> usize {
        match self {
            Algorithm::Engine(hash) => hash.block_size(),
            #[cfg(feature = "ripemd160")]
            Algorithm::Ripemd160 => 64,
        }
    }

    /// Writes the digest of `bytes` to the first bytes of `out`.
    pub fn digest(self, bytes: &[u8], out: &mut [u8]) {
        let out = &mut out[..self.size()];
        match self {
            Algorithm::Engine(hash) => digests(hash, &[], Messages::one(bytes), out),
            #[cfg(feature = "ripemd160")]
            Algorithm::Ripemd160 => out.copy_from_slice(&Ripemd160::digest(bytes)),
        }
    }

    /// Begins a message with `prefix`.
    pub fn begin(self, prefix: &[u8]) -> Message {
        match self {
            Algorithm::Engine(hash) => Message::Engine(Streams::new(hash, prefix, 1)),
            #[cfg(feature = "ripemd160")]
            Algorithm::Ripemd160 => Message::Ripemd160(Ripemd160::new_with_prefix(prefix)),
        }
    }
}

/// A message that is hashed slice by slice.
#[derive(Clone)]
pub enum Message {
    /// A message hashed by the engine.
    Engine(Streams),
    /// A message hashed with RIPEMD-160.
    #[cfg(feature = "ripemd160")]
    Ripemd160(Ripemd160),
}

impl Message {
    /// Appends bytes.
    pub fn append(&mut self, bytes: &[u8]) {
        match self {
            Message::Engine(streams) => streams.append(bytes),
            #[cfg(feature = "ripemd160")]
            Message::Ripemd160(state) => state.update(bytes),
        }
    }

    /// Returns the hash.
    pub fn algorithm(&self) -> Algorithm {
        match self {
            Message::Engine(streams) => Algorithm::Engine(streams.hash()),
            #[cfg(feature = "ripemd160")]
            Message::Ripemd160(_) => Algorithm::Ripemd160,
        }
    }

    /// Continues the message that was saved. Returns whether the bytes are the state of one; otherwise this one has any bytes.
    pub fn load(&mut self, bytes: &[u8]) -> bool {
        match self {
            Message::Engine(streams) => streams.load(bytes),
            #[cfg(feature = "ripemd160")]
            Message::Ripemd160(state) => {
                let saved = bytes.try_into().ok().and_then(|bytes| Ripemd160::deserialize(bytes).ok());
                saved.map(|saved| *state = saved).is_some()
            }
        }
    }

    /// Appends the state to `out`, as [`load`](Message::load) takes it: no more than 3,000 bytes.
    pub fn save(&mut self, out: &mut Vec<u8>) {
        match self {
            Message::Engine(streams) => streams.save(out),
            #[cfg(feature = "ripemd160")]
            Message::Ripemd160(state) => out.extend_from_slice(&state.serialize()),
        }
    }

    /// Writes the digest to the first bytes of `out`, and returns its size.
    pub fn finish(self, out: &mut [u8]) -> usize {
        let size = self.algorithm().size();
        match self {
            Message::Engine(streams) => streams.finish(&mut out[..size]),
            #[cfg(feature = "ripemd160")]
            Message::Ripemd160(state) => out[..size].copy_from_slice(&state.finalize()),
        }
        size
    }
}
