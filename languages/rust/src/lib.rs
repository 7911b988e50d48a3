//! A Merkle tree as a [`std::io::Write`], and inclusion proofs, over any [`Format`](mksum::Format) of the crate `mksum`.
//!
//! ```
//! use merkle::Tree;
//! use mksum::{Edge, Format, Framed, Hash, Shape, Tail};
//! use std::io::Write;
//!
//! let shape = Shape::Even { leaf: 4, arity: 2, edge: Edge::Promote, tail: Tail::Short };
//! let rfc6962 = Format { shape, nodes: Framed::<32>::new(Hash::Sha256, &[0], &[1], &[1]) };
//! let mut tree = Tree::new(&rfc6962)?;
//! tree.write_all(b"abcdefghijklmnopqr")?;
//! assert_eq!(tree.root()?[..4], [0x1b, 0x74, 0x63, 0x32]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod proof;
mod tree;

pub use proof::{Proof, Prover, prefixed};
pub use tree::Tree;
