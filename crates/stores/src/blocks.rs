//! The bytes of files in a store that cannot bind a response to a version.

use crate::failure::Fault;
use async_trait::async_trait;
use bytes::Bytes;
use std::fmt;
use std::ops::Range;

/// The bytes of a file, of whatever version it has when they are read.
#[async_trait]
pub trait Blocks: fmt::Debug + Send + Sync {
    /// Fetches all bytes of a range of a file that is `len` bytes long.
    ///
    /// # Errors
    /// If they do not all come, or the file has another length.
    async fn fetch(&self, range: Range<u64>, len: u64) -> Result<Vec<Bytes>, Fault>;
}
