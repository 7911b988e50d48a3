//! An open file or object, as it is sent.

use crate::tag::Tag;
use base64ct::{Base64, Encoding};
use hyper::body::Bytes;
use mksum::Root;
use mksum_io::{Error, Facts, File};
use std::ops::Range;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// An open file: one version of it, or the response ends early.
#[derive(Debug)]
pub struct Content {
    file: File,
    /// The ETag.
    pub tag: Tag,
    /// The time of the last change, where it is known.
    pub modified: Option<SystemTime>,
    /// The header `Repr-Digest` (RFC 9530): the plain SHA-256 and SHA-512 of the whole, where they are known.
    pub digest: Option<String>,
}

impl Content {
    /// A file of this machine, with the roots that are known of these very bytes.
    pub fn of_file(file: File, facts: &Facts, roots: &[Root]) -> Content {
        let (seconds, nanoseconds) = facts.modified;
        let weak = || Tag::weak(&format!("{}-{seconds}.{nanoseconds:09}", facts.size));
        Content {
            tag: roots.first().map_or_else(weak, Tag::of_root),
            modified: time(seconds),
            digest: Some(digests(roots)).filter(|digests| !digests.is_empty()),
            file,
        }
    }

    /// An object in a store.
    pub fn of_object(file: File) -> Content {
        let version = file.version();
        let seconds = version.strip_prefix("time:").and_then(|seconds| seconds.parse().ok());
        let tag = Tag::weak(&format!("{}-{version}", file.len()));
        Content { tag, modified: seconds.and_then(time), digest: None, file }
    }

    /// The length, in bytes.
    pub fn len(&self) -> u64 {
        self.file.len()
    }

    /// The bytes of a range.
    ///
    /// # Errors
    /// If they cannot be read, or the file has changed since it was opened.
    pub fn bytes(&self, range: Range<u64>) -> Result<Bytes, Error> {
        let bytes = self.file.bytes(range)?;
        self.file.check_content()?;
        Ok(bytes.into())
    }
}

fn time(seconds: i64) -> Option<SystemTime> {
    // What has no date in HTTP, has four digits of a year too many.
    const YEAR_9999: u64 = 253_402_300_800;
    let seconds = u64::try_from(seconds).ok().filter(|&seconds| seconds < YEAR_9999)?;
    UNIX_EPOCH.checked_add(Duration::from_secs(seconds))
}

/// The roots that are digests of the whole content, as `Repr-Digest` has them.
fn digests(roots: &[Root]) -> String {
    let known = roots.iter().filter_map(|root| {
        let name = match &*root.spec().to_string() {
            "sha256" => "sha-256",
            "sha512" => "sha-512",
            _ => return None,
        };
        Some(format!("{name}=:{}:", Base64::encode_string(root.digest().as_bytes())))
    });
    known.collect::<Vec<_>>().join(", ")
}
