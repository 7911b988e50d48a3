//! The hash functions by name: one row each in the table below, and one file or folder each in `hash/`.

use crate::{
    cpu::{Cpu, Kernel, active_or_detected},
    dispatch::{Entry, Layout},
    scheme::Scheme,
};
use alloc::vec::Vec;

#[cfg(all(target_arch = "aarch64", target_endian = "little", any(feature = "sha1", feature = "sha2")))]
pub(crate) mod armsha;
#[cfg(feature = "blake2")]
pub(crate) mod blake2;
#[cfg(feature = "blake3")]
pub mod blake3;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2", any(feature = "blake2", feature = "blake3")))]
pub(crate) mod by_rows;
#[cfg(feature = "sha3")]
pub(crate) mod keccak;
#[cfg(feature = "md5")]
pub(crate) mod md5;
#[cfg(any(feature = "blake2", feature = "blake3"))]
pub(crate) mod mixing;
#[cfg(feature = "ripemd160")]
pub(crate) mod ripemd160;
#[cfg(any(feature = "sha2", feature = "blake2", feature = "blake3"))]
pub(crate) mod roots;
#[cfg(feature = "sha1")]
pub(crate) mod sha1;
#[cfg(feature = "sha2")]
pub(crate) mod sha2;
#[cfg(feature = "sha2")]
pub(crate) mod sha256;
#[cfg(feature = "sha2")]
pub(crate) mod sha512;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2", any(feature = "sha1", feature = "sha2")))]
pub(crate) mod shani;
#[cfg(feature = "sm3")]
pub(crate) mod sm3;

/// One row for each hash: its number, which does not depend on what is compiled in; the feature that it needs; variant and name; the
/// size of its digest, in bytes; its scheme.
macro_rules! hashes {
    ($($number:literal $feature:literal $variant:ident $name:literal $size:literal $($scheme:ident)::+;)*) => {
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
            pub const ALL: &[Hash] = &[$(#[cfg(feature = $feature)] Hash::$variant),*];

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

            /// How messages become blocks, the first state, and the kernels.
            pub(crate) const fn scheme(self) -> &'static Scheme {
                match self {
                    $(#[cfg(feature = $feature)] Hash::$variant => &$($scheme)::+,)*
                }
            }
        }
    };
}

hashes! {
    0 "md5" Md5 "md5" 16 md5::MD5;
    1 "sha1" Sha1 "sha1" 20 sha1::SHA1;
    2 "sha2" Sha224 "sha224" 28 sha256::SHA224;
    3 "sha2" Sha256 "sha256" 32 sha256::SHA256;
    4 "sha2" Sha384 "sha384" 48 sha512::SHA384;
    5 "sha2" Sha512 "sha512" 64 sha512::SHA512;
    6 "sha2" Sha512_224 "sha512-224" 28 sha512::SHA512_224;
    7 "sha2" Sha512_256 "sha512-256" 32 sha512::SHA512_256;
    8 "blake2" Blake2s "blake2s" 32 blake2::BLAKE2S;
    9 "blake2" Blake2b "blake2b" 64 blake2::BLAKE2B;
    10 "blake3" Blake3 "blake3" 32 blake3::BLAKE3;
    11 "sha3" Sha3_224 "sha3-224" 28 keccak::SHA3_224;
    12 "sha3" Sha3_256 "sha3-256" 32 keccak::SHA3_256;
    13 "sha3" Sha3_384 "sha3-384" 48 keccak::SHA3_384;
    14 "sha3" Sha3_512 "sha3-512" 64 keccak::SHA3_512;
    15 "sha3" Keccak256 "keccak256" 32 keccak::KECCAK256;
    16 "sm3" Sm3 "sm3" 32 sm3::SM3;
    17 "ripemd160" Ripemd160 "ripemd160" 20 ripemd160::RIPEMD160;
}

impl Hash {
    /// The hash with this [`name`](Hash::name).
    pub fn from_name(name: &str) -> Option<Hash> {
        Hash::ALL.iter().copied().find(|hash| hash.name() == name)
    }

    /// The size of the blocks that the hash consumes, in bytes: 64 to 144.
    pub const fn block_size(self) -> usize {
        self.scheme().framing.block
    }

    /// The bytes that follow a message of `len` bytes, up to whole blocks: for a program that hands whole blocks to kernels of its
    /// own.
    ///
    /// Hashes that mark the last block have zeros, and none if the message ends with a whole block (RFC 7693, 3.3; the BLAKE3 paper,
    /// 2.4: of a chunk). The others have a one bit, zeros, and the message's length or another one bit (FIPS 180-4, 5.1; RFC 1321, 3.1
    /// and 3.2; FIPS 202, B.2).
    ///
    /// ```
    /// use mksum_lanes::Hash;
    ///
    /// // 53 bytes are 424 bits, which is 0x1a8.
    /// assert_eq!(Hash::Sha256.padding(53), [0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0x01, 0xa8]);
    /// assert_eq!(Hash::Blake3.padding(64), []);
    /// ```
    pub fn padding(self, len: u64) -> Vec<u8> {
        self.scheme().framing.after(len)
    }

    /// The number of messages that are hashed side by side at full speed: a planner asks for multiples of it.
    pub fn lanes(self) -> usize {
        self.lanes_on(active_or_detected())
    }

    /// [`lanes`](Hash::lanes), on a given instruction set.
    pub fn lanes_on(self, cpu: Cpu) -> usize {
        self.scheme().family.widest(cpu).lanes
    }
}

impl Cpu {
    /// The kernels for a hash, from the widest to the single message.
    pub fn kernels(self, hash: Hash) -> impl Iterator<Item = Kernel> {
        hash.scheme().family.all(self).map(Entry::kernel)
    }

    /// The kernel that hashes the first of `count` messages, if they lie apart, and if they lie a multiple of 2 KiB apart, so that they share
    /// few cache sets.
    pub fn chosen(self, hash: Hash, count: usize) -> [Kernel; 2] {
        [Layout::Apart, Layout::Conflicting].map(|layout| hash.scheme().family.pick_for(layout, self, count).kernel())
    }
}
