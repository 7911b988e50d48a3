//! `mksum missing`: the rows of a plan whose digests no ledger has.

use super::ledger::{Found, Ledger, open};
use super::rows::Line;
use crate::args::Missing as Args;
use crate::exit::Exit;
use crate::tool::Tool;
use mksum_cli::name::Shown;

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
    let mut ended = false;
    loop {
        let found = lines.read();
        let number = lines.number;
        match found {
            Ok(None) => {
                if !ended {
                    // Not an error: the rows that this prints are no whole plan either.
                    tool.console.note(&format_args!("{}: the plan is not whole: it has no end", Shown(&args.plan)));
                }
                return tool.console.exit();
            }
            Ok(Some(Line::Row(row))) => {
                if !matches!(ledger.find(ledger.keys.row(&row)), Found::Digest(_)) {
                    lines.text.push(b'\n');
                    tool.console.print(&lines.text);
                }
            }
            Ok(Some(Line::End(_))) => ended = true,
            Ok(Some(Line::Wrong(why))) => tool.console.error(&args.plan, &format_args!("{number}: {why}")),
            Err(why) => {
                tool.console.error(&args.plan, &why);
                return tool.console.exit();
            }
        }
    }
}
