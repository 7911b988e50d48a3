//! Why a list is not signed by a trusted key.

use std::fmt;

/// The reason why bytes do not count as signed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unsigned {
    /// The signature has no known form: why.
    NoSignature(&'static str),
    /// The signature is one of PGP.
    Pgp,
    /// The text of the keys has no known form: why.
    NoKey(String),
    /// The keys are of another program than the signature.
    OtherProgram {
        /// The program that made the keys.
        keys: &'static str,
        /// The program that made the signature.
        signature: &'static str,
    },
    /// The signature was made with another key.
    OtherKey {
        /// The key of the signature.
        found: String,
        /// The trusted keys, or how many there are.
        expected: String,
    },
    /// The signature is of other bytes, or was changed.
    OtherBytes,
    /// The bytes are those that were signed, but the trusted comment was changed.
    OtherComment,
    /// The signature was made for another purpose than files: its namespace.
    Namespace(String),
    /// The signature or key has something that is not supported.
    Unsupported(String),
}

impl fmt::Display for Unsigned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unsigned::NoSignature(why) => {
                write!(f, "not a signature of minisign, signify or ssh-keygen -Y sign: {why}")
            }
            Unsigned::Pgp => f.write_str("a signature of PGP, which mksum does not verify: use gpg --verify"),
            Unsigned::NoKey(why) => write!(f, "not a public key of minisign, signify or OpenSSH: {why}"),
            Unsigned::OtherProgram { keys, signature } => {
                write!(f, "a signature of {signature}, but the key is one of {keys}")
            }
            Unsigned::OtherKey { found, expected } => {
                write!(f, "made with another key: expected {expected}, found {found}")
            }
            Unsigned::OtherBytes => f.write_str("the signature is not valid: the list or the signature was changed"),
            Unsigned::OtherComment => f.write_str("the signature is not valid: its trusted comment was changed"),
            Unsigned::Namespace(namespace) => {
                let namespace = crate::name::printable(namespace);
                write!(f, "made for the namespace '{namespace}': expected 'file' (ssh-keygen -Y sign -n file)")
            }
            Unsigned::Unsupported(what) => write!(f, "{}", crate::name::printable(what)),
        }
    }
}

impl std::error::Error for Unsigned {}
