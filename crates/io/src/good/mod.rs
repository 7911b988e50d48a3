//! Good copies of a file, of which only some ranges are wanted.

mod file;
#[cfg(feature = "remote")]
mod http;
#[cfg(feature = "remote")]
mod s3;

use crate::Error;
use std::io;
use std::path::{Path, PathBuf};

/// A copy of a file, wherever it is; what it answers is believed of nobody.
pub trait Good {
    /// Fills `buffer` with the bytes from `start` on.
    ///
    /// # Errors
    /// If they cannot be had, or the copy ends before.
    fn read(&mut self, start: u64, buffer: &mut [u8]) -> Result<(), Error>;

    /// The bytes that were asked for so far, and came.
    fn fetched(&self) -> u64;
}

/// The copy at a path, an `http://` or `https://` URL, or `s3://BUCKET/KEY`.
///
/// For S3 the environment tells credentials, region and endpoint as it does to Amazon's own tools
/// (`AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`, `AWS_REGION`, `AWS_ENDPOINT_URL`).
///
/// # Errors
/// If it cannot be opened, or this build cannot reach such places. A server is first asked when bytes are.
pub fn good(place: &Path) -> Result<Box<dyn Good>, Error> {
    let text = place.to_str().unwrap_or_default();
    let scheme = text.split_once("://").map_or("", |(scheme, _)| scheme);
    match scheme {
        "http" | "https" | "s3" => remote(place, scheme, text),
        _ => Ok(Box::new(file::Local::open(place)?)),
    }
}

#[cfg(feature = "remote")]
fn remote(place: &Path, scheme: &str, text: &str) -> Result<Box<dyn Good>, Error> {
    Ok(match scheme {
        "s3" => Box::new(s3::object(place, text)?),
        _ => Box::new(http::Remote::new(place.into(), text.into())),
    })
}

#[cfg(not(feature = "remote"))]
fn remote(place: &Path, _: &str, _: &str) -> Result<Box<dyn Good>, Error> {
    Err(failed(place, "this build of mksum does not reach servers: fetch it first".into()))
}

/// What cannot be opened, and why.
fn failed(place: &Path, why: String) -> Error {
    Error::Open { path: PathBuf::from(place), error: io::Error::other(why) }
}
