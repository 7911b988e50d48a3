//! Objects in S3, Google Cloud Storage, Azure, HDFS and on web servers as inputs of `mksum-io`.
//!
//! [`Stores`] is what `Options::objects` wants: with it, every input can be a URL.
//!
//! An object is read by parallel ranged requests, each bound to the version that the first response had: `If-Match` with its ETag, and
//! in any case the ETag, or else the time, of each response. HDFS cannot bind a response: its files are compared after each range,
//! before anybody sees the bytes. An object that is replaced meanwhile is an error, never a root.
#![forbid(unsafe_code)]

mod account;
mod blocks;
mod client;
mod failure;
mod given;
#[cfg(feature = "hdfs")]
mod hdfs;
mod limits;
mod links;
mod listing;
mod names;
mod netrc;
mod object;
mod part;
mod place;
mod post;
mod profile;
mod redirects;
mod retries;
#[cfg(any(test, feature = "fuzzing"))]
pub mod served;
mod settings;
mod stores;
mod traffic;
mod upload;
mod whole;
mod window;

pub use given::{Facts, Failed, Given, GivenStore, Objects as GivenObjects};
pub use post::Answer;
pub use stores::Stores;

/// The README's example.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
