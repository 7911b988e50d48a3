//! Sizes in bytes as people write them.

use alloc::format;
use alloc::string::{String, ToString};
use core::fmt;

const BINARY: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

/// `bytes` with the largest binary unit that divides it: `64KiB`, `1000`.
pub fn format_size(bytes: u64) -> String {
    let power = (bytes.trailing_zeros() / 10).min(BINARY.len() as u32);
    match (bytes, power) {
        (0, _) | (_, 0) => bytes.to_string(),
        _ => format!("{}{}", bytes >> (10 * power), BINARY[power as usize - 1]),
    }
}

/// The bytes that `text` names: a whole number, then nothing, `K` or `KiB` (1024), `KB` (1000), and so on up to `E`.
///
/// # Errors
/// If it is no such text, or more than 2^64 − 1.
pub fn parse_size(text: &str) -> Result<u64, SizeError> {
    let refuse = || SizeError(text.chars().take(40).collect());
    let unit = text.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let number = text.strip_suffix(unit).and_then(|number| number.parse::<u64>().ok()).ok_or_else(refuse)?;
    factor(&unit.to_ascii_lowercase()).and_then(|factor| number.checked_mul(factor)).ok_or_else(refuse)
}

/// The number of bytes in a unit, whose name is in lower case.
fn factor(unit: &str) -> Option<u64> {
    let (letter, rest) = match unit.as_bytes() {
        [] | b"b" => return Some(1),
        [letter, rest @ ..] => (letter, rest),
    };
    let power = 1 + b"kmgtpe".iter().position(|known| known == letter)? as u32;
    match rest {
        [] | b"ib" => 1024_u64.checked_pow(power),
        b"b" => 1000_u64.checked_pow(power),
        _ => None,
    }
}

/// The text is not a size; holds its first characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SizeError(String);

impl fmt::Display for SizeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "'{}' is not a size: expected a whole number of bytes, perhaps with a unit, as in 4096, 64KiB or 1MB",
            self.0
        )
    }
}

impl core::error::Error for SizeError {}
