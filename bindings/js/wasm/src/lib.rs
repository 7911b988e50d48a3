//! The engine behind `bindings/js`: the functions that TypeScript calls across the boundary of WebAssembly.
//!
//! One memory holds all states. Bytes come and go through one fixed buffer, so that a call crosses the boundary once and
//! allocates nothing; what is longer goes slice by slice, or into memory that was asked for.
//!
//! Without the standard library: a panic is a trap, and its words, and what would print them, take no room.
#![cfg_attr(target_family = "wasm", no_std)]
#![warn(missing_docs)]

extern crate alloc;

pub mod abi;
mod algorithm;
mod derive;
mod pool;
#[cfg(target_family = "wasm")]
mod runtime;
mod state;

#[cfg(feature = "trees")]
mod outboards;
#[cfg(feature = "trees")]
mod pieces;
#[cfg(feature = "trees")]
mod proofs;
#[cfg(feature = "trees")]
mod refusal;
#[cfg(feature = "trees")]
mod spec;
#[cfg(feature = "trees")]
pub mod tree_abi;
