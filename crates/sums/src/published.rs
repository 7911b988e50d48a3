//! A sum as it was published: on a web page, in a lock file, by a registry or a store.

use crate::choice::Choice;
use crate::sum::End;
use crate::sumfile::source::{fitting, names, unnamed, unusual};
use crate::sumfile::{self, Source, State, plain_sum};
use base16ct::{lower, mixed};
use base64ct::{Base64, Base64Unpadded, Encoding};
use mksum::formats::{FAMILIES, Family};
use mksum::{Algorithm, ClaimedRoot, Spec};
use std::fmt;

/// A published sum, and the formats that it may be of.
#[derive(Clone, Debug)]
pub struct Published {
    /// The sum.
    pub root: ClaimedRoot,
    /// The formats in which a file may have it: the usual ones.
    pub usual: Vec<Choice>,
    /// Formats that are seldom seen, to be tried where no usual one has it.
    pub unusual: Vec<Choice>,
    /// Whether the text names its format.
    pub is_named: bool,
}

/// Trees with one root for a file, which services print without naming their format.
const TREES: [&str; 9] =
    ["dropbox", "glacier", "btv2", "fsverity", "sha256tree", "xet", "git:sha1", "git:sha256", "nar"];

/// What stands before the digits of an identifier of Software Heritage, whatever it is of.
const SWHID: &str = "swh:";

/// The formats of Nix's archives, of files and of directories: their text is that of SHA-256 in subresource integrity, or base 32.
const NIX: &[&str] = &["nar", "dir:nar"];

/// The formats whose text no other has: Nix's base 32, and C4's base 58.
const OWN_TEXTS: &[&str] = &["nar", "dir:nar", "c4"];

impl Published {
    /// Reads a root in any form in which mksum prints it or [`Published::parse`] reads it, or the line of a sum file. `given` is its
    /// format, if that is known.
    ///
    /// # Errors
    /// If it is none, or that of a part of a file: as words.
    pub fn read(text: &str, given: Option<&Choice>) -> Result<Self, String> {
        let text = text.trim();
        match (alone(text), given) {
            (Some(sum), Some(choice)) => Published::of(choice, &sum).map_err(|error| format!("{error} ({choice})")),
            (Some(sum), None) => Published::parse(&sum).map_err(|error| error.to_string()),
            (None, _) => {
                match sumfile::parse(text.as_bytes(), &Source::new(End::Newline, given), &mut State::default()) {
                    Ok(Some(entry)) if entry.range.is_some() => Err("it is the root of a part of a file".into()),
                    // Without a name, the digest alone decides.
                    Ok(Some(entry)) if entry.guessed => Published::read(first_word(text), given),
                    Ok(Some(entry)) => Ok(Published {
                        root: entry.claimed,
                        usual: vec![entry.choice],
                        unusual: Vec::new(),
                        is_named: true,
                    }),
                    Ok(None) => Err("expected a root, or the line of a sum file".into()),
                    Err(error) => Err(error.to_string()),
                }
            }
        }
    }

    /// Reads a sum that stands alone, without the path of a file: as [`Published::parse`], and
    ///
    /// - behind its name as pages and servers have it: `SHA-256: …`, `md5sum = …`, `Content-MD5: …`, `ETag: "…"`;
    /// - in groups of digits, as fingerprints are shown.
    ///
    /// # Errors
    /// If no format has roots that are written so.
    pub fn alone(text: &str) -> Result<Self, NotPublished> {
        Published::parse(&alone(text).unwrap_or_else(|| text.into()))
    }

    /// Reads a sum of an unknown format, in one of the ways in which sums are published:
    ///
    /// - hex in either case, or base64 with or without padding (`Content-MD5`, S3's checksums);
    /// - behind the name of its hash or format and `:` (image registries, `SHA256:` of ssh) or `-` (subresource integrity);
    /// - with the number of parts behind it (ETags of uploads to S3);
    /// - in base 32, alone or behind `sha256:`, as Nix writes hashes of archives;
    /// - as a C4 ID, `c4…`;
    /// - as an identifier of Software Heritage, `swh:1:cnt:…` of a file or `swh:1:dir:…` of a directory;
    /// - any of these in double quotes, as servers send ETags.
    ///
    /// Without a name, the length decides: all formats with digests so long are possible.
    ///
    /// # Errors
    /// If no format has roots that are written so.
    pub fn parse(text: &str) -> Result<Self, NotPublished> {
        let refuse = || {
            NotPublished(match text.char_indices().nth(160) {
                Some((end, _)) => format!("{}…", &text[..end]),
                None => text.into(),
            })
        };
        let bare = unquoted(text);
        if bare.starts_with(SWHID) {
            return with_choices(choices(&["swhid", "dir:swhid"]), bare).ok_or_else(refuse);
        }
        let without_name = |found| Published { is_named: false, ..found };
        let own_text = || with_choices(choices(OWN_TEXTS), bare).map(without_name);
        if let Some((name, rest)) = split(bare) {
            let named = named(name);
            if !named.is_empty() {
                let mut found = with_choices(named, rest).or_else(own_text).ok_or_else(refuse)?;
                if choices(&["nar"]).iter().any(|choice| found.root.text(choice.spec()) == bare) {
                    found.unusual = choices(NIX);
                }
                return Ok(found);
            }
        }
        let of_upload = |spec: &Spec| spec.claimed_root(bare).is_ok_and(|root| root.parts().is_some());
        let uploads = FAMILIES.iter().flat_map(all_hashes).filter(of_upload).map(Choice::from).collect();
        if let Some(found) = with_choices(uploads, bare) {
            return Ok(without_name(found));
        }
        let Some(digest) = digest(bare) else { return own_text().ok_or_else(refuse) };
        let tree = |spec: Spec| (spec.hash().size() == digest.len()).then(|| Choice::from(spec));
        let plain: Vec<_> = unnamed(2 * digest.len()).into_iter().map(Choice::from).collect();
        let (first, rest) = plain.split_at(plain.len().min(2));
        let usual: Vec<_> = tree(Spec::default()).into_iter().chain(first.iter().cloned()).collect();
        let trees = TREES.iter().filter_map(|name| name.parse().ok()).filter_map(tree);
        let rare = unusual(2 * digest.len()).map(Choice::from);
        let unusual = trees.chain(rest.iter().cloned()).chain(rare).collect();
        let spec = usual.first().ok_or_else(refuse)?.spec();
        let root = spec.claimed_root(&lower::encode_string(&digest)).map_err(|_| refuse())?;
        Ok(Published { root, usual, unusual, is_named: false })
    }

    /// The checksums that the sum can be of only if it stands behind their name: hashes are as long, and anybody can make a file with a
    /// given checksum.
    pub fn only_named(&self) -> Vec<Choice> {
        let (size, is_bare) = (self.root.digest().as_bytes().len(), !self.is_named && self.root.parts().is_none());
        let is_checksum = |spec: &Spec| matches!(spec.hash(), Algorithm::Checksum(_)) && spec.hash().size() == size;
        let plain = FAMILIES.iter().filter(|family| is_bare && family.tag.is_some()).map(Spec::new);
        let all = plain.filter(is_checksum).map(Choice::from);
        all.filter(|choice| !self.usual.contains(choice) && !self.unusual.contains(choice)).collect()
    }

    /// Reads a sum of this format, in the same ways.
    ///
    /// # Errors
    /// If no root of the format is written so.
    pub fn of(choice: &Choice, text: &str) -> Result<Self, mksum::RootError> {
        let bare = unquoted(text);
        let rest = split(bare).filter(|(name, _)| named(name).contains(choice)).map(|(_, rest)| rest);
        let found = [Some(bare), rest].into_iter().flatten().find_map(|text| with_choices(vec![choice.clone()], text));
        found.ok_or_else(|| choice.spec().claimed_root(bare).expect_err("it was tried, and refused"))
    }
}

/// The name before a sum, and the sum.
fn split(text: &str) -> Option<(&str, &str)> {
    match text.find(&format!(":{SWHID}")) {
        Some(at) => Some((&text[..at], &text[at + 1..])),
        None => text.rsplit_once([':', '-']),
    }
}

/// The formats with these names.
fn choices(names: &[&str]) -> Vec<Choice> {
    names.iter().filter_map(|name| name.parse().ok()).collect()
}

/// The text without spaces and quotes around it, and without the mark of a weak ETag (RFC 9110, 8.8.3).
fn unquoted(text: &str) -> &str {
    let text = text.trim();
    let text = text.strip_prefix("W/").unwrap_or(text);
    let inner = |quote: char| text.strip_prefix(quote).and_then(|text| text.strip_suffix(quote));
    ['"', '\'', '`'].into_iter().find_map(inner).unwrap_or(text)
}

fn first_word(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or_default()
}

/// A sum that stands alone as one word, with the name of its format if there was one; `None` for anything else of several words.
fn alone(text: &str) -> Option<String> {
    let words: Vec<_> = unquoted(text).split_whitespace().collect();
    let (name, sum) = match words[..] {
        [] => return Some(String::new()),
        [word] => return grouped(&word.split(':').collect::<Vec<_>>()).or_else(|| Some(word.into())),
        [name, sum] if name.ends_with(':') => (name.trim_end_matches(':'), sum),
        [name, "=", sum] => (name, sum),
        _ => return grouped(&words),
    };
    let is_upload = || Published::parse(sum).is_ok_and(|published| published.root.parts().is_some());
    if name.eq_ignore_ascii_case("etag") || is_upload() {
        return Some(sum.into());
    }
    // The names of headers end in those of hashes.
    let end = name.rsplit('-').next().unwrap_or(name);
    let known = [name, end].into_iter().find(|name| !named(name).is_empty());
    Some(format!("{}:{}", known.unwrap_or(name), unquoted(sum)))
}

/// The hex digits that stand in groups of one length.
fn grouped(groups: &[&str]) -> Option<String> {
    let len = groups.first()?.len();
    let is_group = |group: &&str| group.len() == len && group.bytes().all(|byte| byte.is_ascii_hexdigit());
    (groups.len() >= 4 && [2, 4, 8].contains(&len) && groups.iter().all(is_group)).then(|| groups.concat())
}

/// The formats with this name: that of a hash in any of its spellings (`SHA-256`, `b3`), of a program (`md5sum`), or a format as mksum
/// writes it.
pub fn named(name: &str) -> Vec<Choice> {
    let lowercase = name.to_ascii_lowercase();
    let word = match lowercase.strip_prefix("sha-") {
        Some(length) => format!("sha{length}"),
        None => lowercase.replace('/', "-"),
    };
    let word = word.strip_suffix("sum").unwrap_or(&word);
    let hashes: Vec<_> = names().filter(|(_, words)| words.contains(&word)).map(|(spec, _)| spec.into()).collect();
    match hashes.is_empty() {
        true => name.parse().ok().or_else(|| plain_sum(name)).into_iter().collect(),
        false => hashes,
    }
}

/// The sum of those of the formats whose roots are written so.
fn with_choices(choices: Vec<Choice>, text: &str) -> Option<Published> {
    let root = |choice: &Choice| {
        let spec = choice.spec();
        let hex = || digest(text).map(|bytes| lower::encode_string(&bytes));
        spec.claimed_root(text).ok().or_else(|| spec.claimed_root(&hex()?).ok())
    };
    let fitting: Vec<_> = choices.into_iter().filter_map(|choice| Some((root(&choice)?, choice))).collect();
    let root = fitting.first()?.0.clone();
    Some(Published {
        root,
        usual: fitting.into_iter().map(|(_, choice)| choice).collect(),
        unusual: Vec::new(),
        is_named: true,
    })
}

/// A format with each hash that it allows.
fn all_hashes(family: &'static Family) -> impl Iterator<Item = Spec> {
    family.hashes.iter().filter_map(move |&hash| Spec::new(family).with_hash(hash).ok())
}

/// The bytes of a digest in hex or base64.
fn digest(text: &str) -> Option<Vec<u8>> {
    let is_hex = fitting(text.len()).next().is_some();
    let hex = || mixed::decode_vec(text).ok().filter(|_| is_hex);
    let base64 = || Base64::decode_vec(text).or_else(|_| Base64Unpadded::decode_vec(text)).ok();
    hex().or_else(base64).filter(|digest| fitting(2 * digest.len()).next().is_some())
}

/// A text that is a sum of no format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotPublished(String);

impl fmt::Display for NotPublished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NotPublished(text) = self;
        write!(
            f,
            "'{text}' is no sum of a known format: expected hex or base64, perhaps behind a name as in sha256:… or sha512-…, or \
             an ETag"
        )
    }
}

impl std::error::Error for NotPublished {}

#[cfg(test)]
mod tests {
    use super::*;

    /// The SHA-256 and the MD5 of nothing.
    const SHA256: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    const MD5: &str = "d41d8cd98f00b204e9800998ecf8427e";

    fn formats(choices: &[Choice]) -> Vec<String> {
        choices.iter().map(|choice| choice.to_string()).collect()
    }

    #[test]
    fn sums_are_read_as_they_are_published() {
        let base64 = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";
        for text in [
            &format!("sha256:{SHA256}"),
            &format!("SHA-256:{}", SHA256.to_uppercase()),
            &format!("SHA256:{}", base64.trim_end_matches('=')),
            &format!("\"sha256-{base64}\""),
            &format!("  plain:sha256:{SHA256}\n").replace("plain:", ""),
        ] {
            let found = Published::parse(text).unwrap();
            assert_eq!(formats(&found.usual), ["sha256"], "{text}");
            assert_eq!(lower::encode_string(found.root.digest().as_bytes()), SHA256, "{text}");
        }
        for text in [SHA256, base64, &SHA256.to_uppercase(), &format!("\"{SHA256}\"")] {
            let found = Published::parse(text).unwrap();
            assert_eq!(formats(&found.usual), ["rfc6962:sha256:64KiB", "sha256", "blake3"], "{text}");
            assert!(
                formats(&found.unusual).contains(&"sha3-256".into())
                    && formats(&found.unusual).contains(&"dropbox".into())
            );
        }
        let found = Published::parse(&format!("rfc6962:sha256:1MiB:{SHA256}")).unwrap();
        assert_eq!(formats(&found.usual), ["rfc6962:sha256:1MiB"]);
        assert_eq!(formats(&Published::parse(MD5).unwrap().usual), ["md5"]);
        assert_eq!(formats(&Published::parse("1B2M2Y8AsgTpgAmY7PhCfg==").unwrap().usual), ["md5"]);
        assert_eq!(formats(&Published::parse("XXH64:363b02a42408a1f6").unwrap().usual), ["xxh64"]);
        assert_eq!(formats(&Published::parse("xxhash3:kR+rpzIf4aA=").unwrap().usual), ["xxh3"]);
        let quickxor = Published::parse("quickxor:aCgDG9jwBhDc4Q1yawMZAAAAAAA=").unwrap();
        assert_eq!(formats(&quickxor.usual), ["quickxor"]);
        let id = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
        for (text, format) in [
            (format!("swh:1:cnt:{id}"), "swhid"),
            (format!("swh:1:dir:{id}"), "dir:swhid"),
            (format!("swhid:swh:1:cnt:{id}"), "swhid"),
            (format!("dir:swhid:swh:1:dir:{id}"), "dir:swhid"),
            (format!("git:sha1:{id}"), "git:sha1"),
            (format!("dir:git:sha1:{id}"), "dir:git:sha1"),
        ] {
            assert_eq!(formats(&Published::parse(&text).unwrap().usual), [format], "{text}");
            let choice: Choice = format.parse().unwrap();
            assert_eq!(formats(&Published::of(&choice, &text).unwrap().usual), [format], "{text}");
        }
        let nix32 = "0mdqa9w1p6cmli6976v4wi0sw9r4p5prkj7lzfd1877wk11c9c73";
        for text in [nix32, &format!("sha256:{nix32}")] {
            assert_eq!(formats(&Published::parse(text).unwrap().usual), NIX, "{text}");
        }
        assert_eq!(
            formats(&Published::parse("sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=").unwrap().unusual),
            NIX
        );
        assert!(formats(&Published::parse(id).unwrap().unusual).contains(&"git:sha1".into()));
        assert!(formats(&Published::parse(SHA256).unwrap().unusual).contains(&"xet".into()));
        // Of nothing: SMPTE ST 2114, as PyPI's ascmhl writes it.
        let c4 = "c459dsjfscH38cYeXXYogktxf4Cd9ibshE3BHUo6a58hBXmRQdZrAkZzsWcbWtDg5oQstpDuni4Hirj75GEmTc1sFT";
        assert_eq!(formats(&Published::parse(c4).unwrap().usual), ["c4"]);
    }

    #[test]
    fn sums_are_read_as_pages_servers_and_fingerprints_have_them() {
        let groups = |len: usize, between: &str| {
            SHA256.as_bytes().chunks(len).map(|group| str::from_utf8(group).unwrap()).collect::<Vec<_>>().join(between)
        };
        let part = format!("{MD5}-12");
        let base64 = "Xfbg4nYTWdMKgnUFjimfzAOBU0VF9Vz0PkGYP11MlFY=-1";
        for (text, format, is_named) in [
            (format!("SHA-256: {SHA256}"), "sha256", true),
            (format!("SHA-512/256 = {SHA256}"), "sha512-256", true),
            (format!("md5sum: {MD5}"), "md5", true),
            (format!("CRC-32: {}", "CBF43926"), "crc32", true),
            (format!("RIPEMD160: {}", &SHA256[24..]), "ripemd160", true),
            ("Content-MD5: 1B2M2Y8AsgTpgAmY7PhCfg==".into(), "md5", true),
            ("x-amz-checksum-crc32: y/Q5Jg==".into(), "crc32", true),
            (format!("x-amz-checksum-sha256: {base64}"), "s3:sha256:8MiB", false),
            (format!("ETag: W/\"{part}\""), "s3:md5:8MiB", false),
            (format!(" '{part}' "), "s3:md5:8MiB", false),
            (MD5.into(), "md5", false),
            (groups(2, ":"), "rfc6962:sha256:64KiB", false),
            (groups(4, " "), "rfc6962:sha256:64KiB", false),
        ] {
            let found = Published::alone(&text).unwrap();
            assert_eq!((&*formats(&found.usual)[0], found.is_named), (format, is_named), "{text}");
            assert_eq!(formats(&Published::read(&text, None).unwrap().usual), formats(&found.usual), "{text}");
        }
        for text in ["hello", "a b", "SHA256: x", &format!("{SHA256}  file"), &format!("SHA256 (a) = {SHA256}")] {
            assert!(Published::alone(text).is_err(), "{text}");
        }
        assert!(formats(&Published::alone(&SHA256[24..]).unwrap().unusual).contains(&"ripemd160".into()));
    }

    #[test]
    fn a_number_of_parts_is_that_of_an_upload() {
        let found = Published::parse(&format!("\"{MD5}-3\"")).unwrap();
        assert_eq!((formats(&found.usual), found.root.parts()), (vec!["s3:md5:8MiB".into()], Some(3)));
        let found = Published::parse("47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=-2").unwrap();
        assert_eq!((formats(&found.usual), found.root.parts()), (vec!["s3:sha256:8MiB".into()], Some(2)));
        let found = Published::parse("AAAAAA==-2").unwrap();
        assert_eq!(formats(&found.usual), ["s3:crc32:8MiB", "s3:crc32c:8MiB"]);
    }

    #[test]
    fn anything_else_is_refused() {
        for text in [
            "",
            "\"",
            "x",
            "swh:1:rev:4b825dc642cb6eb9a060e54bf8d69288fbee4904",
            "swh:1:cnt:4b82",
            "sha256:",
            "sha256:abcd",
            "md5-",
            "dir:blake3:00",
            "zz",
            &SHA256[1..],
            &format!("{MD5}-0"),
        ] {
            assert!(Published::parse(text).is_err(), "{text}");
        }
        assert!(Published::parse(&"a".repeat(1 << 20)).is_err());
    }

    #[test]
    fn a_given_format_has_its_own_sums_only() {
        let choice: Choice = "sha256".parse().unwrap();
        for text in [SHA256, &format!("sha256:{SHA256}"), &format!("\"{SHA256}\"")] {
            assert_eq!(formats(&Published::of(&choice, text).unwrap().usual), ["sha256"], "{text}");
        }
        assert!(Published::of(&choice, &format!("blake3:{SHA256}")).is_err());
        let error = Published::of(&choice, MD5).unwrap_err().to_string();
        assert_eq!(error, format!("'{MD5}' is not a root of this format: expected 64 hex digits"));
    }
}
