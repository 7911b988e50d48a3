//! What a sum file's name and place say about its lines.

use crate::choice::Choice;
use crate::name;
use crate::sum::End;
use mksum::formats::{FAMILIES, Family};
use mksum::{Algorithm, Spec};
use std::collections::BTreeSet;
use std::path::Path;

/// The hashes of untagged sums, each with the words that name it in the names of sum files. Of those with sums of the same
/// length, the most usual is first.
const HASHES: &[(&str, &[&str])] = &[
    ("crc32", &["crc32", "sfv"]),
    ("crc32c", &["crc32c"]),
    ("xxh32", &["xxh32", "xxhash32", "xxh", "xxhash"]),
    ("xxh64", &["xxh64", "xxhash64", "xxh", "xxhash"]),
    ("crc64nvme", &["crc64nvme"]),
    ("xxh3", &["xxh3", "xxhash3"]),
    ("md5", &["md5"]),
    ("xxh128", &["xxh128", "xxhash128", "xxh", "xxhash"]),
    ("sha1", &["sha1"]),
    ("sha224", &["sha224", "sha2"]),
    ("sha3-224", &["sha3-224", "sha3_224", "sha3"]),
    ("sha256", &["sha256", "sha2", "shasums256", "shasum256"]),
    ("blake3", &["blake3", "b3"]),
    ("sha3-256", &["sha3-256", "sha3_256", "sha3"]),
    ("blake2s", &["blake2s", "blake2s256", "blake2"]),
    ("sm3", &["sm3"]),
    ("sha512-256", &["sha512-256", "sha512_256", "sha512256", "sha512t256"]),
    ("sha384", &["sha384", "sha2"]),
    ("sha3-384", &["sha3-384", "sha3_384", "sha3"]),
    ("sha512", &["sha512", "sha2", "shasums512", "shasum512"]),
    ("blake2b", &["blake2b", "blake2b512", "blake2", "b2"]),
    ("sha3-512", &["sha3-512", "sha3_512", "sha3"]),
];

/// The hashes of untagged sums, with the words that name each.
pub(crate) fn names() -> impl Iterator<Item = (Spec, &'static [&'static str])> {
    HASHES.iter().map(|(name, words)| (name.parse().expect("a format of the list"), *words))
}

/// The hashes whose sums have `digits` hex digits, the most usual first.
pub(crate) fn fitting(digits: usize) -> impl Iterator<Item = (Spec, &'static [&'static str])> {
    names().filter(move |(spec, _)| 2 * spec.hash().size() == digits)
}

/// The hashes that a sum of `digits` hex digits may be of if nothing names its hash, the most usual first. Where a hash has as many, a
/// checksum is none of them: a file that has a given checksum can be made.
pub(crate) fn unnamed(digits: usize) -> Vec<Spec> {
    let all: Vec<_> = fitting(digits).map(|(spec, _)| spec).collect();
    let is_hash = |spec: &&Spec| matches!(spec.hash(), Algorithm::Hash(_));
    match all.iter().any(|spec| is_hash(&spec)) {
        true => all.iter().filter(is_hash).cloned().collect(),
        false => all,
    }
}

/// The plain sums that only a tagged line, or the name of a sum file, names: their sums are taken for more usual ones of the same length.
fn rare() -> impl Iterator<Item = &'static Family> {
    let usual = |name| HASHES.iter().any(|(usual, _)| *usual == name);
    FAMILIES.iter().filter(move |family| family.tag.is_some() && !usual(family.name))
}

/// The rare plain sums that are hashes with `digits` hex digits.
pub(crate) fn unusual(digits: usize) -> impl Iterator<Item = Spec> {
    rare()
        .map(Spec::new)
        .filter(move |spec| 2 * spec.hash().size() == digits && matches!(spec.hash(), Algorithm::Hash(_)))
}

/// The names of the hashes that a sum of the same length as that of `taken` could be of, too.
pub fn alternatives(taken: &Spec) -> Vec<String> {
    let digits = 2 * taken.hash().size();
    unnamed(digits)
        .into_iter()
        .chain(unusual(digits))
        .filter(|spec| spec != taken)
        .map(|spec| spec.to_string())
        .collect()
}

/// Whether a lowercase name has a word, perhaps followed by `sum` or `sums`: `sha256sums.txt`, `x.sha256`.
fn has_word(name: &str, word: &str) -> bool {
    name.match_indices(word).any(|(at, _)| {
        let before = name[..at].chars().next_back();
        let after = &name[at + word.len()..];
        let after = after.strip_prefix("sum").map_or(after, |after| after.strip_prefix('s').unwrap_or(after));
        before.is_none_or(|letter| !letter.is_alphanumeric())
            && after.chars().next().is_none_or(|letter| !letter.is_alphanumeric())
    })
}

/// A bag whose manifest a sum file is (RFC 8493).
#[derive(Clone, Debug)]
pub struct Bag {
    /// The folder, as the beginning of paths.
    pub(super) folder: Vec<u8>,
    /// Whether `%` itself is encoded: from version 1.0 on.
    pub(super) percent: bool,
}

/// The facts about a sum file that are known before its lines are read.
#[derive(Clone, Debug)]
pub struct Source {
    pub(super) end: End,
    /// The format of lines that do not name one, if it was given.
    pub(super) given: Option<Choice>,
    /// The hash of untagged sums for each length in hex digits, and whether others would fit as well.
    hashes: Vec<(usize, Choice, bool)>,
    sfv: bool,
    /// The file that a line without a path is about: `x` if this is `x.md5`.
    pub(super) lone: Option<Vec<u8>>,
    pub(super) bag: Option<Bag>,
}

impl Source {
    /// Lines with these ends, from a file whose name says nothing; `given` is the format of lines that do not name one.
    pub fn new(end: End, given: Option<&Choice>) -> Self {
        Source { end, given: given.cloned(), hashes: hashes(""), sfv: false, lone: None, bag: None }
    }

    /// Returns this source with what the name of the sum file at `path` says about hashes and files.
    pub fn at(self, path: &Path) -> Self {
        let name = path.file_name().map(|name| name.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
        let known = |end: &str| {
            let word = end.strip_suffix("sum").unwrap_or(end);
            HASHES.iter().any(|(_, words)| words.contains(&word)) || rare().any(|family| family.name == word)
        };
        let lone = path.extension().is_some_and(|end| known(&end.to_string_lossy().to_ascii_lowercase()));
        let lone = lone.then(|| name::bytes(&path.with_extension("")).to_vec());
        Source { hashes: hashes(&name), sfv: name.ends_with(".sfv"), lone, ..self }
    }

    /// Returns this source as the manifest, at `path`, of a bag of this version.
    pub fn in_bag(self, path: &Path, version: &str) -> Self {
        let mut folder = path.parent().map(|folder| name::bytes(folder).to_vec()).unwrap_or_default();
        if !folder.is_empty() {
            folder.push(b'/');
        }
        Source { bag: Some(Bag { folder, percent: !version.starts_with("0.") }), ..self }
    }

    /// Whether the file at `path` has the name of a bag's manifest.
    pub fn is_manifest(path: &Path) -> bool {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let name = name.strip_prefix("tag").unwrap_or(name);
        name.starts_with("manifest-") && name.ends_with(".txt")
    }

    /// The file that a line without a path is about: `x` if the sum file is `x.md5`.
    pub fn lone(&self) -> Option<&[u8]> {
        self.lone.as_deref()
    }

    /// Whether the name is that of a file of CRC-32 sums, or of others in their syntax.
    pub(super) fn is_sfv(&self) -> bool {
        self.sfv
    }

    /// The format of a sum of so many hex digits, and whether others would fit as well; `None` if there is none.
    pub(super) fn choose(&self, digits: usize) -> Option<(Choice, bool)> {
        if let Some(given) = &self.given {
            return Some((given.clone(), false));
        }
        let (_, choice, several) = self.hashes.iter().find(|(length, ..)| *length == digits)?;
        Some((choice.clone(), *several))
    }
}

/// The hash of untagged sums for each length in hex digits, in a sum file with this lowercase name, and whether others would
/// fit as well.
fn hashes(name: &str) -> Vec<(usize, Choice, bool)> {
    let lengths: BTreeSet<_> = Algorithm::all().map(|hash| 2 * hash.size()).collect();
    let choose = |digits| {
        let all: Vec<_> = fitting(digits).collect();
        let usual = all.iter().filter(|(_, words)| words.iter().any(|word| has_word(name, word)));
        let others = rare().filter(|family| has_word(name, family.name)).map(Spec::new);
        let others = others.filter(|spec| 2 * spec.hash().size() == digits);
        let of_name: Vec<_> = usual.map(|(spec, _)| spec.clone()).chain(others).collect();
        let several = match of_name.len() {
            0 => unnamed(digits).into_iter().chain(unusual(digits)).nth(1).is_some(),
            named => named > 1,
        };
        let spec = of_name.first().or(all.first().map(|(spec, _)| spec))?;
        Some((digits, spec.clone().into(), several))
    };
    lengths.into_iter().filter_map(choose).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_sum_files_name_hashes() {
        let chosen = |name: &str, digits| {
            let source = Source::new(End::Newline, None).at(Path::new(name));
            source.choose(digits).map(|(choice, several)| (choice.spec().to_string(), several))
        };
        let sure = |name: &str| Some((name.to_string(), false));
        for (name, digits, hash) in [
            ("MD5SUMS", 32, "md5"),
            ("SHASUMS256.txt", 64, "sha256"),
            ("dir/SHA256SUMS", 64, "sha256"),
            ("x.iso.sha256sum", 64, "sha256"),
            ("B3SUMS", 64, "blake3"),
            ("x.b3", 64, "blake3"),
            ("manifest-blake3.txt", 64, "blake3"),
            ("SHA3-256SUMS", 64, "sha3-256"),
            ("SHA512-256SUMS", 64, "sha512-256"),
            ("SHA512-256SUMS", 128, "sha512"),
            ("sha3.txt", 128, "sha3-512"),
            ("B2SUMS", 128, "blake2b"),
            ("md5-and-sha256.txt", 32, "md5"),
            ("md5-and-sha256.txt", 64, "sha256"),
            ("x.sm3", 64, "sm3"),
            ("x.crc64nvme", 16, "crc64nvme"),
            ("x.xxh3", 16, "xxh3"),
            ("xxhsums.txt", 8, "xxh32"),
            ("xxhsums.txt", 16, "xxh64"),
            ("XXH128SUMS", 32, "xxh128"),
            ("CHECKSUMS", 32, "md5"),
            ("x.sha1", 40, "sha1"),
            ("RIPEMD160SUMS", 40, "ripemd160"),
        ] {
            assert_eq!(chosen(name, digits), sure(hash), "{name}");
        }
        let likely = |name: &str| Some((name.to_string(), true));
        for (name, digits, hash) in [
            ("CHECKSUMS", 16, "xxh64"),
            ("what.txt", 40, "sha1"),
            ("CHECKSUMS", 64, "sha256"),
            ("CHECKSUMS", 128, "sha512"),
            ("x.md5", 64, "sha256"),
            ("sha2567", 64, "sha256"),
            ("ab3sums", 64, "sha256"),
            ("sha256-blake3", 64, "sha256"),
        ] {
            assert_eq!(chosen(name, digits), likely(hash), "{name}");
        }
        assert_eq!(chosen("x.sfv", 8), sure("crc32"));
        assert_eq!(chosen("x.crc32c", 8), sure("crc32c"));
        assert_eq!(chosen("crc.md5", 8), likely("crc32"));
        assert_eq!(chosen("crc.md5", 10), None);
        assert!(alternatives(&"sha256".parse().unwrap()).contains(&"blake3".into()));
        assert_eq!(alternatives(&"sha1".parse().unwrap()), ["ripemd160"]);
    }

    #[test]
    fn a_manifest_has_its_name() {
        for (name, is) in [("a/manifest-md5.txt", true), ("tagmanifest-sha256.txt", true), ("manifest.txt", false)] {
            assert_eq!(Source::is_manifest(Path::new(name)), is, "{name}");
        }
    }
}
