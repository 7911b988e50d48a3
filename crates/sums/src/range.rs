//! Ranges of bytes as people write them: `A..B`.

use mksum::parse_size;
use mksum::ranges::union;
use std::ops::Range;
use std::str::FromStr;

/// Bytes from `start` up to but without `end`, or to the end of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByteRange {
    /// The first byte, as an offset in bytes.
    pub start: u64,
    /// The offset after the last byte, in bytes; `None` if it was left out: up to the end of the file.
    pub end: Option<u64>,
}

impl ByteRange {
    /// The bytes of it that a file of `len` bytes has.
    ///
    /// # Errors
    /// If it begins or ends behind the file's end.
    pub fn within(self, len: u64) -> Result<Range<u64>, String> {
        let end = self.end.unwrap_or(len);
        if self.start > len || end > len {
            return Err(format!("the range {}..{end} ends behind the last of {len} bytes", self.start));
        }
        Ok(self.start..end)
    }
}

/// The bytes of these ranges that a file of `len` bytes has, ascending, each once.
///
/// # Errors
/// If one begins or ends behind the file's end.
pub fn merged(ranges: &[ByteRange], len: u64) -> Result<Vec<Range<u64>>, String> {
    ranges.iter().map(|range| range.within(len)).collect::<Result<_, _>>().map(union)
}

impl FromStr for ByteRange {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let refuse =
            || "expected A..B, bytes from A up to but without B, as in 0..4096, 1MiB..2MiB or 4096..".to_string();
        let (start, end) = text.split_once("..").ok_or_else(refuse)?;
        let bound = |text: &str| match text {
            "" => Ok(None),
            text => parse_size(text).map(Some).map_err(|_| refuse()),
        };
        let range = ByteRange { start: bound(start)?.unwrap_or(0), end: bound(end)? };
        match range.end {
            Some(end) if end <= range.start => Err(format!("the range {}..{end} has no bytes", range.start)),
            _ => Ok(range),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_read_as_people_write_them() {
        let read = |text: &str| text.parse::<ByteRange>();
        assert_eq!(read("0..4096"), Ok(ByteRange { start: 0, end: Some(4096) }));
        assert_eq!(read("1MiB..2MiB"), Ok(ByteRange { start: 1 << 20, end: Some(2 << 20) }));
        assert_eq!(read("5.."), Ok(ByteRange { start: 5, end: None }));
        assert_eq!(read("..5"), Ok(ByteRange { start: 0, end: Some(5) }));
        for wrong in ["", "5", "5..5", "6..5", "a..b", "1..-1", "1...3"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
        assert_eq!(read("2..9").unwrap().within(9), Ok(2..9));
        assert!(read("2..10").unwrap().within(9).is_err());
        let ranges: Vec<_> = ["7..8", "0..2", "1..5", "5..6", "9.."].map(|text| read(text).unwrap()).into();
        assert_eq!(merged(&ranges, 12), Ok(vec![0..6, 7..8, 9..12]));
    }
}
