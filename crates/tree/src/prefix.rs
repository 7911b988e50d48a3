//! The bytes that are hashed before and after a leaf's.

use crate::archive;
use alloc::borrow::Cow;
use alloc::format;
use alloc::vec::Vec;

/// Bytes that are hashed before a body.
pub(crate) type Prefix = Cow<'static, [u8]>;

/// What stands before and after a leaf's bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PrefixRule {
    /// The same bytes before every leaf.
    Same(Prefix),
    /// The header of a git object: this word, a space, the leaf's length as a decimal number, and a zero byte.
    Header(&'static str),
    /// A Nix archive of a file, around its content.
    Archive { executable: bool },
}

impl PrefixRule {
    /// The prefix of a leaf of `len` bytes.
    pub fn of(&self, len: u64) -> Cow<'_, [u8]> {
        match self {
            PrefixRule::Same(prefix) => Cow::Borrowed(prefix),
            PrefixRule::Header(word) => format!("{word} {len}\0").into_bytes().into(),
            PrefixRule::Archive { executable } => archive::of_file(*executable, len).into(),
        }
    }

    /// The bytes after a leaf of `len` bytes; `None` where no leaf has any.
    pub fn after(&self, len: u64) -> Option<Vec<u8>> {
        matches!(self, PrefixRule::Archive { .. }).then(|| archive::after_content(len))
    }
}

impl From<Prefix> for PrefixRule {
    fn from(prefix: Prefix) -> Self {
        PrefixRule::Same(prefix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_those_of_git() {
        for (len, expected) in [(0, "blob 0\0"), (10, "blob 10\0"), (u64::MAX, "blob 18446744073709551615\0")] {
            assert_eq!(&*PrefixRule::Header("blob").of(len), expected.as_bytes());
        }
    }
}
