//! Merkle trees on devices, by OpenCL or CUDA: [node trees](mksum::node_tree::Merklize), and [large
//! subtrees](mksum::accelerator::Accelerator) of files.
//!
//! OpenCL and CUDA are loaded on first use: a program with this crate also starts on systems without them.
#![deny(unsafe_code)]

mod buffers;
mod call;
mod choice;
#[cfg(feature = "cuda")]
mod cuda;
mod device;
mod error;
mod framing;
mod launch;
mod messages;
mod nodes;
mod opencl;
mod opened;
mod options;
mod shapes;
mod slot;
mod source;
mod subtrees;
mod worker;

pub use buffers::DeviceBuffer;
pub use choice::choose;
pub use device::{Class, Info, Interface, find, list};
pub use error::Error;
pub use launch::LaunchShape;
pub use mksum_cache::Cache;
pub use opened::Device;
pub use options::{Fallback, Notice, Options, Transfer};
pub(crate) use source::Lanes;
pub use source::{cuda_programs, programs};

/// The README's example.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
