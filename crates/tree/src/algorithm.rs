//! What makes a format's digests: a hash function, or a checksum.

#[cfg(feature = "checksums")]
use crate::Checksum;
use crate::Hash;

/// The hash or checksum of a format's digests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Algorithm {
    /// A hash function.
    Hash(Hash),
    /// A checksum, which detects accidents alone.
    #[cfg(feature = "checksums")]
    Checksum(Checksum),
}

impl Algorithm {
    /// Every algorithm, hashes first.
    pub fn all() -> impl Iterator<Item = Algorithm> {
        let hashes = Hash::ALL.iter().copied().map(Algorithm::Hash);
        #[cfg(feature = "checksums")]
        let hashes = hashes.chain(Checksum::ALL.iter().copied().map(Algorithm::Checksum));
        hashes
    }

    /// The name in format strings.
    pub fn name(self) -> &'static str {
        match self {
            Algorithm::Hash(hash) => hash.name(),
            #[cfg(feature = "checksums")]
            Algorithm::Checksum(sum) => sum.name(),
        }
    }

    /// The algorithm with this name.
    pub fn from_name(name: &str) -> Option<Algorithm> {
        let hash = Hash::from_name(name).map(Algorithm::Hash);
        #[cfg(feature = "checksums")]
        let hash = hash.or_else(|| Checksum::from_name(name).map(Algorithm::Checksum));
        hash
    }

    /// The size of a digest, in bytes: 4 to 64.
    pub fn size(self) -> usize {
        match self {
            Algorithm::Hash(hash) => hash.size(),
            #[cfg(feature = "checksums")]
            Algorithm::Checksum(sum) => sum.size(),
        }
    }

    /// The bytes that are taken at once: a hash's block, or a byte.
    pub fn block_size(self) -> usize {
        match self {
            Algorithm::Hash(hash) => hash.block_size(),
            #[cfg(feature = "checksums")]
            Algorithm::Checksum(_) => 1,
        }
    }

    /// The messages that a thread hashes side by side.
    pub fn lanes(self) -> usize {
        match self {
            Algorithm::Hash(hash) => hash.lanes(),
            #[cfg(feature = "checksums")]
            Algorithm::Checksum(_) => 1,
        }
    }

    /// The hash function, if it is one.
    pub fn as_hash(self) -> Option<Hash> {
        match self {
            Algorithm::Hash(hash) => Some(hash),
            #[cfg(feature = "checksums")]
            Algorithm::Checksum(_) => None,
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
