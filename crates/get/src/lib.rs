//! Files from untrusted mirrors, verified leaf by leaf against a trusted root.
//!
//! A plan has the leaves that are still missing, mirrors offer bytes, one judge (the outboard up to the trusted root) lets a leaf
//! through or blames its mirror, and only what it let through is written. Without an outboard, the whole stream is hashed, and gets
//! its name if its root is the expected one.
#![forbid(unsafe_code)]

mod also;
mod copy;
mod entries;
mod error;
mod fetch;
mod folder;
mod get;
mod kept;
mod list;
mod pieces;
#[cfg(feature = "fuzzing")]
pub mod plan;
#[cfg(not(feature = "fuzzing"))]
mod plan;
mod publish;
mod request;
mod seed;
mod sink;
mod torrent;
mod whole;

pub use copy::{Copied, Copy, copy};
pub use entries::{copy_link, make_folder, refuse_links, set_like};
pub use error::Error;
pub use folder::{FolderRequest, extra, get_list};
pub use get::get;
pub use list::{Attributes, List, Listed, Other, OtherKind};
pub use mksum_sums::expected::Expected;
pub use mksum_sums::pieces::{Manifest, Pieces};
pub use pieces::{JointFile, verify_joint};
pub use publish::{Publish, Published, publish};
pub use request::{Got, Mirror, Outcome, Request, Target};
pub use torrent::{MadeTorrent, NewTorrent, make_torrent};

/// The README's example.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
