//! Files and streams as sources of Merkle subtrees.
#![forbid(unsafe_code)]

mod buffer;
mod error;
mod file;
mod good;
mod holes;
mod jobs;
mod merklize;
mod open;
mod options;
pub mod outboard;
mod permits;
mod platform;
mod reader;
mod replacement;
mod sequence;
mod stream;

pub use error::{Error, reason};
pub use file::File;
pub use good::{Good, good};
pub use jobs::{Input, Job, Roots, hash, hash_all};
pub use merklize::{Leaves, Merklized, merklize, random};
pub use options::{Meter, Mode, Options, Throttle};
pub use replacement::abandon;
pub use sequence::Sequence;
