//! `mksum join --plan`: the roots of all inputs of a plan, from the digests of its parts.

use super::ledger::{Found, Ledger, Units, name, open};
use super::outboards::{Joined, NoPart, Outboards, Part};
use super::rows::{Before, End, InputKeys, Line, NO_END, OF_LEDGER, Row, row};
use super::wrong::WrongLines;
use crate::args::Join as Args;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::kept::batch::Batch;
use crate::print::report;
use crate::tool::Tool;
use mksum::outboard::KeptLayout;
use mksum::{Digest, Frontier, Root, Spec, Subtree};
use mksum_io::outboard::{Changes, Kept};
use mksum_io::{Input, Url};
use std::collections::HashSet;
use std::mem;
use std::path::{Path, PathBuf};

/// Prints a line for each input.
pub fn run(tool: &Tool, args: &Args, plan: &Path) -> Exit {
    let fail = |path: &Path, reason: &dyn std::fmt::Display| tool.console.error(path, reason);
    let ledgers: Vec<PathBuf> = args.files.iter().map(|ledger| ledger.as_os_str().into()).collect();
    let ledgers = if ledgers.is_empty() { vec!["-".into()] } else { ledgers };
    let units = if args.outboards.is_some() { Units::Held } else { Units::Ignored };
    let Some(ledger) = Ledger::of(tool, &ledgers, units) else { return tool.console.exit() };
    let lines = match open(plan) {
        Ok(lines) => lines,
        Err(reason) => {
            fail(plan, &reason);
            return tool.console.exit();
        }
    };
    let printed = |joined: Joined, url: Option<&Url>, _: &Kept| joined.print(tool, args, url);
    let outboards = args.outboards.as_ref().map(|place| Outboards {
        tool,
        place: place.as_ref(),
        changes: if args.accept_changes { Changes::Accept } else { Changes::Refuse },
        batch: Batch::new(tool, &printed),
        taken: HashSet::new(),
    });
    let mut joining = Joining { tool, args, seen: HashSet::new(), refused: None, current: None, outboards };
    let (mut rows, mut end, mut wrong) = (0_u64, None::<End>, WrongLines::new(tool, plan));
    let of = |before: &mut Before, line: Line<'_>| match line {
        Line::Row(row) if row.digest.is_none() => {
            let keys = ledger.keys.row(before, &row);
            let (found, units) = (ledger.find(keys), row.unit.and_then(|unit| ledger.units(keys, unit)));
            Read::Planned(Planned { input: keys.input, size: row.size, node: row.node(), unit: row.unit, found, units })
        }
        Line::Row(_) => Read::OfLedger,
        Line::End(end) => Read::End(end),
        Line::Wrong(why) => Read::Wrong(why),
    };
    let read = lines.each(tool.options.threads, of, |number, text, line| {
        match line {
            _ if end.is_some() => {
                return Err(format!("{number}: a row after the end of the plan: join one plan at a time"));
            }
            Read::Planned(planned) => {
                rows += 1;
                joining.add(&planned, text, number);
            }
            Read::OfLedger => wrong.add(number, &OF_LEDGER),
            Read::End(last) => end = Some(last),
            Read::Wrong(why) => wrong.add(number, &why),
        }
        Ok(())
    });
    wrong.end();
    joining.input();
    if let Some(mut outboards) = joining.outboards {
        outboards.batch.commit();
    }
    match (read, end) {
        (Err(why), _) => fail(plan, &why),
        (Ok(()), None) => fail(plan, &NO_END),
        (Ok(()), Some(end)) if end.rows != rows => {
            fail(plan, &format_args!("the plan is incomplete: it had {} rows and has {rows}", end.rows));
        }
        (Ok(()), Some(_)) => {}
    }
    tool.console.exit()
}

/// A line of the plan.
enum Read<'a> {
    Planned(Planned<'a>),
    OfLedger,
    End(End),
    Wrong(String),
}

/// A row of the plan, and what the ledger has of it.
struct Planned<'a> {
    input: InputKeys,
    /// The length of the input, in bytes.
    size: u64,
    node: Subtree,
    /// The length of a unit, in bytes, if outboards were planned.
    unit: Option<u64>,
    found: Found<'a>,
    /// The digests of its units.
    units: Option<&'a [u8]>,
}

impl Planned<'_> {
    /// Whether it is all of its input: then its digest is the root's.
    fn is_whole(&self) -> bool {
        self.node.start == 0 && self.node.len == self.size
    }
}

struct Joining<'a> {
    tool: &'a Tool,
    args: &'a Args,
    /// The inputs so far.
    seen: HashSet<u128>,
    /// The last input that was refused at its first row: the others do not matter.
    refused: Option<u128>,
    /// The input whose rows are being read.
    current: Option<Current<'a>>,
    /// Where outboards are written, if they are asked for.
    outboards: Option<Outboards<'a>>,
}

/// An input, as far as its rows were read: its digests are joined as they come, so that few are held.
struct Current<'a> {
    first: Row<'static>,
    keys: InputKeys,
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
    /// The nodes that its outboard keeps, if one is written.
    layout: Option<KeptLayout>,
    /// The digests that the outboard is made of.
    kept: Vec<Part<'a>>,
}

impl<'a> Joining<'a> {
    /// Adds a row of the plan, with its text and the number of its line.
    fn add(&mut self, planned: &Planned<'a>, text: &[u8], number: u64) {
        if self.current.as_ref().is_none_or(|current| planned.input.path != current.keys.path) {
            self.input();
            if self.refused == Some(planned.input.path) {
                return;
            }
            let Some(row) = row(text) else { return };
            match self.begin(&row, planned.input) {
                Ok((spec, layout)) => {
                    self.current = Some(Current::new(row.into_owned(), planned.input, spec, layout));
                }
                Err(why) => {
                    self.refused = Some(planned.input.path);
                    return self.refuse(&row, &format_args!("line {number} of the plan: {why}"));
                }
            }
        }
        let Some(current) = &mut self.current else { return };
        // After the first reason why there is no root, the others do not matter.
        if current.rows < u64::MAX
            && let Err(refused) = current.add(planned)
            && let Some(row) = row(text)
        {
            let why = current.why(refused, &row, number);
            current.rows = u64::MAX;
            self.refuse(&row, &why);
        }
    }

    /// The format of an input whose first row this is, and the nodes that its outboard keeps if one is to be written.
    fn begin(&mut self, row: &Row<'_>, keys: InputKeys) -> Result<(Spec, Option<KeptLayout>), String> {
        let spec = row.format.parse::<Spec>().map_err(|error| error.to_string())?;
        if !self.seen.insert(keys.path) {
            return Err("it is in the plan twice".into());
        }
        if self.outboards.is_none() {
            return Ok((spec, None));
        }
        match row.layout(&spec)? {
            None => Err("there are no units for an outboard: plan it again with 'mksum plan --outboards'".into()),
            layout => Ok((spec, layout)),
        }
    }

    fn refuse(&self, row: &Row<'_>, why: &dyn std::fmt::Display) {
        self.tool.console.error(&row.input().unwrap_or_else(|| Input::place("?")), why);
    }

    /// Prints the root of the input whose rows were read, after its outboard is written if one is asked for.
    fn input(&mut self) {
        let Some(mut current) = self.current.take().filter(|current| current.rows < u64::MAX) else { return };
        let path = current.first.input().unwrap_or_else(|| Input::place("?"));
        let (rows, layout, kept) = (current.rows, current.layout, mem::take(&mut current.kept));
        let joined = current.root().map(|root| Joined { path: path.clone(), root, rows, outboard: None });
        let done = match (joined, &mut self.outboards, layout) {
            (Ok(joined), Some(outboards), Some(layout)) => outboards.add(joined, layout, &kept),
            (Ok(joined), ..) => {
                joined.print(self.tool, self.args, None);
                Ok(())
            }
            (Err(why), ..) => Err(Failure::Refused(path, why)),
        };
        if let Err(failure) = done {
            report(&self.tool.console, &failure);
        }
    }
}

/// Why a row cannot be the next of its input.
enum Refused {
    /// It is in another format.
    Format,
    /// It is of another version, or size.
    Version,
    /// There is a gap, or an overlap.
    Place,
    /// It is not a subtree.
    Part,
    /// Its digest has so many bytes.
    Digest(usize),
    /// The ledger has another version of it.
    Ledger,
    /// The ledger lacks it.
    Missing,
    /// It has units of another length than others.
    Unit,
    /// Its units are missing, or do not make its digest.
    Units(NoPart),
}

impl<'a> Current<'a> {
    fn new(first: Row<'static>, keys: InputKeys, spec: Spec, layout: Option<KeptLayout>) -> Current<'a> {
        let frontier = spec.frontier().ok();
        let (rest, kept) = (Vec::new(), Vec::new());
        Current { first, keys, spec, end: 0, rows: 0, frontier, last: None, rest, root: None, layout, kept }
    }

    /// Adds the next row, if it is the next part and the ledger has its digest.
    fn add(&mut self, planned: &Planned<'a>) -> Result<(), Refused> {
        let (spec, node) = (&self.spec, planned.node);
        if planned.input.format != self.keys.format {
            return Err(Refused::Format);
        }
        if planned.input.version != self.keys.version {
            return Err(Refused::Version);
        }
        if node.start != self.end || self.root.is_some() {
            return Err(Refused::Place);
        }
        if !planned.is_whole() && !spec.has_part(planned.size, node) {
            return Err(Refused::Part);
        }
        let bytes = match planned.found {
            Found::Digest(bytes) if bytes.len() == spec.hash().size() => bytes,
            Found::Digest(bytes) => return Err(Refused::Digest(bytes.len())),
            Found::OtherVersion => return Err(Refused::Ledger),
            Found::Nothing => return Err(Refused::Missing),
        };
        let digest = Digest::new(bytes);
        if let Some(layout) = self.layout {
            let row = self.first.with_part(node);
            if planned.unit != Some(layout.unit()) {
                return Err(Refused::Unit);
            }
            self.kept.extend(Part::of(&row, spec, layout, (bytes, planned.units)).map_err(Refused::Units)?);
        }
        (self.end, self.rows) = (node.end(), self.rows + 1);
        if planned.is_whole() {
            // It was hashed as a root.
            self.root = Some(spec.root_with_digest(digest, planned.size));
            return Ok(());
        }
        if let Some((node, before)) = self.last.replace((node, digest)) {
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

    /// Why a row was refused, in words.
    fn why(&self, refused: Refused, row: &Row<'_>, number: u64) -> String {
        let (first, spec, range) = (&self.first, &self.spec, row.range());
        let why = match refused {
            Refused::Format => format!("{range} are in {}, others in {}", row.format, first.format),
            Refused::Version => {
                let others = format!("others of version {} with {}", first.version, first.size);
                format!("{range} are of version {} with {} bytes, {others}", row.version, row.size)
            }
            Refused::Place if row.offset > self.end => format!("{range}: the bytes before it are missing"),
            Refused::Place => format!("{range}: it overlaps the part before it"),
            Refused::Part => row.no_part(spec),
            Refused::Digest(size) => return format!("the digest of {range} has {size} bytes: {spec} has others"),
            Refused::Ledger => {
                let planned = format!("another version than {}, which was planned: plan it again", row.version);
                return format!("the ledger has {range} of {planned}");
            }
            Refused::Missing => {
                let how = "'mksum missing' lists what is to be hashed";
                return format!("the ledger lacks {range} of version {} in {spec}: {how}", row.version);
            }
            Refused::Unit => format!("{range} have units of another length than others"),
            Refused::Units(NoPart::Missing) => {
                return format!("the ledger lacks the units of {range}: 'mksum missing' lists what is to be hashed");
            }
            Refused::Units(NoPart::Wrong) => {
                return format!(
                    "the units of {range} do not make the digest of these bytes: hash them again into a new ledger"
                );
            }
        };
        format!("line {number} of the plan: {why}")
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
