//! What is asked of a replica.

use crate::{Error, Input};

/// A copy of a file, on this machine or in a store. Its bytes are not trusted: callers check them.
pub trait Replica: Send {
    /// The path or URL, for messages.
    fn place(&self) -> &Input;

    /// Fills `buffer` with the bytes from `start` on.
    ///
    /// # Errors
    /// If they cannot be fetched, or the copy ends before.
    fn read(&mut self, start: u64, buffer: &mut [u8]) -> Result<(), Error>;

    /// The number of bytes that were fetched so far, also from those that are asked after this one.
    fn fetched(&self) -> u64;

    /// The replica that is asked where this one fails or has wrong bytes.
    fn next(&mut self) -> Option<&mut dyn Replica> {
        None
    }
}
