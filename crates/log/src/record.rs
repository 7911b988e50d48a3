//! Records of any length: the root of a long one is its entry.

use crate::longest::LONGEST_ENTRY;
use mksum::{Error, Frontier, Spec};
use std::fmt;
use std::sync::LazyLock;

/// The format of which `mksum` prints the root when it is not asked for another one.
static FORMAT: LazyLock<Spec> = LazyLock::new(|| "rfc6962:sha256:64KiB".parse().expect("a format of the table"));

/// A record that becomes an entry, as its bytes come. At most 64 KiB of them are kept.
#[derive(Clone)]
pub struct Record {
    /// The first bytes, one more than an entry may have.
    start: Vec<u8>,
    all: Frontier,
}

impl Default for Record {
    fn default() -> Record {
        Record { start: Vec::new(), all: FORMAT.frontier().expect("the format hashes streams") }
    }
}

impl fmt::Debug for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Record({} bytes)", self.len())
    }
}

impl Record {
    /// Appends bytes.
    ///
    /// # Errors
    /// If there are more than 2^63 bytes in all.
    pub fn update(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let room = LONGEST_ENTRY + 1 - self.start.len();
        self.start.extend(&bytes[..bytes.len().min(room)]);
        self.all.update(bytes)
    }

    pub(crate) fn len(&self) -> u64 {
        self.all.position()
    }

    /// The entry: the bytes so far. If they are more than [`LONGEST_ENTRY`], the line of their root, without a newline, as `mksum`
    /// prints it of the same bytes on its standard input: `rfc6962:sha256:64KiB (-) = …`.
    pub fn entry(&self) -> Vec<u8> {
        match self.start.len() > LONGEST_ENTRY {
            true => format!("{} (-) = {}", *FORMAT, self.all.root().expect("a root of every length")).into(),
            false => self.start.clone(),
        }
    }
}
