//! `mksum map`: hashes the parts of a plan, and prints a row of the ledger for each.

use super::ledger::open;
use super::rows::{Line, OF_LEDGER, Row};
use super::wrong::WrongLines;
use crate::args::{Map as Args, read_place};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::print::report;
use crate::tool::Tool;
use mksum::outboard::Observed;
use mksum::{Digest, Plan, Role, Spec};
use mksum_io::{Error, File, Input, Job, hash_all};
use std::mem;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// Whole inputs that are hashed side by side at a time.
const MANY: usize = 4096;

/// Hashes the parts.
pub fn run(tool: &Tool, args: &Args) -> Exit {
    let path = args.plan.as_deref().unwrap_or(Path::new("-"));
    let fail = |reason: &str| tool.console.error(path, &reason);
    let mut lines = match open(path) {
        Ok(lines) => lines,
        Err(reason) => {
            fail(&reason);
            return tool.console.exit();
        }
    };
    let _progress = tool.progress(|| [None].into_iter());
    let mut wrong = WrongLines::new(tool, path);
    let mut work = Work { tool, whole: Vec::new(), run: Vec::new() };
    loop {
        match lines.read() {
            Ok(None) => break,
            Ok(Some(Line::Row(row))) if row.digest.is_none() => {
                if args.task.is_none_or(|task| row.task == Some(task)) {
                    work.add(row.into_owned());
                }
            }
            Ok(Some(Line::Row(_))) => wrong.add(lines.number, &OF_LEDGER),
            Ok(Some(Line::End(end))) => {
                if let Some(task) = args.task.filter(|task| *task >= end.tasks) {
                    fail(&format!("there is no task {task}: the plan has tasks 0 to {}", end.tasks.saturating_sub(1)));
                }
            }
            Ok(Some(Line::Wrong(why))) => wrong.add(lines.number, &why),
            Err(reason) => {
                fail(&reason);
                break;
            }
        }
    }
    wrong.end();
    work.parts();
    work.inputs();
    tool.console.exit()
}

struct Work<'a> {
    tool: &'a Tool,
    /// Rows that are whole inputs.
    whole: Vec<Row<'static>>,
    /// Rows of one input that follow one another.
    run: Vec<Row<'static>>,
}

impl Work<'_> {
    fn add(&mut self, row: Row<'static>) {
        // An input with units is a part like others, so that they are found on the way.
        let has_units = row.unit.is_some() && row.format.parse().is_ok_and(|spec| row.has_units(&spec));
        if row.is_whole() && !has_units {
            self.whole.push(row);
            if self.whole.len() == MANY {
                self.inputs();
            }
            return;
        }
        let follows = |last: &Row<'_>| {
            let alike = last.is_beside(&row) && last.version == row.version && last.format == row.format;
            alike && last.size == row.size && last.offset + last.length == row.offset
        };
        if !self.run.last().is_none_or(follows) {
            self.parts();
        }
        self.run.push(row);
    }

    /// Hashes parts of an input that follow one another, and prints each when it is done.
    fn parts(&mut self) {
        let rows = mem::take(&mut self.run);
        let (Some(first), Some(last)) = (rows.first(), rows.last()) else { return };
        let (path, spec) = match named(first) {
            Ok(named) => named,
            Err(failure) => return report(&self.tool.console, &failure),
        };
        let part = first.offset..last.offset + last.length;
        let opened = || -> Result<File, Failure> {
            let file = File::open_part(&path, part.clone(), &self.tool.options)?;
            Ok(file)
        };
        let mut file = match opened() {
            Ok(file) => Some(file),
            Err(failure) => return report(&self.tool.console, &failure),
        };
        let is_object = path.url().is_some();
        for row in &rows {
            // A file of this machine is compared with itself after each part; the bytes of an object have their version.
            let hashed = file.take().map_or_else(opened, Ok).and_then(|open| {
                let (digest, units) = digest(&open, &spec, row)?;
                match is_object {
                    true => file = Some(open),
                    false => open.finish()?,
                }
                Ok(row.hashed(&digest, &units))
            });
            match hashed {
                Ok(row) => self.print(&row),
                Err(failure) => return report(&self.tool.console, &failure),
            }
        }
        self.tool.options.meter.finish_file();
    }

    /// Hashes whole inputs, and prints each when it is done.
    fn inputs(&mut self) {
        let rows = mem::take(&mut self.whole);
        let mut jobs = Vec::new();
        let mut planned = Vec::new();
        for row in rows {
            match named(&row) {
                Ok((path, spec)) => {
                    let mut job = Job::new(path, vec![spec]);
                    job.version = Some((row.version.to_string(), row.size));
                    jobs.push(job);
                    planned.push(row);
                }
                Err(failure) => report(&self.tool.console, &failure),
            }
        }
        let mut planned = planned.into_iter();
        hash_all(jobs.into_iter(), &self.tool.options, |_, roots, _| {
            let Some(row) = planned.next() else { return ControlFlow::Break(()) };
            match roots.and_then(|mut roots| roots.remove(0)) {
                Ok(root) => self.print(&row.hashed(&root.digest(), &[])),
                Err(error) => report(&self.tool.console, &error.into()),
            }
            self.tool.options.meter.finish_file();
            ControlFlow::Continue(())
        });
    }

    /// Writes a line at once: another process may write to the same file.
    fn print(&self, row: &Row<'_>) {
        self.tool.console.print(&row.line());
        self.tool.console.flush();
    }
}

/// The path and format of a row.
fn named(row: &Row<'_>) -> Result<(Input, Spec), Failure> {
    let refuse = |why: String| Failure::refused(Input::Stdin, why);
    let path = row.input().ok_or_else(|| refuse("a row whose path no file can have".into()))?;
    let path = read_place(path.as_os_str().into()).map_err(|why| Failure::Refused(path, why))?;
    let spec = row.format.parse().map_err(|error: mksum::SpecError| Failure::refused(&path, error))?;
    Ok((path, spec))
}

/// The digest of a part of an open input, and those of its units.
fn digest(file: &File, spec: &Spec, row: &Row<'_>) -> Result<(Digest, Vec<u8>), Failure> {
    let path = file.input();
    let refuse = |why| Failure::refused(path, why);
    file.check_version(&(row.version.to_string(), row.size))?;
    row.check_part(spec).map_err(refuse)?;
    let layout = row.layout(spec).map_err(refuse)?.filter(|_| row.has_units(spec));
    let role = if row.is_whole() { Role::Root } else { Role::Inner };
    let Some(node) = row.kept_node(spec) else { return Err(Failure::refused(path, row.no_part(spec))) };
    let whole = layout.map_or_else(|| file.plan(spec), |layout| file.plan_of(spec, layout.unit()));
    let threads = usize::try_from(node.len.div_ceil(whole.piece.max(1))).unwrap_or(usize::MAX);
    let plan = Plan { threads: whole.threads.min(threads).max(1), ..whole };
    let mut units = Vec::new();
    let joined = match layout {
        None => spec.join_parallel(file, node, role, &plan),
        Some(layout) => {
            let mut keep = |node, digest: &Digest| {
                if layout.is_unit(node) {
                    units.extend_from_slice(digest.as_bytes());
                }
                Ok(())
            };
            let observed = Observed::new(file, layout.post_order_under(node), &mut keep);
            let joined = spec.join_parallel(&observed, node, role, &plan);
            observed.finish(joined)
        }
    };
    let top = joined.map_err(|error| Error::from_join(error, path, spec))?;
    Ok((if row.is_whole() { spec.seal(top, row.size).digest() } else { top }, units))
}
