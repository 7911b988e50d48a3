//! The source of the kernels for one hash, and its build options, for OpenCL and for CUDA.

use mksum::Hash;
use mksum_lanes::blake3::flags::{CHUNK_END, CHUNK_START, PARENT, ROOT};

/// The kind of a program's input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Levels of a binary tree whose nodes are the hash of their children's digests, without prefixes.
    Pairs(Mode),
    /// Messages of equal length.
    Messages,
}

/// BLAKE3's mode for a pair. Other hashes have only one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// A message of its own.
    Message,
    /// The two children of an inner node of BLAKE3's own tree.
    Parent,
}

/// The number of messages that a work-item hashes at once: 1, or the number of 32-bit words in a vector register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Lanes(pub u32);

impl Lanes {
    /// Returns the widest vectors that the kernels support, of at most `words` 32-bit words.
    pub fn at_most(words: u32) -> Self {
        Lanes([16, 8, 4].into_iter().find(|&lanes| lanes <= words).unwrap_or(1))
    }
}

/// The language that a driver compiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// OpenCL C.
    OpenCl,
    /// CUDA C++: the same text after a header, for one lane.
    Cuda,
}

/// The kernel source of a hash, with its options.
struct Family {
    source: &'static str,
    /// The length of a word in bits.
    word: u32,
    /// Further build options.
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

/// Returns whether there are kernels for the hash.
pub fn has(hash: Hash) -> bool {
    family(hash).is_some()
}

/// BLAKE3's flags for a message of one block.
const MESSAGE: u32 = CHUNK_START | CHUNK_END | ROOT;

/// Returns the source and the build options, or `None` if there are no kernels for the hash.
pub fn of(language: Language, hash: Hash, kind: Kind, lanes: Lanes) -> Option<(String, String)> {
    let family = family(hash)?;
    let (kernels, flags) = match kind {
        Kind::Pairs(Mode::Parent) => (include_str!("../kernels/pairs.cl"), PARENT),
        Kind::Pairs(Mode::Message) => (include_str!("../kernels/pairs.cl"), MESSAGE),
        Kind::Messages => (include_str!("../kernels/messages.cl"), 0),
    };
    // Kernels do not use every function of lanes.cl (warning 177).
    let (header, first) = match language {
        Language::OpenCl => ("", "-cl-std=CL1.2"),
        Language::Cuda => (include_str!("../kernels/cuda.cuh"), "--std=c++17 --diag-suppress=177"),
    };
    let source = [header, include_str!("../kernels/lanes.cl"), family.source, kernels].concat();
    // Messages after a prefix are not aligned.
    let align = match kind {
        Kind::Messages => 1,
        _ if hash.size().is_multiple_of(16) => 16,
        _ => 4,
    };
    let width = side_by_side(hash, lanes);
    let options = format!(
        "{first} -DW={width} -DWORD={} -DBLOCK={} -DDIGEST={} -DALIGN={align} -DFLAGS={flags} -DCHUNK_START={CHUNK_START} \
         -DCHUNK_END={CHUNK_END} {}",
        family.word,
        hash.block_size(),
        hash.size(),
        family.more
    );
    Some((source, options))
}

/// Returns the number of messages per work-item. A vector holds half as many 64-bit words, but shuffles need at least four.
pub fn side_by_side(hash: Hash, lanes: Lanes) -> usize {
    match family(hash) {
        Some(Family { word: 64, .. }) if lanes.0 > 4 => lanes.0 as usize / 2,
        _ => lanes.0 as usize,
    }
}

/// Returns every OpenCL program for vectors of `lanes` 32-bit words, 1 for scalars: its SPIR-V file name, its source and its build
/// options.
pub fn programs(lanes: u32) -> impl Iterator<Item = (String, String, String)> {
    all(Language::OpenCl, Lanes(lanes))
        .map(move |(hash, kind, text, options)| (file_name(hash, kind, &format!("{lanes}.spv")), text, options))
}

/// Returns every CUDA program: its file name without an ending, its source and its build options.
pub fn cuda_programs() -> impl Iterator<Item = (String, String, String)> {
    all(Language::Cuda, Lanes(1)).map(|(hash, kind, text, options)| (stem(hash, kind), text, options))
}

fn all(language: Language, lanes: Lanes) -> impl Iterator<Item = (Hash, Kind, String, String)> {
    let kinds = [Kind::Pairs(Mode::Message), Kind::Pairs(Mode::Parent), Kind::Messages];
    let each = move |hash: Hash| kinds.map(move |kind| (hash, kind));
    Hash::ALL.iter().copied().flat_map(each).filter_map(move |(hash, kind)| {
        // Only BLAKE3 has a separate mode for parents.
        let (source, options) = of(language, hash, kind, lanes)?;
        let unused = kind == Kind::Pairs(Mode::Parent) && hash != Hash::Blake3;
        (!unused).then_some((hash, kind, source, options))
    })
}

fn stem(hash: Hash, kind: Kind) -> String {
    let kind = match kind {
        Kind::Pairs(Mode::Message) => "pairs",
        Kind::Pairs(Mode::Parent) => "parents",
        Kind::Messages => "messages",
    };
    format!("{}-{kind}", hash.name())
}

/// Returns the file name of a program that was compiled ahead of time. It ends with what it was compiled for: `8.spv`,
/// `sm_90.cubin`.
pub fn file_name(hash: Hash, kind: Kind, target: &str) -> String {
    format!("{}-{target}", stem(hash, kind))
}
