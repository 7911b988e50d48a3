//! The table of formats: a row a format. Adding one is a row here, a page in `spec/` and rows in `vectors/`.

#[cfg(feature = "checksums")]
use crate::Checksum;
#[cfg(feature = "checksums")]
use crate::hashing::ChecksumParent;
use crate::hashing::{Descriptor, Empty, Framed, Join, NodeHash};
use crate::options::Chosen;
use crate::prefix::{Prefix, PrefixRule};
#[cfg(feature = "xet")]
use crate::xet;
use crate::{Algorithm, Cuts, Edge, FormatOption, Hash, MAX_LEN, OptionRule, Shape, Tail};
use alloc::vec::Vec;

/// A row of the table of formats: a format whose choices are still open.
#[derive(Debug)]
#[non_exhaustive]
pub struct Family {
    /// The name that begins a [`Spec`](crate::Spec)'s text.
    pub name: &'static str,
    /// A description, in a line.
    pub about: &'static str,
    /// The program that prints the same root.
    pub same_as: &'static str,
    /// The place where one meets its roots.
    pub met_in: MetIn,
    /// The hashes and checksums that it allows, the default first.
    pub hashes: &'static [Algorithm],
    /// The leaf lengths that it allows.
    pub leaf: LeafRule,
    /// The options that it has, with the values that it allows.
    pub options: &'static [(FormatOption, OptionRule)],
    /// The name on tagged lines of sum files, if it is not the text of the [`Spec`](crate::Spec) but the one that other programs
    /// print: `SHA256`.
    pub tag: Option<&'static str>,
    pub(crate) nodes: Nodes,
    pub(crate) text: Text,
    /// The trees that other programs keep in this format, the usual one first.
    pub(crate) foreign: &'static [ForeignTree],
}

/// A place where people meet roots of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MetIn {
    /// Logs, proofs and programs of their own.
    Trees,
    /// Lists of sums that tools print and check.
    Tools,
    /// The metadata of objects in stores.
    Stores,
    /// Source code, its archives and builds.
    Sources,
    /// Peer-to-peer networks.
    Networks,
    /// File systems and block devices.
    Systems,
}

impl MetIn {
    /// Every place, in the order in which lists of formats are grouped.
    pub const ALL: &[MetIn] =
        &[MetIn::Trees, MetIn::Tools, MetIn::Stores, MetIn::Sources, MetIn::Networks, MetIn::Systems];

    /// The name, in a word: `stores`.
    pub const fn name(self) -> &'static str {
        match self {
            MetIn::Trees => "trees",
            MetIn::Tools => "tools",
            MetIn::Stores => "stores",
            MetIn::Sources => "sources",
            MetIn::Networks => "networks",
            MetIn::Systems => "systems",
        }
    }

    /// The title of a group of formats.
    pub const fn title(self) -> &'static str {
        match self {
            MetIn::Trees => "Merkle trees with proofs",
            MetIn::Tools => "Sums that tools print",
            MetIn::Stores => "Stores",
            MetIn::Sources => "Source code and builds",
            MetIn::Networks => "Peer-to-peer networks",
            MetIn::Systems => "File systems and block devices",
        }
    }

    /// The formats that are met here, in the order of [`FAMILIES`].
    pub fn families(self) -> impl Iterator<Item = &'static Family> {
        FAMILIES.iter().filter(move |family| family.met_in == self)
    }
}

/// A tree that another program keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ForeignTree {
    /// Bao's outboard.
    Bao,
    /// The outboard of iroh: Bao's without the length, down to chunk groups of 16 KiB.
    Iroh,
    /// The Merkle tree of fs-verity.
    Fsverity,
    /// The hash device of dm-verity.
    Dmverity,
}

impl ForeignTree {
    /// The usual extension of such a file.
    pub fn extension(self) -> &'static str {
        match self {
            ForeignTree::Bao => "obao",
            ForeignTree::Iroh => "obao4",
            ForeignTree::Fsverity => "fsverity",
            ForeignTree::Dmverity => "verity",
        }
    }
}

/// The leaf lengths that a format allows, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeafRule {
    /// The format has no leaf length: it is the sum of the whole input.
    Whole,
    /// The only leaf length, in bytes.
    Fixed(u64),
    /// 1 to 2^40, and the default.
    Any(u64),
    /// A power of two from the first to the second, and the default.
    PowerOfTwo(u64, u64, u64),
    /// Leaves end where the content says.
    Found(Cuts),
}

impl LeafRule {
    /// The leaf length when none is given.
    pub fn default(self) -> u64 {
        match self {
            LeafRule::Whole | LeafRule::Found(_) => MAX_LEN,
            LeafRule::Fixed(default) | LeafRule::Any(default) | LeafRule::PowerOfTwo(_, _, default) => default,
        }
    }
}

/// The facts that a root alone binds, so that a proof shows them even without a trusted length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Binding {
    /// The root binds nothing: leaves and nodes are hashed alike, so a wrong length can pass one off as the other.
    Nothing,
    /// Leaves and their order, not their offsets.
    Leaves,
    /// Leaves and their offsets.
    Offsets,
    /// The whole input: its length too.
    Length,
}

/// The text form of a root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Text {
    /// Lower-case hex.
    Hex,
    /// Lower-case hex behind this.
    After(&'static str),
    /// Base64; hex and the letters of URLs are read, too.
    Base64,
    /// A C4 id; hex is read, too.
    C4,
    /// As Nix writes hashes: `sha256-` and base64; its base 32 and hex are read, too.
    Nix,
    /// S3's form: `-` and the number of parts after hex for MD5, after base64 for the others.
    Parts,
}

/// The kind of hash of a format's nodes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Nodes {
    /// A single leaf: the hash of the input.
    Sum,
    /// A git object of this type: a header with the length, then the input.
    Object(&'static str),
    /// A Nix archive of the file.
    Archive,
    /// The checksum of the input, whatever the leaves are, as a page of `spec/` defines it.
    #[cfg(feature = "checksums")]
    Checksum {
        page: &'static str,
    },
    /// Binary, with the prefixes of a leaf, of a node and of the root.
    Prefixed {
        leaf: &'static [u8],
        node: &'static [u8],
        root: &'static [u8],
        edge: Edge,
        empty: Empty,
    },
    /// Binary like `Prefixed`, but split by halving the length.
    Halved {
        leaf: &'static [u8],
        node: &'static [u8],
        root: &'static [u8],
    },
    Blake3,
    /// SHA-256 of leaves, under nodes of its block cipher.
    Cipher,
    #[cfg(feature = "xet")]
    Xet,
    Pairs,
    /// Nodes as large as leaves, all hashed after a salt.
    Verity(Verity),
    /// A single node over all leaves.
    Flat {
        empty: Empty,
    },
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
const ANY_HASH: &[Algorithm] = &[
    Algorithm::Hash(Hash::Sha256),
    #[cfg(feature = "md5")]
    Algorithm::Hash(Hash::Md5),
    #[cfg(feature = "sha1")]
    Algorithm::Hash(Hash::Sha1),
    Algorithm::Hash(Hash::Sha224),
    Algorithm::Hash(Hash::Sha384),
    Algorithm::Hash(Hash::Sha512),
    Algorithm::Hash(Hash::Sha512_256),
    #[cfg(feature = "blake2")]
    Algorithm::Hash(Hash::Blake2s),
    #[cfg(feature = "blake2")]
    Algorithm::Hash(Hash::Blake2b),
    Algorithm::Hash(Hash::Blake3),
    #[cfg(feature = "sm3")]
    Algorithm::Hash(Hash::Sm3),
    #[cfg(feature = "ripemd160")]
    Algorithm::Hash(Hash::Ripemd160),
];

/// Nodes without prefixes.
const PLAIN: Nodes = Nodes::Prefixed { leaf: b"", node: b"", root: b"", edge: Edge::Promote, empty: Empty::Hash };

/// What most formats have: a row says what is other.
const TREE: Family = Family {
    name: "tree",
    about: "",
    same_as: "",
    met_in: MetIn::Trees,
    hashes: &[Algorithm::Hash(Hash::Sha256)],
    leaf: LeafRule::Whole,
    options: &[],
    tag: None,
    nodes: PLAIN,
    text: Text::Hex,
    foreign: &[],
};

/// Every format, the default first.
pub static FAMILIES: &[Family] = &[
    Family {
        name: "rfc6962",
        about: "Certificate Transparency's tree: leaves and nodes are told apart by a prefix",
        same_as: "golang.org/x/mod/sumdb/tlog, transparency-dev/merkle",
        hashes: ANY_HASH,
        leaf: LeafRule::Any(64 * KIB),
        nodes: Nodes::Prefixed { leaf: &[0], node: &[1], root: &[1], edge: Edge::Promote, empty: Empty::Hash },
        ..TREE
    },
    Family {
        name: "plain",
        about: "a binary tree without prefixes; one leaf over everything is the plain checksum",
        same_as: "the seven-language Merkle root; sha256sum where the leaf is at least the file",
        hashes: ANY_HASH,
        leaf: LeafRule::Any(64 * KIB),
        ..TREE
    },
    Family {
        name: "glacier",
        about: "Amazon Glacier's tree hash: plain SHA-256 with 1 MiB leaves",
        same_as: "botocore's calculate_tree_hash",
        met_in: MetIn::Stores,
        leaf: LeafRule::Fixed(MIB),
        ..TREE
    },
    Family {
        name: "mtsum",
        about: "mtsum's tree: halved by length down to 128 MiB; needs the length first",
        same_as: "mtsum",
        hashes: &[
            Algorithm::Hash(Hash::Sha256),
            #[cfg(feature = "md5")]
            Algorithm::Hash(Hash::Md5),
            #[cfg(feature = "sha1")]
            Algorithm::Hash(Hash::Sha1),
            Algorithm::Hash(Hash::Sha384),
            Algorithm::Hash(Hash::Sha512),
        ],
        leaf: LeafRule::Any(128 * MIB),
        nodes: Nodes::Halved { leaf: &[0], node: &[1], root: &[2] },
        ..TREE
    },
    Family {
        name: "blake3",
        about: "BLAKE3",
        same_as: "b3sum",
        met_in: MetIn::Tools,
        hashes: &[Algorithm::Hash(Hash::Blake3)],
        leaf: LeafRule::Fixed(KIB),
        nodes: Nodes::Blake3,
        foreign: &[ForeignTree::Bao, ForeignTree::Iroh],
        ..TREE
    },
    Family {
        name: "blake3-pairs",
        about: "BLAKE3 of pairs over 2^k digests of 32 bytes, which are the leaves",
        same_as: "merklize-blake3",
        hashes: &[Algorithm::Hash(Hash::Blake3)],
        leaf: LeafRule::Fixed(32),
        nodes: Nodes::Pairs,
        ..TREE
    },
    Family {
        name: "btv2",
        about: "BitTorrent v2's pieces root: 16 KiB leaves, padded to a power of two",
        same_as: "libtorrent",
        met_in: MetIn::Networks,
        leaf: LeafRule::Fixed(16 * KIB),
        nodes: Nodes::Prefixed { leaf: b"", node: b"", root: b"", edge: Edge::PadSubtree, empty: Empty::Undefined },
        ..TREE
    },
    Family {
        name: "fsverity",
        about: "Linux fs-verity's file digest",
        same_as: "fsverity digest",
        met_in: MetIn::Systems,
        hashes: &[Algorithm::Hash(Hash::Sha256), Algorithm::Hash(Hash::Sha512)],
        leaf: LeafRule::PowerOfTwo(KIB, 64 * KIB, 4 * KIB),
        options: &[(FormatOption::Salt, OptionRule::Bytes(32))],
        nodes: Nodes::Verity(Verity::File),
        foreign: &[ForeignTree::Fsverity],
        ..TREE
    },
    Family {
        name: "dmverity",
        about: "Linux dm-verity's root hash; whole blocks only",
        same_as: "veritysetup format",
        met_in: MetIn::Systems,
        hashes: &[
            Algorithm::Hash(Hash::Sha256),
            #[cfg(feature = "sha1")]
            Algorithm::Hash(Hash::Sha1),
            Algorithm::Hash(Hash::Sha224),
            Algorithm::Hash(Hash::Sha384),
            Algorithm::Hash(Hash::Sha512),
        ],
        leaf: LeafRule::PowerOfTwo(512, 64 * KIB, 4 * KIB),
        options: &[(FormatOption::Salt, OptionRule::Bytes(256))],
        nodes: Nodes::Verity(Verity::Device),
        foreign: &[ForeignTree::Dmverity],
        ..TREE
    },
    Family {
        name: "s3",
        about: "S3's composite checksum of a multipart upload, and with MD5 its ETag; the leaf is the part size",
        same_as: "S3 multipart uploads",
        met_in: MetIn::Stores,
        hashes: &[
            Algorithm::Hash(Hash::Sha256),
            #[cfg(feature = "sha1")]
            Algorithm::Hash(Hash::Sha1),
            #[cfg(feature = "md5")]
            Algorithm::Hash(Hash::Md5),
            Algorithm::Hash(Hash::Sha512),
            #[cfg(feature = "checksums")]
            Algorithm::Checksum(Checksum::Crc32),
            #[cfg(feature = "checksums")]
            Algorithm::Checksum(Checksum::Crc32c),
            #[cfg(feature = "checksums")]
            Algorithm::Checksum(Checksum::Xxh64),
            #[cfg(feature = "checksums")]
            Algorithm::Checksum(Checksum::Xxh3),
            #[cfg(feature = "checksums")]
            Algorithm::Checksum(Checksum::Xxh128),
        ],
        leaf: LeafRule::Any(8 * MIB),
        nodes: Nodes::Flat { empty: Empty::Leaf },
        text: Text::Parts,
        ..TREE
    },
    Family {
        name: "dropbox",
        about: "Dropbox's content_hash",
        same_as: "rclone hashsum dropbox",
        met_in: MetIn::Stores,
        leaf: LeafRule::Fixed(4 * MIB),
        nodes: Nodes::Flat { empty: Empty::Hash },
        ..TREE
    },
    Family {
        name: "sha256tree",
        about: "Bazel's digest function SHA256TREE: SHA-256 of 1 KiB leaves, under nodes of its block cipher alone",
        same_as: "Bazel's remote execution API, SHA256TREE",
        met_in: MetIn::Sources,
        leaf: LeafRule::Fixed(KIB),
        nodes: Nodes::Cipher,
        ..TREE
    },
    #[cfg(feature = "xet")]
    Family {
        name: "xet",
        about: "Hugging Face's file hash of Xet storage: leaves and groups of nodes end where the content says",
        same_as: "hf_xet.hash_files",
        met_in: MetIn::Stores,
        hashes: &[Algorithm::Hash(Hash::Blake3)],
        leaf: LeafRule::Found(xet::CUTS),
        nodes: Nodes::Xet,
        ..TREE
    },
    #[cfg(feature = "sha1")]
    Family {
        name: "git",
        about: "the id of git's blob: the hash of a header with the length, and the content; needs the length first",
        same_as: "git hash-object",
        ..OBJECT
    },
    #[cfg(feature = "sha1")]
    Family {
        name: "swhid",
        about: "Software Heritage's identifier of a content: git's blob; needs the length first",
        same_as: "swh identify",
        hashes: SHA1,
        text: Text::After("swh:1:cnt:"),
        ..OBJECT
    },
    Family {
        name: "nar",
        about: "Nix's hash of an archive that has the file or directory, and what is executable; needs the length first",
        same_as: "nix hash path, nix-hash",
        hashes: &[Algorithm::Hash(Hash::Sha256)],
        nodes: Nodes::Archive,
        text: Text::Nix,
        ..OBJECT
    },
    #[cfg(feature = "md5")]
    sum("md5", "MD5", "md5sum", &[Algorithm::Hash(Hash::Md5)]),
    #[cfg(feature = "sha1")]
    sum("sha1", "SHA1", "sha1sum", &[Algorithm::Hash(Hash::Sha1)]),
    sum("sha224", "SHA224", "sha224sum", &[Algorithm::Hash(Hash::Sha224)]),
    sum("sha256", "SHA256", "sha256sum", &[Algorithm::Hash(Hash::Sha256)]),
    sum("sha384", "SHA384", "sha384sum", &[Algorithm::Hash(Hash::Sha384)]),
    sum("sha512", "SHA512", "sha512sum", &[Algorithm::Hash(Hash::Sha512)]),
    sum("sha512-256", "SHA512/256", "shasum -a 512256", &[Algorithm::Hash(Hash::Sha512_256)]),
    Family {
        name: "c4",
        about: "the C4 id of film sets: SHA-512 in base 58",
        same_as: "c4, ascmhl",
        met_in: MetIn::Stores,
        hashes: &[Algorithm::Hash(Hash::Sha512)],
        nodes: Nodes::Sum,
        text: Text::C4,
        ..TREE
    },
    #[cfg(feature = "sha3")]
    sum("sha3-224", "SHA3-224", "openssl dgst -sha3-224", &[Algorithm::Hash(Hash::Sha3_224)]),
    #[cfg(feature = "sha3")]
    sum("sha3-256", "SHA3-256", "openssl dgst -sha3-256", &[Algorithm::Hash(Hash::Sha3_256)]),
    #[cfg(feature = "sha3")]
    sum("sha3-384", "SHA3-384", "openssl dgst -sha3-384", &[Algorithm::Hash(Hash::Sha3_384)]),
    #[cfg(feature = "sha3")]
    sum("sha3-512", "SHA3-512", "openssl dgst -sha3-512", &[Algorithm::Hash(Hash::Sha3_512)]),
    #[cfg(feature = "blake2")]
    sum("blake2b", "BLAKE2b", "b2sum", &[Algorithm::Hash(Hash::Blake2b)]),
    #[cfg(feature = "blake2")]
    sum("blake2s", "BLAKE2s", "openssl dgst -blake2s256", &[Algorithm::Hash(Hash::Blake2s)]),
    #[cfg(feature = "sm3")]
    sum("sm3", "SM3", "cksum -a sm3", &[Algorithm::Hash(Hash::Sm3)]),
    #[cfg(feature = "ripemd160")]
    sum("ripemd160", "RIPEMD160", "openssl dgst -ripemd160", &[Algorithm::Hash(Hash::Ripemd160)]),
    #[cfg(feature = "checksums")]
    checksum("crc32", "CRC32", CRC, "rhash --crc32, gzip, SFV files", &[Algorithm::Checksum(Checksum::Crc32)]),
    #[cfg(feature = "checksums")]
    Family {
        met_in: MetIn::Stores,
        ..checksum(
            "crc32c",
            "CRC32C",
            CRC,
            "rhash --crc32c, Google Cloud Storage, S3",
            &[Algorithm::Checksum(Checksum::Crc32c)],
        )
    },
    #[cfg(feature = "checksums")]
    Family {
        met_in: MetIn::Stores,
        ..checksum("crc64nvme", "CRC64NVME", CRC, "S3", &[Algorithm::Checksum(Checksum::Crc64Nvme)])
    },
    #[cfg(feature = "checksums")]
    checksum("xxh32", "XXH32", XXHASH, "xxhsum -H32", &[Algorithm::Checksum(Checksum::Xxh32)]),
    #[cfg(feature = "checksums")]
    checksum("xxh64", "XXH64", XXHASH, "xxhsum, S3", &[Algorithm::Checksum(Checksum::Xxh64)]),
    #[cfg(feature = "checksums")]
    checksum("xxh3", "XXH3", XXHASH, "xxhsum -H3, S3", &[Algorithm::Checksum(Checksum::Xxh3)]),
    #[cfg(feature = "checksums")]
    checksum("xxh128", "XXH128", XXHASH, "xxhsum -H128, S3", &[Algorithm::Checksum(Checksum::Xxh128)]),
    #[cfg(feature = "checksums")]
    Family {
        text: Text::Base64,
        met_in: MetIn::Stores,
        ..checksum(
            "quickxor",
            "QuickXor",
            QUICKXOR,
            "Microsoft Graph's quickXorHash, rclone hashsum quickxor",
            &[Algorithm::Checksum(Checksum::Quickxor)],
        )
    },
];

/// SHA-1 alone.
const SHA1: &[Algorithm] = &[
    #[cfg(feature = "sha1")]
    Algorithm::Hash(Hash::Sha1),
];

/// What the formats have in common that hash the length of an input first.
const OBJECT: Family = Family {
    met_in: MetIn::Sources,
    hashes: &[
        #[cfg(feature = "sha1")]
        Algorithm::Hash(Hash::Sha1),
        Algorithm::Hash(Hash::Sha256),
    ],
    nodes: Nodes::Object("blob"),
    ..TREE
};

/// The ids of git's trees, which are roots of directories: not in the table, which is that of files.
pub(crate) const FOLDER: Family = Family {
    name: "git-tree",
    about: "the id of git's tree: a tree of each folder, whose id is an entry of the folder above",
    same_as: "git write-tree",
    nodes: Nodes::Object("tree"),
    ..OBJECT
};

/// Software Heritage's identifiers of directories.
pub(crate) const SWHID_FOLDER: Family = Family {
    name: "swhid-tree",
    about: "Software Heritage's identifier of a directory: git's tree, with empty folders",
    same_as: "swh identify",
    hashes: SHA1,
    text: Text::After("swh:1:dir:"),
    ..FOLDER
};

/// The plain sum of a whole input.
const fn sum(name: &'static str, tag: &'static str, same_as: &'static str, hashes: &'static [Algorithm]) -> Family {
    Family {
        name,
        about: "the hash of the whole input, without a tree",
        same_as,
        met_in: MetIn::Tools,
        hashes,
        tag: Some(tag),
        nodes: Nodes::Sum,
        ..TREE
    }
}

/// The page of `spec/` about checksums, and the description of each.
#[cfg(feature = "checksums")]
type Kind = (&'static str, &'static str);

#[cfg(feature = "checksums")]
const CRC: Kind = ("crc", "a cyclic redundancy check of the whole input: detects accidents, not attackers");

#[cfg(feature = "checksums")]
const XXHASH: Kind =
    ("xxhash", "a checksum of the whole input at the speed of memory: detects accidents, not attackers");

#[cfg(feature = "checksums")]
const QUICKXOR: Kind =
    ("quickxor", "the checksum of OneDrive and SharePoint, of the whole input: detects accidents, not attackers");

/// The checksum of a whole input.
#[cfg(feature = "checksums")]
const fn checksum(
    name: &'static str,
    tag: &'static str,
    (page, about): Kind,
    same_as: &'static str,
    sums: &'static [Algorithm],
) -> Family {
    Family { about, nodes: Nodes::Checksum { page }, ..sum(name, tag, same_as, sums) }
}

/// The length of the parts of which a checksum is joined: what a thread reads and sums at once.
#[cfg(feature = "checksums")]
const JOINED_LEAF: u64 = 256 * KIB;

impl Family {
    /// The format with this name.
    pub fn named(name: &str) -> Option<&'static Family> {
        FAMILIES.iter().find(|family| family.name == name)
    }

    /// The page of `spec/` that defines it, without its extension.
    pub fn page(&self) -> &'static str {
        match self.nodes {
            Nodes::Sum => "sums",
            Nodes::Object(_) => "git",
            #[cfg(feature = "checksums")]
            Nodes::Checksum { page } => page,
            _ => self.name,
        }
    }

    /// The values that it allows for an option, if it has that.
    pub fn rule(&self, option: FormatOption) -> Option<OptionRule> {
        self.options.iter().find(|(allowed, _)| *allowed == option).map(|&(_, rule)| rule)
    }

    /// The longest salt, in bytes; 0 where there is none.
    pub fn longest_salt(&self) -> usize {
        self.rule(FormatOption::Salt).map_or(0, |OptionRule::Bytes(most)| most)
    }

    /// Whether streams of unknown length have roots: whether neither the splits depend on the final length nor it is hashed first.
    pub fn streams(&self) -> bool {
        !matches!(self.nodes, Nodes::Halved { .. } | Nodes::Object(_) | Nodes::Archive)
    }

    /// The facts that a proof shows without a trusted length.
    pub fn binding(&self) -> Binding {
        match self.nodes {
            Nodes::Prefixed { leaf, node, .. } | Nodes::Halved { leaf, node, .. } if leaf != node => Binding::Leaves,
            Nodes::Cipher => Binding::Leaves,
            Nodes::Blake3 => Binding::Offsets,
            Nodes::Sum | Nodes::Object(_) | Nodes::Archive | Nodes::Verity(Verity::File) => Binding::Length,
            #[cfg(feature = "xet")]
            Nodes::Xet => Binding::Length,
            _ => Binding::Nothing,
        }
    }
}

impl Family {
    /// Returns the shape and the node hash of trees with these choices.
    pub(crate) fn tree(&self, algorithm: Algorithm, leaf: u64, options: &Chosen) -> (Shape, NodeHash) {
        let salt = options.bytes(FormatOption::Salt);
        let even = |leaf, arity, edge, tail| Shape::Even { leaf, arity, edge, tail };
        let hash = match (algorithm, self.nodes) {
            (Algorithm::Hash(hash), _) => hash,
            #[cfg(feature = "checksums")]
            (Algorithm::Checksum(sum), Nodes::Checksum { .. }) => {
                let nodes = NodeHash::Checksum { sum, parent: ChecksumParent::OfBytes };
                return (even(if sum.joins() { JOINED_LEAF } else { leaf }, 2, Edge::Promote, Tail::Short), nodes);
            }
            #[cfg(feature = "checksums")]
            (Algorithm::Checksum(sum), _) => {
                return (Shape::Flat { leaf }, NodeHash::Checksum { sum, parent: ChecksumParent::OfDigests });
            }
        };
        // A digest in a block of digests takes a power of two, so that blocks are filled evenly.
        let slot = hash.size().next_power_of_two();
        let even = |arity, edge, tail| even(leaf, arity, edge, tail);
        let framed = |leaf, inner, root, empty| Framed {
            hash,
            leaf: Option::map(leaf, PrefixRule::Same),
            inner,
            root,
            fill: 0,
            slot: hash.size(),
            join: Join::Hash,
            empty,
            descriptor: None,
        };
        let plain = |prefix: &'static [u8]| Prefix::from(prefix);
        let salted = |salt: Vec<u8>| [salt.clone(), salt.clone(), salt].map(Prefix::from);
        let around = |rule| {
            let nodes = framed(None, plain(b""), plain(b""), Empty::Bare);
            (even(2, Edge::Promote, Tail::Short), Framed { leaf: Some(rule), ..nodes })
        };
        let (shape, nodes) = match self.nodes {
            #[cfg(feature = "checksums")]
            Nodes::Checksum { .. } => unreachable!("its only algorithm is a checksum"),
            Nodes::Object(word) => around(PrefixRule::Header(word)),
            Nodes::Archive => around(PrefixRule::Archive { executable: false }),
            // A tree without nodes: no input is longer than its leaf.
            Nodes::Sum => {
                let nodes = framed(Some(plain(b"")), plain(b""), plain(b""), Empty::Hash);
                (even(2, Edge::Promote, Tail::Short), nodes)
            }
            Nodes::Prefixed { leaf, node, root, edge, empty } => {
                (even(2, edge, Tail::Short), framed(Some(plain(leaf)), plain(node), plain(root), empty))
            }
            Nodes::Halved { leaf: prefix, node, root } => {
                let nodes = framed(Some(plain(prefix)), plain(node), plain(root), Empty::Halves);
                (Shape::Halved { longest: leaf }, nodes)
            }
            Nodes::Cipher => {
                let nodes = framed(Some(plain(b"")), plain(b""), plain(b""), Empty::Hash);
                (even(2, Edge::Promote, Tail::Short), Framed { join: Join::Cipher, ..nodes })
            }
            Nodes::Blake3 => return (even(2, Edge::Promote, Tail::Short), NodeHash::Blake3),
            #[cfg(feature = "xet")]
            Nodes::Xet => return (even(2, Edge::Promote, Tail::Short), NodeHash::Xet),
            Nodes::Pairs => {
                let nodes = framed(None, plain(b""), plain(b""), Empty::Undefined);
                (even(2, Edge::Reject, Tail::Reject), nodes)
            }
            Nodes::Verity(Verity::File) => {
                // The kernel hashes the salt once for all blocks, so it is filled up to the hash's own block.
                let mut filled = salt.to_vec();
                filled.resize(salt.len().next_multiple_of(hash.block_size()), 0);
                let [for_leaf, inner, root] = salted(filled);
                let descriptor = Descriptor {
                    algorithm: if hash == Hash::Sha256 { 1 } else { 2 },
                    log_block: leaf.ilog2() as u8,
                    salt: salt.to_vec(),
                };
                let nodes = framed(Some(for_leaf), inner, root, Empty::Zero);
                let nodes = Framed { fill: leaf as usize, descriptor: Some(descriptor), ..nodes };
                (even(leaf / slot as u64, Edge::PadZero, Tail::Short), nodes)
            }
            Nodes::Verity(Verity::Device) => {
                let [for_leaf, inner, root] = salted(salt.to_vec());
                let nodes = Framed { slot, ..framed(Some(for_leaf), inner, root, Empty::Undefined) };
                (even(leaf / slot as u64, Edge::PadZero, Tail::Reject), nodes)
            }
            Nodes::Flat { empty } => (Shape::Flat { leaf }, framed(Some(plain(b"")), plain(b""), plain(b""), empty)),
        };
        (shape, NodeHash::Framed(nodes))
    }
}
