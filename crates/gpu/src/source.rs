//! The kernels' source for one hash, and the options that it is built with.

use mksum::Hash;

/// What is hashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Levels of a binary tree whose nodes are the hash of their children's digests, and nothing else.
    Pairs(Mode),
    /// Messages of equal length.
    Messages,
    /// Pairs that are not in memory, to measure.
    Rate,
}

/// How BLAKE3 takes a pair; other hashes know one way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// As a message of its own.
    Message,
    /// As the two children of an inner node of its own tree.
    Parent,
}

/// How many messages a work-item hashes side by side: 1, or a vector register's 32-bit words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Lanes(pub u32);

impl Lanes {
    /// Those of the widest vectors that kernels are written for, of at most so many 32-bit words.
    pub fn at_most(words: u32) -> Self {
        Lanes([16, 8, 4].into_iter().find(|&lanes| lanes <= words).unwrap_or(1))
    }
}

/// A hash as kernels know it.
struct Family {
    source: &'static str,
    /// The bits of a word.
    word: u32,
    /// More options.
    more: &'static str,
}

const BIG: &str = "-DBIG_ENDIAN";

fn family(hash: Hash) -> Option<Family> {
    let (source, word, more) = match hash {
        Hash::Sha1 => (include_str!("../kernels/sha1.cl"), 32, BIG),
        Hash::Sha224 | Hash::Sha256 => (include_str!("../kernels/sha256.cl"), 32, BIG),
        Hash::Sha384 | Hash::Sha512 | Hash::Sha512_224 | Hash::Sha512_256 => {
            (include_str!("../kernels/sha512.cl"), 64, BIG)
        }
        Hash::Blake3 => (include_str!("../kernels/blake3.cl"), 32, "-DCHUNK=1024"),
        Hash::Sha3_224 | Hash::Sha3_256 | Hash::Sha3_384 | Hash::Sha3_512 => {
            (include_str!("../kernels/keccak.cl"), 64, "-DSPONGE=0x06")
        }
        Hash::Keccak256 => (include_str!("../kernels/keccak.cl"), 64, "-DSPONGE=0x01"),
        _ => return None,
    };
    Some(Family { source, word, more })
}

/// Whether there are kernels for the hash.
pub fn has(hash: Hash) -> bool {
    family(hash).is_some()
}

/// Flags of BLAKE3's compression: those of a message of one block, and of a parent (the BLAKE3 paper, table 3).
const MESSAGE: u32 = 1 | 2 | 8;
const PARENT: u32 = 4;

/// The source and the options, if there are kernels for the hash.
pub fn of(hash: Hash, kind: Kind, lanes: Lanes) -> Option<(String, String)> {
    let family = family(hash)?;
    let (kernels, flags) = match kind {
        Kind::Pairs(Mode::Parent) => (include_str!("../kernels/pairs.cl"), PARENT),
        Kind::Pairs(Mode::Message) | Kind::Rate => (include_str!("../kernels/pairs.cl"), MESSAGE),
        Kind::Messages => (include_str!("../kernels/messages.cl"), 0),
    };
    let source = [include_str!("../kernels/lanes.cl"), family.source, kernels].concat();
    // Messages begin where their prefix lets them.
    let align = match kind {
        Kind::Messages => 1,
        _ if hash.size().is_multiple_of(16) => 16,
        _ => 4,
    };
    let width = side_by_side(hash, lanes);
    let options = format!(
        "-cl-std=CL1.2 -DW={width} -DWORD={} -DBLOCK={} -DDIGEST={} -DALIGN={align} -DFLAGS={flags} {}{}",
        family.word,
        hash.block_size(),
        hash.size(),
        family.more,
        if kind == Kind::Rate { " -DRATE" } else { "" }
    );
    Some((source, options))
}

/// Messages side by side in a work-item: vectors have as many bits whatever the word, but shuffles need four words.
pub fn side_by_side(hash: Hash, lanes: Lanes) -> usize {
    match family(hash) {
        Some(Family { word: 64, .. }) if lanes.0 > 4 => lanes.0 as usize / 2,
        _ => lanes.0 as usize,
    }
}

/// Every program for vectors of so many 32-bit words, 1 for scalars: the file that it has as SPIR-V, its source and its
/// options.
pub fn programs(lanes: u32) -> impl Iterator<Item = (String, String, String)> {
    let kinds = [Kind::Pairs(Mode::Message), Kind::Pairs(Mode::Parent), Kind::Messages, Kind::Rate];
    let each = move |hash: Hash| kinds.map(move |kind| (hash, kind));
    Hash::ALL.iter().copied().flat_map(each).filter_map(move |(hash, kind)| {
        // Only BLAKE3 has parents of another kind.
        let (source, options) = of(hash, kind, Lanes(lanes))?;
        let own = kind == Kind::Pairs(Mode::Parent) && hash != Hash::Blake3;
        (!own).then(|| (spirv_name(hash, kind, Lanes(lanes)), source, options))
    })
}

/// The file that a program in SPIR-V has in its folder.
pub fn spirv_name(hash: Hash, kind: Kind, lanes: Lanes) -> String {
    let kind = match kind {
        Kind::Pairs(Mode::Message) => "pairs",
        Kind::Pairs(Mode::Parent) => "parents",
        Kind::Messages => "messages",
        Kind::Rate => "rate",
    };
    format!("{}-{kind}-{}.spv", hash.name(), lanes.0)
}
