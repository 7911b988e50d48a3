//! The flags of the compression function (the BLAKE3 paper, table 3).

/// The first block of a chunk.
pub const CHUNK_START: u32 = 1;

/// The last block of a chunk.
pub const CHUNK_END: u32 = 2;

/// A parent.
pub const PARENT: u32 = 4;

/// Every block of the root if it is a parent; the last block of the root if it is a chunk.
pub const ROOT: u32 = 8;

/// Every block of a keyed hash, whose key takes the place of the initial words (the BLAKE3 paper, 2.3).
pub const KEYED_HASH: u32 = 16;
