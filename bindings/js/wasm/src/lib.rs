//! The engine behind `bindings/js`: what the TypeScript face calls across the boundary of WebAssembly.
//!
//! One memory holds all states. Bytes come and go through one fixed buffer, so that a call crosses the boundary once and
//! allocates nothing; what is longer goes slice by slice, or into memory that was asked for.
#![warn(missing_docs)]

pub mod abi;
mod algorithm;
mod pool;
