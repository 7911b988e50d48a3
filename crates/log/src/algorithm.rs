//! Algorithms of keys: what signs messages, and what verifies signatures.

use ed25519_dalek as ed25519;
#[cfg(feature = "ml-dsa")]
use ml_dsa::{MlDsa44, signature::Signer, signature::Verifier};

/// The algorithm of a key, and what it signs: the type byte of signed notes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyKind {
    /// Ed25519 over the note's text (type 0x01): a log's key.
    Ed25519,
    /// A timestamped Ed25519 cosignature of a checkpoint (type 0x04): a witness's key.
    Cosignature,
    /// A timestamped ML-DSA-44 cosignature of a checkpoint (type 0x06): a witness's key that quantum computers do not break.
    #[cfg(feature = "ml-dsa")]
    MlDsa44,
}

impl KeyKind {
    const ALL: &[KeyKind] = &[
        KeyKind::Ed25519,
        KeyKind::Cosignature,
        #[cfg(feature = "ml-dsa")]
        KeyKind::MlDsa44,
    ];

    /// The type byte.
    pub(crate) fn byte(self) -> u8 {
        match self {
            KeyKind::Ed25519 => 1,
            KeyKind::Cosignature => 4,
            #[cfg(feature = "ml-dsa")]
            KeyKind::MlDsa44 => 6,
        }
    }

    /// The kind with a type byte.
    pub(crate) fn from_byte(byte: u8) -> Option<KeyKind> {
        KeyKind::ALL.iter().copied().find(|kind| kind.byte() == byte)
    }

    /// The type bytes of all kinds, in words.
    pub(crate) fn bytes() -> String {
        let bytes: Vec<_> = KeyKind::ALL.iter().map(|kind| format!("{:#04x}", kind.byte())).collect();
        bytes.join(" or ")
    }
}

/// A public key.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Public {
    Ed25519(ed25519::VerifyingKey),
    #[cfg(feature = "ml-dsa")]
    MlDsa44(Box<ml_dsa::VerifyingKey<MlDsa44>>),
}

impl Eq for Public {}

impl Public {
    /// The key with these bytes; or what is wrong with them.
    pub fn from_bytes(kind: KeyKind, bytes: &[u8]) -> Result<Public, &'static str> {
        match kind {
            KeyKind::Ed25519 | KeyKind::Cosignature => {
                let bytes = bytes.try_into().map_err(|_| "an Ed25519 key has 32 bytes")?;
                ed25519::VerifyingKey::from_bytes(bytes)
                    .map(Public::Ed25519)
                    .map_err(|_| "its bytes are not a key of Ed25519")
            }
            #[cfg(feature = "ml-dsa")]
            KeyKind::MlDsa44 => {
                let bytes = bytes.try_into().map_err(|_| "an ML-DSA-44 key has 1,312 bytes")?;
                Ok(Public::MlDsa44(Box::new(ml_dsa::VerifyingKey::decode(bytes))))
            }
        }
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        match self {
            Public::Ed25519(key) => key.as_bytes().into(),
            #[cfg(feature = "ml-dsa")]
            Public::MlDsa44(key) => key.encode().to_vec(),
        }
    }

    /// Whether a signature of a message is by the key.
    pub fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        match self {
            Public::Ed25519(key) => ed25519::Signature::from_slice(signature)
                .is_ok_and(|signature| key.verify_strict(message, &signature).is_ok()),
            #[cfg(feature = "ml-dsa")]
            Public::MlDsa44(key) => {
                ml_dsa::Signature::try_from(signature).is_ok_and(|signature| key.verify(message, &signature).is_ok())
            }
        }
    }
}

/// A secret key, which is made from 32 bytes.
#[derive(Clone)]
pub(crate) enum Secret {
    Ed25519(Box<ed25519::SigningKey>),
    #[cfg(feature = "ml-dsa")]
    MlDsa44(Box<ml_dsa::SigningKey<MlDsa44>>),
}

impl Secret {
    pub fn from_seed(kind: KeyKind, seed: &[u8; 32]) -> Secret {
        match kind {
            KeyKind::Ed25519 | KeyKind::Cosignature => Secret::Ed25519(Box::new(ed25519::SigningKey::from_bytes(seed))),
            #[cfg(feature = "ml-dsa")]
            KeyKind::MlDsa44 => Secret::MlDsa44(Box::new(ml_dsa::SigningKey::from_seed(seed.into()))),
        }
    }

    pub fn to_seed(&self) -> [u8; 32] {
        match self {
            Secret::Ed25519(key) => key.to_bytes(),
            #[cfg(feature = "ml-dsa")]
            Secret::MlDsa44(key) => key.to_seed().into(),
        }
    }

    pub fn public(&self) -> Public {
        match self {
            Secret::Ed25519(key) => Public::Ed25519(key.verifying_key()),
            #[cfg(feature = "ml-dsa")]
            Secret::MlDsa44(key) => Public::MlDsa44(Box::new(key.expanded_key().verifying_key())),
        }
    }

    pub fn sign(&self, message: &[u8]) -> Vec<u8> {
        match self {
            Secret::Ed25519(key) => ed25519::Signer::sign(&**key, message).to_bytes().into(),
            #[cfg(feature = "ml-dsa")]
            Secret::MlDsa44(key) => key.sign(message).encode().to_vec(),
        }
    }
}
