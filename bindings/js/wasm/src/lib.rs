//! The engine behind `bindings/js`: what the TypeScript face calls across the boundary of WebAssembly.
//!
//! One memory holds all states. Bytes come and go through one fixed buffer, so that a call crosses the boundary once and
//! allocates nothing; what is longer goes slice by slice, or into memory that was asked for.
#![warn(missing_docs)]

pub mod abi;
mod algorithm;
mod derive;
mod pool;
mod state;

#[cfg(feature = "trees")]
mod growing;
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
