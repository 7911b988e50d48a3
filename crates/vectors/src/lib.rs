//! The rows of `vectors/` and slow reference hashes, for the tests of every crate.
#![forbid(unsafe_code)]

mod nodes;
/// Each hash by another implementation, shared with the tests of `crates/lanes`.
#[path = "../../lanes/tests/reference/mod.rs"]
mod reference;

pub use nodes::{NodeRow, node_rows, nodes, same_nodes};
pub use reference::{bytes, reference};

use std::fs;
use std::path::Path;

/// One input in one format.
#[derive(Clone, Debug)]
pub struct Row {
    /// The file and line, for messages.
    pub at: String,
    /// The canonical format string.
    pub format: String,
    /// The name of the byte pattern.
    pub pattern: Pattern,
    /// The input's length, in bytes.
    pub len: u64,
    /// The root as its tool prints it; `-` if the format has none.
    pub root: String,
}

impl Row {
    /// Returns the input.
    pub fn input(&self) -> Vec<u8> {
        self.pattern.bytes(self.len)
    }
}

/// The byte pattern of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Pattern {
    /// Byte i is `i mod 251`: its period is not a power of two.
    Mod251,
    /// Byte i is `(i * 131 + (i >> 8) * 17) mod 256`.
    Pat,
    /// Byte i is the highest of state i + 1 of Knuth's MMIX generator, whose state 0 is 0: there is no period.
    Noise,
}

impl Pattern {
    /// Returns the first `len` bytes.
    pub fn bytes(self, len: u64) -> Vec<u8> {
        match self {
            Pattern::Mod251 => (0..len).map(|i| (i % 251) as u8).collect(),
            Pattern::Pat => (0..len).map(|i| (i * 131 + (i >> 8) * 17) as u8).collect(),
            Pattern::Noise => {
                let next =
                    |state: &u64| state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let states = std::iter::successors(Some(next(&0)), |state| Some(next(state)));
                states.take(len as usize).map(|state| (state >> 56) as u8).collect()
            }
        }
    }
}

/// Returns every row of every file, in the order of the file names.
///
/// # Panics
/// If a file cannot be read or a row does not have five columns: rows are never skipped.
pub fn rows() -> Vec<Row> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/rows");
    let mut paths: Vec<_> = fs::read_dir(&folder).expect("vectors/rows").map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let mut rows = Vec::new();
    for path in paths {
        for (line, number) in fs::read_to_string(&path).unwrap().lines().zip(1..) {
            if line.starts_with('#') {
                continue;
            }
            let at = format!("{}:{number}", path.display());
            let columns: Vec<_> = line.split('\t').collect();
            let [format, pattern, len, root, _source] = columns[..] else { panic!("{at}: expected five columns") };
            let pattern = match pattern {
                "mod251" => Pattern::Mod251,
                "pat" => Pattern::Pat,
                "noise" => Pattern::Noise,
                other => panic!("{at}: unknown input {other}"),
            };
            let len = len.parse().unwrap_or_else(|_| panic!("{at}: invalid length {len}"));
            rows.push(Row { at, format: format.into(), pattern, len, root: root.into() });
        }
    }
    assert!(rows.len() > 4000, "only {} rows", rows.len());
    rows
}
