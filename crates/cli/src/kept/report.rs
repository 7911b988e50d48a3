//! The report about one file that is compared with its outboard, range by range.

use crate::args::Verify;
use crate::figures::{bytes, grouped};
use crate::ranges::{self, RangeLine};
use crate::summary::Verdict;
use crate::tool::Tool;
use mksum::{Root, Spec};
use mksum_cli::name::Shown;
use mksum_io::outboard::Finding;
use mksum_io::{Input, Unreadable};
use serde::Serialize;
use std::fmt::Display;
use std::ops::Range;

/// The root that a file is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// The one that was given on the command line.
    Given,
    /// The outboard's own.
    Outboard,
}

/// What a file is compared with.
#[derive(Clone, Debug)]
pub struct Expected {
    /// The format.
    pub spec: Spec,
    /// The root, as text: one that was only given is not a [`Root`], which is always a computed one.
    pub root: String,
    /// The length, in bytes.
    pub len: u64,
}

impl From<Root> for Expected {
    fn from(root: Root) -> Self {
        Expected { spec: root.spec().clone(), root: root.to_string(), len: root.len() }
    }
}

/// The report about one file.
pub struct Report<'a> {
    tool: &'a Tool,
    args: &'a Verify,
    path: Input,
    /// The outboard.
    place: Input,
    expected: Expected,
    trust: Trust,
    /// The longer of the file's length and its outboard's.
    longest: u64,
    /// The last range, which the next may continue.
    open: Option<Open>,
    /// The bytes verified, and those of them that are damaged.
    pub verified: u64,
    damaged: u64,
    /// Damaged bytes behind the end that the outboard knows.
    appended: u64,
    ranges: u64,
    nodes: u64,
}

/// A range that the next finding may continue.
struct Open {
    kind: &'static str,
    range: Range<u64>,
    unreadable: Vec<Unreadable>,
}

impl<'a> Report<'a> {
    /// The unreadable parts that a line has at most.
    const PARTS: usize = 1024;

    /// Nothing is found yet; the file has `len` bytes, and its outboard is at `place`.
    pub fn new(
        (tool, args): (&'a Tool, &'a Verify),
        path: &Input,
        (expected, place): (Expected, &Input),
        trust: Trust,
        len: u64,
    ) -> Self {
        let longest = len.max(expected.len);
        let (path, place) = (path.clone(), place.clone());
        let (open, verified, damaged, appended, ranges, nodes) = (None, 0, 0, 0, 0, 0);
        Report { tool, args, path, place, expected, trust, longest, open, verified, damaged, appended, ranges, nodes }
    }

    /// Adds a finding.
    pub fn add(&mut self, finding: Finding) {
        let (kind, range) = (finding.kind(), finding.range());
        let parts = match finding {
            Finding::Unreadable { parts, .. } => parts,
            Finding::Grown(_) => {
                self.appended += range.end - range.start;
                Vec::new()
            }
            Finding::Node(_) => {
                self.nodes += 1;
                self.tool.console.fail();
                let line = self.line(if self.args.json { kind } else { "damaged node over" }, range);
                return line.print(self.tool, self.args.json, &self.place);
            }
            _ => Vec::new(),
        };
        match &mut self.open {
            Some(open) if open.kind == kind && open.range.end == range.start && open.unreadable.len() < Self::PARTS => {
                open.range.end = range.end;
                open.unreadable.extend(parts);
            }
            _ => {
                self.close();
                self.open = Some(Open { kind, range, unreadable: parts });
            }
        }
    }

    /// Reports the open range: the next one does not continue it.
    fn close(&mut self) {
        let Some(Open { kind, range, unreadable }) = self.open.take() else { return };
        self.tool.console.fail();
        self.ranges += 1;
        self.damaged += range.end - range.start;
        let line = self.line(kind, range);
        let line = if unreadable.is_empty() { line } else { line.with_unreadable(&unreadable) };
        line.print(self.tool, self.args.json, &self.path);
    }

    fn line(&self, kind: &'static str, range: Range<u64>) -> RangeLine {
        RangeLine::new(kind, range, self.expected.spec.shape(), self.longest)
    }

    /// Reports the result for the file.
    pub fn end(mut self) {
        self.close();
        let (verified, len) = (grouped(self.verified), bytes(self.expected.len));
        let whole = self.verified == self.expected.len;
        let trust = describe(&self.expected.root, self.trust);
        let text = match self.ranges {
            0 if whole => format!("OK ({len}, {trust})"),
            0 => format!("OK ({verified} of {len}, {trust})"),
            count => {
                let ranges = if count == 1 { "1 range".into() } else { format!("{count} ranges") };
                let damaged = self.damaged - self.appended;
                let total = grouped(self.expected.len);
                let are = if damaged == 1 { "is" } else { "are" };
                let was = if self.appended == 1 { "was" } else { "were" };
                let appended = match self.appended {
                    0 => String::new(),
                    count => format!(", and {} {was} appended", bytes(count)),
                };
                match whole {
                    true if self.damaged == self.appended => {
                        let before = match self.expected.len {
                            0 => "it was empty before".into(),
                            _ => format!("the {len} before are intact"),
                        };
                        format!("FAILED: {} {was} appended; {before} ({trust})", bytes(self.appended))
                    }
                    true => {
                        format!("FAILED: {} of {len} {are} damaged{appended} ({ranges}, {trust})", grouped(damaged))
                    }
                    false => {
                        let damaged = bytes(damaged);
                        format!(
                            "FAILED: {damaged} {are} damaged{appended} ({ranges}, {verified} of {total} verified, {trust})"
                        )
                    }
                }
            }
        };
        let is_ok = self.ranges == 0;
        self.tool.console.count(if is_ok { Verdict::Ok } else { Verdict::Failed }, 1);
        let several = self.args.files.len() > 1 || self.args.directories.recursive;
        match self.args.json {
            _ if is_ok && (self.args.common.quiet || several && self.tool.console.is_brief()) => {}
            true => self.tool.console.print_json(
                &self.path,
                Compared {
                    kind: "file",
                    ok: is_ok,
                    format: self.expected.spec.to_string(),
                    root: self.expected.root.clone(),
                    trusted: self.trust,
                    length: self.expected.len,
                    verified: self.verified,
                    damaged: self.damaged,
                    ranges: self.ranges,
                    outboard_nodes: self.nodes,
                },
            ),
            false => ranges::line(self.tool, &self.path, &text),
        }
        if self.nodes > 0 {
            let plural = if self.nodes == 1 { "node is" } else { "nodes are" };
            let how = "write it again with 'mksum keep' when the file is intact";
            self.tool.console.note(&format_args!("{}: {} {plural} damaged: {how}", Shown(&self.place), self.nodes));
        }
    }
}

/// The root and where it comes from, as words.
pub fn describe(root: &impl Display, trust: Trust) -> String {
    match trust {
        Trust::Given => format!("root {root} as given"),
        Trust::Outboard => format!("root {root} from the outboard"),
    }
}

/// The result for a file, as JSON.
#[derive(Serialize)]
struct Compared {
    kind: &'static str,
    ok: bool,
    format: String,
    root: String,
    trusted: Trust,
    length: u64,
    verified: u64,
    damaged: u64,
    ranges: u64,
    outboard_nodes: u64,
}

impl Serialize for Trust {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(match self {
            Trust::Given => "given",
            Trust::Outboard => "outboard",
        })
    }
}
