//! `mksum missing`: the rows of a plan whose digests no ledger has.

use super::ledger::{Found, Ledger, Units, open};
use super::rows::{Before, Line, NO_END};
use super::wrong::WrongLines;
use crate::args::Missing as Args;
use crate::exit::Exit;
use crate::tool::Tool;

/// Prints the rows.
pub fn run(tool: &Tool, args: &Args) -> Exit {
    let Some(ledger) = Ledger::of(tool, &args.ledgers, Units::Noted) else { return tool.console.exit() };
    let fail = |reason: &dyn std::fmt::Display| tool.console.error(&args.plan, reason);
    let lines = match open(&args.plan) {
        Ok(lines) => lines,
        Err(reason) => {
            fail(&reason);
            return tool.console.exit();
        }
    };
    let of = |before: &mut Before, line: Line<'_>| match line {
        Line::Row(row) => {
            let keys = ledger.keys.row(before, &row);
            match ledger.find(keys) {
                Found::Digest(_) if row.unit.is_none_or(|unit| ledger.units(keys, unit).is_some()) => Planned::Hashed,
                _ => Planned::Missing,
            }
        }
        Line::End(_) => Planned::End,
        Line::Wrong(why) => Planned::Wrong(why),
    };
    let (mut ended, mut wrong) = (false, WrongLines::new(tool, &args.plan));
    let read = lines.each(tool.options.threads, of, |number, text, planned| {
        match planned {
            Planned::Hashed => {}
            Planned::Missing => tool.console.print(&[text, b"\n"].concat()),
            Planned::End => ended = true,
            Planned::Wrong(why) => wrong.add(number, &why),
        }
        Ok(())
    });
    wrong.end();
    match read {
        Err(why) => fail(&why),
        Ok(()) if !ended => fail(&NO_END),
        Ok(()) => {}
    }
    tool.console.exit()
}

/// A line of the plan.
enum Planned {
    Hashed,
    Missing,
    End,
    Wrong(String),
}
