//! Trees in parts as data (`mksum-plan`): planned once, hashed anywhere, joined once.

pub mod join;
pub mod map;
pub mod missing;
pub mod write;
mod wrong;

use crate::tool::Tool;
use crate::walk;
use mksum_cli::name::Shown;
use mksum_io::Input;
use mksum_plan::{Ignored, Ledger, Lines, Units, Unusable};
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

/// The lines of a file, or its error, which is reported; `-` is standard input.
fn lines(tool: &Tool, path: &Path) -> Option<Lines<BufReader<Box<dyn Read + Send>>>> {
    match walk::open(&Input::parse(path)) {
        Ok(reader) => Some(Lines::new(BufReader::with_capacity(1 << 16, reader))),
        Err(error) => {
            tool.console.error(path, &Unusable::Read(error));
            None
        }
    }
}

/// The rows of ledgers; none if one cannot be used, which is reported. Lines that cannot be used are noted.
fn ledger(tool: &Tool, paths: &[PathBuf], units: Units) -> Option<Ledger> {
    let (mut ledger, mut first, mut count) = (Ledger::new(units), None, 0);
    for path in paths {
        match ledger.read(lines(tool, path)?, tool.options.threads) {
            Ok(Ignored { lines, first: why }) => {
                count += lines;
                first = first.or(why.map(|why| (path, why)));
            }
            Err(why) => {
                tool.console.error(path, &why);
                return None;
            }
        }
    }
    if let Some((path, (number, why))) = first {
        let ignored = match count {
            1 => "1 line is ignored, and what is in it".into(),
            lines => format!("{lines} lines are ignored, and what is in them"),
        };
        let text = format_args!("{}: {number}: {why}; {ignored} counts as missing", Shown(path));
        tool.console.note(&text);
    }
    Some(ledger)
}
