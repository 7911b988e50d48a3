//! Small inputs, which are read whole: keys, signatures, proofs, checkpoints, lists.

use std::io::{self, Read};

/// The bytes of an input.
///
/// # Errors
/// If it cannot be read, or has more than `longest` bytes.
pub fn bounded(reader: impl Read, longest: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.take(longest as u64 + 1).read_to_end(&mut bytes)?;
    match bytes.len() > longest {
        true => Err(io::Error::other(format!("longer than {longest} bytes"))),
        false => Ok(bytes),
    }
}
