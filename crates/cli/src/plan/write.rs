//! `mksum plan`: the parts of inputs, as rows.

use super::rows::{End, Keys, Kind, Row, SCHEMA};
use crate::args::Plan as Args;
use crate::exit::{Exit, usage};
use crate::failure::Failure;
use crate::json;
use crate::print::report;
use crate::report::grouped;
use crate::tool::Tool;
use crate::walk::Rules;
use mksum::outboard::{KeptLayout, OutboardError};
use mksum::{Algorithm, Spec, Subtree};
use mksum_io::{Error, File, Input};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};
use std::mem;

/// What an input costs beside its bytes, as bytes: a request takes about as long as these.
const REQUEST: u64 = 4 << 20;

/// Prints the rows.
pub fn run(tool: &Tool, args: &Args) -> Exit {
    let [choice] = &tool.formats[..] else { return usage(&"a plan has one --format: make a plan for each") };
    let spec = choice.spec();
    if args.outboards && matches!(spec.hash(), Algorithm::Crc(_)) {
        return usage(&OutboardError::Crc(spec.clone()));
    }
    let rules = match Rules::new(&args.directories, tool.options.objects.clone()) {
        Ok(rules) => rules,
        Err(reason) => return usage(&reason),
    };
    let (keys, mut seen, mut again) = (Keys::default(), HashSet::new(), 0_u64);
    let mut is_new = |path: &Input| {
        // One argument leads to each input once.
        let is_new = args.files.len() == 1 || seen.insert(keys.of(&path.as_os_str()));
        again += u64::from(!is_new);
        is_new
    };
    let mut walk = rules.walk(&args.files);
    let mut tasks = Tasks::new(args.tasks, args.range);
    let mut end = End { kind: Kind::End, schema: SCHEMA, rows: 0, objects: 0, bytes: 0, tasks: args.tasks };
    while let Some(input) = walk.next() {
        let planned = match input {
            Ok(Input::Stdin) => Err(Failure::refused(Input::Stdin, "a stream has no parts: write it to a file first")),
            Ok(path) if !is_new(&path) => Ok(()),
            Ok(path) => facts(tool, &path, walk.facts())
                .and_then(|(size, version)| plan(tool, args, spec, (&path, size, &version), (&mut tasks, &mut end))),
            Err((path, reason)) => Err(Failure::Refused(path, reason)),
        };
        if let Err(failure) = planned {
            report(&tool.console, &failure);
        }
    }
    if again > 0 {
        let plural = if again == 1 { "input was" } else { "inputs were" };
        tool.console.note(&format_args!("{} {plural} named again: each is planned once", grouped(again)));
    }
    // Without it, a plan is not whole: an input that failed is missing.
    if tool.console.exit() == Exit::Good {
        tool.console.print(&json::object(&end));
    }
    tool.console.exit()
}

/// The length and version of an input: those of the listing, or else it is opened.
fn facts(tool: &Tool, path: &Input, listed: Option<(u64, String)>) -> Result<(u64, String), Failure> {
    if let Some(facts) = listed {
        return Ok(facts);
    }
    let file = File::open_part(path, 0..1, &tool.options)?;
    Ok((file.len(), file.version()))
}

fn plan(
    tool: &Tool,
    args: &Args,
    spec: &Spec,
    (path, size, version): (&Input, u64, &str),
    (tasks, end): (&mut Tasks, &mut End),
) -> Result<(), Failure> {
    let pieces = spec.plan(size, args.range).map_err(|error| Error::from_join(error.into(), path, spec))?;
    let unit = args.outboards.then(|| KeptLayout::unit_of(spec, args.keep_leaf));
    let empty = (size == 0).then_some(Subtree { start: 0, len: 0, level: 0 });
    tasks.begin();
    for node in empty.into_iter().chain(pieces) {
        let mut row = Row::new(path, (version, size), spec, node, tasks.take(node.len));
        row.unit = unit;
        row.layout(spec).map_err(|why| Failure::refused(path, why))?;
        tool.console.print(&row.line());
        end.rows += 1;
    }
    end.objects += 1;
    end.bytes += size;
    Ok(())
}

/// Packs parts into tasks of about the same cost, as they come.
struct Tasks {
    count: u64,
    /// The tasks that have parts: the first ones.
    begun: u64,
    /// The cost and the number of the task that is being filled.
    current: (u64, u64),
    /// Those of the others that have parts, the least cost first.
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
