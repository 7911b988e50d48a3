//! Signatures of sum files: those of minisign, of OpenBSD's signify, and of `ssh-keygen -Y sign`.
//!
//! A signature is of bytes, not of lines: the caller verifies it over the bytes that it reads the lines from afterwards.

mod error;
mod keys;
mod lines;
mod signed;
mod ssh;

pub use error::Unsigned;
pub use keys::Keys;
pub use lines::embedded;
pub use signed::{LONGEST, Signed};

/// Verifies a signature of `message` with the keys that are trusted.
///
/// # Errors
/// If it is no signature, is by another key, or is of other bytes.
pub fn verify(message: &[u8], signature: &[u8], keys: &Keys) -> Result<Signed, Unsigned> {
    if signature.len() > LONGEST {
        return Err(Unsigned::NoSignature("it is too long"));
    }
    let begin = signature.trim_ascii_start();
    if begin.starts_with(ssh::BEGIN.as_bytes()) {
        return ssh::verify(message, signature, keys.ssh()?);
    }
    if begin.starts_with(b"-----BEGIN PGP") {
        return Err(Unsigned::Pgp);
    }
    if !signature.starts_with(lines::COMMENT) {
        return Err(Unsigned::NoSignature("it does not begin as one"));
    }
    lines::verify(message, signature, keys.ed25519()?)
}
