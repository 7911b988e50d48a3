//! The bytes before an outboard's digests: `spec/outboard.md`.

use super::error::{OutboardError, VERSION};
use super::layout::KeptLayout;
use crate::{ByOffset, Hash, Spec};
use alloc::string::ToString;
use alloc::vec::Vec;

/// The length of the header, in bytes; the first digest follows it.
pub const HEADER: u64 = 1024;

/// The first bytes of an outboard, finished or not.
pub const MAGIC: [u8; 8] = *b"\x89MKT\r\n\x1a\n";
/// The bytes of the header that may hold the format string; its length is in the two bytes before them.
const TEXT: core::ops::Range<usize> = 66..736;
/// The offset at which the facts end and their checksum begins.
const FACTS: usize = 736;
/// The offset of each of the two seals.
const SEALS: [usize; 2] = [768, 896];
const SEAL: usize = 128;
/// Stands in the place of the nanoseconds where the file's identity is not known.
const UNKNOWN: u32 = u32::MAX;

/// The mtime and inode of a file: if they and its length are the same, it is probably unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The mtime's whole seconds since 1970.
    pub seconds: i64,
    /// The mtime's nanoseconds: less than 10^9.
    pub nanoseconds: u32,
    /// The inode's number; 0 where there is none.
    pub inode: u64,
}

/// The facts about a file in its outboard: written before the first digest, and never changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The tree's format.
    pub spec: Spec,
    /// The file's length, in bytes.
    pub len: u64,
    /// The length of the subtrees that digests are kept of, in bytes: see [`KeptLayout`].
    pub unit: u64,
    /// The file's mtime and inode, where they are known.
    pub identity: Option<Identity>,
}

/// The number of digests that are written: two copies follow the header, of which the one with more digests counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seal {
    /// The number of digests that are there.
    pub done: u64,
    /// The root, if all digests are there; else a digest of the frontier's digests.
    pub value: [u8; Hash::MAX_SIZE],
}

impl Header {
    /// The layout of the kept nodes.
    ///
    /// # Errors
    /// If the format has no root for this length, no such unit, or more digests than a file can hold.
    pub fn layout(&self) -> Result<KeptLayout, OutboardError> {
        self.spec.supports(ByOffset::Outboard).map_err(OutboardError::Unsupported)?;
        let shape = self.spec.shape();
        shape.check(self.len).map_err(OutboardError::Length)?;
        let layout = KeptLayout::new(shape, self.len, self.unit).ok_or(OutboardError::Unit(self.unit))?;
        match layout.count().checked_mul(self.spec.hash().size() as u64) {
            Some(bytes) if bytes <= crate::MAX_LEN - HEADER => Ok(layout),
            _ => Err(OutboardError::TooMany(layout.count())),
        }
    }

    /// The size of a whole outboard with this header, in bytes.
    ///
    /// # Errors
    /// As [`Header::layout`].
    pub fn size(&self) -> Result<u64, OutboardError> {
        Ok(HEADER + self.layout()?.count() * self.spec.hash().size() as u64)
    }

    /// The first bytes of an outboard without digests.
    ///
    /// # Errors
    /// As [`Header::layout`].
    pub fn encode(&self) -> Result<Vec<u8>, OutboardError> {
        let count = self.layout()?.count();
        let text = self.spec.to_string();
        let identity = self.identity.unwrap_or(Identity { seconds: 0, nanoseconds: UNKNOWN, inode: 0 });
        let mut bytes = MAGIC.to_vec();
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend((self.spec.hash().size() as u32).to_le_bytes());
        bytes.extend(self.len.to_le_bytes());
        bytes.extend(self.unit.to_le_bytes());
        bytes.extend(count.to_le_bytes());
        bytes.extend(identity.seconds.to_le_bytes());
        bytes.extend(identity.nanoseconds.to_le_bytes());
        bytes.extend([0; 4]);
        bytes.extend(identity.inode.to_le_bytes());
        bytes.extend((text.len() as u16).to_le_bytes());
        assert!(text.len() <= TEXT.len(), "the longest format string fits");
        bytes.extend(text.as_bytes());
        bytes.resize(FACTS, 0);
        bytes.extend(checksum(&[&bytes]));
        bytes.resize(HEADER as usize, 0);
        Ok(bytes)
    }

    /// Reads the bytes that [`Header::encode`] wrote.
    pub fn decode(bytes: &[u8; HEADER as usize]) -> Result<Header, OutboardError> {
        if bytes[..8] != MAGIC {
            return Err(OutboardError::Magic);
        }
        let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
        let half = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
        if half(8) != VERSION {
            return Err(OutboardError::Version(half(8)));
        }
        if bytes[FACTS..SEALS[0]] != checksum(&[&bytes[..FACTS]]) {
            return Err(OutboardError::Checksum);
        }
        // From here on only a program that writes checksums can have it wrong.
        let refuse = |field| Err(OutboardError::Field(field));
        let text = usize::from(u16::from_le_bytes([bytes[64], bytes[65]]));
        let Some(text) = bytes[TEXT].get(..text).and_then(|text| str::from_utf8(text).ok()) else {
            return refuse("the format string");
        };
        let spec: Spec = text.parse().map_err(OutboardError::Spec)?;
        let identity = (half(48) != UNKNOWN).then(|| Identity {
            seconds: word(40) as i64,
            nanoseconds: half(48),
            inode: word(56),
        });
        let header = Header { spec, len: word(16), unit: word(24), identity };
        // One header, one spelling.
        if header.encode()?[..FACTS] != bytes[..FACTS] {
            return refuse("a field");
        }
        Ok(header)
    }
}

impl Seal {
    /// The bytes of a seal to this header.
    pub fn encode(&self, header: &[u8]) -> [u8; SEAL] {
        let mut bytes = [0; SEAL];
        bytes[..8].copy_from_slice(&self.done.to_le_bytes());
        bytes[8..72].copy_from_slice(&self.value);
        let sum = checksum(&[&header[FACTS..SEALS[0]], &bytes[..96]]);
        bytes[96..].copy_from_slice(&sum);
        bytes
    }

    /// The seals that are whole, each with its offset.
    pub fn decode(header: &[u8; HEADER as usize]) -> Vec<(usize, Seal)> {
        let whole = |at: usize| {
            let bytes = &header[at..at + SEAL];
            let mut value = [0; Hash::MAX_SIZE];
            value.copy_from_slice(&bytes[8..72]);
            let seal = Seal { done: u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes")), value };
            (seal.encode(header) == *bytes).then_some((at, seal))
        };
        SEALS.into_iter().filter_map(whole).collect()
    }

    /// The offsets of the two seals, in bytes.
    pub const PLACES: [u64; 2] = [SEALS[0] as u64, SEALS[1] as u64];
}

pub(super) fn checksum(parts: &[&[u8]]) -> [u8; 32] {
    let mut sum = [0; 32];
    sum.copy_from_slice(&mksum_lanes::digest(Hash::Sha256, parts)[..32]);
    sum
}
