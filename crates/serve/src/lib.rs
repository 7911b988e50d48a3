//! A static HTTP server with ranges: the ETag of a file is its Merkle root, where a kept tree or a catalogue has it.
//!
//! A [`Site`] maps paths of URLs to files, a [`Server`] answers requests for it and reports each as an [`Event`]. Nothing is
//! ever written but to a [`LeafCache`], and no file outside of what is served is read.
#![forbid(unsafe_code)]

mod ahead;
mod answer;
mod body;
mod cache;
mod conditions;
mod content;
mod event;
mod folder;
mod host;
mod index;
mod media;
mod names;
mod opened;
mod patient;
mod range;
mod reading;
mod server;
mod site;
mod tag;

pub use cache::LeafCache;
pub use event::Event;
pub use server::{Limits, Server, Stopper};
pub use site::{Site, Verification};

/// The README's example.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
