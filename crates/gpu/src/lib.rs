//! Merkle trees on OpenCL devices: [node trees](mksum::node_tree::Merklize), and [large
//! subtrees](mksum::accelerator::Accelerator) of files.
//!
//! OpenCL is loaded on first use: a program with this crate also starts on systems without OpenCL.
#![deny(unsafe_code)]

mod cache;
mod call;
mod choice;
mod device;
mod error;
mod framing;
mod launch;
mod messages;
mod nodes;
mod opened;
mod source;
mod subtrees;

pub use cache::Cache;
pub use choice::choose;
pub use device::{Class, Info, find, list};
pub use error::Error;
pub use launch::LaunchShape;
pub(crate) use launch::Levels;
pub use opened::{Device, Fallback, Notice, Options};
pub(crate) use source::Lanes;
pub use source::programs;

/// The README's example.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
