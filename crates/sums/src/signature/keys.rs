//! Public keys that are trusted.

use super::error::Unsigned;
use super::lines::Ed25519;
use super::signed::LONGEST;
use super::ssh::{self, Allowed};

/// Public keys that are trusted: one of minisign or signify, or some of OpenSSH.
#[derive(Clone, Debug)]
pub struct Keys(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Ed25519(Ed25519),
    Ssh(Vec<Allowed>),
}

impl Keys {
    /// The keys in a file's bytes, or in a word: a public key of minisign or signify, with or without its comment; or public keys of
    /// OpenSSH, or its `allowed_signers`, one a line.
    ///
    /// # Errors
    /// If there is none, or a line is none.
    pub fn parse(text: &[u8]) -> Result<Keys, Unsigned> {
        if text.len() > LONGEST {
            return Err(Unsigned::NoKey("it is too long".into()));
        }
        if let Some(key) = Ed25519::parse(text) {
            return Ok(Keys(Kind::Ed25519(key)));
        }
        let keys = ssh::allowed(text)?;
        if keys.is_empty() { Err(Unsigned::NoKey("it has no keys".into())) } else { Ok(Keys(Kind::Ssh(keys))) }
    }

    pub(super) fn ed25519(&self) -> Result<&Ed25519, Unsigned> {
        match &self.0 {
            Kind::Ed25519(key) => Ok(key),
            Kind::Ssh(_) => Err(Unsigned::OtherProgram { keys: "OpenSSH", signature: "minisign or signify" }),
        }
    }

    pub(super) fn ssh(&self) -> Result<&[Allowed], Unsigned> {
        match &self.0 {
            Kind::Ssh(keys) => Ok(keys),
            Kind::Ed25519(_) => Err(Unsigned::OtherProgram { keys: "minisign or signify", signature: "ssh-keygen" }),
        }
    }
}
