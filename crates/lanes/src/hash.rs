//! The hash functions by name.

use crate::{
    cpu::{Cpu, active_or_detected},
    kernels::{self, Family},
    plan::Scheme,
};

/// One row a hash: its number, which is the same whatever is compiled in; the feature that it needs; variant and name; the
/// sizes of its digest and of its blocks, in bytes; its kernels, and what it does around its blocks.
macro_rules! hashes {
    ($(
        $number:literal $feature:literal $variant:ident $name:literal $size:literal $block:literal $family:ident $($scheme:ident)::+;
    )*) => {
        /// A hash function without a key.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        #[allow(missing_docs)] // Each variant is its name.
        pub enum Hash {
            $(#[cfg(feature = $feature)] $variant = $number,)*
        }

        impl Hash {
            /// The largest digest of any hash, in bytes.
            pub const MAX_SIZE: usize = 64;

            /// Every hash that is compiled in.
            pub const ALL: [Hash; 0 $(+ cfg!(feature = $feature) as usize)*] =
                [$(#[cfg(feature = $feature)] Hash::$variant),*];

            /// The name used on command lines, in sum files and in vectors: lower case, with hyphens.
            pub const fn name(self) -> &'static str {
                match self {
                    $(#[cfg(feature = $feature)] Hash::$variant => $name,)*
                }
            }

            /// The digest's size, in bytes: 16 to 64.
            pub const fn size(self) -> usize {
                match self {
                    $(#[cfg(feature = $feature)] Hash::$variant => $size,)*
                }
            }

            /// The size of the blocks that the hash consumes, in bytes: 64 to 144.
            pub const fn block_size(self) -> usize {
                match self {
                    $(#[cfg(feature = $feature)] Hash::$variant => $block,)*
                }
            }

            /// The kernels that compute it.
            pub(crate) fn family(self) -> Family {
                match self {
                    $(#[cfg(feature = $feature)] Hash::$variant => Family::$family,)*
                }
            }

            /// What the hash does around its blocks.
            pub(crate) fn scheme(self) -> &'static Scheme {
                match self {
                    $(#[cfg(feature = $feature)] Hash::$variant => &crate::$($scheme)::+,)*
                }
            }
        }
    };
}

hashes! {
    0 "md5" Md5 "md5" 16 64 Md5 md5::MD5;
    1 "sha1" Sha1 "sha1" 20 64 Sha1 sha1::SHA1;
    2 "sha2" Sha224 "sha224" 28 64 Sha256 sha256::SHA224;
    3 "sha2" Sha256 "sha256" 32 64 Sha256 sha256::SHA256;
    4 "sha2" Sha384 "sha384" 48 128 Sha512 sha512::SHA384;
    5 "sha2" Sha512 "sha512" 64 128 Sha512 sha512::SHA512;
    6 "sha2" Sha512_224 "sha512-224" 28 128 Sha512 sha512::SHA512_224;
    7 "sha2" Sha512_256 "sha512-256" 32 128 Sha512 sha512::SHA512_256;
    8 "blake2" Blake2s "blake2s" 32 64 Blake2s blake2::BLAKE2S;
    9 "blake2" Blake2b "blake2b" 64 128 Blake2b blake2::BLAKE2B;
    10 "blake3" Blake3 "blake3" 32 64 Blake3 blake3::BLAKE3;
    11 "sha3" Sha3_224 "sha3-224" 28 144 Keccak keccak::SHA3_224;
    12 "sha3" Sha3_256 "sha3-256" 32 136 Keccak keccak::SHA3_256;
    13 "sha3" Sha3_384 "sha3-384" 48 104 Keccak keccak::SHA3_384;
    14 "sha3" Sha3_512 "sha3-512" 64 72 Keccak keccak::SHA3_512;
    15 "sha3" Keccak256 "keccak256" 32 136 Keccak keccak::KECCAK256;
}

impl Hash {
    /// The hash with this [`name`](Hash::name).
    pub fn from_name(name: &str) -> Option<Hash> {
        Hash::ALL.into_iter().find(|hash| hash.name() == name)
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
