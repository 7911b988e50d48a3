//! A read-only file system (FUSE) that hands out verified bytes only, for Linux.
//!
//! A [`Tree`] has folders, links and files, each file with what it is verified against. A [`Mount`] shows it at a directory. A read that
//! cannot be verified is EIO, and is a [`Report`] to the [`Log`].
#![forbid(unsafe_code)]
#![cfg(target_os = "linux")]

mod filesystem;
mod mount;
mod open;
mod tree;

pub use filesystem::{Log, Report};
pub use mksum_get::Attributes;
pub use mount::{Error, Mount, Stopper, Stops};
pub use tree::{Entry, Tree};

/// The README's example.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
