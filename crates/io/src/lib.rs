//! Files and streams as sources of Merkle subtrees.
#![forbid(unsafe_code)]

mod error;
mod file;
mod jobs;
mod options;

pub use error::Error;
pub use file::File;
pub use jobs::{Input, Job, hash, hash_all};
pub use options::{Meter, Mode, Options, Throttle};
