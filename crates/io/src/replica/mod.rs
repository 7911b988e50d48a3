//! Replicas: other copies of a file, from which some ranges are fetched.

mod contract;
mod file;
mod object;

pub use contract::Replica;

use crate::objects::no_objects;
use crate::{Error, Input, Options, Refusal};

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
