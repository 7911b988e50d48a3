//! Messages that come slice by slice, hashed side by side.

use crate::{Hash, Messages};
use alloc::{boxed::Box, vec::Vec};
use core::fmt;
use digest::DynDigest;

/// Messages of equal length being hashed: every message gets its next slice at the same time.
#[derive(Clone)]
pub struct Streams {
    hash: Hash,
    states: Vec<Box<dyn State>>,
}

impl Streams {
    /// `count` messages that begin with `prefix`.
    pub fn new(hash: Hash, prefix: &[u8], count: usize) -> Self {
        let mut state = state(hash);
        state.update(prefix);
        Streams { hash, states: (0..count).map(|_| state.clone()).collect() }
    }

    /// The hash.
    pub fn hash(&self) -> Hash {
        self.hash
    }

    /// The number of messages.
    pub fn count(&self) -> usize {
        self.states.len()
    }

    /// Appends to each message its slice: `slices.len()` bytes each.
    ///
    /// # Panics
    /// If there are not as many slices as messages.
    pub fn update(&mut self, slices: Messages<'_>) {
        assert_eq!(slices.count(), self.count(), "a slice for each message");
        for (state, slice) in self.states.iter_mut().zip(slices.iter()) {
            state.update(slice);
        }
    }

    /// Appends the same bytes to every message.
    pub fn append(&mut self, bytes: &[u8]) {
        for state in &mut self.states {
            state.update(bytes);
        }
    }

    /// Each message alone, left to right: from here on their lengths may differ.
    pub fn split(self) -> impl ExactSizeIterator<Item = Streams> {
        let hash = self.hash;
        self.states.into_iter().map(move |state| Streams { hash, states: [state].into() })
    }

    /// Writes the digests, left to right.
    ///
    /// # Panics
    /// If `out` is not exactly `self.count() * self.hash().size()` bytes.
    pub fn finish(self, out: &mut [u8]) {
        let size = self.hash.size();
        assert_eq!(out.len(), self.count() * size, "{size} bytes a digest");
        for (state, out) in self.states.into_iter().zip(out.chunks_exact_mut(size)) {
            state.finish(out);
        }
    }
}

impl fmt::Debug for Streams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Streams({} × {})", self.count(), self.hash.name())
    }
}

/// One message's state.
trait State: Send + Sync {
    fn update(&mut self, bytes: &[u8]);
    fn finish(self: Box<Self>, out: &mut [u8]);
    fn boxed(&self) -> Box<dyn State>;
}

impl Clone for Box<dyn State> {
    fn clone(&self) -> Self {
        (**self).boxed()
    }
}

impl<D: DynDigest + Clone + Send + Sync + 'static> State for D {
    fn update(&mut self, bytes: &[u8]) {
        DynDigest::update(self, bytes);
    }

    fn finish(self: Box<Self>, out: &mut [u8]) {
        DynDigest::finalize_into(*self, out).expect("the digest's size");
    }

    fn boxed(&self) -> Box<dyn State> {
        Box::new(self.clone())
    }
}

#[derive(Clone)]
struct Blake3(blake3::Hasher);

impl State for Blake3 {
    fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(self: Box<Self>, out: &mut [u8]) {
        out.copy_from_slice(self.0.finalize().as_bytes());
    }

    fn boxed(&self) -> Box<dyn State> {
        Box::new(self.clone())
    }
}

fn state(hash: Hash) -> Box<dyn State> {
    match hash {
        Hash::Md5 => Box::new(md5::Md5::default()),
        Hash::Sha1 => Box::new(sha1::Sha1::default()),
        Hash::Sha224 => Box::new(sha2::Sha224::default()),
        Hash::Sha256 => Box::new(sha2::Sha256::default()),
        Hash::Sha384 => Box::new(sha2::Sha384::default()),
        Hash::Sha512 => Box::new(sha2::Sha512::default()),
        Hash::Sha512_224 => Box::new(sha2::Sha512_224::default()),
        Hash::Sha512_256 => Box::new(sha2::Sha512_256::default()),
        Hash::Blake2s => Box::new(blake2::Blake2s256::default()),
        Hash::Blake2b => Box::new(blake2::Blake2b512::default()),
        Hash::Blake3 => Box::new(Blake3(blake3::Hasher::new())),
        Hash::Sha3_224 => Box::new(sha3::Sha3_224::default()),
        Hash::Sha3_256 => Box::new(sha3::Sha3_256::default()),
        Hash::Sha3_384 => Box::new(sha3::Sha3_384::default()),
        Hash::Sha3_512 => Box::new(sha3::Sha3_512::default()),
        Hash::Keccak256 => Box::new(sha3::Keccak256::default()),
    }
}
