//! Checkpoints: the size and root of a log at a time (C2SP tlog-checkpoint).

use crate::error::Error;
use crate::text::{array, base64, number};
use std::fmt;
use std::str::FromStr;

/// A checkpoint: which log, how many entries it has, and the root of their tree. Its text is that of a signed note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    origin: String,
    size: u64,
    root: [u8; 32],
    extensions: Vec<String>,
}

impl Checkpoint {
    /// A checkpoint without extension lines.
    ///
    /// # Errors
    /// If the origin is empty or has control characters.
    pub fn new(origin: &str, size: u64, root: [u8; 32]) -> Result<Checkpoint, Error> {
        if origin.is_empty() || origin.contains(char::is_control) {
            return Err(Error::Refused(
                "an origin is a line of text that is not empty, such as example.com/log".into(),
            ));
        }
        if size > mksum::MAX_LEN {
            return Err(Error::Refused(format!("a log has at most 2^63 entries, not {size}")));
        }
        Ok(Checkpoint { origin: origin.into(), size, root, extensions: Vec::new() })
    }

    /// The name of the log: mostly its URL without the scheme.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// The number of entries, at most 2^63.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The root of the tree over the entries (RFC 6962, 2.1).
    pub fn root(&self) -> [u8; 32] {
        self.root
    }

    /// Further lines, which mean nothing to mksum.
    pub fn extensions(&self) -> &[String] {
        &self.extensions
    }
}

impl FromStr for Checkpoint {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = |why: &str| Error::malformed("a checkpoint", why);
        let text = text.strip_suffix('\n').ok_or_else(|| wrong("its last line has no newline"))?;
        let mut lines = text.split('\n');
        let origin =
            lines.next().filter(|origin| !origin.is_empty()).ok_or_else(|| wrong("line 1, the origin, is empty"))?;
        let size = lines.next().and_then(number).ok_or_else(|| wrong("line 2 is not the size, a decimal number"))?;
        let root =
            lines.next().and_then(array).ok_or_else(|| wrong("line 3 is not the root, the base64 of 32 bytes"))?;
        let extensions: Vec<_> = lines.map(String::from).collect();
        if extensions.iter().any(String::is_empty) {
            return Err(wrong("an extension line is empty"));
        }
        Ok(Checkpoint { extensions, ..Checkpoint::new(origin, size, root).map_err(|error| wrong(&error.to_string()))? })
    }
}

impl fmt::Display for Checkpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n{}\n{}", self.origin, self.size, base64(&self.root))?;
        self.extensions.iter().try_for_each(|line| writeln!(f, "{line}"))
    }
}
