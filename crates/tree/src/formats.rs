//! The table of formats: a row a format. Adding one is a row here, a page in `spec/` and rows in `vectors/`.

use crate::framed::Descriptor;
#[cfg(target_family = "wasm")]
use crate::wide::Wide;
use crate::{Blake3, Edge, Format, Framed, Hash, NodeHash, Pairs, Role, Shape, Spec, Tail, Visitor};

/// A format with its choices still open.
#[derive(Debug)]
pub struct Family {
    /// The name that begins a [`Spec`]'s text.
    pub name: &'static str,
    /// What it is, in a line.
    pub about: &'static str,
    /// The program that prints the same root.
    pub same_as: &'static str,
    /// The hashes that it allows, the default first.
    pub hashes: &'static [Hash],
    /// The leaf lengths that it allows.
    pub leaf: LeafRule,
    /// The longest salt, in bytes; 0 where there is none.
    pub salt: usize,
    pub(crate) nodes: Nodes,
    pub(crate) text: Text,
}

/// The leaf lengths that a format allows, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeafRule {
    /// This one.
    Fixed(u64),
    /// 1 to 2^40, and the default.
    Any(u64),
    /// A power of two from the first to the second, and the default.
    PowerOfTwo(u64, u64, u64),
}

impl LeafRule {
    /// The leaf length when none is given.
    pub fn default(self) -> u64 {
        match self {
            LeafRule::Fixed(default) | LeafRule::Any(default) | LeafRule::PowerOfTwo(_, _, default) => default,
        }
    }
}

/// What a root holds fast, so that a proof shows it even to somebody who does not know the input's length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Binding {
    /// Nothing: a leaf and a node are hashed alike, so who may choose the length can pass one off as the other.
    Nothing,
    /// Leaves and their order, not where they lie.
    Leaves,
    /// Leaves and where they lie.
    Offsets,
    /// The whole input: its length too.
    Length,
}

/// How a root is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Text {
    /// Lower-case hex.
    Hex,
    /// As S3 does: `-` and the number of parts after hex for MD5, after base64 for the others.
    Parts,
}

/// What is hashed for a node.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Nodes {
    /// Binary, with the prefixes of a leaf, of a node and of the root.
    Prefixed {
        leaf: &'static [u8],
        node: &'static [u8],
        root: &'static [u8],
        edge: Edge,
        empty: Empty,
    },
    /// As `Prefixed`, halved by length.
    Halved {
        leaf: &'static [u8],
        node: &'static [u8],
        root: &'static [u8],
    },
    Blake3,
    Pairs,
    /// Nodes as large as leaves, all hashed after a salt.
    Verity(Verity),
    /// One node over all leaves.
    Flat {
        empty: Empty,
    },
}

/// The root of no bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Empty {
    Undefined,
    /// The hash of nothing at all.
    Hash,
    /// One empty leaf under the node.
    Leaf,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Verity {
    /// fs-verity: short last blocks, and a descriptor over the top.
    File,
    /// dm-verity: whole blocks.
    Device,
}

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// The hashes where a format leaves the choice.
const ANY_HASH: &[Hash] = &[
    Hash::Sha256,
    Hash::Md5,
    Hash::Sha1,
    Hash::Sha224,
    Hash::Sha384,
    Hash::Sha512,
    Hash::Sha512_256,
    Hash::Blake2s,
    Hash::Blake2b,
    Hash::Blake3,
];

/// Nodes without prefixes.
const PLAIN: Nodes = Nodes::Prefixed { leaf: b"", node: b"", root: b"", edge: Edge::Promote, empty: Empty::Hash };

/// Every format, the default first.
pub static FAMILIES: [Family; 11] = [
    Family {
        name: "rfc6962",
        about: "Certificate Transparency's tree: leaves and nodes are told apart by a prefix",
        same_as: "golang.org/x/mod/sumdb/tlog, transparency-dev/merkle",
        hashes: ANY_HASH,
        leaf: LeafRule::Any(64 * KIB),
        salt: 0,
        nodes: Nodes::Prefixed { leaf: &[0], node: &[1], root: &[1], edge: Edge::Promote, empty: Empty::Hash },
        text: Text::Hex,
    },
    Family {
        name: "plain",
        about: "a binary tree without prefixes; one leaf over everything is the plain checksum",
        same_as: "the seven-language Merkle root; sha256sum where the leaf is at least the file",
        hashes: ANY_HASH,
        leaf: LeafRule::Any(64 * KIB),
        salt: 0,
        nodes: PLAIN,
        text: Text::Hex,
    },
    Family {
        name: "glacier",
        about: "Amazon Glacier's tree hash: plain SHA-256 with 1 MiB leaves",
        same_as: "botocore's calculate_tree_hash",
        hashes: &[Hash::Sha256],
        leaf: LeafRule::Fixed(MIB),
        salt: 0,
        nodes: PLAIN,
        text: Text::Hex,
    },
    Family {
        name: "mtsum",
        about: "mtsum's tree: halved by length down to 128 MiB; needs the length first",
        same_as: "mtsum",
        hashes: &[Hash::Sha256, Hash::Md5, Hash::Sha1, Hash::Sha384, Hash::Sha512],
        leaf: LeafRule::Any(128 * MIB),
        salt: 0,
        nodes: Nodes::Halved { leaf: &[0], node: &[1], root: &[2] },
        text: Text::Hex,
    },
    Family {
        name: "blake3",
        about: "BLAKE3",
        same_as: "b3sum",
        hashes: &[Hash::Blake3],
        leaf: LeafRule::Fixed(KIB),
        salt: 0,
        nodes: Nodes::Blake3,
        text: Text::Hex,
    },
    Family {
        name: "blake3-pairs",
        about: "BLAKE3 of pairs over 2^k digests of 32 bytes, which are the leaves",
        same_as: "merklize-blake3",
        hashes: &[Hash::Blake3],
        leaf: LeafRule::Fixed(32),
        salt: 0,
        nodes: Nodes::Pairs,
        text: Text::Hex,
    },
    Family {
        name: "btv2",
        about: "BitTorrent v2's pieces root: 16 KiB leaves, padded to a power of two",
        same_as: "libtorrent",
        hashes: &[Hash::Sha256],
        leaf: LeafRule::Fixed(16 * KIB),
        salt: 0,
        nodes: Nodes::Prefixed { leaf: b"", node: b"", root: b"", edge: Edge::PadSubtree, empty: Empty::Undefined },
        text: Text::Hex,
    },
    Family {
        name: "fsverity",
        about: "Linux fs-verity's file digest",
        same_as: "fsverity digest",
        hashes: &[Hash::Sha256, Hash::Sha512],
        leaf: LeafRule::PowerOfTwo(KIB, 64 * KIB, 4 * KIB),
        salt: 32,
        nodes: Nodes::Verity(Verity::File),
        text: Text::Hex,
    },
    Family {
        name: "dmverity",
        about: "Linux dm-verity's root hash; whole blocks only",
        same_as: "veritysetup format",
        hashes: &[Hash::Sha256, Hash::Sha1, Hash::Sha224, Hash::Sha384, Hash::Sha512],
        leaf: LeafRule::PowerOfTwo(512, 64 * KIB, 4 * KIB),
        salt: 256,
        nodes: Nodes::Verity(Verity::Device),
        text: Text::Hex,
    },
    Family {
        name: "s3",
        about: "S3's composite checksum of a multipart upload, and with MD5 its ETag; the leaf is the part size",
        same_as: "S3 multipart uploads",
        hashes: &[Hash::Sha256, Hash::Sha1, Hash::Md5],
        leaf: LeafRule::Any(8 * MIB),
        salt: 0,
        nodes: Nodes::Flat { empty: Empty::Leaf },
        text: Text::Parts,
    },
    Family {
        name: "dropbox",
        about: "Dropbox's content_hash",
        same_as: "rclone hashsum dropbox",
        hashes: &[Hash::Sha256],
        leaf: LeafRule::Fixed(4 * MIB),
        salt: 0,
        nodes: Nodes::Flat { empty: Empty::Hash },
        text: Text::Hex,
    },
];

impl Family {
    /// The format with this name.
    pub fn named(name: &str) -> Option<&'static Family> {
        FAMILIES.iter().find(|family| family.name == name)
    }

    /// Whether a stream without a known length has a root: whether the splits do not depend on the final length.
    pub fn streams(&self) -> bool {
        !matches!(self.nodes, Nodes::Halved { .. })
    }

    /// What a proof shows without a trusted length.
    pub fn binding(&self) -> Binding {
        match self.nodes {
            Nodes::Prefixed { leaf, node, .. } | Nodes::Halved { leaf, node, .. } if leaf != node => Binding::Leaves,
            Nodes::Blake3 => Binding::Offsets,
            Nodes::Verity(Verity::File) => Binding::Length,
            _ => Binding::Nothing,
        }
    }
}

impl Spec {
    /// Calls `visitor` with the format: the one place where a name becomes types.
    #[cfg(not(target_family = "wasm"))]
    pub fn visit<V: Visitor>(&self, visitor: V) -> V::Output {
        match self.hash().size() {
            16 => self.visit_sized::<16, V>(visitor),
            20 => self.visit_sized::<20, V>(visitor),
            28 => self.visit_sized::<28, V>(visitor),
            32 => match self.family().nodes {
                Nodes::Blake3 => visitor.visit(&Format { shape: self.shape(), nodes: Blake3 }),
                Nodes::Pairs => visitor.visit(&Format { shape: self.shape(), nodes: Pairs::<32>::new(self.hash()) }),
                _ => self.visit_sized::<32, V>(visitor),
            },
            48 => self.visit_sized::<48, V>(visitor),
            64 => self.visit_sized::<64, V>(visitor),
            size => unreachable!("no hash has digests of {size} bytes"),
        }
    }

    /// Calls `visitor` with the format: here one type stands for all, see [`Visitor::visit`].
    #[cfg(target_family = "wasm")]
    pub fn visit<V: Visitor>(&self, visitor: V) -> V::Output {
        visitor.visit(&self.wide())
    }

    /// Not again in each visitor's caller.
    #[cfg(target_family = "wasm")]
    #[inline(never)]
    fn wide(&self) -> Format<Wide> {
        let nodes = match self.family().nodes {
            Nodes::Blake3 => Wide::Blake3(Blake3),
            Nodes::Pairs => Wide::Pairs(Pairs::new(self.hash())),
            _ => Wide::Framed(self.framed()),
        };
        Format { shape: self.shape(), nodes }
    }

    #[cfg(not(target_family = "wasm"))]
    fn visit_sized<const N: usize, V: Visitor>(&self, visitor: V) -> V::Output {
        visitor.visit(&Format { shape: self.shape(), nodes: self.framed::<N>() })
    }

    /// Where the tree splits.
    pub fn shape(&self) -> Shape {
        let even = |arity, edge, tail| Shape::Even { leaf: self.leaf(), arity, edge, tail };
        match self.family().nodes {
            Nodes::Prefixed { edge, .. } => even(2, edge, Tail::Short),
            Nodes::Halved { .. } => Shape::Halved { longest: self.leaf() },
            Nodes::Blake3 => even(2, Edge::Promote, Tail::Short),
            Nodes::Pairs => even(2, Edge::Reject, Tail::Reject),
            Nodes::Verity(Verity::File) => even(self.leaf() / self.slot() as u64, Edge::PadZero, Tail::Short),
            Nodes::Verity(Verity::Device) => even(self.leaf() / self.slot() as u64, Edge::PadZero, Tail::Reject),
            Nodes::Flat { .. } => Shape::Flat { leaf: self.leaf() },
        }
    }

    /// The bytes that a digest takes in a block of hashes: blocks are filled evenly.
    fn slot(&self) -> usize {
        self.hash().size().next_power_of_two()
    }

    fn framed<const N: usize>(&self) -> Framed<N> {
        let hash = self.hash();
        match self.family().nodes {
            Nodes::Prefixed { leaf, node, root, empty, .. } => {
                with_empty(Framed::new(hash, leaf, node, root), hash, empty)
            }
            Nodes::Halved { leaf, node, root } => {
                let framed = Framed::<N>::new(hash, leaf, node, root);
                let halves = [framed.leaf(0, &[], Role::Inner), framed.leaf(0, &[], Role::Inner)];
                let empty = framed.parent(&halves, Role::Root);
                framed.with_empty(Some(empty))
            }
            Nodes::Blake3 | Nodes::Pairs => unreachable!("not framed"),
            Nodes::Verity(Verity::File) => {
                // The kernel hashes the salt once for all blocks: it is filled up to the hash's own block.
                let mut salt = self.salt().to_vec();
                salt.resize(salt.len().next_multiple_of(hash.block_size()), 0);
                Framed::new(hash, &salt, &salt, &salt).fill(self.leaf() as usize).with_empty(Some([0; N])).descriptor(
                    Descriptor {
                        algorithm: if hash == Hash::Sha256 { 1 } else { 2 },
                        log_block: self.leaf().ilog2() as u8,
                        salt: self.salt().to_vec(),
                    },
                )
            }
            Nodes::Verity(Verity::Device) => {
                let framed = Framed::new(hash, self.salt(), self.salt(), self.salt());
                framed.slot(self.slot()).with_empty(None)
            }
            Nodes::Flat { empty } => with_empty(Framed::new(hash, b"", b"", b""), hash, empty),
        }
    }
}

fn with_empty<const N: usize>(framed: Framed<N>, hash: Hash, empty: Empty) -> Framed<N> {
    let nothing = Framed::<N>::new(hash, b"", b"", b"").leaf(0, &[], Role::Root);
    let empty = match empty {
        Empty::Undefined => None,
        Empty::Hash => Some(nothing),
        Empty::Leaf => Some(framed.parent(&[nothing], Role::Root)),
    };
    framed.with_empty(empty)
}
