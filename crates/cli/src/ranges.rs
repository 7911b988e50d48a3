//! A line for each range of a file, as text or as JSON.

use crate::figures::grouped;
use crate::tool::Tool;
use mksum::{Shape, Subtree};
use mksum_cli::extent::{leaf_at, leaves};
use mksum_cli::name::{Named, Shown};
use mksum_cli::url::masked;
use mksum_io::outboard::append;
use mksum_io::{Input, Unreadable, reason};
use serde::Serialize;
use std::fmt::Display;
use std::ops::Range;

/// Prints `PATH: TEXT`.
pub fn line<T: Named + ?Sized>(tool: &Tool, path: &T, text: &dyn Display) {
    tool.console.print_verdict(Shown(path).to_string().as_bytes(), &text.to_string());
}

/// A line about a range of a file.
#[derive(Clone, Debug, Serialize)]
pub struct RangeLine {
    /// `damaged`, `missing`, ...
    pub kind: &'static str,
    /// Half-open, in bytes.
    pub start: u64,
    pub end: u64,
    pub bytes: u64,
    /// The first leaf, and the one after the last.
    pub leaves: [u64; 2],
    /// The bytes that cannot be read, if some of the range cannot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unreadable: Option<Vec<[u64; 2]>>,
    /// The reason, as words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The copy that the range is from, or that does not have it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub copy: Option<String>,
}

impl RangeLine {
    /// The unreadable parts that a line of text names.
    const SHOWN: usize = 4;

    /// A range of a file of `len` bytes, whose tree has this shape.
    pub fn new(kind: &'static str, range: Range<u64>, shape: Shape, len: u64) -> Self {
        let root: Subtree = shape.root(len.max(1));
        let end = match range.end {
            end if end >= len => leaves(shape, root),
            end => leaf_at(shape, root, end - 1) + 1,
        };
        let leaves = [leaf_at(shape, root, range.start), end];
        let bytes = range.end - range.start;
        RangeLine { kind, start: range.start, end: range.end, bytes, leaves, unreadable: None, error: None, copy: None }
    }

    /// The same with the parts that cannot be read, left to right.
    pub fn with_unreadable(self, parts: &[Unreadable]) -> Self {
        let mut joined = Vec::new();
        parts.iter().for_each(|part| append(&mut joined, part.range.clone()));
        let error = parts.first().map(|part| reason(&part.error()));
        let unreadable = joined.into_iter().map(|Range { start, end }| [start, end]).collect();
        RangeLine { unreadable: Some(unreadable), error, ..self }
    }

    /// The same with the copy that it is about.
    pub fn with_copy(self, copy: &Input) -> Self {
        RangeLine { copy: Some(masked(&copy.to_string()).into_owned()), ..self }
    }

    /// Prints it as text or as JSON.
    pub fn print<T: Named + ?Sized>(&self, tool: &Tool, json: bool, path: &T) {
        match json {
            true => tool.console.print_json(path, self),
            false => line(tool, path, &self.text()),
        }
    }

    /// `damaged 65536..131072 (65,536 bytes, leaf 1)`.
    pub fn text(&self) -> String {
        let RangeLine { kind, start, end, bytes, leaves: [first, behind], unreadable, error, .. } = self;
        let leaves = match behind.saturating_sub(*first) {
            0 | 1 => format!("leaf {first}"),
            _ => format!("leaves {first}..{behind}"),
        };
        let plural = if *bytes == 1 { "byte" } else { "bytes" };
        let mut text = format!("{kind} {start}..{end} ({} {plural}, {leaves}", grouped(*bytes));
        if let (Some(parts), Some(error)) = (unreadable, error) {
            let shown: Vec<_> = parts.iter().take(Self::SHOWN).map(|[start, end]| format!("{start}..{end}")).collect();
            let more = parts.len() - shown.len();
            let more = if more > 0 { format!(" and {more} more ranges") } else { String::new() };
            text += &format!(": {error} at {}{more}", shown.join(", "));
        }
        text + ")"
    }
}
