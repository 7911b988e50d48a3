//! Sizes in bytes as people write them.

use std::fmt;

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
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let number: u64 = number.parse().map_err(|_| refuse())?;
    let unit = unit.to_ascii_lowercase();
    let factor = match unit.as_str() {
        "" | "b" => Some(1),
        _ => BINARY.iter().zip(1..).find_map(|(name, power)| {
            let letter = name[..1].to_ascii_lowercase();
            match unit.strip_prefix(&letter)? {
                "" | "ib" => 1024_u64.checked_pow(power),
                "b" => 1000_u64.checked_pow(power),
                _ => None,
            }
        }),
    };
    factor.and_then(|factor| number.checked_mul(factor)).ok_or_else(refuse)
}

/// Not a size: the text, its first characters.
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

impl std::error::Error for SizeError {}
