//! The hash functions by name.

use crate::{
    cpu::{Cpu, active_or_detected},
    kernels,
};

/// A hash function without a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
#[allow(missing_docs)] // Each variant is its name.
pub enum Hash {
    Md5,
    Sha1,
    Sha224,
    Sha256,
    Sha384,
    Sha512,
    Sha512_224,
    Sha512_256,
    Blake2s,
    Blake2b,
    Blake3,
    Sha3_224,
    Sha3_256,
    Sha3_384,
    Sha3_512,
    Keccak256,
}

impl Hash {
    /// The largest digest of any hash, in bytes.
    pub const MAX_SIZE: usize = 64;

    /// Every hash.
    pub const ALL: [Hash; 16] = [
        Hash::Md5,
        Hash::Sha1,
        Hash::Sha224,
        Hash::Sha256,
        Hash::Sha384,
        Hash::Sha512,
        Hash::Sha512_224,
        Hash::Sha512_256,
        Hash::Blake2s,
        Hash::Blake2b,
        Hash::Blake3,
        Hash::Sha3_224,
        Hash::Sha3_256,
        Hash::Sha3_384,
        Hash::Sha3_512,
        Hash::Keccak256,
    ];

    /// The name used on command lines, in sum files and in vectors: lower case, with hyphens.
    pub const fn name(self) -> &'static str {
        match self {
            Hash::Md5 => "md5",
            Hash::Sha1 => "sha1",
            Hash::Sha224 => "sha224",
            Hash::Sha256 => "sha256",
            Hash::Sha384 => "sha384",
            Hash::Sha512 => "sha512",
            Hash::Sha512_224 => "sha512-224",
            Hash::Sha512_256 => "sha512-256",
            Hash::Blake2s => "blake2s",
            Hash::Blake2b => "blake2b",
            Hash::Blake3 => "blake3",
            Hash::Sha3_224 => "sha3-224",
            Hash::Sha3_256 => "sha3-256",
            Hash::Sha3_384 => "sha3-384",
            Hash::Sha3_512 => "sha3-512",
            Hash::Keccak256 => "keccak256",
        }
    }

    /// The hash with this [`name`](Hash::name).
    pub fn from_name(name: &str) -> Option<Hash> {
        Hash::ALL.into_iter().find(|hash| hash.name() == name)
    }

    /// The digest's size, in bytes: 16 to 64.
    pub const fn size(self) -> usize {
        match self {
            Hash::Md5 => 16,
            Hash::Sha1 => 20,
            Hash::Sha224 | Hash::Sha512_224 | Hash::Sha3_224 => 28,
            Hash::Sha256 | Hash::Sha512_256 | Hash::Sha3_256 => 32,
            Hash::Blake2s | Hash::Blake3 | Hash::Keccak256 => 32,
            Hash::Sha384 | Hash::Sha3_384 => 48,
            Hash::Sha512 | Hash::Blake2b | Hash::Sha3_512 => 64,
        }
    }

    /// The size of the blocks that the hash consumes, in bytes: 64 to 144.
    pub const fn block_size(self) -> usize {
        match self {
            Hash::Md5 | Hash::Sha1 | Hash::Sha224 | Hash::Sha256 => 64,
            Hash::Blake2s | Hash::Blake3 => 64,
            Hash::Sha384 | Hash::Sha512 | Hash::Sha512_224 | Hash::Sha512_256 => 128,
            Hash::Blake2b => 128,
            Hash::Sha3_224 => 144,
            Hash::Sha3_256 | Hash::Keccak256 => 136,
            Hash::Sha3_384 => 104,
            Hash::Sha3_512 => 72,
        }
    }

    /// How many messages are hashed side by side at full speed: a planner asks for multiples of it.
    pub fn lanes(self) -> usize {
        self.lanes_on(active_or_detected())
    }

    /// [`lanes`](Hash::lanes), on a given instruction set.
    pub fn lanes_on(self, cpu: Cpu) -> usize {
        kernels::widest(cpu, self.family()).lanes
    }
}
