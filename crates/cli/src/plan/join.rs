//! `mksum join --plan`: the roots of all inputs of a plan, from the digests of its parts.

use super::ledger::{Found, Ledger, name, open};
use super::rows::{End, Line, Row};
use crate::args::Join as Args;
use crate::exit::Exit;
use crate::json;
use crate::tool::Tool;
use mksum::{Digest, Frontier, Root, Spec, Subtree};
use mksum_cli::name as names;
use mksum_cli::sum::{self, Style};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Prints a line for each input.
pub fn run(tool: &Tool, args: &Args, plan: &Path) -> Exit {
    let fail = |path: &Path, reason: &dyn std::fmt::Display| tool.console.error(path, reason);
    let ledgers = if args.files.is_empty() { vec![PathBuf::from("-")] } else { args.files.clone() };
    let Some(ledger) = Ledger::of(tool, &ledgers) else { return tool.console.exit() };
    let lines = match open(plan) {
        Ok(lines) => lines,
        Err(reason) => {
            fail(plan, &reason);
            return tool.console.exit();
        }
    };
    let mut joining = Joining { tool, args, ledger: &ledger, seen: HashSet::new(), current: None };
    let (mut rows, mut end) = (0_u64, None::<End>);
    let found = |line| {
        let found = match &line {
            Line::Row(row) => ledger.find(ledger.keys.row(row)),
            _ => Found::Nothing,
        };
        (line, found)
    };
    let read = lines.each(tool.options.threads, found, |number, _, (line, found)| {
        match line {
            _ if end.is_some() => {
                return Err(format!("{number}: a row after the end of the plan: join one plan at a time"));
            }
            Line::Row(row) if row.digest.is_none() => {
                rows += 1;
                joining.add(*row, found, number);
            }
            Line::Row(_) => fail(plan, &format_args!("{number}: a row of a ledger: a plan has rows without digests")),
            Line::End(last) => end = Some(last),
            Line::Wrong(why) => fail(plan, &format_args!("{number}: {why}")),
        }
        Ok(())
    });
    if let Err(why) = read {
        fail(plan, &why);
    }
    joining.input();
    match end {
        None => fail(plan, &"the plan is not whole: it has no end"),
        Some(end) if end.rows != rows => {
            fail(plan, &format_args!("the plan is not whole: it had {} rows and has {rows}", end.rows));
        }
        Some(_) => {}
    }
    tool.console.exit()
}

struct Joining<'a> {
    tool: &'a Tool,
    args: &'a Args,
    ledger: &'a Ledger,
    /// The inputs so far.
    seen: HashSet<u128>,
    /// The input whose rows are being read.
    current: Option<Current>,
}

/// An input, as far as its rows were read: its digests are joined as they come, so that few are held.
struct Current {
    first: Row,
    spec: Spec,
    /// The offset after the last part.
    end: u64,
    rows: u64,
    /// The parts that are perfect subtrees; none where the final length moves the splits.
    frontier: Option<Frontier>,
    /// The last of them: only bytes after it show that it is not the root.
    last: Option<(Subtree, Digest)>,
    /// The parts after them.
    rest: Vec<(Subtree, Digest)>,
    /// The root, if one part is all.
    root: Option<Root>,
}

impl Joining<'_> {
    /// Adds a row of the plan, with what the ledger has of it and the number of its line.
    fn add(&mut self, row: Row, found: Found<'_>, number: u64) {
        if self.current.as_ref().is_none_or(|current| !row.is_beside(&current.first)) {
            self.input();
            let spec = match row.format.parse::<Spec>() {
                Ok(spec) => spec,
                Err(error) => return self.refuse(&row, &error),
            };
            if !self.seen.insert(self.ledger.keys.input(&row)) {
                return self.refuse(&row, &format_args!("line {number} of the plan: it is in the plan twice"));
            }
            self.current = Some(Current::new(row.clone(), spec));
        }
        let Some(current) = &mut self.current else { return };
        // After the first reason why there is no root, the others do not matter.
        if current.rows < u64::MAX
            && let Err(why) = current.add(&row, number, found)
        {
            current.rows = u64::MAX;
            self.refuse(&row, &why);
        }
    }

    fn refuse(&self, row: &Row, why: &dyn std::fmt::Display) {
        self.tool.console.error(&row.path().unwrap_or_else(|| "?".into()), why);
    }

    /// Prints the root of the input whose rows were read.
    fn input(&mut self) {
        let Some(current) = self.current.take().filter(|current| current.rows < u64::MAX) else { return };
        let (first, rows) = (current.first.clone(), current.rows);
        let path = first.path().unwrap_or_else(|| "?".into());
        match current.root() {
            Ok(root) if self.args.json => {
                self.tool.console.print_json(&path, json::Root { subtrees: Some(rows), ..json::Root::new(&root) });
            }
            Ok(root) => {
                let (tag, path) = (root.spec().tag(), names::listed(&path));
                self.tool.console.print(&sum::line(Style::Tagged, self.tool.end, &tag, &path, &root.to_string()));
            }
            Err(why) => self.tool.console.error(&path, &why),
        }
    }
}

impl Current {
    fn new(first: Row, spec: Spec) -> Current {
        let frontier = spec.frontier().ok();
        Current { first, spec, end: 0, rows: 0, frontier, last: None, rest: Vec::new(), root: None }
    }

    /// Adds the next row, if it is the next part and the ledger has its digest.
    fn add(&mut self, row: &Row, number: u64, found: Found<'_>) -> Result<(), String> {
        let (first, spec) = (&self.first, &self.spec);
        let refuse = |why: String| Err(format!("line {number} of the plan: {why}"));
        if row.format != first.format {
            return refuse(format!("{} are in {}, others in {}", row.range(), row.format, first.format));
        }
        if (&row.version, row.size) != (&first.version, first.size) {
            let others = format!("others of version {} with {}", first.version, first.size);
            return refuse(format!("{} are of version {} with {} bytes, {others}", row.range(), row.version, row.size));
        }
        if row.offset != self.end || self.root.is_some() {
            let how = if row.offset > self.end {
                "the bytes before it are missing"
            } else {
                "it overlaps the part before it"
            };
            return refuse(format!("{}: {how}", row.range()));
        }
        if !row.is_whole()
            && let Err(why) = row.check_part(spec)
        {
            return refuse(why);
        }
        let digest = match found {
            Found::Digest(bytes) if bytes.len() == spec.hash().size() => Digest::new(bytes),
            Found::Digest(bytes) => {
                return Err(format!("the digest of {} has {} bytes: {spec} has others", row.range(), bytes.len()));
            }
            Found::OtherVersion => {
                let planned = format!("another version than {}, which was planned: plan it again", row.version);
                return Err(format!("the ledger has {} of {planned}", row.range()));
            }
            Found::Nothing => {
                let how = "'mksum missing' lists what is to be hashed";
                return Err(format!("the ledger lacks {} of version {} in {spec}: {how}", row.range(), row.version));
            }
        };
        (self.end, self.rows) = (row.offset + row.length, self.rows + 1);
        if row.is_whole() {
            // It was hashed as a root.
            self.root = Some(spec.root_with_digest(digest, row.size));
            return Ok(());
        }
        if let Some((node, before)) = self.last.replace((row.node(), digest)) {
            let pushed = match &mut self.frontier {
                Some(frontier) if self.rest.is_empty() => frontier.push(node, before).is_ok(),
                _ => false,
            };
            if !pushed {
                self.rest.push((node, before));
            }
        }
        Ok(())
    }

    fn root(mut self) -> Result<Root, String> {
        let Row { size, .. } = self.first;
        if let Some(root) = self.root {
            return Ok(root);
        }
        if self.end != size {
            return Err(format!("the plan of {} has no bytes {}..{size}", name(&self.first), self.end));
        }
        self.rest.extend(self.last);
        let root = match &self.frontier {
            Some(frontier) => frontier.root_with(&self.rest, size),
            None => self.spec.root_from(&self.rest, size),
        };
        root.map_err(|error| error.to_string())
    }
}
