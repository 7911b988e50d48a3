//! A root with its format, and roots as text.

use crate::digits;
use crate::formats::Text;
use crate::{Digest, Spec};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use base16ct::{lower, mixed};
use base64ct::{Base64, Base64Url, Encoding};
use core::fmt;

/// The root of an input: a digest that carries its format and the input's length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    spec: Spec,
    len: u64,
    digest: Digest,
}

impl Root {
    /// The root of `len` bytes.
    pub(crate) fn new(spec: Spec, len: u64, digest: Digest) -> Self {
        Root { spec, len, digest }
    }

    /// The format.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// The input's length, in bytes.
    #[allow(clippy::len_without_is_empty)] // A root is never empty.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// The digest alone.
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// Whether a claimed root is this one.
    pub fn matches(&self, claimed: &ClaimedRoot) -> bool {
        self.digest == claimed.digest && claimed.parts == parts(&self.spec, self.len)
    }
}

/// The number that S3 writes after a composite checksum.
fn parts(spec: &Spec, len: u64) -> Option<u64> {
    (spec.family().text == Text::Parts).then(|| len.div_ceil(spec.leaf()).max(1))
}

/// The text before a root's digits.
fn before(spec: &Spec) -> &'static str {
    match spec.family().text {
        Text::After(word) => word,
        Text::Hex | Text::Base64 | Text::C4 | Text::Nix | Text::Parts => "",
    }
}

/// Whether the hash is MD5, whose composite checksums S3 writes in hex: those of ETags.
fn is_md5(spec: &Spec) -> bool {
    spec.hash().name() == "md5"
}

/// A root as the tools of its format print it: lower-case hex, perhaps behind a word, base64, or as S3 does.
fn text(spec: &Spec, digest: &Digest, parts: Option<u64>) -> String {
    let digest = digest.as_bytes();
    match parts {
        None if spec.family().text == Text::Base64 => Base64::encode_string(digest),
        None if spec.family().text == Text::C4 => digits::c4_id(digest),
        None if spec.family().text == Text::Nix => format!("{}-{}", spec.hash().name(), Base64::encode_string(digest)),
        None => format!("{}{}", before(spec), lower::encode_string(digest)),
        Some(parts) if is_md5(spec) => format!("{}-{parts}", lower::encode_string(digest)),
        Some(parts) => format!("{}-{parts}", Base64::encode_string(digest)),
    }
}

impl fmt::Display for Root {
    /// Writes the root as the format's own tools print it: lower-case hex, perhaps behind a word, base64, or S3's form.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&text(&self.spec, &self.digest, parts(&self.spec, self.len)))
    }
}

/// A root that was supplied as text, not known to be that of any input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimedRoot {
    digest: Digest,
    parts: Option<u64>,
}

impl ClaimedRoot {
    /// The number of parts of an S3 upload, where the text has it.
    pub fn parts(&self) -> Option<u64> {
        self.parts
    }

    /// The digest alone.
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// The text, as the tools of the format `spec` print it.
    pub fn text(&self, spec: &Spec) -> String {
        text(spec, &self.digest, self.parts)
    }
}

impl From<&Root> for ClaimedRoot {
    fn from(root: &Root) -> Self {
        ClaimedRoot { digest: root.digest, parts: parts(&root.spec, root.len) }
    }
}

impl Spec {
    /// Reads a root's text: hex in either case, behind the word that the format's roots begin with, base64, a C4 id or Nix's
    /// base 32 if they are written so, or as S3 writes it.
    ///
    /// # Errors
    /// If no root of this format is written so.
    pub fn claimed_root(&self, text: &str) -> Result<ClaimedRoot, RootError> {
        let size = self.hash().size();
        let refuse = || RootError {
            found: text.chars().take(80).collect(),
            expected: match self.family().text {
                Text::Hex => format!("{} hex digits", 2 * size),
                Text::C4 => format!("'c4' and 88 digits of base 58, or {} hex digits", 2 * size),
                Text::Nix => format!("'{}-' and base64, Nix's base 32, or {} hex digits", self.hash().name(), 2 * size),
                Text::Base64 => format!("{size} bytes in base64, or {} hex digits", 2 * size),
                Text::After(word) => format!("'{word}' and {} hex digits", 2 * size),
                Text::Parts if is_md5(self) => format!("{} hex digits, '-' and the number of parts", 2 * size),
                Text::Parts => format!("{size} bytes in base64, '-' and the number of parts"),
            },
        };
        let (digest, parts) = match self.family().text {
            Text::Hex | Text::Base64 | Text::C4 => (text, None),
            Text::Nix => {
                let bare = text.strip_prefix(self.hash().name()).and_then(|rest| rest.strip_prefix(['-', ':']));
                (bare.unwrap_or(text), None)
            }
            Text::After(word) => (text.strip_prefix(word).ok_or_else(refuse)?, None),
            Text::Parts => {
                let (digest, parts) = text.rsplit_once('-').ok_or_else(refuse)?;
                let whole = !parts.is_empty() && parts.bytes().all(|byte| byte.is_ascii_digit());
                (digest, Some(parts.parse().ok().filter(|&parts| whole && parts > 0).ok_or_else(refuse)?))
            }
        };
        let digest = match parts {
            Some(_) if !is_md5(self) => Base64::decode_vec(digest).ok(),
            None if self.family().text == Text::C4 && digest.len() != 2 * size => digits::of_c4_id(digest),
            None if self.family().text == Text::Nix && digest.len() != 2 * size => {
                digits::of_nix32(digest, size).or_else(|| Base64::decode_vec(digest).ok())
            }
            None if self.family().text == Text::Base64 && digest.len() != 2 * size => {
                Base64::decode_vec(digest).or_else(|_| Base64Url::decode_vec(digest)).ok()
            }
            _ => mixed::decode_vec(digest).ok(),
        };
        let digest = digest.filter(|digest| digest.len() == size).ok_or_else(refuse)?;
        Ok(ClaimedRoot { digest: Digest::new(&digest), parts })
    }

    /// Returns this format with each part size that divides an upload of `len` bytes into `parts` parts, the likeliest first.
    ///
    /// At most 16: those of the common tools first, in MiB and in MB. Empty where no part size fits or the format has no parts.
    pub fn part_sizes(&self, len: u64, parts: u64) -> Vec<Spec> {
        const MIB: u64 = 1 << 20;
        /// The defaults of the AWS tools, of s3cmd, rclone, and of the SDKs' transfer managers.
        const COMMON: [u64; 10] = [8, 5, 16, 15, 64, 10, 32, 50, 100, 128];
        if self.family().text != Text::Parts || parts == 0 || (parts > 1 && len < parts) {
            return Vec::new();
        }
        let low = len.div_ceil(parts).max(1);
        let high = if parts == 1 { low } else { (len - 1) / (parts - 1) };
        let common = [MIB, 1_000_000].into_iter().flat_map(|unit| COMMON.map(|count| count * unit));
        let powers = (0..41).map(|power| 1 << power);
        let multiples = |unit: u64| (low.div_ceil(unit)..=high / unit).take(16).map(move |count| count * unit);
        let mut sizes: Vec<u64> = Vec::new();
        for size in common.chain(powers).chain(multiples(MIB)).chain(multiples(MIB / 2)).chain([low]) {
            if !sizes.contains(&size) && len.div_ceil(size).max(1) == parts {
                sizes.push(size);
            }
        }
        sizes.truncate(16);
        sizes.into_iter().filter_map(|size| self.clone().with_leaf(size).ok()).collect()
    }
}

/// A text that is not a root of its format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RootError {
    found: String,
    expected: String,
}

impl fmt::Display for RootError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}' is not a root of this format: expected {}", self.found, self.expected)
    }
}

impl core::error::Error for RootError {}

#[cfg(test)]
mod tests {
    use crate::Spec;
    use alloc::format;

    fn is_root(spec: &str, text: &str) -> bool {
        spec.parse::<Spec>().unwrap().claimed_root(text).is_ok()
    }

    #[test]
    fn hex_is_read_in_either_case_and_nothing_else() {
        let hex = "5891B5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03";
        assert!(is_root("rfc6962", hex) && is_root("rfc6962", &hex.to_uppercase()));
        for wrong in [&hex[1..], &hex[2..], &hex.replace('5', "g"), &hex.replace('5', " "), &format!("{hex}00"), ""] {
            assert!(!is_root("rfc6962", wrong), "{wrong}");
        }
        assert!("dmverity:salt=0aFF".parse::<Spec>().is_ok());
        assert!("dmverity:salt=0aF".parse::<Spec>().is_err());
        assert!("dmverity:salt=0x".parse::<Spec>().is_err());
    }

    #[test]
    fn base64_is_padded_and_has_no_bits_left_over() {
        let text = "WJG1tSLV3whtD/CxEPvZ0hu0/HFjrzTQgoai6Eb2vgM=";
        assert!(is_root("s3:sha256", &format!("{text}-3")));
        let others = ["=", "/", "M="].map(|part| text.replace(part, ""));
        let url = text.replace('/', "_");
        // The last digit has two bits that are no part of a byte.
        for wrong in others.iter().chain([&url, &text.replace("M=", "N="), &format!("{text}\n"), &format!("{text}=")]) {
            assert!(!is_root("s3:sha256", &format!("{wrong}-3")), "{wrong}");
        }
    }
}
