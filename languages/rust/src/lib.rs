//! A Merkle tree as a [`std::io::Write`], and inclusion proofs, over the formats of the crate `mksum`.
//!
//! ```
//! use merkle::Tree;
//! use std::io::Write;
//!
//! let mut tree = Tree::new(&"rfc6962:sha256:4".parse()?)?;
//! tree.write_all(b"abcdefghijklmnopqr")?;
//! assert_eq!(tree.root()?.to_string()[..8], *"1b746332");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod proof;
mod tree;

pub use proof::{Proof, Prover};
pub use tree::Tree;
