//! What makes a format's digests: a hash function, or a CRC.

#[cfg(feature = "crc")]
use crate::Crc;
use crate::Hash;

/// What makes a format's digests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Algorithm {
    /// A hash function.
    Hash(Hash),
    /// A cyclic redundancy check, which detects accidents alone.
    #[cfg(feature = "crc")]
    Crc(Crc),
}

impl Algorithm {
    /// Every algorithm, hashes first.
    pub fn all() -> impl Iterator<Item = Algorithm> {
        let hashes = Hash::ALL.iter().copied().map(Algorithm::Hash);
        #[cfg(feature = "crc")]
        let hashes = hashes.chain(Crc::ALL.into_iter().map(Algorithm::Crc));
        hashes
    }

    /// The name in format strings.
    pub fn name(self) -> &'static str {
        match self {
            Algorithm::Hash(hash) => hash.name(),
            #[cfg(feature = "crc")]
            Algorithm::Crc(crc) => crc.name(),
        }
    }

    /// The algorithm with this name.
    pub fn from_name(name: &str) -> Option<Algorithm> {
        let hash = Hash::from_name(name).map(Algorithm::Hash);
        #[cfg(feature = "crc")]
        let hash = hash.or_else(|| Crc::from_name(name).map(Algorithm::Crc));
        hash
    }

    /// The size of a digest, in bytes: 4 to 64.
    pub fn size(self) -> usize {
        match self {
            Algorithm::Hash(hash) => hash.size(),
            #[cfg(feature = "crc")]
            Algorithm::Crc(crc) => crc.size(),
        }
    }

    /// The bytes that are taken at once: a hash's block, or a byte.
    pub fn block_size(self) -> usize {
        match self {
            Algorithm::Hash(hash) => hash.block_size(),
            #[cfg(feature = "crc")]
            Algorithm::Crc(_) => 1,
        }
    }

    /// The messages that a thread hashes side by side.
    pub fn lanes(self) -> usize {
        match self {
            Algorithm::Hash(hash) => hash.lanes(),
            #[cfg(feature = "crc")]
            Algorithm::Crc(_) => 1,
        }
    }

    /// The hash function, if it is one.
    pub fn as_hash(self) -> Option<Hash> {
        match self {
            Algorithm::Hash(hash) => Some(hash),
            #[cfg(feature = "crc")]
            Algorithm::Crc(_) => None,
        }
    }
}

impl From<Hash> for Algorithm {
    fn from(hash: Hash) -> Self {
        Algorithm::Hash(hash)
    }
}

impl PartialEq<Hash> for Algorithm {
    fn eq(&self, hash: &Hash) -> bool {
        *self == Algorithm::Hash(*hash)
    }
}
