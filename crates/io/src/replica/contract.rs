//! What is asked of a replica.

use crate::Error;

/// A copy of a file, on this machine or in a store. Its bytes are not trusted: callers check them.
pub trait Replica {
    /// Fills `buffer` with the bytes from `start` on.
    ///
    /// # Errors
    /// If they cannot be fetched, or the copy ends before.
    fn read(&mut self, start: u64, buffer: &mut [u8]) -> Result<(), Error>;

    /// The number of bytes that were fetched so far.
    fn fetched(&self) -> u64;
}
