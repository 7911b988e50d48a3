//! Parts of the texts of logs: base64 and numbers, each with one form only.

use base64ct::{Base64, Encoding};

/// Writes bytes as base64 (RFC 4648, 4).
pub(crate) fn base64(bytes: &[u8]) -> String {
    Base64::encode_string(bytes)
}

/// Reads base64: padded, with no bits left over, so that equal bytes have one text.
pub(crate) fn from_base64(text: &str) -> Option<Vec<u8>> {
    Base64::decode_vec(text).ok()
}

/// Reads the base64 of exactly `N` bytes.
pub(crate) fn array<const N: usize>(text: &str) -> Option<[u8; N]> {
    from_base64(text)?.try_into().ok()
}

/// Reads a decimal number without a sign or leading zeros.
pub(crate) fn number(text: &str) -> Option<u64> {
    let is_canonical = text == "0" || (!text.starts_with('0') && text.bytes().all(|byte| byte.is_ascii_digit()));
    text.parse().ok().filter(|_| is_canonical)
}
