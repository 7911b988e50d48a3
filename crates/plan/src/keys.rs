//! Numbers for the texts of rows, so that millions of them are compared and held cheaply.

use crate::rows::{Row, Text};
use std::hash::{BuildHasher, RandomState};

/// Numbers for texts, which are equal if the texts are.
#[derive(Clone, Debug, Default)]
pub(crate) struct Keys(RandomState, RandomState);

/// The numbers of an input as a row has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct InputKeys {
    /// The number of the path.
    pub path: u128,
    /// The number of the version and the size.
    pub version: u64,
    pub format: u64,
}

/// The numbers of a row: those of its input, and that of its part, whatever its version is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RowKeys {
    pub input: InputKeys,
    pub part: u128,
}

/// The row before, and the numbers of its input: mostly those of the next row too.
#[derive(Debug, Default)]
pub(crate) struct Before {
    path: String,
    path_base64: Option<Text<'static>>,
    version: String,
    size: u64,
    format: String,
    keys: Option<InputKeys>,
}

impl Before {
    /// The numbers of the row's input, if they are known.
    fn keys(&self, row: &Row<'_>) -> Option<InputKeys> {
        let same = self.path == row.path
            && self.version == row.version
            && self.size == row.size
            && self.format == row.format
            && self.path_base64 == row.path_base64;
        self.keys.filter(|_| same)
    }

    fn replace(&mut self, row: &Row<'_>, keys: InputKeys) {
        let texts = [(&mut self.path, &row.path), (&mut self.version, &row.version), (&mut self.format, &row.format)];
        for (text, new) in texts {
            text.clear();
            text.push_str(new);
        }
        self.path_base64 = row.path_base64.clone().map(Text::into_owned);
        (self.size, self.keys) = (row.size, Some(keys));
    }
}

impl Keys {
    /// The number of a value: 128 bits, so that two of 2^40 values are equal with a chance of 2^-49.
    pub fn of(&self, value: &impl std::hash::Hash) -> u128 {
        u128::from(self.0.hash_one(value)) << 64 | u128::from(self.1.hash_one(value))
    }

    /// The numbers of a row, after the one in `before`, whose place it takes.
    pub(crate) fn row(&self, before: &mut Before, row: &Row<'_>) -> RowKeys {
        let input = before.keys(row).unwrap_or_else(|| {
            let keys = InputKeys {
                path: self.of(&(&row.path, &row.path_base64)),
                version: self.0.hash_one((&row.version, row.size)),
                format: self.0.hash_one(&row.format),
            };
            before.replace(row, keys);
            keys
        });
        RowKeys { input, part: self.of(&(input.path, input.format, row.offset, row.length, row.level)) }
    }
}
