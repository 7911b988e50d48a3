//! What a format cannot do by the offsets of bytes, and why.

use crate::{Algorithm, Layout, Spec};
use core::fmt;

/// A feature that asks for subtrees by the offsets of their bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ByOffset {
    /// A proof.
    Proof,
    /// A kept tree.
    Outboard,
    /// Parts that are hashed apart, and joined.
    Parts,
}

/// A format does not do what asks by offsets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    spec: Spec,
    what: ByOffset,
    why: &'static str,
}

impl Spec {
    /// Whether the format does what asks by offsets. Digests of checksums prove nothing, and do not tell damage of a file from damage of
    /// its outboard; leaves that a scan finds have no offsets before it; bytes alone do not say whether their file is executable.
    ///
    /// ```
    /// use mksum::{ByOffset, Spec};
    ///
    /// assert!("rfc6962".parse::<Spec>()?.supports(ByOffset::Proof).is_ok());
    /// assert!("crc32".parse::<Spec>()?.supports(ByOffset::Proof).is_err());
    /// assert!("xet".parse::<Spec>()?.supports(ByOffset::Parts).is_err());
    /// # Ok::<(), mksum::SpecError>(())
    /// ```
    ///
    /// # Errors
    /// If it does not; the error says why.
    pub fn supports(&self, what: ByOffset) -> Result<(), Unsupported> {
        match self.unsupported() {
            Some((all, why)) if all || what != ByOffset::Parts => Err(Unsupported { spec: self.clone(), what, why }),
            _ => Ok(()),
        }
    }

    /// Whether not even parts are joined, and the reason, where something is unsupported.
    fn unsupported(&self) -> Option<(bool, &'static str)> {
        match self.layout() {
            Layout::Found(_) => Some((
                true,
                "only a scan of the whole input finds its leaves: choose a format with leaves of one length",
            )),
            _ if self.counts_mode() => Some((
                true,
                "its roots say whether a file is executable, which its bytes do not: choose a format of the content alone",
            )),
            Layout::Computed(_) if matches!(self.hash(), Algorithm::Hash(_)) => None,
            Layout::Computed(_) => {
                Some((false, "anybody can find other bytes with the same checksum: choose a format of a hash"))
            }
        }
    }
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Unsupported { spec, what, why } = self;
        match what {
            ByOffset::Proof => write!(f, "{spec} has no proofs, because ")?,
            ByOffset::Outboard => write!(f, "no tree of {spec} is kept, because ")?,
            ByOffset::Parts => write!(f, "{spec} is not hashed in parts, because ")?,
        }
        f.write_str(why)
    }
}

impl core::error::Error for Unsupported {}
