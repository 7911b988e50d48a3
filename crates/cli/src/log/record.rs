//! `--log`: the roots of directories as entries of a log, a signed history of what was kept.

use super::print::Entry;
use super::write::open;
use super::wrong::Wrong;
use crate::exit::Exit;
use crate::tool::Tool;
use mksum_cli::name::{Shown, printable};
use std::path::Path;

/// Lines to be appended to a log at the end of a run that succeeds.
pub struct Record<'a> {
    log: &'a Path,
    lines: Vec<Vec<u8>>,
}

impl<'a> Record<'a> {
    /// An empty record for the log in a folder, if one is named; the exit if nothing can be appended to that log.
    pub fn begin(tool: &Tool, log: Option<&'a Path>, json: bool) -> Result<Option<Record<'a>>, Exit> {
        let Some(log) = log else { return Ok(None) };
        tool.console.use_json(json);
        // The lock is not held while directories are read.
        match open(tool, log) {
            Ok(_) => Ok(Some(Record { log, lines: Vec::new() })),
            Err(wrong) => Err(wrong.report(tool)),
        }
    }

    /// Adds a line, which ends with a newline that is not part of the entry.
    pub fn push(&mut self, mut line: Vec<u8>) {
        line.pop();
        self.lines.push(line);
    }

    /// Appends the lines if nothing failed, with one checkpoint, and prints their indices.
    pub fn end(self, tool: &Tool, json: bool) -> Exit {
        let exit = tool.console.exit();
        if exit != Exit::Good || self.lines.is_empty() {
            tool.console.flush();
            tool.console.note(&format_args!("{}: nothing was appended, because the run failed", Shown(self.log)));
            return exit;
        }
        match self.append(tool, json) {
            Ok(()) => tool.console.exit(),
            Err(wrong) => wrong.report(tool),
        }
    }

    fn append(&self, tool: &Tool, json: bool) -> Result<(), Wrong> {
        let place = self.log.into();
        let mut log = open(tool, self.log)?;
        let indices = log.append(&self.lines).map_err(Wrong::of(&place))?;
        log.checkpoint().map_err(Wrong::of(&place))?;
        tool.console.flush();
        for (index, line) in indices.zip(&self.lines) {
            if json {
                tool.console.print_json(self.log, Entry::logged(index, Some(line)));
            } else if !tool.console.is_silent() {
                let text = String::from_utf8_lossy(line);
                tool.console.note(&format_args!("{}: entry {index}: {}", Shown(self.log), printable(&text)));
            }
        }
        Ok(())
    }
}
