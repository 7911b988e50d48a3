//! A format by name: `NAME[:HASH][:LEAF][:salt=HEX]`.

use crate::{Error, FAMILIES, Family, Format, Hash, LeafRule, NodeHash, Root, format_size, parse_size};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use base16ct::{lower, mixed};
use core::fmt;
use core::str::FromStr;

/// A format with all its choices made, as one line of text names it everywhere: `rfc6962:sha256:64KiB`.
///
/// Parses what people write (any order of magnitude, parts left out), prints the one canonical form.
#[derive(Clone, Debug)]
pub struct Spec {
    family: &'static Family,
    hash: Hash,
    leaf: u64,
    salt: Vec<u8>,
}

/// What is to be done with a [`Format`], whatever its types.
pub trait Visitor {
    /// What comes of it.
    type Output;

    /// Does it.
    ///
    /// `N` is the digest's size. Where this crate is compiled for WebAssembly it is 64 for every hash, and a shorter digest is
    /// followed by zeros: there, each copy of the code has to be sent before it runs.
    fn visit<const N: usize, H: NodeHash<Digest = [u8; N]> + Clone + 'static>(self, format: &Format<H>)
    -> Self::Output;
}

impl Spec {
    /// The longest leaf, in bytes.
    pub const MAX_LEAF: u64 = 1 << 40;

    /// `family` with its defaults.
    pub fn new(family: &'static Family) -> Self {
        Spec { family, hash: family.hashes[0], leaf: family.leaf.default(), salt: Vec::new() }
    }

    /// The same with another hash.
    ///
    /// # Errors
    /// If the format does not allow it.
    pub fn with_hash(self, hash: Hash) -> Result<Self, SpecError> {
        if !self.family.hashes.contains(&hash) {
            let allowed: Vec<_> = self.family.hashes.iter().map(|hash| hash.name()).collect();
            let allowed = allowed.join(", ");
            return Err(SpecError(format!(
                "{} does not hash with {}: it allows {allowed}",
                self.family.name,
                hash.name()
            )));
        }
        Ok(Spec { hash, ..self })
    }

    /// The same with another leaf length, in bytes.
    ///
    /// # Errors
    /// If the format does not allow it.
    pub fn with_leaf(self, leaf: u64) -> Result<Self, SpecError> {
        let rule = match self.family.leaf {
            LeafRule::Any(_) if !(1..=Self::MAX_LEAF).contains(&leaf) => "1 byte to 1TiB".into(),
            LeafRule::PowerOfTwo(low, high, _) if !((low..=high).contains(&leaf) && leaf.is_power_of_two()) => {
                format!("a power of two from {} to {}", format_size(low), format_size(high))
            }
            LeafRule::Fixed(only) if leaf != only => format!("always {}", format_size(only)),
            _ => return Ok(Spec { leaf, ..self }),
        };
        Err(SpecError(format!("{} cannot have leaves of {}: they are {rule}", self.family.name, format_size(leaf))))
    }

    /// The same with a salt.
    ///
    /// # Errors
    /// If the format has none, or only a shorter one.
    pub fn with_salt(self, salt: &[u8]) -> Result<Self, SpecError> {
        match (self.family.salt, salt.len()) {
            (0, 1..) => Err(SpecError(format!("{} has no salt", self.family.name))),
            (most, len) if len > most => {
                Err(SpecError(format!("{} has a salt of at most {most} bytes, not {len}", self.family.name)))
            }
            _ => Ok(Spec { salt: salt.into(), ..self }),
        }
    }

    /// The format's family: its row in the table.
    pub fn family(&self) -> &'static Family {
        self.family
    }

    /// The hash.
    pub fn hash(&self) -> Hash {
        self.hash
    }

    /// The length of a leaf, in bytes; for `mtsum` the longest allowed.
    pub fn leaf(&self) -> u64 {
        self.leaf
    }

    /// The salt; mostly empty.
    pub fn salt(&self) -> &[u8] {
        &self.salt
    }

    /// The root of bytes in memory.
    ///
    /// # Errors
    /// If the format has no root for this length.
    pub fn root(&self, bytes: &[u8]) -> Result<Root, Error> {
        struct Whole<'a>(&'a [u8]);
        impl Visitor for Whole<'_> {
            type Output = Result<Vec<u8>, Error>;

            fn visit<const N: usize, H: NodeHash<Digest = [u8; N]>>(self, format: &Format<H>) -> Self::Output {
                Ok(format.hash(self.0)?.into())
            }
        }
        Ok(self.sealed(bytes.len() as u64, self.visit(Whole(bytes))?))
    }

    /// The root of `len` bytes from the digest that a [`Visitor`] got for them.
    ///
    /// # Panics
    /// If the digest is not as long as the hash's, or followed by zeros as [`Visitor::visit`] says.
    pub fn sealed(&self, len: u64, mut digest: Vec<u8>) -> Root {
        let rest = digest.split_off(self.hash.size());
        assert!(rest.is_empty() || cfg!(target_family = "wasm"), "a digest of {}", self.hash.name());
        Root::new(self.clone(), len, digest)
    }
}

impl Default for Spec {
    /// The first format of the table, with its defaults.
    fn default() -> Self {
        Spec::new(&FAMILIES[0])
    }
}

impl PartialEq for Spec {
    fn eq(&self, other: &Self) -> bool {
        let key = |spec: &Self| (spec.family.name, spec.hash, spec.leaf);
        key(self) == key(other) && self.salt == other.salt
    }
}

impl Eq for Spec {}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.family.name)?;
        if self.family.hashes.len() > 1 {
            write!(f, ":{}", self.hash.name())?;
        }
        // mtsum's leaves have no one length: only a bound that is not its own is worth a word.
        let implied = !self.family.streams() && self.leaf == self.family.leaf.default();
        if !implied && !matches!(self.family.leaf, LeafRule::Fixed(_)) {
            write!(f, ":{}", format_size(self.leaf))?;
        }
        if !self.salt.is_empty() {
            write!(f, ":salt={}", lower::encode_string(&self.salt))?;
        }
        Ok(())
    }
}

impl FromStr for Spec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        let mut parts = text.split(':');
        let name = parts.next().unwrap_or_default();
        let family = Family::named(&name.to_ascii_lowercase()).ok_or_else(|| {
            let names: Vec<_> = FAMILIES.iter().map(|family| family.name).collect();
            SpecError(format!("unknown format '{}': expected one of {}", shown(name), names.join(", ")))
        })?;
        let mut spec = Spec::new(family);
        let mut last = 0;
        for part in parts {
            let (order, next) = match (part.strip_prefix("salt="), Hash::from_name(&part.to_ascii_lowercase())) {
                (Some(salt), _) => {
                    let salt = mixed::decode_vec(salt)
                        .map_err(|_| SpecError(format!("the salt '{}' is not hex", shown(salt))))?;
                    (3, spec.with_salt(&salt)?)
                }
                (_, Some(hash)) => (1, spec.with_hash(hash)?),
                _ => {
                    let leaf = parse_size(part).map_err(|_| {
                        SpecError(format!(
                            "'{}' is neither a hash nor a leaf size: a format is NAME[:HASH][:LEAF][:salt=HEX], as in \
                             rfc6962:sha256:64KiB",
                            shown(part)
                        ))
                    })?;
                    (2, spec.with_leaf(leaf)?)
                }
            };
            if order <= last {
                return Err(SpecError(format!(
                    "'{}' is out of place: a format is NAME[:HASH][:LEAF][:salt=HEX]",
                    shown(part)
                )));
            }
            (last, spec) = (order, next);
        }
        Ok(spec)
    }
}

/// The beginning of a text that may be long, for a message.
fn shown(text: &str) -> String {
    text.chars().take(40).collect()
}

/// Why a text names no format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecError(String);

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for SpecError {}
