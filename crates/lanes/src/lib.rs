//! The digests of many messages of equal length that lie one after another.
//!
//! A Merkle tree hands a hash function thousands of independent messages of equal length: its leaves, and the pairs of
//! nodes on each level. This crate is the one contract for hashing them: [`digests`] when the messages lie in memory
//! whole, [`Streams`] when they come slice by slice.
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
// What only the hashes use that are not compiled in.
#![cfg_attr(
    not(all(
        feature = "md5",
        feature = "sha1",
        feature = "sha2",
        feature = "blake2",
        feature = "blake3",
        feature = "sha3"
    )),
    allow(dead_code, unreachable_patterns, unused_imports, unused_macros)
)]

extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

mod blake2;
pub mod blake3;
pub mod cpu;
mod digests;
mod hash;
mod isa;
mod iterate;
mod keccak;
mod kernel;
mod kernels;
mod lane;
mod md5;
mod messages;
mod plan;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod rows;
mod sha1;
mod sha2;
mod sha256;
mod sha512;
mod streaming;
mod streams;

pub use digests::{digest, digests, digests_on};
pub use hash::Hash;
pub use iterate::{Keyed, iterate, iterates};
pub use messages::Messages;
pub use streaming::copy_streaming;
pub use streams::Streams;

/// The README's example.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
