//! A format by name: `NAME[:HASH][:LEAF][:salt=HEX]`.

use crate::archive;
use crate::formats::{FAMILIES, Family, LeafRule};
use crate::hashing::{Framed, NodeHash};
use crate::options::Chosen;
use crate::prefix::PrefixRule;
use crate::suggestions::nearest;
use crate::{Algorithm, FormatOption, Layout, MAX_LEN, OptionValue, Shape, format_size, parse_size};
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

/// A tree format with all its choices made, named by one line of text everywhere: `rfc6962:sha256:64KiB`.
///
/// Parses what people write (sizes in any unit, parts left out) and prints the one canonical form. It computes roots,
/// subtrees, proofs and outboards of its format: no caller needs to know what a format hashes or how long its digests are.
///
/// ```
/// let spec: mksum::Spec = "rfc6962:sha256:4KiB".parse()?;
/// assert_eq!(spec.root(b"\x00")?.to_string(), "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A clone shares everything with its original, so it costs next to nothing.
#[derive(Clone)]
pub struct Spec(Arc<Choices>);

/// The choices of a format, and the tree that they make.
#[derive(Clone, Debug)]
struct Choices {
    family: &'static Family,
    algorithm: Algorithm,
    leaf: u64,
    options: Chosen,
    shape: Shape,
    nodes: NodeHash,
}

impl Spec {
    /// The longest leaf, in bytes.
    pub const MAX_LEAF: u64 = 1 << 40;

    /// `family` with its defaults.
    pub fn new(family: &'static Family) -> Self {
        Self::of(family, family.hashes[0], family.leaf.default(), Chosen::default())
    }

    fn of(family: &'static Family, algorithm: Algorithm, leaf: u64, options: Chosen) -> Self {
        let (shape, nodes) = family.tree(algorithm, leaf, &options);
        Spec(Arc::new(Choices { family, algorithm, leaf, options, shape, nodes }))
    }

    /// A format of any shape and node hash, which has no name of its own.
    #[cfg(test)]
    pub(crate) fn unnamed(shape: Shape, nodes: NodeHash) -> Self {
        let (family, algorithm) = (&FAMILIES[0], nodes.algorithm());
        let options = Chosen::default();
        Spec(Arc::new(Choices { family, algorithm, leaf: shape.leaf(), options, shape, nodes }))
    }

    /// Returns this format with another hash.
    ///
    /// # Errors
    /// If the format does not allow it.
    pub fn with_hash(self, hash: impl Into<Algorithm>) -> Result<Self, SpecError> {
        let hash = hash.into();
        if !self.0.family.hashes.contains(&hash) {
            let allowed: Vec<_> = self.0.family.hashes.iter().map(|hash| hash.name()).collect();
            let allowed = allowed.join(", ");
            return Err(SpecError(format!(
                "{} does not hash with {}: it allows {allowed}",
                self.0.family.name,
                hash.name()
            )));
        }
        Ok(Self::of(self.0.family, hash, self.0.leaf, self.0.options.clone()))
    }

    /// Returns this format with another leaf length, in bytes.
    ///
    /// # Errors
    /// If the format does not allow it.
    pub fn with_leaf(self, leaf: u64) -> Result<Self, SpecError> {
        let rule = match self.0.family.leaf {
            LeafRule::Any(_) if !(1..=Self::MAX_LEAF).contains(&leaf) => "1 byte to 1TiB".into(),
            LeafRule::PowerOfTwo(low, high, _) if !((low..=high).contains(&leaf) && leaf.is_power_of_two()) => {
                format!("a power of two from {} to {}", format_size(low), format_size(high))
            }
            LeafRule::Fixed(only) if leaf != only => format!("always {}", format_size(only)),
            LeafRule::Whole if leaf != MAX_LEN => "always the whole input".into(),
            LeafRule::Found(_) if leaf != MAX_LEN => "as long as the content says".into(),
            _ => return Ok(Self::of(self.0.family, self.0.algorithm, leaf, self.0.options.clone())),
        };
        Err(SpecError(format!("{} cannot have leaves of {}: they are {rule}", self.0.family.name, format_size(leaf))))
    }

    /// Returns this format with another value of an option.
    ///
    /// # Errors
    /// If the format does not have the option, or not with this value.
    pub fn with_option(self, option: FormatOption, value: OptionValue) -> Result<Self, SpecError> {
        let Choices { family, algorithm, leaf, options, .. } = &*self.0;
        match family.rule(option) {
            None if value.is_default() => return Ok(self),
            None => return Err(SpecError(format!("{} has no {}", family.name, option.name()))),
            Some(rule) => {
                rule.check(option, &value).map_err(|allowed| SpecError(format!("{} has {allowed}", family.name)))?;
            }
        }
        Ok(Self::of(family, *algorithm, *leaf, options.with(option, value)))
    }

    /// This format for a file with these permission bits, which only roots of `nar` cover: the returned format equals this one.
    pub fn for_mode(&self, mode: u32) -> Spec {
        match &self.0.nodes {
            NodeHash::Framed(framed) if self.counts_mode() => {
                let leaf = Some(PrefixRule::Archive { executable: archive::is_executable(mode) });
                let nodes = NodeHash::Framed(Framed { leaf, ..framed.clone() });
                Spec(Arc::new(Choices { nodes, ..Choices::clone(&self.0) }))
            }
            _ => self.clone(),
        }
    }

    /// Whether a root covers more of a file than its bytes: whether it is executable.
    pub fn counts_mode(&self) -> bool {
        matches!(self.0.nodes, NodeHash::Framed(Framed { leaf: Some(PrefixRule::Archive { .. }), .. }))
    }

    /// The format's family: its row in the table.
    pub fn family(&self) -> &'static Family {
        self.0.family
    }

    /// The hash or checksum of the digests.
    pub fn hash(&self) -> Algorithm {
        self.0.algorithm
    }

    /// The length of a leaf, in bytes; for `mtsum` the longest allowed, for a plain sum and for `xet` [`MAX_LEN`].
    pub fn leaf(&self) -> u64 {
        self.0.leaf
    }

    /// The salt; mostly empty.
    pub fn salt(&self) -> &[u8] {
        self.0.options.bytes(FormatOption::Salt)
    }

    /// The name on a tagged line of a sum file: the format's text, or for a plain sum the name that other programs print, `SHA256`
    /// (`spec/sumfile.md`).
    ///
    /// ```
    /// assert_eq!("sha512-256".parse::<mksum::Spec>()?.tag(), "SHA512/256");
    /// assert_eq!("plain".parse::<mksum::Spec>()?.tag(), "plain:sha256:64KiB");
    /// # Ok::<(), mksum::SpecError>(())
    /// ```
    pub fn tag(&self) -> String {
        self.0.family.tag.map_or_else(|| format!("{self}"), String::from)
    }

    /// The form of a format's text: `NAME[:HASH][:LEAF]`, and the options.
    pub fn grammar() -> String {
        let options = FormatOption::ALL.iter().map(|option| format!("[:{}={}]", option.name(), option.placeholder()));
        ["NAME[:HASH][:LEAF]".into()].into_iter().chain(options).collect()
    }

    /// The layout: how the leaves are found.
    pub fn layout(&self) -> Layout {
        match self.0.nodes {
            #[cfg(feature = "xet")]
            NodeHash::Xet => Layout::Found(crate::xet::CUTS),
            _ => Layout::Computed(self.0.shape),
        }
    }

    /// The shape of the tree, as far as the length determines it: with a layout that a scan finds, an input is one leaf.
    pub fn shape(&self) -> Shape {
        self.0.shape
    }

    /// The hashes of the format's nodes.
    pub(crate) fn nodes(&self) -> &NodeHash {
        &self.0.nodes
    }
}

impl Default for Spec {
    /// The first format of the table, with its defaults.
    fn default() -> Self {
        Spec::new(&FAMILIES[0])
    }
}

impl fmt::Debug for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Spec({self})")
    }
}

impl PartialEq for Spec {
    fn eq(&self, other: &Self) -> bool {
        let key = |spec: &Self| (spec.0.family.name, spec.0.algorithm, spec.0.leaf, spec.0.shape);
        key(self) == key(other) && self.0.options == other.0.options
    }
}

impl Eq for Spec {}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.family.name)?;
        if self.0.family.hashes.len() > 1 {
            write!(f, ":{}", self.hash().name())?;
        }
        // mtsum's leaves have no one length: only a bound that is not its own is worth a word.
        let implied = !self.0.family.streams() && self.leaf() == self.0.family.leaf.default();
        if !implied && !matches!(self.0.family.leaf, LeafRule::Fixed(_) | LeafRule::Whole | LeafRule::Found(_)) {
            write!(f, ":{}", format_size(self.leaf()))?;
        }
        self.0.options.iter().try_for_each(|(option, value)| write!(f, ":{}={value}", option.name()))
    }
}

impl FromStr for Spec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        let mut parts = text.split(':');
        let name = parts.next().unwrap_or_default();
        let lowercase = name.to_ascii_lowercase();
        let family = Family::named(&lowercase).ok_or_else(|| {
            let names = || FAMILIES.iter().map(|family| family.name);
            let meant = match nearest(&lowercase, names()) {
                Some(similar) => format!("did you mean {similar}?"),
                None => format!("expected one of {}", names().collect::<Vec<_>>().join(", ")),
            };
            SpecError(format!("unknown format '{}': {meant}", shown(name)))
        })?;
        let mut spec = Spec::new(family);
        let mut last = Part::Name;
        for part in parts {
            let option = part.split_once('=').and_then(|(name, value)| Some((FormatOption::from_name(name)?, value)));
            let (order, next) = match (option, Algorithm::from_name(&part.to_ascii_lowercase())) {
                (Some((option, text)), _) => {
                    let name = option.name();
                    let value = option.parse(text);
                    let value = value.ok_or_else(|| SpecError(format!("the {name} '{}' is not hex", shown(text))))?;
                    (Part::Option(option), spec.with_option(option, value)?)
                }
                (_, Some(hash)) => (Part::Hash, spec.with_hash(hash)?),
                _ => {
                    let leaf = parse_size(part).map_err(|_| {
                        SpecError(format!(
                            "'{}' is neither a hash nor a leaf size: a format is {}, as in rfc6962:sha256:64KiB",
                            shown(part),
                            Spec::grammar()
                        ))
                    })?;
                    (Part::Leaf, spec.with_leaf(leaf)?)
                }
            };
            if order <= last {
                return Err(SpecError(format!("'{}' is out of place: a format is {}", shown(part), Spec::grammar())));
            }
            (last, spec) = (order, next);
        }
        Ok(spec)
    }
}

/// The parts of a format's text, in their order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Name,
    Hash,
    Leaf,
    Option(FormatOption),
}

/// The beginning of a text that may be long, for a message.
fn shown(text: &str) -> String {
    text.chars().take(40).collect()
}

/// The reason why a text does not name a format.
#[derive(Clone, PartialEq, Eq)]
pub struct SpecError(String);

impl SpecError {
    pub(crate) fn new(reason: String) -> Self {
        SpecError(reason)
    }
}

/// Like `Display`: see `OutboardError`.
impl fmt::Debug for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SpecError({self})")
    }
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for SpecError {}
