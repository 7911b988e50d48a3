//! Lines that cannot be used: of a file that is something else, all are, and one is reported.

use crate::tool::Tool;
use std::fmt::Display;
use std::path::Path;

/// The lines of a file that cannot be used.
pub struct WrongLines<'a> {
    tool: &'a Tool,
    path: &'a Path,
    count: u64,
}

impl<'a> WrongLines<'a> {
    /// A count of zero for the file at `path`.
    pub fn new(tool: &'a Tool, path: &'a Path) -> Self {
        WrongLines { tool, path, count: 0 }
    }

    /// Adds one, with its number from 1; the first is reported as an error.
    pub fn add(&mut self, number: u64, why: &dyn Display) {
        if self.count == 0 {
            self.tool.console.error(self.path, &format_args!("{number}: {why}"));
        }
        self.count += 1;
    }

    /// Reports how many more there are.
    pub fn end(self) {
        match self.count {
            0 | 1 => {}
            2 => self.tool.console.error(self.path, &"1 more line cannot be used"),
            count => self.tool.console.error(self.path, &format_args!("{} more lines cannot be used", count - 1)),
        }
    }
}
