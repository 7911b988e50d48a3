//! The digests of many messages of equal length that lie one after another.
//!
//! A Merkle tree hands a hash function thousands of independent messages of equal length: its leaves, and the pairs of
//! nodes on each level. This crate is the one contract for hashing them: [`digests`] when the messages lie in memory
//! whole, [`Streams`] when they come slice by slice, [`Slots`] when they are of different lengths.
//!
//! ```
//! use mksum_lanes::{Hash, Messages, digests};
//!
//! let leaves = [7; 4 * 1024];
//! let mut out = [0; 4 * 32];
//! digests(Hash::Sha256, b"\x00", Messages::new(&leaves, 1024), &mut out);
//! assert_eq!(out[..32], out[96..]);
//! ```
#![no_std]
#![warn(missing_docs)]
// A hash that is not compiled in leaves parts of the lanes unused.
#![cfg_attr(not(feature = "default"), allow(dead_code, unreachable_patterns, unused_imports, unused_macros))]

extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

#[cfg(all(test, feature = "std"))]
mod costs;
pub mod cpu;
mod digests;
mod dispatch;
mod grid;
mod hash;
mod in_step;
mod interleaved;
mod isa;
mod iterate;
mod kernel;
mod lane;
mod lane_states;
mod messages;
mod overlay;
mod plan;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod quad;
mod run;
mod scheme;
#[cfg(feature = "sha2")]
mod sha256tree;
mod slots;
mod streaming;
mod streams;
mod vectorized;
mod words;

pub use digests::{digest, digests, digests_on};
pub use hash::Hash;
#[cfg(feature = "blake3")]
pub use hash::blake3;
#[cfg(feature = "sha3")]
pub use hash::keccak::keccak_f1600;
#[cfg(feature = "sha2")]
pub use hash::sha256::{sha256_pairs, sha256_pairs_on};
pub use iterate::{Keyed, iterate, iterates};
pub use messages::Messages;
#[cfg(feature = "sha2")]
pub use sha256tree::{sha256tree_parents, sha256tree_parents_on};
pub use slots::{Piece, Slots};
pub use streaming::{Stores, copy_streaming, stores};
pub use streams::Streams;
pub use vectorized::{Loops, vectorized, vectorized_on};

/// The README's example.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
