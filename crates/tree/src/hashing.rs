//! The hashes of leaves and parents: one, many at once, or piece by piece.

#[cfg(test)]
use crate::Algorithm;
#[cfg(feature = "checksums")]
use crate::checksum::{Checksum, Running};
use crate::prefix::{Prefix, PrefixRule};
use crate::{Digest, Digests};
#[cfg(feature = "xet")]
use crate::{scan::Scanned, xet};
#[cfg(feature = "checksums")]
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::slice;
use mksum_lanes::{Hash, Messages, Streams, blake3, digests, sha256tree_parents};

/// Whether a node is the root: some formats mark the root apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A node with a parent.
    Inner,
    /// The node without a parent.
    Root,
}

/// The hashes of leaves and parents as plain data, for devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Recipe<'a> {
    /// A full leaf is the hash of a prefix and its bytes, an inner node that of a prefix and its children's digests.
    Prefixed {
        /// The hash.
        hash: Hash,
        /// The prefix of a leaf.
        leaf: &'a [u8],
        /// The prefix of an inner node.
        inner: &'a [u8],
    },
    /// BLAKE3's own chunks and parents.
    Blake3,
}

/// The hash function of a format's leaves and parents.
#[derive(Clone, Debug)]
pub(crate) enum NodeHash {
    /// A prefix and a body, hashed: every format of hashes but `blake3`.
    Framed(Framed),
    /// BLAKE3's chunks and parents (the BLAKE3 paper, 2.4 and 2.5).
    Blake3,
    /// Xet's: the tree that a scan finds is within the only leaf.
    #[cfg(feature = "xet")]
    Xet,
    /// The checksum of a leaf's bytes.
    #[cfg(feature = "checksums")]
    Checksum { sum: Checksum, parent: ChecksumParent },
}

/// The checksum of a parent.
#[cfg(feature = "checksums")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChecksumParent {
    /// The sum of the bytes below the parent, joined from its children's sums.
    OfBytes,
    /// The checksum of the children's digests, as in S3's composite checksums.
    OfDigests,
}

/// The hash of a prefix and the leaf's bytes, or of a prefix and the children's digests.
#[derive(Clone, Debug)]
pub(crate) struct Framed {
    pub hash: Hash,
    /// What is hashed around a leaf; `None` where the leaves are digests already, and are not hashed.
    pub leaf: Option<PrefixRule>,
    /// The prefix of a parent that is not the root.
    pub inner: Prefix,
    /// The prefix of a root that is a parent.
    pub root: Prefix,
    /// The length up to which leaves are filled with zeros, in bytes.
    pub fill: usize,
    /// The bytes that a child takes in its parent's body: its digest, then zeros.
    pub slot: usize,
    pub join: Join,
    pub empty: Empty,
    /// The descriptor whose digest is the root, where there is one.
    pub descriptor: Option<Descriptor>,
}

/// The function that makes a parent of its children's digests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Join {
    /// The hash of a prefix and the digests.
    Hash,
    /// SHA-256's block cipher over two digests.
    Cipher,
}

/// The digest at the top of an input without bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Empty {
    Undefined,
    /// The hash of nothing at all.
    Hash,
    /// A root over one child: the hash of nothing at all.
    Leaf,
    /// A root over two empty leaves.
    Halves,
    /// Zeros.
    Zero,
    /// A leaf without bytes.
    Bare,
}

/// The last thing that fs-verity hashes: `struct fsverity_descriptor` of Linux's `include/uapi/linux/fsverity.h`.
#[derive(Clone, Debug)]
pub(crate) struct Descriptor {
    /// The kernel's number of the hash: 1 for SHA-256, 2 for SHA-512.
    pub algorithm: u8,
    /// The binary logarithm of the block size.
    pub log_block: u8,
    /// The salt as the user gave it: at most 32 bytes.
    pub salt: Vec<u8>,
}

impl Descriptor {
    /// The descriptor of a file of `len` bytes with `top` at the top of its tree.
    fn bytes(&self, top: &[u8], len: u64) -> [u8; 256] {
        let mut bytes = [0; 256];
        bytes[0] = 1; // version
        bytes[1] = self.algorithm;
        bytes[2] = self.log_block;
        bytes[3] = self.salt.len() as u8;
        bytes[8..16].copy_from_slice(&len.to_le_bytes());
        bytes[16..16 + top.len()].copy_from_slice(top); // 64 bytes at most
        bytes[80..80 + self.salt.len()].copy_from_slice(&self.salt);
        bytes
    }
}

impl NodeHash {
    /// The hash or checksum of the digests.
    #[cfg(test)]
    pub fn algorithm(&self) -> Algorithm {
        match self {
            NodeHash::Framed(framed) => framed.hash.into(),
            NodeHash::Blake3 => Hash::Blake3.into(),
            #[cfg(feature = "xet")]
            NodeHash::Xet => Hash::Blake3.into(),
            #[cfg(feature = "checksums")]
            NodeHash::Checksum { sum, .. } => Algorithm::Checksum(*sum),
        }
    }

    /// The size of a digest, in bytes.
    pub fn size(&self) -> usize {
        match self {
            NodeHash::Framed(framed) => framed.hash.size(),
            NodeHash::Blake3 => Hash::Blake3.size(),
            #[cfg(feature = "xet")]
            NodeHash::Xet => Hash::Blake3.size(),
            #[cfg(feature = "checksums")]
            NodeHash::Checksum { sum, .. } => sum.size(),
        }
    }

    /// The digest that stands in for a missing node.
    pub fn zero(&self) -> Digest {
        Digest::zero(self.size())
    }

    /// The digest at the top of an input without bytes, if the format defines one.
    pub fn empty(&self) -> Option<Digest> {
        let framed = match self {
            NodeHash::Framed(framed) => framed,
            NodeHash::Blake3 => return Some(self.leaf(0, &[], Role::Root)),
            #[cfg(feature = "xet")]
            NodeHash::Xet => return Some(self.leaf(0, &[], Role::Root)),
            #[cfg(feature = "checksums")]
            NodeHash::Checksum { parent: ChecksumParent::OfBytes, .. } => return Some(self.leaf(0, &[], Role::Root)),
            #[cfg(feature = "checksums")]
            NodeHash::Checksum { .. } => return Some(self.parent([(self.leaf(0, &[], Role::Inner), 0)], Role::Root)),
        };
        let nothing = || hash(framed.hash, &[]);
        match framed.empty {
            Empty::Undefined => None,
            Empty::Hash => Some(nothing()),
            Empty::Leaf => Some(self.parent([(nothing(), 0)], Role::Root)),
            Empty::Halves => Some(self.parent([(self.leaf(0, &[], Role::Inner), 0); 2], Role::Root)),
            Empty::Zero => Some(self.zero()),
            Empty::Bare => Some(self.leaf(0, &[], Role::Root)),
        }
    }

    /// The format's root, from the digest at the top of the tree and the input's length in bytes.
    pub fn seal(&self, top: Digest, len: u64) -> Digest {
        match self {
            NodeHash::Framed(Framed { hash, descriptor: Some(descriptor), .. }) => {
                self::hash(*hash, &[&descriptor.bytes(top.as_bytes(), len)])
            }
            _ => top,
        }
    }

    /// Whether a root has another digest than the same node within a larger tree.
    pub fn marks_root(&self) -> bool {
        match self {
            NodeHash::Framed(framed) => framed.inner != framed.root || framed.descriptor.is_some(),
            NodeHash::Blake3 => true,
            #[cfg(feature = "xet")]
            NodeHash::Xet => false,
            #[cfg(feature = "checksums")]
            NodeHash::Checksum { .. } => false,
        }
    }

    /// Whether equal bytes at another offset give another digest.
    pub fn depends_on_start(&self) -> bool {
        matches!(self, NodeHash::Blake3)
    }

    /// A node's hash as plain data; `None` where no [`Recipe`] describes it.
    pub fn recipe(&self) -> Option<Recipe<'_>> {
        match self {
            NodeHash::Framed(Framed {
                hash,
                leaf: Some(PrefixRule::Same(leaf)),
                inner,
                slot,
                join: Join::Hash,
                ..
            }) if *slot == hash.size() => Some(Recipe::Prefixed { hash: *hash, leaf, inner }),
            // Children that take more than their digests are no message of digests, and no recipe has a length or a cipher.
            NodeHash::Framed(_) => None,
            NodeHash::Blake3 => Some(Recipe::Blake3),
            #[cfg(feature = "xet")]
            NodeHash::Xet => None,
            #[cfg(feature = "checksums")]
            NodeHash::Checksum { .. } => None,
        }
    }

    /// The digest of the root of bytes, where the hash function makes it itself and that is faster: of BLAKE3, whose levels are then
    /// in one buffer. Longer inputs are faster in batches, whose values stay in the cache (`lab`, *blake3*).
    pub fn whole(&self, bytes: &[u8]) -> Option<Digest> {
        const LONGEST: usize = 1 << 20;
        match self {
            NodeHash::Blake3 if bytes.len() <= LONGEST => Some(hash(Hash::Blake3, &[bytes])),
            _ => None,
        }
    }

    /// The digest of the leaf that begins at byte `start`.
    pub fn leaf(&self, start: u64, bytes: &[u8], role: Role) -> Digest {
        match (self, role) {
            (NodeHash::Framed(framed), _) => match &framed.leaf {
                Some(rule) => {
                    let prefix = rule.of(bytes.len() as u64);
                    let parts = [&*prefix, bytes, &framed.after(bytes.len())];
                    // Of two parts no state is made.
                    hash(framed.hash, if parts[2].is_empty() { &parts[..2] } else { &parts })
                }
                None => Digest::new(bytes),
            },
            (NodeHash::Blake3, Role::Root) => Digest::new(&blake3::root_chunk(bytes)),
            (NodeHash::Blake3, Role::Inner) => {
                let mut out = [[0; 32]];
                blake3::chunks(start / blake3::CHUNK as u64, Messages::one(bytes), &mut out);
                Digest::new(&out[0])
            }
            #[cfg(feature = "xet")]
            (NodeHash::Xet, _) => {
                let mut scanned = Scanned::new(xet::CUTS);
                scanned.update(bytes);
                scanned.finish()
            }
            #[cfg(feature = "checksums")]
            (NodeHash::Checksum { sum, .. }, _) => self::sum(*sum, [bytes]),
        }
    }

    /// Appends the digests of inner leaves of one length that follow one another, the first beginning at byte `start`.
    pub fn leaves(&self, start: u64, leaves: Messages<'_>, out: &mut Digests) {
        match self {
            NodeHash::Framed(framed) => match &framed.leaf {
                Some(rule) if framed.after(leaves.len()).is_empty() => {
                    let prefix = rule.of(leaves.len() as u64);
                    digests(framed.hash, &prefix, leaves, out.grow(leaves.count()));
                }
                Some(_) => out.extend(leaves.iter().map(|bytes| self.leaf(start, bytes, Role::Inner))),
                None if leaves.stride() == leaves.len() => {
                    out.extend_from_bytes(&leaves.bytes()[..leaves.count() * leaves.len()]);
                }
                None => leaves.iter().for_each(|bytes| out.extend_from_bytes(bytes)),
            },
            NodeHash::Blake3 => {
                let out = out.grow(leaves.count()).as_chunks_mut().0;
                blake3::chunks(start / blake3::CHUNK as u64, leaves, out);
            }
            #[cfg(feature = "xet")]
            NodeHash::Xet => out.extend(leaves.iter().map(|bytes| self.leaf(start, bytes, Role::Inner))),
            #[cfg(feature = "checksums")]
            NodeHash::Checksum { sum, .. } => out.extend(leaves.iter().map(|bytes| self::sum(*sum, [bytes]))),
        }
    }

    /// Begins a parent.
    pub fn parent_hasher(&self, role: Role) -> ParentHasher {
        let pair = |finish| ParentHasher::Pair { children: [[0; 32]; 2], count: 0, finish };
        match self {
            NodeHash::Framed(Framed { join: Join::Cipher, .. }) => {
                pair(|pair, out| sha256tree_parents(pair.as_flattened(), out))
            }
            NodeHash::Framed(framed) => {
                let prefix = if role == Role::Root { &framed.root } else { &framed.inner };
                ParentHasher::Framed { stream: Streams::new(framed.hash, prefix, 1), slot: framed.slot }
            }
            NodeHash::Blake3 => pair(match role {
                Role::Root => |[left, right], out| *out = blake3::root_parent(left, right),
                Role::Inner => |pair, out| blake3::parents(pair, slice::from_mut(out)),
            }),
            #[cfg(feature = "xet")]
            NodeHash::Xet => unreachable!("an input is one leaf"),
            #[cfg(feature = "checksums")]
            NodeHash::Checksum { sum, parent: ChecksumParent::OfBytes } => {
                // The sum of no bytes is zero in all that join.
                ParentHasher::Joined { sum: *sum, parts: (self.zero(), 0) }
            }
            #[cfg(feature = "checksums")]
            NodeHash::Checksum { sum, parent: ChecksumParent::OfDigests } => {
                ParentHasher::Summed { sum: *sum, running: Box::new(sum.begin()) }
            }
        }
    }

    /// The digest of a parent over all its children's digests and lengths in bytes, left to right, padding included.
    pub fn parent(&self, children: impl IntoIterator<Item = (Digest, u64)>, role: Role) -> Digest {
        let mut parent = self.parent_hasher(role);
        children.into_iter().for_each(|(child, len)| parent.push(&child, len));
        parent.finish()
    }

    /// Appends the digest of the inner parent of each run of `arity` digests: `children` has a multiple of `arity`.
    pub fn parents(&self, children: &[u8], arity: usize, out: &mut Digests) {
        let size = self.size();
        let count = children.len() / size / arity;
        match self {
            NodeHash::Framed(Framed { join: Join::Cipher, .. }) => sha256tree_parents(children, out.grow(count)),
            NodeHash::Framed(framed) if framed.slot == size => {
                digests(framed.hash, &framed.inner, Messages::new(children, arity * size), out.grow(count));
            }
            NodeHash::Framed(framed) => {
                let mut bodies = vec![0; count * arity * framed.slot];
                for (slot, child) in bodies.chunks_exact_mut(framed.slot).zip(children.chunks_exact(size)) {
                    slot[..size].copy_from_slice(child);
                }
                let bodies = Messages::new(&bodies, arity * framed.slot);
                digests(framed.hash, &framed.inner, bodies, out.grow(count));
            }
            NodeHash::Blake3 => blake3::parents(children.as_chunks().0, out.grow(count).as_chunks_mut().0),
            #[cfg(feature = "xet")]
            NodeHash::Xet => unreachable!("an input is one leaf"),
            #[cfg(feature = "checksums")]
            NodeHash::Checksum { .. } => unreachable!("the checksum of a subtree is that of its bytes"),
        }
    }
}

impl Framed {
    /// The bytes that are hashed after a leaf of `len` bytes.
    pub fn after(&self, len: usize) -> Vec<u8> {
        let rule = self.leaf.as_ref().and_then(|rule| rule.after(len as u64));
        rule.unwrap_or_else(|| vec![0; self.fill.saturating_sub(len)])
    }
}

/// The hash of parts, one after the other.
fn hash(hash: Hash, parts: &[&[u8]]) -> Digest {
    Digest::new(&mksum_lanes::digest(hash, parts)[..hash.size()])
}

/// The checksum of parts, one after the other.
#[cfg(feature = "checksums")]
pub(crate) fn sum<'a>(sum: Checksum, parts: impl IntoIterator<Item = &'a [u8]>) -> Digest {
    let mut running = sum.begin();
    parts.into_iter().for_each(|part| running.update(part));
    sum.digest(&running)
}

/// Hashes a parent child by child.
#[derive(Clone, Debug)]
pub(crate) enum ParentHasher {
    Framed {
        stream: Streams,
        slot: usize,
    },
    /// Two children, and the function that writes the digest of their parent.
    Pair {
        children: [[u8; 32]; 2],
        count: usize,
        finish: fn(&[[u8; 32]; 2], &mut [u8; 32]),
    },
    /// The sum of all children's bytes so far, and their number.
    #[cfg(feature = "checksums")]
    Joined {
        sum: Checksum,
        parts: (Digest, u64),
    },
    #[cfg(feature = "checksums")]
    Summed {
        sum: Checksum,
        running: Box<Running>,
    },
}

impl ParentHasher {
    /// Appends the next child, over `len` bytes.
    pub fn push(&mut self, digest: &Digest, len: u64) {
        let child = digest.as_bytes();
        // Only sums that join need the length.
        let _ = len;
        match self {
            ParentHasher::Framed { stream, slot } => {
                stream.append(child);
                stream.append(&[0; Hash::MAX_SIZE][..*slot - child.len()]);
            }
            ParentHasher::Pair { children, count, .. } => {
                children[*count].copy_from_slice(child);
                *count += 1;
            }
            #[cfg(feature = "checksums")]
            ParentHasher::Joined { sum, parts: (joined, joined_len) } => {
                *joined = sum.join((joined, *joined_len), (digest, len));
                *joined_len += len;
            }
            #[cfg(feature = "checksums")]
            ParentHasher::Summed { running, .. } => running.update(child),
        }
    }

    /// The digest of the parent.
    pub fn finish(self) -> Digest {
        match self {
            ParentHasher::Framed { stream, .. } => {
                let mut digest = Digest::zero(stream.hash().size());
                stream.finish(digest.as_mut());
                digest
            }
            ParentHasher::Pair { children, finish, .. } => {
                let mut out = [0; 32];
                finish(&children, &mut out);
                Digest::new(&out)
            }
            #[cfg(feature = "checksums")]
            ParentHasher::Joined { parts: (joined, _), .. } => joined,
            #[cfg(feature = "checksums")]
            ParentHasher::Summed { sum, running } => sum.digest(&running),
        }
    }
}
