//! Formats by their text, and facts about them.

use crate::refusal::{Class, Refusal};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use mksum::formats::{Binding, FAMILIES, Family, LeafRule};
use mksum::{Root, Spec};

/// A cache of the last format, so that using it again costs only a comparison.
#[derive(Default)]
pub struct LastSpec(Option<(Vec<u8>, Spec)>);

impl LastSpec {
    /// Creates an empty cache.
    pub const fn new() -> Self {
        LastSpec(None)
    }

    /// Parses a format string.
    pub fn parse(&mut self, text: &[u8]) -> Result<&Spec, Refusal> {
        if self.0.as_ref().is_none_or(|(last, _)| last != text) {
            self.0 = Some((text.to_vec(), text_of(text)?.parse()?));
        }
        Ok(&self.0.as_ref().expect("just parsed").1)
    }
}

/// Returns bytes as text.
pub fn text_of(bytes: &[u8]) -> Result<&str, Refusal> {
    core::str::from_utf8(bytes).map_err(|_| Refusal::new(Class::Argument, "the text is not UTF-8"))
}

/// Returns the facts of a format, one a line: canonical text, name, hash, leaf, salt in hex, digest size, whether streams of
/// unknown length are supported, the facts that a proof shows.
pub fn facts(spec: &Spec) -> String {
    let salt = base16ct::lower::encode_string(spec.salt());
    let binding = match spec.family().binding() {
        Binding::Nothing => "nothing",
        Binding::Leaves => "leaves",
        Binding::Offsets => "offsets",
        Binding::Length => "length",
    };
    let (name, hash) = (spec.family().name, spec.hash());
    format!(
        "{spec}\n{name}\n{}\n{}\n{salt}\n{}\n{}\n{binding}",
        hash.name(),
        spec.leaf(),
        hash.size(),
        spec.family().streams()
    )
}

/// Returns all formats, one a line: name, description, the program with the same roots, hashes, default leaf, separated by
/// tabs.
pub fn formats() -> String {
    let line = |family: &Family| {
        let hashes: Vec<_> = family.hashes.iter().map(|hash| hash.name()).collect();
        let leaf = LeafRule::default(family.leaf);
        format!("{}\t{}\t{}\t{}\t{leaf}", family.name, family.about, family.same_as, hashes.join(","))
    };
    FAMILIES.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Encodes a root for TypeScript: its digest, then its text.
pub fn answer(root: &Root) -> Vec<u8> {
    [root.digest().as_bytes(), root.to_string().as_bytes()].concat()
}
