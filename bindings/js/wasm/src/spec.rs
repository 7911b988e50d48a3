//! A format by its text, and facts about it.

use crate::refusal::{Class, Refusal};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use mksum::formats::{Binding, FAMILIES, Family, LeafRule};
use mksum::{Root, Spec};

/// The format that was named last, so that naming it again costs a comparison.
#[derive(Default)]
pub struct Named(Option<(Vec<u8>, Spec)>);

impl Named {
    /// No format yet.
    pub const fn new() -> Self {
        Named(None)
    }

    /// The format that `text` names.
    pub fn spec(&mut self, text: &[u8]) -> Result<&Spec, Refusal> {
        if self.0.as_ref().is_none_or(|(last, _)| last != text) {
            self.0 = Some((text.to_vec(), text_of(text)?.parse()?));
        }
        Ok(&self.0.as_ref().expect("just named").1)
    }
}

/// Bytes as text.
pub fn text_of(bytes: &[u8]) -> Result<&str, Refusal> {
    core::str::from_utf8(bytes).map_err(|_| Refusal::new(Class::Argument, "the text is not UTF-8"))
}

/// Facts about a format, a line each: canonical text, name, hash, leaf, salt in hex, the digest's size, whether streams have
/// roots, the facts that a proof shows.
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

/// All formats, a line each: name, what it is, the program with the same roots, the hashes, the default leaf; tabs between.
pub fn formats() -> String {
    let line = |family: &Family| {
        let hashes: Vec<_> = family.hashes.iter().map(|hash| hash.name()).collect();
        let leaf = LeafRule::default(family.leaf);
        format!("{}\t{}\t{}\t{}\t{leaf}", family.name, family.about, family.same_as, hashes.join(","))
    };
    FAMILIES.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// A root for TypeScript: its digest, then its text.
pub fn answer(root: &Root) -> Vec<u8> {
    [root.digest().as_bytes(), root.to_string().as_bytes()].concat()
}
