//! The entries that a log has, by their hashes.

use crate::error::Error;
use crate::published::Published;
use crate::source::Source;
use crate::tree::entry_hash;
use std::collections::HashMap;

/// The hashes of a log's entries with their first indices: 40 bytes of memory each, and some for the table.
#[derive(Debug, Default)]
pub struct Known(HashMap<[u8; 32], u64>);

impl Known {
    /// The entries of a log, by its tiles.
    ///
    /// # Errors
    /// If a tile cannot be read.
    pub fn read<S: Source>(log: &Published<S>) -> Result<Known, Error> {
        let mut known = HashMap::new();
        for entry in log.entry_hashes() {
            let (hash, index) = entry?;
            known.entry(hash).or_insert(index);
        }
        Ok(Known(known))
    }

    /// The index of an entry; it is `next` if the entry is new, which is then known.
    pub fn index(&mut self, entry: &[u8], next: u64) -> u64 {
        *self.0.entry(entry_hash(entry)).or_insert(next)
    }
}
