//! Hash-chained JSON Lines: each line has the hash of the line before it.

use crate::error::Error;
use crate::tree::sha256;

/// Checks that each line has the SHA-256 of the line before it in a field, in hex; the first line may have anything there.
///
/// The hash is over the bytes of the line before, without its newline. A prefix `sha256:` is allowed.
#[derive(Clone, Debug)]
pub struct Chain {
    field: String,
    /// The hash of the last line.
    last: Option<[u8; 32]>,
    number: u64,
}

impl Chain {
    /// A chain by a field's name.
    pub fn new(field: &str) -> Chain {
        Chain { field: field.into(), last: None, number: 0 }
    }

    /// Checks the next line.
    ///
    /// # Errors
    /// If it is no JSON object with this field, or the field has another hash.
    pub fn next(&mut self, line: &[u8]) -> Result<(), Error> {
        self.number += 1;
        let (number, field) = (self.number, &self.field);
        let object: serde_json::Value = serde_json::from_slice(line)
            .map_err(|error| Error::Invalid(format!("line {number} is not JSON: {error}")))?;
        let found = object
            .get(field)
            .ok_or_else(|| Error::Invalid(format!("line {number} is no object with the field {field:?}")))?;
        if let Some(last) = self.last {
            let expected: String = last.iter().map(|byte| format!("{byte:02x}")).collect();
            let found = found.as_str().map(|found| found.strip_prefix("sha256:").unwrap_or(found));
            if found.is_none_or(|found| !found.eq_ignore_ascii_case(&expected)) {
                return Err(Error::Invalid(format!(
                    "line {number}: {field:?} is {}: expected {expected}, the SHA-256 of the line before it. A line was changed, \
                     removed or added",
                    found.unwrap_or("no text")
                )));
            }
        }
        self.last = Some(sha256(line));
        Ok(())
    }
}
