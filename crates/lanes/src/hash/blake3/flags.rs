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

/// Every block of a context, whose hash is the key of its material.
pub const DERIVE_KEY_CONTEXT: u32 = 32;

/// Every block of the material from which a key is derived.
pub const DERIVE_KEY_MATERIAL: u32 = 64;
