//! `mksum missing`: prints the rows of a plan whose digests no ledger has.

use super::wrong::WrongLines;
use super::{ledger, lines};
use crate::args::Missing as Args;
use crate::exit::Ended;
use crate::tool::Tool;
use mksum_plan::{Planned, Units, missing};

/// Prints the rows.
pub fn run(tool: &Tool, args: &Args) -> Ended {
    let Some(ledger) = ledger(tool, &args.ledgers, Units::Noted) else { return Ok(tool.console.exit()) };
    let Some(plan) = lines(tool, &args.plan) else { return Ok(tool.console.exit()) };
    let mut wrong = WrongLines::new(tool, &args.plan);
    let read = missing(plan, &ledger, tool.options.threads, &mut |planned| match planned {
        Planned::Missing(text) => tool.console.print(&[text, b"\n"].concat()),
        Planned::Wrong(number, why) => wrong.add(number, &why),
    });
    wrong.end();
    if let Err(why) = read {
        tool.console.error(&args.plan, &why);
    }
    Ok(tool.console.exit())
}
