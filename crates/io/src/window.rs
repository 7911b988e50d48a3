//! A part of an input.

/// A part of an input, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The offset of its first byte.
    pub start: u64,
    /// The offset behind its last byte; the input's end if this is `None`.
    pub end: Option<u64>,
}
