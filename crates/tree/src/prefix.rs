//! The bytes that are hashed before a leaf's.

use alloc::borrow::Cow;
use core::ops::Deref;

/// Bytes that are hashed before a body.
pub(crate) type Prefix = Cow<'static, [u8]>;

/// What stands before a leaf's bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PrefixRule {
    /// The same bytes before every leaf.
    Same(Prefix),
    /// The header of a git object: this word, a space, the leaf's length as a decimal number, and a zero byte.
    Header(&'static str),
}

impl PrefixRule {
    /// The prefix of a leaf of `len` bytes.
    pub fn of(&self, len: u64) -> LeafPrefix<'_> {
        match self {
            PrefixRule::Same(prefix) => LeafPrefix(Held::Borrowed(prefix)),
            PrefixRule::Header(word) => LeafPrefix(Held::Written(header(word, len))),
        }
    }
}

impl From<Prefix> for PrefixRule {
    fn from(prefix: Prefix) -> Self {
        PrefixRule::Same(prefix)
    }
}

/// The bytes before a leaf's: fewer than a block of the leaf's hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeafPrefix<'a>(Held<'a>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Held<'a> {
    Borrowed(&'a [u8]),
    Written(Header),
}

impl Deref for LeafPrefix<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.0 {
            Held::Borrowed(bytes) => bytes,
            Held::Written(header) => header,
        }
    }
}

/// The header of a git object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// At most four letters, a space, twenty digits and a zero byte.
    bytes: [u8; 26],
    len: u8,
}

impl Deref for Header {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[..self.len.into()]
    }
}

/// The header of a git object of `len` bytes; `word` is its type, of at most four letters: `blob`, `tree`.
pub(crate) fn header(word: &str, len: u64) -> Header {
    let mut digits = [0; 20];
    let mut from = digits.len();
    let mut rest = len;
    loop {
        from -= 1;
        digits[from] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    let mut header = Header { bytes: [0; 26], len: 0 };
    for byte in word.bytes().chain([b' ']).chain(digits[from..].iter().copied()).chain([0]) {
        header.bytes[usize::from(header.len)] = byte;
        header.len += 1;
    }
    header
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_those_of_git() {
        for (len, expected) in [(0, "blob 0\0"), (10, "blob 10\0"), (u64::MAX, "blob 18446744073709551615\0")] {
            assert_eq!(&*header("blob", len), expected.as_bytes());
        }
        assert_eq!(&*PrefixRule::Header("tree").of(7), b"tree 7\0");
    }
}
