//! The roots of all inputs of a plan, from the digests of their parts.

use crate::error::{Fault, InputError, NoRoot, RowError, Unusable};
use crate::keys::{Before, InputKeys, Keys};
use crate::ledger::{Found, Ledger};
use crate::lines::{Line, Lines, row};
use crate::outboards::{KeptDigests, Part};
use crate::rows::{End, Row};
use mksum::outboard::KeptLayout;
use mksum::{Digest, Frontier, Root, Spec, Subtree};
use mksum_io::Input;
use std::collections::HashSet;
use std::io::BufRead;
use std::mem;

/// What became of an input, or of a line of the plan.
#[derive(Debug)]
pub enum Outcome<'a> {
    /// An input has a root.
    Joined(Joined<'a>),
    /// The input at this path has none.
    Refused(Input, InputError),
    /// The line with this number, from 1, cannot be used.
    Wrong(u64, RowError),
}

/// An input whose root is known.
#[derive(Debug)]
pub struct Joined<'a> {
    /// Where the input is.
    pub path: Input,
    /// The input's root.
    pub root: Root,
    /// The number of its parts.
    pub rows: u64,
    /// What its outboard is made of, if that is wanted.
    pub kept: Option<KeptDigests<'a>>,
}

/// What is joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Roots.
    Roots,
    /// Roots, and the digests of outboards: of a ledger whose [units](crate::Units) are held.
    Outboards,
}

/// Hands over the root of each input of a plan as soon as its last row was read, from the digests in a ledger. Lines are parsed on so
/// many threads; digests are joined as they come, so that few are held.
///
/// # Errors
/// If the plan cannot be read, or is not whole. What was handed over until then is right.
pub fn join<'a>(
    plan: Lines<impl BufRead + Send>,
    ledger: &'a Ledger,
    (wanted, threads): (Wanted, usize),
    each: &mut dyn FnMut(Outcome<'a>),
) -> Result<(), Unusable> {
    let mut joining = Joining { wanted, seen: HashSet::new(), refused: None, current: None, each };
    let (mut rows, mut end) = (0_u64, None::<End>);
    let of = |before: &mut Before, line: Line<'_>| match line {
        Line::Row(row) if row.digest.is_none() => {
            let keys = ledger.keys.row(before, &row);
            let (found, units) = (ledger.find(keys), row.unit.and_then(|unit| ledger.units(keys, unit)));
            Read::Planned(Planned { input: keys.input, size: row.size, node: row.node(), unit: row.unit, found, units })
        }
        Line::Row(_) => Read::Wrong(RowError::OfLedger),
        Line::End(end) => Read::End(end),
        Line::Wrong(why) => Read::Wrong(why),
    };
    let read = plan.each(threads, of, |number, text, line| {
        match line {
            _ if end.is_some() => return Err(Unusable::Line(number, Fault::AfterEnd)),
            Read::Planned(planned) => {
                rows += 1;
                joining.add(&planned, text, number);
            }
            Read::End(last) => end = Some(last),
            Read::Wrong(why) => (joining.each)(Outcome::Wrong(number, why)),
        }
        Ok(())
    });
    joining.input();
    read?;
    match end {
        None => Err(Unusable::NoEnd),
        Some(end) if end.rows != rows => Err(Unusable::Rows { planned: end.rows, found: rows }),
        Some(_) => Ok(()),
    }
}

/// The root of an input, from the rows of a ledger about it, in any order.
///
/// # Errors
/// If there are no rows, a row's [check](Row::check) is wrong, they are not of one input and format, or not one tree.
pub fn join_rows<'r>(rows: impl IntoIterator<Item = Row<'r>>) -> Result<Root, InputError> {
    let mut rows: Vec<_> = rows.into_iter().collect();
    rows.sort_by_key(|row| row.offset);
    let refuse = |row: &Row<'_>, why| InputError { range: row.range(), line: None, why };
    let Some(first) = rows.first() else { return Err(InputError { range: 0..0, line: None, why: NoRoot::Empty }) };
    let spec = first.spec().map_err(|error| refuse(first, error.into()))?;
    let digest = |row: &Row<'_>| row.check().and_then(|()| row.digest()).map_err(|error| refuse(row, error.into()));
    let digests = rows.iter().map(digest).collect::<Result<Vec<_>, _>>()?;
    let (keys, mut before) = (Keys::default(), Before::default());
    let mut current = Current::new(first.clone().into_owned(), keys.row(&mut before, first).input, spec, None);
    for (row, digest) in rows.iter().zip(&digests) {
        let input = keys.row(&mut before, row).input;
        if input.path != current.keys.path {
            return Err(refuse(row, NoRoot::Path(row.name(), current.first.name())));
        }
        let (node, found) = (row.node(), Found::Digest(digest.as_bytes()));
        current
            .add(&Planned { input, size: row.size, node, unit: None, found, units: None })
            .map_err(|refused| InputError { line: None, ..current.why(refused, row, 0) })?;
    }
    current.root()
}

/// A line of the plan.
enum Read<'a> {
    Planned(Planned<'a>),
    End(End),
    Wrong(RowError),
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

struct Joining<'a, 'e> {
    wanted: Wanted,
    /// The inputs so far.
    seen: HashSet<u128>,
    /// The last input that was refused at its first row: the others do not matter.
    refused: Option<u128>,
    /// The input whose rows are being read.
    current: Option<Current<'a>>,
    each: &'e mut dyn FnMut(Outcome<'a>),
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

impl<'a> Joining<'a, '_> {
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
                    return self.refuse(&row, InputError { range: row.range(), line: Some(number), why });
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
            self.refuse(&row, why);
        }
    }

    /// The format of an input whose first row this is, and the nodes that its outboard keeps if one is to be written.
    fn begin(&mut self, row: &Row<'_>, keys: InputKeys) -> Result<(Spec, Option<KeptLayout>), NoRoot> {
        let spec = row.spec()?;
        if !self.seen.insert(keys.path) {
            return Err(NoRoot::Twice);
        }
        match (self.wanted, row.layout(&spec)) {
            (Wanted::Roots, _) => Ok((spec, None)),
            (Wanted::Outboards, layout) => Ok((spec, Some(layout?.ok_or(NoRoot::NoUnits)?))),
        }
    }

    fn refuse(&mut self, row: &Row<'_>, why: InputError) {
        (self.each)(Outcome::Refused(row.path().unwrap_or_else(|| Input::place("?")), why));
    }

    /// Ends the input whose rows were read.
    fn input(&mut self) {
        let Some(mut current) = self.current.take().filter(|current| current.rows < u64::MAX) else { return };
        let path = current.first.path().unwrap_or_else(|| Input::place("?"));
        let (rows, parts) = (current.rows, mem::take(&mut current.kept));
        let kept = current.layout.map(|layout| KeptDigests { layout, parts });
        (self.each)(match current.root() {
            Ok(root) => Outcome::Joined(Joined { path, root, rows, kept }),
            Err(why) => Outcome::Refused(path, why),
        });
    }
}

/// Why a row cannot be the next of its input.
enum Refused {
    /// The part is in another format.
    Format,
    /// The part is of another version or size of the input.
    Version,
    /// There is a gap, or an overlap.
    Place,
    /// The part is not a subtree.
    Part,
    /// The digest has this many bytes, a wrong number.
    Digest(usize),
    /// The ledger has another version of it.
    Ledger,
    /// The ledger lacks it.
    Missing,
    /// The units have another length than those of other parts.
    Unit,
    /// The units are missing, or do not make the part's digest.
    Units(NoRoot),
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

    /// Why a row was refused, which is in this line of the plan.
    fn why(&self, refused: Refused, row: &Row<'_>, number: u64) -> InputError {
        let (first, spec, version) = (&self.first, &self.spec, row.version.to_string());
        let size = row.size;
        let of_plan = |why| InputError { range: row.range(), line: Some(number), why };
        let of_ledger = |why| InputError { range: row.range(), line: None, why };
        match refused {
            Refused::Format => of_plan(NoRoot::Format(row.format.to_string(), first.format.to_string())),
            Refused::Version => of_plan(NoRoot::Version((version, size), (first.version.to_string(), first.size))),
            Refused::Place if row.offset > self.end => of_plan(NoRoot::Gap),
            Refused::Place => of_plan(NoRoot::Overlap),
            Refused::Part => of_plan(RowError::Part { range: row.range(), size, spec: spec.clone() }.into()),
            Refused::Unit => of_plan(NoRoot::UnitLength),
            Refused::Digest(size) => of_ledger(NoRoot::DigestSize(size, spec.clone())),
            Refused::Ledger => of_ledger(NoRoot::OtherVersion(version)),
            Refused::Missing => of_ledger(NoRoot::Missing(version, spec.clone())),
            Refused::Units(why) => of_ledger(why),
        }
    }

    fn root(mut self) -> Result<Root, InputError> {
        let Row { size, .. } = self.first;
        if let Some(root) = self.root {
            return Ok(root);
        }
        let refuse = |range, why| InputError { range, line: None, why };
        if self.end != size {
            return Err(refuse(self.end..size, NoRoot::NoRows(self.first.name())));
        }
        self.rest.extend(self.last);
        let root = match &self.frontier {
            Some(frontier) => frontier.root_with(&self.rest, size),
            None => self.spec.root_from(&self.rest, size),
        };
        root.map_err(|error| refuse(0..size, NoRoot::Tree(error)))
    }
}
