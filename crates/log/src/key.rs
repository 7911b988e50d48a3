//! Keys of notes: for Ed25519 signatures, and for the cosignatures of witnesses.

use crate::error::Error;
use crate::source::read_file;
use crate::text::{base64, from_base64};
use crate::tree::sha256;
use ed25519_dalek::{Signature, SigningKey, VerifyingKey};
use std::fmt;
use std::path::Path;
use std::str::FromStr;

const PRIVATE: &str = "PRIVATE+KEY+";

/// The algorithm of a key: the type byte of signed notes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyKind {
    /// Ed25519 over the note's text (type 0x01): a log's key.
    Ed25519,
    /// A timestamped Ed25519 cosignature of a checkpoint (type 0x04): a witness's key.
    Cosignature,
}

impl KeyKind {
    fn byte(self) -> u8 {
        match self {
            KeyKind::Ed25519 => 1,
            KeyKind::Cosignature => 4,
        }
    }

    fn from_byte(byte: u8) -> Option<KeyKind> {
        [KeyKind::Ed25519, KeyKind::Cosignature].into_iter().find(|kind| kind.byte() == byte)
    }
}

/// Whether a text can name a key: it has no spaces and no plus sign.
pub(crate) fn is_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(|letter: char| letter.is_whitespace() || letter < ' ' || letter == '+')
}

/// The first four bytes of the hash of a key and its name (signed-note, "Signatures").
fn id(name: &str, kind: KeyKind, public: &[u8; 32]) -> [u8; 4] {
    let mut message = name.as_bytes().to_vec();
    message.extend([b'\n', kind.byte()]);
    message.extend(public);
    sha256(&message)[..4].try_into().expect("four of 32 bytes")
}

fn id_text(id: [u8; 4]) -> String {
    format!("{:08x}", u32::from_be_bytes(id))
}

/// A public key with its name: verifies signatures of notes.
///
/// Its text is `NAME+ID+KEY`: the name, eight hex digits, and base64 (C2SP signed-note, "Verifier keys").
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifierKey {
    name: String,
    kind: KeyKind,
    key: VerifyingKey,
}

impl VerifierKey {
    /// The name, mostly a URL without its scheme.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The algorithm.
    pub fn kind(&self) -> KeyKind {
        self.kind
    }

    /// The key's identifier in signature lines.
    pub fn id(&self) -> [u8; 4] {
        id(&self.name, self.kind, self.key.as_bytes())
    }

    /// The key's 32 bytes, which equal keys share whatever their names are.
    pub(crate) fn public(&self) -> &[u8; 32] {
        self.key.as_bytes()
    }

    /// Whether `signature`, what follows the identifier, is this key's signature of a note's text.
    ///
    /// Returns the time of a cosignature, in seconds since 1970, and 0 for a plain signature.
    pub(crate) fn verify(&self, text: &str, signature: &[u8]) -> Option<u64> {
        let verify = |message: &[u8], signature: &[u8]| {
            let signature = Signature::from_slice(signature).ok()?;
            self.key.verify_strict(message, &signature).ok()
        };
        match self.kind {
            KeyKind::Ed25519 => verify(text.as_bytes(), signature).map(|()| 0),
            KeyKind::Cosignature => {
                let (time, signature) = signature.split_first_chunk::<8>()?;
                let time = u64::from_be_bytes(*time);
                if time > i64::MAX as u64 {
                    return None;
                }
                verify(cosigned(text, time).as_bytes(), signature).map(|()| time)
            }
        }
    }
}

/// The message that a witness signs (C2SP tlog-cosignature, "Ed25519 signed message").
fn cosigned(text: &str, time: u64) -> String {
    format!("cosignature/v1\ntime {time}\n{text}")
}

impl FromStr for VerifierKey {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = |why: &str| Error::malformed("a verifier key", why);
        if text.starts_with(PRIVATE) {
            return Err(wrong("it is a private key, which belongs to its log alone"));
        }
        let mut parts = text.splitn(3, '+');
        let (Some(name), Some(id), Some(key)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(wrong("expected NAME+ID+KEY"));
        };
        if !is_name(name) {
            return Err(wrong("its name is empty, or has spaces"));
        }
        let key = from_base64(key).ok_or_else(|| wrong("the last part is not base64"))?;
        let Some((&kind, public)) = key.split_first() else { return Err(wrong("the last part is empty")) };
        let kind = KeyKind::from_byte(kind)
            .ok_or_else(|| wrong(&format!("its algorithm, {kind:#04x}, is not supported: expected 0x01 or 0x04")))?;
        let public = public.try_into().map_err(|_| wrong("an Ed25519 key has 32 bytes"))?;
        let key = VerifyingKey::from_bytes(public).map_err(|_| wrong("its bytes are not a key of Ed25519"))?;
        let key = VerifierKey { name: name.into(), kind, key };
        let expected = id_text(key.id());
        if expected != id {
            return Err(wrong(&format!("its identifier is {id}, and that of its name and key is {expected}")));
        }
        Ok(key)
    }
}

impl fmt::Display for VerifierKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = [&[self.kind.byte()][..], self.key.as_bytes()].concat();
        write!(f, "{}+{}+{}", self.name, id_text(self.id()), base64(&key))
    }
}

/// A secret key with its name: signs notes.
///
/// Its text is `PRIVATE+KEY+NAME+ID+KEY`, as `golang.org/x/mod/sumdb/note` writes it. `Debug` does not show the secret.
#[derive(Clone)]
pub struct SignerKey {
    name: String,
    kind: KeyKind,
    key: SigningKey,
}

impl SignerKey {
    /// A new key with random bytes of the system.
    ///
    /// # Errors
    /// If the name is empty or has spaces or a plus sign, or the system has no random bytes.
    pub fn generate(name: &str, kind: KeyKind) -> Result<SignerKey, Error> {
        let mut seed = [0; 32];
        getrandom::fill(&mut seed).map_err(|error| Error::Refused(format!("no random bytes for a key: {error}")))?;
        SignerKey::from_seed(name, kind, &seed)
    }

    /// The key with this secret of Ed25519.
    ///
    /// # Errors
    /// If the name is empty or has spaces or a plus sign.
    pub fn from_seed(name: &str, kind: KeyKind, seed: &[u8; 32]) -> Result<SignerKey, Error> {
        match is_name(name) {
            true => Ok(SignerKey { name: name.into(), kind, key: SigningKey::from_bytes(seed) }),
            false => Err(Error::Refused(format!(
                "'{}' cannot name a key: expected a text without spaces and '+', such as example.com/log",
                name.escape_debug()
            ))),
        }
    }

    /// Reads the key in a file, which its owner alone can read.
    ///
    /// # Errors
    /// If it is not there, is no key, or others can read it.
    pub fn read(path: &Path) -> Result<SignerKey, Error> {
        /// The longest file of a key, in bytes.
        const LONGEST: usize = 4096;
        #[cfg(unix)]
        if let Ok(metadata) = std::fs::metadata(path) {
            let mode = std::os::unix::fs::PermissionsExt::mode(&metadata.permissions());
            if mode & 0o077 != 0 {
                return Err(Error::Refused(format!(
                    "{}: others can read this key (mode {:o}): 'chmod 600' it, and make a new log if somebody may have read it",
                    path.display(),
                    mode & 0o777
                )));
            }
        }
        let text = read_file(path, LONGEST)?.ok_or_else(|| {
            Error::Refused(format!(
                "{}: the log has no key here: only the machine that has it appends to the log",
                path.display()
            ))
        })?;
        let text = String::from_utf8(text).map_err(|_| Error::malformed("a signer key", "it is not UTF-8"))?;
        text.trim_end_matches('\n').parse()
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The public key.
    pub fn verifier(&self) -> VerifierKey {
        VerifierKey { name: self.name.clone(), kind: self.kind, key: self.key.verifying_key() }
    }

    /// The text of the secret key. Keep it from others.
    pub fn to_secret_text(&self) -> String {
        let key = [&[self.kind.byte()][..], &self.key.to_bytes()].concat();
        format!("{PRIVATE}{}+{}+{}", self.name, id_text(self.verifier().id()), base64(&key))
    }

    /// The signature of a note's text, without the identifier. `time`, in seconds since 1970, is that of a cosignature.
    pub(crate) fn sign(&self, text: &str, time: u64) -> Vec<u8> {
        use ed25519_dalek::Signer;
        match self.kind {
            KeyKind::Ed25519 => self.key.sign(text.as_bytes()).to_bytes().to_vec(),
            KeyKind::Cosignature => {
                let signature = self.key.sign(cosigned(text, time).as_bytes()).to_bytes();
                [&time.to_be_bytes()[..], &signature].concat()
            }
        }
    }
}

impl FromStr for SignerKey {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = |why: &str| Error::malformed("a signer key", why);
        let rest = text.strip_prefix(PRIVATE).ok_or_else(|| wrong("expected PRIVATE+KEY+NAME+ID+KEY"))?;
        let mut parts = rest.splitn(3, '+');
        let (Some(name), Some(id), Some(key)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(wrong("expected PRIVATE+KEY+NAME+ID+KEY"));
        };
        let key = from_base64(key).ok_or_else(|| wrong("the last part is not base64"))?;
        let Some((&kind, seed)) = key.split_first() else { return Err(wrong("the last part is empty")) };
        let kind = KeyKind::from_byte(kind).ok_or_else(|| wrong("its algorithm is not supported"))?;
        let seed = seed.try_into().map_err(|_| wrong("a secret of Ed25519 has 32 bytes"))?;
        let key = SignerKey::from_seed(name, kind, seed)?;
        match id_text(key.verifier().id()) == id {
            true => Ok(key),
            false => Err(wrong("its identifier is not that of its name and key")),
        }
    }
}

impl fmt::Debug for SignerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SignerKey({})", self.verifier())
    }
}
