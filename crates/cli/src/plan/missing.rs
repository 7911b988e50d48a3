//! `mksum missing`: the rows of a plan whose digests no ledger has.

use super::ledger::{Found, Ledger, open};
use super::rows::Line;
use crate::args::Missing as Args;
use crate::exit::Exit;
use crate::tool::Tool;

/// Prints the rows.
pub fn run(tool: &Tool, args: &Args) -> Exit {
    let Some(ledger) = Ledger::of(tool, &args.ledgers) else { return tool.console.exit() };
    let mut lines = match open(&args.plan) {
        Ok(lines) => lines,
        Err(reason) => {
            tool.console.error(&args.plan, &reason);
            return tool.console.exit();
        }
    };
    loop {
        let found = lines.read();
        let number = lines.number;
        match found {
            Ok(None) => return tool.console.exit(),
            Ok(Some(Line::Row(row))) => {
                if !matches!(ledger.find(ledger.keys.row(&row)), Found::Digest(_)) {
                    lines.text.push(b'\n');
                    tool.console.print(&lines.text);
                }
            }
            Ok(Some(Line::End(_))) => {}
            Ok(Some(Line::Wrong(why))) => tool.console.error(&args.plan, &format_args!("{number}: {why}")),
            Err(why) => {
                tool.console.error(&args.plan, &why);
                return tool.console.exit();
            }
        }
    }
}
