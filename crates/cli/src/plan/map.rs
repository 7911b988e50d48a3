//! `mksum map`: hashes the parts of a plan, and prints a row of the ledger for each.

use super::lines;
use super::wrong::WrongLines;
use crate::args::{Map as Args, read_place};
use crate::exit::Ended;
use crate::failure::Failure;
use crate::print::report;
use crate::tool::Tool;
use mksum_io::{Error, Input};
use mksum_plan::{Hashed, Line, Part, Row, RowError, hash_inputs, hash_parts};
use std::mem;
use std::ops::ControlFlow;
use std::path::Path;

/// Whole inputs that are hashed side by side at a time.
const MANY: usize = 4096;

/// Hashes the parts.
pub fn run(tool: &Tool, args: &Args) -> Ended {
    let path = args.plan.as_deref().unwrap_or(Path::new("-"));
    let Some(mut lines) = lines(tool, path) else { return Ok(tool.console.exit()) };
    let _progress = tool.progress(|| [None].into_iter());
    let mut wrong = WrongLines::new(tool, path);
    let mut work = Work { tool, whole: Vec::new(), run: Vec::new(), refused: None };
    loop {
        match lines.read() {
            Ok(None) => break,
            Ok(Some(Line::Row(row))) if row.digest.is_none() => {
                if args.task.is_none_or(|task| row.task == Some(task)) {
                    work.add(row.into_owned());
                }
            }
            Ok(Some(Line::Row(_))) => wrong.add(lines.number, &RowError::OfLedger),
            Ok(Some(Line::End(end))) => {
                if let Some(task) = args.task.filter(|task| *task >= end.tasks) {
                    let last = end.tasks.saturating_sub(1);
                    tool.console.error(path, &format_args!("there is no task {task}: the plan has tasks 0 to {last}"));
                }
            }
            Ok(Some(Line::Wrong(why))) => wrong.add(lines.number, &why),
            Err(why) => {
                tool.console.error(path, &why);
                break;
            }
        }
    }
    wrong.end();
    work.parts();
    work.inputs();
    Ok(tool.console.exit())
}

/// A row, and what is hashed for it.
type Task = (Row<'static>, Part);

struct Work<'a> {
    tool: &'a Tool,
    /// Whole inputs.
    whole: Vec<Task>,
    /// Parts of one input that follow one another.
    run: Vec<Task>,
    /// The last row that cannot be hashed: it was reported, and the others of its input are not hashed either.
    refused: Option<Row<'static>>,
}

impl Work<'_> {
    fn add(&mut self, row: Row<'static>) {
        let input = |row: &Row<'static>| (row.path.clone(), row.path_base64.clone());
        if self.refused.as_ref().is_some_and(|refused| input(refused) == input(&row)) {
            return;
        }
        let part = match part(&row) {
            Ok(part) => part,
            Err(failure) => {
                report(&self.tool.console, &failure);
                self.refused = Some(row);
                return;
            }
        };
        if part.is_input() {
            self.whole.push((row, part));
            if self.whole.len() == MANY {
                self.inputs();
            }
            return;
        }
        if !self.run.last().is_none_or(|(_, last)| part.follows(last)) {
            self.parts();
        }
        self.run.push((row, part));
    }

    /// Hashes parts of an input that follow one another, and prints each when it is done.
    fn parts(&mut self) {
        let (rows, parts): (Vec<_>, Vec<_>) = mem::take(&mut self.run).into_iter().unzip();
        let mut rows = rows.iter();
        let _ = hash_parts(&parts, &self.tool.options, &mut |hashed| self.done(rows.next(), hashed));
        if !parts.is_empty() {
            self.tool.options.meter.finish_file();
        }
    }

    /// Hashes whole inputs, and prints each when it is done.
    fn inputs(&mut self) {
        let (rows, parts): (Vec<_>, Vec<_>) = mem::take(&mut self.whole).into_iter().unzip();
        let mut rows = rows.iter();
        hash_inputs(parts.into_iter(), &self.tool.options, &mut |hashed| {
            let done = self.done(rows.next(), hashed);
            self.tool.options.meter.finish_file();
            done
        });
    }

    /// Prints the row of a part, at once: another process may write to the same file.
    fn done(&self, row: Option<&Row<'_>>, hashed: Result<Hashed, Error>) -> ControlFlow<()> {
        match (row, hashed) {
            (Some(row), Ok((digest, units))) => {
                self.tool.console.print(&row.hashed(&digest, &units).line());
                self.tool.console.flush();
            }
            (_, Err(error)) => report(&self.tool.console, &error.into()),
            (None, Ok(_)) => return ControlFlow::Break(()),
        }
        ControlFlow::Continue(())
    }
}

/// What is hashed for a row.
fn part(row: &Row<'_>) -> Result<Part, Failure> {
    let input = row.path().unwrap_or(Input::Stdin);
    let mut part = Part::new(row).map_err(|why| Failure::refused(&input, why))?;
    part.path = read_place(part.path.as_os_str().into()).map_err(|why| Failure::Refused(input, why))?;
    Ok(part)
}
