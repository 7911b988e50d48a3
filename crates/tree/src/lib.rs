//! Merkle-tree hashing: every tree format that people publish, from one recursion.
//!
//! A tree over a byte range splits into [subtrees](Subtree). Whoever can, answers a subtree's digest (bytes in memory, a
//! file, threads, an outboard, a proof: each is a [`Subtrees`] source), and [`Format::join`] does the rest. A [`Format`]
//! is a [`Shape`] (where the tree splits) and a [`NodeHash`] (what is hashed for one node); a [`Spec`] names one, as
//! `rfc6962:sha256:64KiB` does.
//!
//! ```
//! let spec: mksum::Spec = "rfc6962:sha256:4KiB".parse()?;
//! let root = spec.root(b"\x00")?;
//! assert_eq!(root.to_string(), "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Without the feature `std`, which is a default, the crate is `no_std` (with `alloc`): trees are then joined by the calling
//! thread alone, and node trees are left to others ([`Merklize`]).
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

mod accelerator;
mod cover;
mod error;
mod format;
mod formats;
mod framed;
mod frontier;
#[cfg(not(all(feature = "std", any(not(target_family = "wasm"), target_feature = "atomics"))))]
mod in_turn;
mod lock;
mod memory;
mod node;
mod node_tree;
mod outboard;
mod parallel;
mod proof;
mod root;
mod shape;
mod size;
mod spec;
mod subtrees;
#[cfg(all(feature = "std", any(not(target_family = "wasm"), target_feature = "atomics")))]
mod threads;
#[cfg(target_family = "wasm")]
mod wide;

pub use accelerator::{Accelerated, Accelerator, Perfect, Read, Recipe};
pub use cover::Cover;
pub use error::{Error, LengthError, NeedsLength};
pub use format::Format;
pub use formats::{Binding, FAMILIES, Family, LeafRule};
pub use framed::{Descriptor, Framed, Pairs};
pub use frontier::Frontier;
pub use memory::{Memory, Scratch};
pub use mksum_lanes::{Hash, Messages};
pub use node::{Blake3, NodeHash, Role};
#[cfg(feature = "std")]
pub use node_tree::CpuLanes;
pub use node_tree::{Limits, Merklize, NodeTree, NodeTreeError, Spent};
pub use outboard::{
    Begun, Checked, Damage, Foreign, HEADER, Header, Identity, Kept, Layout, Outboard, OutboardError, PostOrder,
    ReadAt, SEALS, Telling, keep,
};
pub use parallel::Plan;
pub use proof::{Claim, Cut, Proof, ProofError, Trusted};
pub use root::{Root, RootError, Told};
pub use shape::{Edge, MAX_LEN, Shape, Subtree, Tail};
pub use size::{SizeError, format_size, parse_size};
pub use spec::{Spec, SpecError, Visitor};
pub use subtrees::{Source, Subtrees};
