//! Parts of the sorted table, by the paths of their entries.

use rusqlite::{ParamsFromIter, params_from_iter};

/// All paths from `start`, which is one of them, to `end`, which is none; to the last, if that is `None`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Paths {
    pub start: Vec<u8>,
    pub end: Option<Vec<u8>>,
}

impl Paths {
    /// All paths.
    pub fn all() -> Self {
        Paths { start: Vec::new(), end: None }
    }

    /// The paths from `start` up to but without `end`; `None` if there are none.
    pub fn between(start: &[u8], end: Option<&[u8]>) -> Option<Self> {
        let some = end.is_none_or(|end| start < end);
        some.then(|| Paths { start: start.into(), end: end.map(Into::into) })
    }

    /// The paths below a directory.
    pub fn below(directory: &[u8]) -> Self {
        // The byte after that of the slash.
        Paths { start: [directory, b"/"].concat(), end: Some([directory, b"0"].concat()) }
    }

    /// Whether all of other paths are among them.
    pub fn have(&self, other: &Paths) -> bool {
        let ends = match (&self.end, &other.end) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(end), Some(other)) => other <= end,
        };
        self.start <= other.start && ends
    }

    /// The condition for them on a column in SQL, whose scan ends where they end.
    pub fn condition(&self, column: &str) -> String {
        match self.end {
            None => format!("{column} >= ?1"),
            Some(_) => format!("{column} >= ?1 AND {column} < ?2"),
        }
    }

    /// The values of the condition.
    pub fn parameters(&self) -> ParamsFromIter<impl Iterator<Item = &Vec<u8>>> {
        params_from_iter([&self.start].into_iter().chain(&self.end))
    }
}

/// The first path after another.
pub(crate) fn after(path: &[u8]) -> Vec<u8> {
    [path, b"\0"].concat()
}
