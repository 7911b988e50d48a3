//! Replicas: other copies of a file, from which some ranges are fetched.

mod file;
#[cfg(feature = "remote")]
mod http;
#[cfg(feature = "remote")]
mod s3;

use crate::Error;
use crate::Refusal;
use std::path::Path;

/// A copy of a file, on this machine or on a server. Its bytes are not trusted: callers check them.
pub trait Replica {
    /// Fills `buffer` with the bytes from `start` on.
    ///
    /// # Errors
    /// If they cannot be fetched, or the copy ends before.
    fn read(&mut self, start: u64, buffer: &mut [u8]) -> Result<(), Error>;

    /// The number of bytes that were fetched so far.
    fn fetched(&self) -> u64;
}

/// Opens the replica at a path, an `http://` or `https://` URL, or `s3://BUCKET/KEY`.
///
/// For S3, credentials, region and endpoint come from the environment as they do for Amazon's own tools
/// (`AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`, `AWS_REGION`, `AWS_ENDPOINT_URL`).
///
/// # Errors
/// If it cannot be opened, or this build has no client for it. A server gets its first request when bytes are read.
pub fn open_replica(place: &Path) -> Result<Box<dyn Replica>, Error> {
    let text = place.to_str().unwrap_or_default();
    let scheme = text.split_once("://").map_or("", |(scheme, _)| scheme);
    match scheme {
        "http" | "https" | "s3" => remote(place, scheme, text),
        _ => Ok(Box::new(file::Local::open(place)?)),
    }
}

#[cfg(feature = "remote")]
fn remote(place: &Path, scheme: &str, text: &str) -> Result<Box<dyn Replica>, Error> {
    Ok(match scheme {
        "s3" => Box::new(s3::object(place, text)?),
        _ => Box::new(http::Remote::new(place.into(), text.into())),
    })
}

#[cfg(not(feature = "remote"))]
fn remote(place: &Path, _: &str, _: &str) -> Result<Box<dyn Replica>, Error> {
    Err(refused(place, "this build of mksum has no network client: download the copy first".into()))
}

/// The URL `place` cannot be used.
fn refused(place: &Path, why: String) -> Error {
    Error::refused(place, Refusal::Url(why))
}
