//! The WebAssembly engine of `bindings/js`: the functions that TypeScript calls.
//!
//! One memory holds all states. Bytes pass through one fixed buffer, so that a call crosses the boundary once and allocates
//! nothing. Longer inputs are passed slice by slice, or in allocated blocks.
//!
//! The crate does not use the standard library: a panic is a trap without a message, which keeps the module small.
#![cfg_attr(target_family = "wasm", no_std)]
#![warn(missing_docs)]
// A module without hashers leaves parts of the states unused.
#![cfg_attr(not(feature = "hashers"), allow(dead_code))]

extern crate alloc;
#[cfg(feature = "published")]
extern crate std;

pub mod abi;
mod algorithm;
#[cfg(feature = "hashers")]
mod derive;
mod state;

#[cfg(feature = "trees")]
mod lots;
#[cfg(feature = "trees")]
mod outboards;
#[cfg(feature = "sums")]
pub mod picture;
#[cfg(feature = "trees")]
mod pieces;
#[cfg(feature = "trees")]
mod proofs;
#[cfg(feature = "published")]
pub mod published;
#[cfg(feature = "roots")]
mod refusal;
#[cfg(feature = "roots")]
pub mod root_abi;
#[cfg(feature = "roots")]
mod spec;
#[cfg(feature = "sums")]
pub mod sums;
#[cfg(feature = "trees")]
pub mod tree_abi;
