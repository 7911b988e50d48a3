//! Who signed a list.

use std::fmt;

/// The longest signature or file of keys that is read, in bytes.
pub const LONGEST: usize = 1 << 20;

/// A valid signature: who made it, and what it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signed {
    /// The program: `minisign`, `signify` or `ssh-keygen`.
    pub program: &'static str,
    /// The key: its ID in hex, or its fingerprint, `SHA256:…`.
    pub key: String,
    /// The name that the list of allowed signers has for the key.
    pub signer: Option<String>,
    /// The trusted comment of minisign, which is signed too.
    pub comment: Option<String>,
}

impl fmt::Display for Signed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "good signature of {}, key {}", self.program, self.key)?;
        if let Some(signer) = &self.signer {
            write!(f, " of {}", crate::name::printable(signer))?;
        }
        match &self.comment {
            Some(comment) => write!(f, ": {}", crate::name::printable(comment)),
            None => Ok(()),
        }
    }
}
