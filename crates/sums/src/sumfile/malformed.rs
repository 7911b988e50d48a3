//! Why a line of a sum file is not an entry.

use crate::name;
use mksum::RootError;
use std::fmt;

/// The longest line that is read, in bytes without its end: many times the longest path of any system, escaped.
pub const LONGEST: usize = 1 << 16;

/// The reason why a line of a sum file is not an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// The line has no known form.
    NoLine,
    /// The line has a sum alone.
    NoPath,
    /// The line names no format, and none was given.
    NoFormat,
    /// The line names a format that does not exist, or another tool's: its first letters.
    Tag(String),
    /// The root is not valid in the line's format.
    Root(RootError),
    /// The path has an escape that does not exist.
    Escape,
    /// The path cannot be the name of a file.
    Name,
    /// The columns name no known hash.
    Columns,
    /// The sum is the CRC of `cksum` without `-a`, which is not a format.
    Crc,
    /// The line is outside of what the list's PGP signature is of.
    Outside,
    /// The line is longer than [`LONGEST`].
    TooLong,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Malformed::NoLine => f.write_str("neither 'FORMAT (PATH) = ROOT' nor 'ROOT  PATH'"),
            Malformed::NoPath => f.write_str("a sum without the name of its file: 'mksum --expect SUM FILE' compares one"),
            Malformed::NoFormat => f.write_str("it does not name its format: give it with -f"),
            Malformed::Tag(tag) => write!(f, "'{}' is not a known format", name::printable(tag)),
            Malformed::Root(error) => f.write_str(&name::printable(&error.to_string())),
            Malformed::Escape => f.write_str("an escape other than \\n, \\r and \\\\ in its path"),
            Malformed::Name => f.write_str("its path cannot be a file's name"),
            Malformed::Columns => f.write_str("no column has a sum of a known hash"),
            Malformed::Crc => {
                f.write_str("a CRC of POSIX cksum, which mksum does not have: compare it with the output of cksum, or list files with cksum -a sha256")
            }
            Malformed::Outside => f.write_str("outside of the lines that the PGP signature is of"),
            Malformed::TooLong => write!(f, "longer than {LONGEST} bytes"),
        }
    }
}

impl std::error::Error for Malformed {}
