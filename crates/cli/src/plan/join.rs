//! `mksum join --plan`: the roots of all inputs of a plan, from the digests of its parts.

use super::ledger::{Found, Ledger, name, open};
use super::rows::{End, Line, Row};
use crate::args::Join as Args;
use crate::exit::Exit;
use crate::json;
use crate::tool::Tool;
use mksum::{Digest, Error, Role, Root, Spec, Subtree, Subtrees};
use mksum_cli::name::{self as names, Shown};
use mksum_cli::sum::{self, Style};
use std::collections::{BTreeMap, HashSet};
use std::mem;
use std::path::{Path, PathBuf};

/// Prints a line for each input.
pub fn run(tool: &Tool, args: &Args, plan: &Path) -> Exit {
    let fail = |path: &Path, reason: &dyn std::fmt::Display| tool.console.error(path, reason);
    let ledgers = if args.files.is_empty() { vec![PathBuf::from("-")] } else { args.files.clone() };
    let mut ledger = Ledger::default();
    for path in &ledgers {
        if let Err(reason) = ledger.read(path) {
            fail(path, &reason);
            return tool.console.exit();
        }
    }
    if let Some((path, number, why)) = &ledger.first_wrong {
        tool.console.note(&format_args!(
            "{}: {number}: {why}; {} lines are taken as missing",
            Shown(path),
            ledger.wrong
        ));
    }
    let mut lines = match open(plan) {
        Ok(lines) => lines,
        Err(reason) => {
            fail(plan, &reason);
            return tool.console.exit();
        }
    };
    let mut joining = Joining { tool, args, ledger: &ledger, seen: HashSet::new(), rows: Vec::new(), joined: 0 };
    let (mut rows, mut end) = (0_u64, None::<End>);
    loop {
        let line = lines.read();
        let number = lines.number;
        match line {
            Ok(Some(_)) if end.is_some() => {
                fail(plan, &format_args!("{number}: a row after the end of the plan: join one plan at a time"));
                break;
            }
            Ok(Some(Line::Row(row))) if row.digest.is_none() => {
                rows += 1;
                joining.add(*row, number);
            }
            Ok(Some(Line::Row(_))) => {
                fail(plan, &format_args!("{number}: a row of a ledger: a plan has rows without digests"))
            }
            Ok(Some(Line::End(found))) => end = Some(found),
            Ok(Some(Line::Wrong(why))) => fail(plan, &format_args!("{number}: {why}")),
            Ok(None) => break,
            Err(why) => {
                fail(plan, &why);
                break;
            }
        }
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
    /// The rows of one input so far, each with the number of its line.
    rows: Vec<(Row, u64)>,
    joined: u64,
}

impl Joining<'_> {
    fn add(&mut self, row: Row, number: u64) {
        let keys = &self.ledger.keys;
        if self.rows.last().is_some_and(|(last, _)| keys.input(last) != keys.input(&row)) {
            self.input();
        }
        self.rows.push((row, number));
    }

    /// Joins the rows of an input.
    fn input(&mut self) {
        let rows = mem::take(&mut self.rows);
        let Some((first, _)) = rows.first() else { return };
        let path = first.path().unwrap_or_else(|| "?".into());
        let root = match self.seen.insert(self.ledger.keys.input(first)) {
            true => self.root(&rows),
            false => Err("it is in the plan twice".into()),
        };
        match root {
            Ok(root) if self.args.json => {
                let subtrees = Some(rows.len() as u64);
                self.tool.console.print_json(&path, json::Root { subtrees, ..json::Root::new(&root) });
            }
            Ok(root) => {
                let (tag, path) = (root.spec().tag(), names::listed(&path));
                self.tool.console.print(&sum::line(Style::Tagged, self.tool.end, &tag, &path, &root.to_string()));
            }
            Err(why) => self.tool.console.error(&path, &why),
        }
        self.joined += 1;
    }

    fn root(&self, rows: &[(Row, u64)]) -> Result<Root, String> {
        let (first, _) = &rows[0];
        let spec: Spec = first.format.parse().map_err(|error: mksum::SpecError| error.to_string())?;
        let (mut end, mut known) = (0, BTreeMap::new());
        for (row, number) in rows {
            let refuse = |why: String| Err(format!("line {number} of the plan: {why}"));
            if row.format != first.format {
                return refuse(format!("{} are in {}, others in {}", row.range(), row.format, first.format));
            }
            if (&row.version, row.size) != (&first.version, first.size) {
                return refuse(format!(
                    "{} are of version {} with {} bytes, others of version {} with {}",
                    row.range(),
                    row.version,
                    row.size,
                    first.version,
                    first.size
                ));
            }
            if row.offset != end {
                let how =
                    if row.offset > end { "the bytes before it are missing" } else { "it overlaps the part before it" };
                return refuse(format!("{}: {how}", row.range()));
            }
            if !row.is_whole() && !spec.has_part(row.size, row.node()) {
                return refuse(format!("{} are not a subtree of {} bytes in {spec}", row.range(), row.size));
            }
            end = row.offset + row.length;
            let digest = match self.ledger.find(row) {
                Found::Digest(bytes) if bytes.len() == spec.hash().size() => Digest::new(bytes),
                Found::Digest(bytes) => {
                    return Err(format!("the digest of {} has {} bytes: {spec} has others", row.range(), bytes.len()));
                }
                Found::OtherVersion => {
                    return Err(format!(
                        "the ledger has {} of another version than {}, which was planned: plan it again",
                        row.range(),
                        row.version
                    ));
                }
                Found::Nothing => {
                    return Err(format!(
                        "the ledger lacks {} of version {} in {spec}: 'mksum missing' lists what is to be hashed",
                        row.range(),
                        row.version
                    ));
                }
            };
            if row.is_whole() {
                // It was hashed as a root.
                return Ok(spec.root_with_digest(digest, row.size));
            }
            known.insert(row.node(), digest);
        }
        if end != first.size {
            return Err(format!("the plan of {} has no bytes {end}..{}", name(first), first.size));
        }
        spec.root_from(&Known(known), end).map_err(|error| error.to_string())
    }
}

/// Digests of parts, none of which is all.
struct Known(BTreeMap<Subtree, Digest>);

impl Subtrees for Known {
    fn digest(&self, _: &Spec, node: Subtree, _: Role) -> Result<Option<Digest>, Error> {
        Ok(self.0.get(&node).copied())
    }
}
