//! The length of entries.

/// The longest entry, in bytes: its length is a number of 16 bits (C2SP tlog-tiles).
pub const LONGEST_ENTRY: usize = 0xffff;
