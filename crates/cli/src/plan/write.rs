//! `mksum plan`: prints the parts of inputs, as rows.

use crate::args::Plan as Args;
use crate::exit::{Ended, Exit, refuse, usage};
use crate::failure::Failure;
use crate::figures::grouped;
use crate::print::report;
use crate::tool::Tool;
use mksum_io::{Error, Input};
use mksum_plan::{PlanError, Planner, facts};

/// Prints the rows.
pub fn run(tool: &Tool, args: &Args) -> Ended {
    let [choice] = &tool.formats[..] else { return refuse(&"a plan has one --format: make a plan for each") };
    let planner = Planner::new(choice.spec(), args.range, args.tasks);
    let planner =
        if args.outboards { planner.and_then(|planner| planner.with_outboards(args.keep_leaf)) } else { planner };
    let mut planner = planner.map_err(|reason| usage(&reason))?;
    let rules = tool.rules(&args.directories)?;
    let (mut walk, mut again) = (rules.walk(&args.files), 0_u64);
    while let Some(input) = walk.next() {
        let planned = match input {
            // One argument leads to each input once.
            Ok(Input::Stdin) => Err(Failure::refused(Input::Stdin, "a stream has no parts: write it to a file first")),
            Ok(input) if args.files.len() > 1 && !planner.is_new(&input) => {
                again += 1;
                Ok(())
            }
            Ok(input) => plan(tool, &mut planner, &input, walk.facts()),
            Err((path, reason)) => Err(Failure::Refused(path, reason)),
        };
        if let Err(failure) = planned {
            report(&tool.console, &failure);
        }
    }
    rules.report_skipped(&tool.console);
    if again > 0 {
        let plural = if again == 1 { "input was" } else { "inputs were" };
        tool.console.note(&format_args!("{} {plural} named again: each is planned once", grouped(again)));
    }
    // Without it, a plan is not whole: an input that failed is missing.
    if tool.console.exit() == Exit::Good {
        tool.console.print(&planner.end().line());
    }
    Ok(tool.console.exit())
}

/// Prints the rows of an input, whose length and version are those of the listing, if that has them.
fn plan(tool: &Tool, planner: &mut Planner, path: &Input, listed: Option<(u64, String)>) -> Result<(), Failure> {
    let (size, version) = listed.map_or_else(|| facts(path, &tool.options), Ok)?;
    let planned = planner.add(path, (size, &version), &mut |row| tool.console.print(&row.line()));
    planned.map_err(|error| match error {
        PlanError::Length(error) => Error::from_join(error.into(), path, planner.spec()).into(),
        PlanError::Row(error) => Failure::refused(path, error),
    })
}
