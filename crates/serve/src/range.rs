//! The header `Range` (RFC 9110, 14.2).

use std::ops::Range;

/// The bytes that a request is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// All of them: there is no range, it is malformed, or there are several.
    Whole,
    /// A range of at least one byte, half-open, within the length.
    Part(Range<u64>),
    /// A range without any byte of the file: status 416.
    Nothing,
}

/// The bytes of a file of `len` bytes that a header asks for.
pub fn asked(header: &str, len: u64) -> Asked {
    let parsed = || {
        let (unit, range) = header.split_once('=')?;
        let (first, last) = range.trim().split_once('-').filter(|_| unit.trim().eq_ignore_ascii_case("bytes"))?;
        Some(match (first, last) {
            ("", last) => len.saturating_sub(number(last)?)..len,
            (first, "") => number(first)?..len,
            (first, last) => {
                let (first, last) = (number(first)?, number(last)?);
                if last < first {
                    return None;
                }
                first..last.saturating_add(1).min(len)
            }
        })
    };
    match parsed() {
        None => Asked::Whole,
        Some(range) if range.is_empty() => Asked::Nothing,
        Some(range) => Asked::Part(range),
    }
}

/// A number of digits alone; one that is too large is the largest.
fn number(text: &str) -> Option<u64> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_within_the_file() {
        for (header, expected) in [
            ("bytes=0-0", Asked::Part(0..1)),
            ("bytes=0-", Asked::Part(0..10)),
            ("bytes=9-9", Asked::Part(9..10)),
            ("bytes=3-99", Asked::Part(3..10)),
            ("bytes=3-99999999999999999999999", Asked::Part(3..10)),
            ("Bytes= 3-4 ", Asked::Part(3..5)),
            ("bytes=-3", Asked::Part(7..10)),
            ("bytes=-99", Asked::Part(0..10)),
            ("bytes=-0", Asked::Nothing),
            ("bytes=10-", Asked::Nothing),
            ("bytes=10-11", Asked::Nothing),
            ("bytes=99999999999999999999999-", Asked::Nothing),
            ("bytes=18446744073709551615-18446744073709551615", Asked::Nothing),
            ("bytes=5-4", Asked::Whole),
            ("bytes=-", Asked::Whole),
            ("bytes=a-b", Asked::Whole),
            ("bytes=+1-2", Asked::Whole),
            ("bytes=1", Asked::Whole),
            ("bytes", Asked::Whole),
            ("lines=1-2", Asked::Whole),
            ("bytes=0-1,3-4", Asked::Whole),
            ("", Asked::Whole),
        ] {
            assert_eq!(asked(header, 10), expected, "{header}");
        }
        assert_eq!([asked("bytes=0-", 0), asked("bytes=-1", 0)], [Asked::Nothing, Asked::Nothing]);
    }
}
