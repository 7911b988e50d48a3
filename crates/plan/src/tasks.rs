//! Plans: the parts of inputs as rows, packed into tasks of about the same cost.

use crate::error::{PlanError, SCHEMA};
use crate::keys::Keys;
use crate::rows::{End, Kind, Row};
use mksum::outboard::KeptLayout;
use mksum::{ByOffset, LengthError, Spec, Subtree, Unsupported};
use mksum_io::{Error, File, Input, Options};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};
use std::mem;

/// What an input costs beside its bytes, as bytes: a request takes about as long as these.
const REQUEST: u64 = 4 << 20;

/// The parts of a tree over `size` bytes, of at most `range` bytes each, left to right. An empty input has one part of no bytes.
///
/// # Errors
/// If the format has no root for this length.
pub fn parts(spec: &Spec, size: u64, range: u64) -> Result<impl Iterator<Item = Subtree>, LengthError> {
    let empty = (size == 0).then_some(Subtree { start: 0, len: 0, level: 0 });
    Ok(empty.into_iter().chain(spec.plan(size, range)?))
}

/// The length and version of an input, which is opened for them.
///
/// # Errors
/// If it cannot be opened.
pub fn facts(path: &Input, options: &Options) -> Result<(u64, String), Error> {
    let file = File::open_part(path, 0..1, options)?;
    Ok((file.len(), file.version()))
}

/// Makes a plan.
#[derive(Debug)]
pub struct Planner {
    spec: Spec,
    range: u64,
    /// If outboards are wanted, the length of a unit in bytes.
    unit: Option<u64>,
    tasks: Tasks,
    end: End,
    keys: Keys,
    seen: HashSet<u128>,
}

impl Planner {
    /// Plans parts of at most `range` bytes, in so many tasks.
    ///
    /// # Errors
    /// If the format is not hashed in parts.
    pub fn new(spec: &Spec, range: u64, tasks: u64) -> Result<Planner, Unsupported> {
        spec.supports(ByOffset::Parts)?;
        let end = End { kind: Kind::End, schema: SCHEMA, rows: 0, objects: 0, bytes: 0, tasks };
        let (spec, tasks) = (spec.clone(), Tasks::new(tasks, range));
        Ok(Planner { spec, range, unit: None, tasks, end, keys: Keys::default(), seen: HashSet::new() })
    }

    /// The same for outboards that keep digests of subtrees of at most `leaf` bytes, or of as many as outboards have by default.
    ///
    /// # Errors
    /// If no tree of this format is kept.
    pub fn with_outboards(self, leaf: Option<u64>) -> Result<Planner, Unsupported> {
        self.spec.supports(ByOffset::Outboard)?;
        Ok(Planner { unit: Some(KeptLayout::unit_of(&self.spec, leaf)), ..self })
    }

    /// The format.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// Whether an input is asked about for the first time: a plan has each once.
    pub fn is_new(&mut self, path: &Input) -> bool {
        self.seen.insert(self.keys.of(&path.as_os_str()))
    }

    /// Hands over the rows of an input.
    ///
    /// # Errors
    /// If the format has no root for its length, or a part has too many units for an outboard.
    pub fn add(
        &mut self,
        path: &Input,
        (size, version): (u64, &str),
        each: &mut dyn FnMut(&Row<'_>),
    ) -> Result<(), PlanError> {
        self.tasks.begin();
        for node in parts(&self.spec, size, self.range).map_err(PlanError::Length)? {
            let task = Some(self.tasks.take(node.len));
            let row = Row { task, unit: self.unit, ..Row::new(path, (version, size), &self.spec, node) };
            row.layout(&self.spec).map_err(PlanError::Row)?;
            each(&row);
            self.end.rows += 1;
        }
        self.end.objects += 1;
        self.end.bytes = self.end.bytes.saturating_add(size);
        Ok(())
    }

    /// The last row. Without it, a plan is not whole: an input that failed is missing.
    pub fn end(&self) -> &End {
        &self.end
    }
}

/// Packs parts into tasks of about the same cost, as they come.
#[derive(Debug)]
struct Tasks {
    count: u64,
    /// The tasks that have parts: the first ones.
    begun: u64,
    /// The cost and the number of the task that is being filled.
    current: (u64, u64),
    /// The cost and number of the other tasks that have parts, the least cost first.
    others: BinaryHeap<Reverse<(u64, u64)>>,
    /// How much more than the least a task may have before another one is taken: what follows is read in order until then.
    slack: u64,
    /// What the next part costs beside its bytes.
    extra: u64,
}

impl Tasks {
    fn new(count: u64, range: u64) -> Tasks {
        let slack = range.max(REQUEST).saturating_mul(4);
        Tasks { count, begun: 1, current: (0, 0), others: BinaryHeap::new(), slack, extra: 0 }
    }

    /// Notes that an input begins.
    fn begin(&mut self) {
        self.extra = REQUEST;
    }

    /// The task for a part of so many bytes.
    fn take(&mut self, bytes: u64) -> u64 {
        let unused = (self.begun < self.count).then_some((0, self.begun));
        let least = unused.or_else(|| self.others.peek().map(|Reverse(task)| *task));
        if let Some(least) = least.filter(|(cost, _)| self.current.0.saturating_sub(*cost) > self.slack) {
            match unused {
                Some(_) => self.begun += 1,
                None => drop(self.others.pop()),
            }
            self.others.push(Reverse(mem::replace(&mut self.current, least)));
            self.extra = REQUEST;
        }
        self.current.0 += bytes + self.extra;
        self.extra = 0;
        self.current.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_cost_about_the_same() {
        let mut tasks = Tasks::new(7, 64 << 20);
        for (bytes, count) in [(64 << 20, 2000), (1000, 20_000)] {
            for _ in 0..count {
                tasks.begin();
                tasks.take(bytes);
            }
        }
        let costs: Vec<_> = tasks.others.iter().map(|Reverse((cost, _))| *cost).chain([tasks.current.0]).collect();
        let (most, least) = (costs.iter().max().unwrap(), costs.iter().min().unwrap());
        assert_eq!(costs.len(), 7);
        assert!(most - least <= tasks.slack + (65 << 20), "{most} and {least}");
    }

    #[test]
    fn neighbours_share_a_task() {
        let mut tasks = Tasks::new(3, 1 << 20);
        tasks.begin();
        let given: Vec<_> = (0..60).map(|_| tasks.take(1 << 20)).collect();
        let changes = given.windows(2).filter(|pair| pair[0] != pair[1]).count();
        assert!(changes <= 15, "{given:?}");
    }
}
