//! Keys of notes: of logs, and of the witnesses that cosign.

use crate::algorithm::{KeyKind, Public, Secret};
#[cfg(feature = "ml-dsa")]
use crate::checkpoint::Checkpoint;
use crate::error::Error;
use crate::source::read_file;
use crate::text::{base64, from_base64};
use crate::tree::sha256;
use std::fmt;
use std::path::Path;
use std::str::FromStr;

const PRIVATE: &str = "PRIVATE+KEY+";

/// Whether a text can name a key: it has no spaces and no plus sign.
pub(crate) fn is_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(|letter: char| letter.is_whitespace() || letter < ' ' || letter == '+')
}

/// The first four bytes of the hash of a key and its name (signed-note, "Signatures").
fn id(name: &str, kind: KeyKind, public: &[u8]) -> [u8; 4] {
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
    key: Public,
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
        id(&self.name, self.kind, &self.key.to_bytes())
    }

    /// The key alone, which equal keys share whatever their names are.
    pub(crate) fn public(&self) -> &Public {
        &self.key
    }

    /// Whether `signature`, what follows the identifier, is this key's signature of a note's text.
    ///
    /// Returns the time of a cosignature, in seconds since 1970, and 0 for a plain signature.
    pub(crate) fn verify(&self, text: &str, signature: &[u8]) -> Option<u64> {
        let (time, signature) = match self.kind {
            KeyKind::Ed25519 => (0, signature),
            _ => {
                let (time, signature) = signature.split_first_chunk::<8>()?;
                (u64::from_be_bytes(*time), signature)
            }
        };
        let message = message(&self.name, self.kind, text, time)?;
        (time <= i64::MAX as u64 && self.key.verifies(&message, signature)).then_some(time)
    }
}

/// The message that the key of a name signs; `None` if it signs no such text.
#[cfg_attr(not(feature = "ml-dsa"), expect(unused_variables))] // the name is in the message of ML-DSA alone
fn message(name: &str, kind: KeyKind, text: &str, time: u64) -> Option<Vec<u8>> {
    match kind {
        KeyKind::Ed25519 => Some(text.into()),
        // C2SP tlog-cosignature, "Ed25519 signed message".
        KeyKind::Cosignature => Some(format!("cosignature/v1\ntime {time}\n{text}").into()),
        // C2SP tlog-cosignature, "ML-DSA-44 signed message": its subtree is the whole tree.
        #[cfg(feature = "ml-dsa")]
        KeyKind::MlDsa44 => {
            let checkpoint: Checkpoint = text.parse().ok()?;
            let mut message = b"subtree/v1\n\0".to_vec();
            let add_text = |message: &mut Vec<u8>, text: &str| {
                message.push(text.len().try_into().ok()?);
                message.extend(text.as_bytes());
                Some(())
            };
            add_text(&mut message, name)?;
            message.extend(time.to_be_bytes());
            add_text(&mut message, checkpoint.origin())?;
            message.extend(0_u64.to_be_bytes());
            message.extend(checkpoint.size().to_be_bytes());
            message.extend(checkpoint.root());
            Some(message)
        }
    }
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
        let kind = KeyKind::from_byte(kind).ok_or_else(|| {
            wrong(&format!("its algorithm, {kind:#04x}, is not supported: expected {}", KeyKind::bytes()))
        })?;
        let key = Public::from_bytes(kind, public).map_err(wrong)?;
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
        let key = [&[self.kind.byte()][..], &self.key.to_bytes()].concat();
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
    key: Secret,
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

    /// The key with this secret: that of Ed25519, or the seed of ML-DSA (FIPS 204, algorithm 6).
    ///
    /// # Errors
    /// If the name is empty or has spaces or a plus sign.
    pub fn from_seed(name: &str, kind: KeyKind, seed: &[u8; 32]) -> Result<SignerKey, Error> {
        match is_name(name) {
            true => Ok(SignerKey { name: name.into(), kind, key: Secret::from_seed(kind, seed) }),
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
        VerifierKey { name: self.name.clone(), kind: self.kind, key: self.key.public() }
    }

    /// The text of the secret key. Keep it from others.
    pub fn to_secret_text(&self) -> String {
        let key = [&[self.kind.byte()][..], &self.key.to_seed()].concat();
        format!("{PRIVATE}{}+{}+{}", self.name, id_text(self.verifier().id()), base64(&key))
    }

    /// The signature of a note's text, without the identifier. `time`, in seconds since 1970, is that of a cosignature.
    ///
    /// # Errors
    /// If the key signs checkpoints alone, and the text is none.
    pub(crate) fn sign(&self, text: &str, time: u64) -> Result<Vec<u8>, Error> {
        let message = message(&self.name, self.kind, text, time).ok_or_else(|| {
            Error::Refused(format!(
                "the key of {} signs checkpoints, and only where its name and the origin have at most 255 bytes",
                self.name
            ))
        })?;
        let signature = self.key.sign(&message);
        Ok(match self.kind {
            KeyKind::Ed25519 => signature,
            _ => [&time.to_be_bytes()[..], &signature].concat(),
        })
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
        let seed = seed.try_into().map_err(|_| wrong("a secret has 32 bytes"))?;
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
