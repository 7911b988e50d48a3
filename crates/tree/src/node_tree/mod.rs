//! Node trees: every node over leaves that are digests already, in heap order.

mod aligned;
#[cfg(feature = "std")]
mod cpu;
mod tiles;

pub use aligned::Aligned;
#[cfg(feature = "std")]
pub use cpu::CpuLanes;
pub use tiles::Tile;

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;
use mksum_lanes::Hash;

/// A perfect binary tree over 2^k digests, k ≥ 1: a node is the hash of its two children's digests, without a prefix.
///
/// Its N − 1 nodes lie in heap order in N places of a digest each: place 0 is zero, the root is at 1, and the children of
/// node i are at 2i and 2i + 1; those of the lower half, N/2 to N, are the leaves, which are not repeated. The root is that
/// of `plain` over the leaves' digests, and with BLAKE3 that of `blake3-pairs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeTree {
    hash: Hash,
    leaves: usize,
}

impl NodeTree {
    /// The hashes that node trees are made with.
    pub const HASHES: &[Hash] = &[
        Hash::Blake3,
        #[cfg(feature = "sha1")]
        Hash::Sha1,
        Hash::Sha224,
        Hash::Sha256,
        Hash::Sha384,
        Hash::Sha512,
        Hash::Sha512_224,
        Hash::Sha512_256,
        #[cfg(feature = "sha3")]
        Hash::Sha3_224,
        #[cfg(feature = "sha3")]
        Hash::Sha3_256,
        #[cfg(feature = "sha3")]
        Hash::Sha3_384,
        #[cfg(feature = "sha3")]
        Hash::Sha3_512,
        #[cfg(feature = "sha3")]
        Hash::Keccak256,
    ];

    /// The tree over `bytes` bytes of leaves.
    ///
    /// # Errors
    /// If the hash is not one of [`NodeTree::HASHES`], or the bytes are not 2^k of its digests, k ≥ 1.
    pub fn over(hash: Hash, bytes: usize) -> Result<Self, NodeTreeError> {
        if !Self::HASHES.contains(&hash) {
            return Err(NodeTreeError::Hash(hash));
        }
        let leaves = bytes / hash.size();
        if !bytes.is_multiple_of(hash.size()) || leaves < 2 || !leaves.is_power_of_two() {
            return Err(NodeTreeError::Leaves { hash, found: bytes });
        }
        Ok(NodeTree { hash, leaves })
    }

    /// The tree over `leaves`, after checking that `nodes` has room for its nodes.
    ///
    /// # Errors
    /// As [`NodeTree::over`], and if `nodes` is not as long as `leaves`.
    pub fn between(hash: Hash, leaves: &[u8], nodes: &[u8]) -> Result<Self, NodeTreeError> {
        let tree = Self::over(hash, leaves.len())?;
        match nodes.len() == tree.bytes() {
            true => Ok(tree),
            false => Err(NodeTreeError::Nodes { found: nodes.len(), expected: tree.bytes() }),
        }
    }

    /// The hash of its nodes.
    pub fn hash(self) -> Hash {
        self.hash
    }

    /// The number of its leaves: 2^k.
    pub fn leaves(self) -> usize {
        self.leaves
    }

    /// The number of its levels above the leaves: k.
    pub fn levels(self) -> u32 {
        self.leaves.ilog2()
    }

    /// The length of its leaves, and of its nodes with place 0, in bytes.
    pub fn bytes(self) -> usize {
        self.leaves * self.hash.size()
    }

    /// The root among the nodes.
    ///
    /// # Panics
    /// If `nodes` is shorter than two digests.
    pub fn root(self, nodes: &[u8]) -> &[u8] {
        &nodes[self.hash.size()..2 * self.hash.size()]
    }
}

/// The reason why a node tree was not computed.
#[derive(Debug)]
#[non_exhaustive]
pub enum NodeTreeError {
    /// No node trees are made with this hash.
    Hash(Hash),
    /// The leaves are not 2^k digests, k ≥ 1.
    Leaves {
        /// The hash of the digests.
        hash: Hash,
        /// The length of the leaves, in bytes.
        found: usize,
    },
    /// The place for the nodes has another length than the leaves.
    Nodes {
        /// The length of the nodes' buffer, in bytes.
        found: usize,
        /// The leaves' length, in bytes.
        expected: usize,
    },
    /// A device failed.
    Device(Box<dyn core::error::Error + Send + Sync>),
}

impl fmt::Display for NodeTreeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NodeTreeError::Hash(hash) => {
                let names: Vec<_> = NodeTree::HASHES.iter().map(|hash| hash.name()).collect();
                write!(f, "there are no node trees with {}; the hashes are {}", hash.name(), names.join(", "))
            }
            NodeTreeError::Leaves { hash, found } => {
                let (name, size) = (hash.name(), hash.size());
                write!(f, "{found} bytes of leaves: expected 2, 4, 8 … digests of {name}, {size} bytes each")?;
                match (found / size).checked_ilog2() {
                    None | Some(0) => write!(f, ", so at least {} bytes", 2 * size),
                    Some(k) => {
                        let below = (size as u128) << k;
                        write!(f, "; the nearest lengths are {below} and {} bytes", 2 * below)
                    }
                }
            }
            NodeTreeError::Nodes { found, expected } => {
                write!(f, "{found} bytes for the nodes: expected {expected}, as many as the leaves have")
            }
            NodeTreeError::Device(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for NodeTreeError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            NodeTreeError::Device(error) => Some(&**error),
            _ => None,
        }
    }
}

/// Computes node trees: the lanes of a CPU, or a device.
pub trait Merklize: Send + Sync {
    /// The name, for people.
    fn name(&self) -> String;

    /// Writes the nodes over `leaves` to `nodes`, every byte of it, as [`NodeTree`] says.
    ///
    /// # Errors
    /// If [`NodeTree::between`] refuses the lengths, or the device fails: then the content of `nodes` is not specified.
    fn merklize(&self, hash: Hash, leaves: &[u8], nodes: &mut [u8]) -> Result<Timings, NodeTreeError>;
}

/// The parts of the time that one tree took: of each, the time during which at least one such command of the device ran. They may
/// overlap, so their sum may be more than the time that passed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Timings {
    /// Hashing: kernels by the device's clock; on the CPU, everything.
    pub kernel: Duration,
    /// Moving leaves to the device.
    pub to_device: Duration,
    /// Moving nodes from the device.
    pub from_device: Duration,
}

impl Timings {
    /// The times of kernels, of transfers to the device and of transfers from it.
    pub fn new(kernel: Duration, to_device: Duration, from_device: Duration) -> Self {
        Timings { kernel, to_device, from_device }
    }
}
