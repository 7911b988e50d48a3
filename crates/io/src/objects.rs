//! Objects in stores as inputs: what a client of stores answers. `mksum-stores` is one.

use crate::{Error, Refusal, Url};
use mksum::outboard::Identity;
use std::fmt;
use std::io::{IoSliceMut, Read};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// Whether bytes are fetched before they are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ahead {
    /// Yes, where the reading goes on in order.
    Yes,
    /// No: each read is one request for exactly its bytes.
    No,
}

/// Stores whose objects are inputs, by their URLs.
pub trait Objects: fmt::Debug + Send + Sync {
    /// Opens the object at a URL, of which the bytes `part` will be read, or those of them that it has: with a request for the first
    /// of them.
    ///
    /// # Errors
    /// If it cannot be reached or is not there.
    fn open(&self, url: &Url, part: Range<u64>, ahead: Ahead) -> Result<Arc<dyn Object>, Error>;

    /// Notes that the object at a URL will be opened from its beginning: a client may begin to fetch it.
    fn expect(&self, url: &Url);

    /// Begins to open the object at a URL as [`Objects::expect`] does, and waits at most `patience` for it. Returns whether nothing of
    /// opening and reading it takes time any more: all bytes of a small object are here, or the error is known.
    fn fetched(&self, url: &Url, patience: Duration) -> bool;

    /// The objects whose names begin with that of a URL and a slash, as they are listed.
    ///
    /// # Errors
    /// If they cannot be listed.
    fn list(&self, url: &Url) -> Result<Listing, Error>;

    /// The sums that the store has of an object.
    ///
    /// # Errors
    /// If it cannot be reached or is not there.
    fn stored(&self, url: &Url) -> Result<StoredSums, Error>;

    /// Writes the next `len` bytes of `content` to the object at a URL: all of them, or the object is as it was.
    ///
    /// # Errors
    /// If they cannot be read, or the store does not take them.
    fn put(&self, url: &Url, content: &mut dyn Read, len: u64) -> Result<(), Error>;

    /// The requests made so far, and the bytes that came.
    fn traffic(&self) -> (u64, u64);
}

/// The sums that a store has of an object, and what it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredSums {
    /// The object's length, in bytes.
    pub len: u64,
    /// The object's [version](Object::version).
    pub version: String,
    /// The sums: headers of the store, their names in lower case. The `etag` is without quotes, and is not there where the store
    /// makes it of something else than the bytes.
    pub sums: Vec<(String, String)>,
    /// The links of a web server's response.
    pub links: Vec<Link>,
}

/// A link from an object to another one (RFC 8288).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The URL on a web server that it leads to.
    pub url: Url,
    /// The relation types, in lower case.
    pub relations: Vec<String>,
    /// The media type that is expected there, in lower case.
    pub media_type: Option<String>,
}

/// Objects as a store lists them, without a request for each.
pub type Listing = Box<dyn Iterator<Item = Result<Listed, Error>> + Send>;

/// An object in a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The object's URL, with the whole key.
    pub url: Url,
    /// The object's length, in bytes.
    pub len: u64,
    /// The object's [version](Object::version).
    pub version: String,
}

/// An open object: one version of it.
#[allow(clippy::len_without_is_empty)]
pub trait Object: fmt::Debug + Send + Sync {
    /// The object's length, in bytes.
    fn len(&self) -> u64;

    /// The object's version: the ETag without quotes, or `time:` and the seconds of its last change, or nothing.
    fn version(&self) -> &str;

    /// A number for its version, where there is one.
    fn identity(&self) -> Option<Identity>;

    /// Whether the bytes come in order alone: those before the ones that are asked for are fetched too.
    fn is_in_order(&self) -> bool {
        false
    }

    /// Fills `slices`, one after the other, with the bytes from `start` on.
    ///
    /// # Errors
    /// If they cannot be fetched, are not all there, or are of another version.
    fn read(&self, start: u64, slices: &mut [IoSliceMut<'_>]) -> Result<(), Error>;
}

/// Why a URL is no input.
pub(crate) fn no_objects(url: &Url) -> Error {
    Error::refused(url, Refusal::Url("this build of mksum has no network client: download the object first".into()))
}
