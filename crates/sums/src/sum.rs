//! Lines of sum files, written.

use crate::name;

/// The form of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// `FORMAT (PATH) = ROOT`: it needs nothing else to be checked.
    Tagged,
    /// `ROOT  PATH`, like sha256sum and b3sum.
    Untagged,
}

/// The end of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// A newline; names that hold one are escaped.
    Newline,
    /// A zero byte, which no name holds; nothing is escaped.
    Zero,
}

impl End {
    /// The byte.
    pub fn byte(self) -> u8 {
        match self {
            End::Newline => b'\n',
            End::Zero => 0,
        }
    }
}

/// The line with the root of a file, and its end.
pub fn line(style: Style, end: End, format: &str, path: &[u8], root: &str) -> Vec<u8> {
    let escaped = match end {
        End::Newline => name::escaped(path),
        End::Zero => None,
    };
    let mark: &[u8] = if escaped.is_some() { b"\\" } else { b"" };
    let path = escaped.as_deref().unwrap_or(path);
    let end = &[end.byte()];
    match style {
        Style::Tagged => [mark, format.as_bytes(), b" (", path, b") = ", root.as_bytes(), end].concat(),
        Style::Untagged => [mark, root.as_bytes(), b"  ", path, end].concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_read_as_specified() {
        let text = |style, end, path: &[u8]| String::from_utf8(line(style, end, "blake3", path, "00")).unwrap();
        assert_eq!(text(Style::Tagged, End::Newline, b"a b"), "blake3 (a b) = 00\n");
        assert_eq!(text(Style::Untagged, End::Newline, b"a b"), "00  a b\n");
        assert_eq!(text(Style::Tagged, End::Newline, b"a\nb"), "\\blake3 (a\\nb) = 00\n");
        assert_eq!(text(Style::Untagged, End::Newline, b"a\\b"), "\\00  a\\\\b\n");
        assert_eq!(text(Style::Untagged, End::Zero, b"a\nb"), "00  a\nb\0");
    }
}
