//! Replicas: other copies of a file, from which some ranges are fetched.

mod file;
mod object;

use crate::objects::no_objects;
use crate::{Error, Input, Options, Refusal};

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

/// Opens the replica at a path, or at the URL of an object if the options have [`objects`](Options::objects).
///
/// # Errors
/// If it cannot be opened, or the options have no client for it. A server gets its first request when bytes are read.
pub fn open_replica(place: &Input, options: &Options) -> Result<Box<dyn Replica>, Error> {
    match place {
        Input::Url(url) => {
            let objects = options.objects.clone().ok_or_else(|| no_objects(url))?;
            Ok(Box::new(object::Remote::new(url.clone(), objects)))
        }
        Input::File(path) => Ok(Box::new(file::Local::open(path)?)),
        Input::Stdin => Err(Error::refused(place, Refusal::NoLength)),
    }
}
