//! An open file or object, as it is sent.

use crate::opened::Opened;
use crate::tag::Tag;
use base64ct::{Base64, Encoding};
use mksum::Root;
use mksum_io::{Error, Facts, File, Verified};
use std::ops::Range;
use std::slice;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// An open file: one version of it, or the response ends early.
#[derive(Debug)]
pub struct Content {
    source: Source,
    /// The ETag.
    pub tag: Tag,
    /// The time of the last change, where it is known.
    pub modified: Option<SystemTime>,
    /// The header `Repr-Digest` (RFC 9530): the plain SHA-256 and SHA-512 of the whole, where they are known.
    pub digest: Option<String>,
}

/// The bytes, as they are or verified.
#[derive(Debug)]
enum Source {
    Plain(Box<File>),
    Verified(Arc<Verified>, Arc<Opened>),
}

impl Content {
    /// The bytes that are read and held at once for each client; of verified ones, all units that begin in them.
    pub const PIECE: u64 = 64 << 10;
    /// The same for a client that takes them quickly, while there is memory: many leaves are hashed side by side.
    pub const LONG_PIECE: u64 = 1 << 20;
    /// The longest unit that is held for each client, in bytes. Longer ones are read in pieces, and kept for all clients.
    const UNIT: u64 = 1 << 20;

    /// A file of this machine, with the roots that are known of these very bytes.
    pub fn of_file(file: File, facts: &Facts, roots: &[Root]) -> Content {
        let (seconds, nanoseconds) = facts.modified;
        let weak = || Tag::weak(&format!("{}-{seconds}.{nanoseconds:09}", facts.size));
        Content {
            tag: roots.first().map_or_else(weak, Tag::of_root),
            modified: time(seconds),
            digest: digests(roots),
            source: Source::Plain(Box::new(file)),
        }
    }

    /// An object in a store.
    pub fn of_object(file: File) -> Content {
        let version = file.version();
        let seconds = version.strip_prefix("time:").and_then(|seconds| seconds.parse().ok());
        let tag = Tag::weak(&format!("{}-{version}", file.len()));
        Content { tag, modified: seconds.and_then(time), digest: None, source: Source::Plain(Box::new(file)) }
    }

    /// A file or object of which only verified bytes are read.
    pub fn verified(verified: Arc<Verified>, facts: Option<&Facts>, opened: Arc<Opened>) -> Content {
        let (root, modified) = (verified.root(), facts.and_then(|facts| time(facts.modified.0)));
        Content {
            tag: Tag::of_root(&root),
            modified,
            digest: digests(slice::from_ref(&root)),
            source: Source::Verified(verified, opened),
        }
    }

    /// The length, in bytes.
    pub fn len(&self) -> u64 {
        match &self.source {
            Source::Plain(file) => file.len(),
            Source::Verified(verified, _) => verified.len(),
        }
    }

    /// The bytes at the beginning of a range that are best read at once, about `piece` of them.
    pub fn first_of(&self, range: &Range<u64>, piece: u64) -> Range<u64> {
        let mut end = range.start.saturating_add(piece);
        if let Source::Verified(verified, _) = &self.source {
            // To the end of a unit: what is read next begins with a whole one, which nobody needs to keep.
            let unit = verified.unit_over(end.min(range.end) - 1);
            end = unit.filter(|unit| unit.len <= Content::UNIT).map_or(end, |unit| unit.end());
        }
        range.start..end.min(range.end)
    }

    /// The bytes of a range.
    ///
    /// # Errors
    /// If they cannot be read or verified, or the file has changed since it was opened.
    pub fn bytes(&self, range: Range<u64>) -> Result<Vec<u8>, Error> {
        match &self.source {
            Source::Plain(file) => {
                let bytes = file.bytes(range)?;
                file.check_content()?;
                Ok(bytes)
            }
            Source::Verified(verified, opened) => {
                let mut bytes = vec![0; (range.end - range.start) as usize];
                match verified.read_here(range.start, &mut bytes) {
                    Ok(count) => {
                        bytes.truncate(count);
                        Ok(bytes)
                    }
                    Err(error) => {
                        opened.forget(verified);
                        Err(error)
                    }
                }
            }
        }
    }
}

fn time(seconds: i64) -> Option<SystemTime> {
    // Dates of HTTP have years of four digits.
    const YEAR_9999: u64 = 253_402_300_800;
    let seconds = u64::try_from(seconds).ok().filter(|&seconds| seconds < YEAR_9999)?;
    UNIX_EPOCH.checked_add(Duration::from_secs(seconds))
}

/// The roots that are digests of the whole content, as `Repr-Digest` has them, if there are any.
fn digests(roots: &[Root]) -> Option<String> {
    let known = roots.iter().filter_map(|root| {
        let name = match &*root.spec().to_string() {
            "sha256" => "sha-256",
            "sha512" => "sha-512",
            _ => return None,
        };
        Some(format!("{name}=:{}:", Base64::encode_string(root.digest().as_bytes())))
    });
    let known: Vec<_> = known.collect();
    (!known.is_empty()).then(|| known.join(", "))
}
