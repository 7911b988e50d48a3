//! Merkle-tree hashing: every tree format that people publish, from one recursion.
//!
//! A [`Spec`] names a format, as `rfc6962:sha256:64KiB` does, and answers everything about it: [roots](Spec::root) of bytes,
//! of [streams](Spec::frontier) and of any [source of subtrees](Subtrees), [proofs](proof), [kept trees](outboard).
//!
//! ```
//! let spec: mksum::Spec = "rfc6962:sha256:4KiB".parse()?;
//! let root = spec.root(b"\x00")?;
//! assert_eq!(root.to_string(), "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A tree over a byte range splits into [subtrees](Subtree). Any [`Subtrees`] source may know a subtree's digest: bytes in
//! memory, a file, threads, an outboard, a proof. [`Spec::join`] computes the rest. A [`Shape`] says where a tree splits, and
//! a [`Digest`] is a value with its size, so no caller knows what a format hashes.
//!
//! | module | contents |
//! |---|---|
//! | the root | formats by name, roots, streams, sources |
//! | [`formats`] | the table of formats |
//! | [`proof`] | proofs: bytes lie in an input, an input begins with an older one |
//! | [`outboard`] | kept trees: find damage, compare files, resume |
//! | [`node_tree`] | all nodes over digests, for provers and ledgers |
//! | [`accelerator`] | subtrees that a device computes |
//! | [`ordered`](mod@ordered) | the one parallel map: results in order, bounded memory |
//! | [`ranges`] | the union of ranges |
//!
//! Without the feature `std`, which is a default, the crate is `no_std` (with `alloc`): the calling thread does all work, and
//! node trees are left to others ([`node_tree::Merklize`]).
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

pub mod accelerator;
mod algorithm;
mod archive;
#[cfg(feature = "checksums")]
mod checksum;
mod cover;
mod digest;
mod digits;
pub mod directory;
#[cfg(test)]
mod drawings;
mod error;
pub mod formats;
mod frontier;
mod hashing;
mod join;
mod layout;
mod leaf_hasher;
mod lock;
mod memory;
pub mod node_tree;
mod options;
pub mod ordered;
pub mod outboard;
mod parallel;
mod prefix;
pub mod proof;
#[cfg(feature = "checksums")]
mod quickxor;
pub mod ranges;
mod root;
mod scan;
mod shape;
mod single_leaf;
mod size;
mod spec;
mod subtrees;
mod suggestions;
#[cfg(feature = "std")]
mod sync;
mod unsupported;
mod xet;
#[cfg(feature = "checksums")]
mod xxh3;

pub use algorithm::Algorithm;
#[cfg(feature = "checksums")]
pub use checksum::Checksum;
pub use cover::{Cover, Pieces};
pub use digest::{Digest, Digests};
pub use error::{Error, NeedsLength, PiecesError, PushError};
pub use frontier::Frontier;
pub use hashing::Role;
pub use layout::{Cuts, Layout};
pub use leaf_hasher::LeafHasher;
pub use memory::Memory;
pub use mksum_lanes::blake3::Keyed as KeyedBlake3;
pub use mksum_lanes::{Hash, Messages, Piece, Slots};
pub use options::{FormatOption, OptionRule, OptionValue};
pub use parallel::Plan;
pub use root::{ClaimedRoot, Root, RootError};
pub use scan::{Found, Part, PartScan, Scanned, Wanted};
pub use shape::{Children, Edge, LengthError, MAX_LEN, Shape, Subtree, Tail};
pub use single_leaf::LeafMessage;
pub use size::{SizeError, format_size, parse_size};
pub use spec::{Spec, SpecError};
pub use subtrees::Subtrees;
pub use suggestions::nearest;
pub use unsupported::{ByOffset, Unsupported};

use accelerator::Recipe;

/// The README's example.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
