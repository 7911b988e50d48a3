//! The output of commands for kept trees: a line for each range, as text or as JSON.

use crate::extent::{leaf_at, leaves};
use crate::report::grouped;
use crate::tool::Tool;
use base64ct::{Base64, Encoding};
use mksum::{Shape, Subtree};
use mksum_cli::name::{self, Shown};
use serde::Serialize;
use std::fmt::Display;
use std::ops::Range;
use std::path::Path;

/// Prints `PATH: TEXT`.
pub fn line(tool: &Tool, path: &Path, text: &dyn Display) {
    tool.console.print(format!("{}: {text}\n", Shown(path)).as_bytes());
}

/// Prints an object with the path and these fields.
pub fn json(tool: &Tool, path: &Path, fields: impl Serialize) {
    #[derive(Serialize)]
    struct Object<'a, T> {
        path: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        path_base64: Option<String>,
        #[serde(flatten)]
        fields: T,
    }
    let path_base64 = path.to_str().is_none().then(|| Base64::encode_string(name::bytes(path)));
    let object = Object { path: &name::lossy(path), path_base64, fields };
    let mut line = serde_json::to_vec(&object).expect("strings and numbers");
    line.push(b'\n');
    tool.console.print(&line);
}

/// A line about a range of a file.
#[derive(Debug, Serialize)]
pub struct RangeLine {
    /// `damaged`, `missing`, ...
    pub kind: &'static str,
    /// Half-open, in bytes.
    pub start: u64,
    pub end: u64,
    pub bytes: u64,
    /// The first leaf, and the one after the last.
    pub leaves: [u64; 2],
}

impl RangeLine {
    /// A range of a file of `len` bytes, whose tree has this shape.
    pub fn new(kind: &'static str, range: Range<u64>, shape: Shape, len: u64) -> Self {
        let root: Subtree = shape.root(len.max(1));
        let end = match range.end {
            end if end >= len => leaves(shape, root),
            end => leaf_at(shape, root, end - 1) + 1,
        };
        let leaves = [leaf_at(shape, root, range.start), end];
        RangeLine { kind, start: range.start, end: range.end, bytes: range.end - range.start, leaves }
    }

    /// `damaged 65536..131072 (65,536 bytes, leaf 1)`.
    pub fn text(&self) -> String {
        let RangeLine { kind, start, end, bytes, leaves: [first, behind] } = self;
        let leaves = match behind.saturating_sub(*first) {
            0 | 1 => format!("leaf {first}"),
            _ => format!("leaves {first}..{behind}"),
        };
        let plural = if *bytes == 1 { "byte" } else { "bytes" };
        format!("{kind} {start}..{end} ({} {plural}, {leaves})", grouped(*bytes))
    }
}
