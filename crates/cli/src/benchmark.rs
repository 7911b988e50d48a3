//! --benchmark: the speed of hashing files on this machine.

use crate::args::Run;
use crate::exit::{Exit, usage};
use crate::print::{report_read_error, reported_roots, window};
use crate::report;
use crate::tool::Tool;
use crate::walk::Rules;
use mksum_io::{Input, Job, hash};
use std::time::Instant;

/// Hashes each file `times` times and prints the shortest, the median and the longest.
pub fn run(tool: &Tool, args: &Run, times: u32) -> Exit {
    let rules = match Rules::new(&args.directories, tool.options.objects.clone()) {
        Ok(rules) => rules,
        Err(reason) => return usage(&reason),
    };
    for input in rules.walk(&args.files) {
        match input {
            Ok(Input::Stdin) => return usage(&"--benchmark needs a file: the standard input can be read only once"),
            Ok(input) => time(tool, args, &input, times),
            Err((path, reason)) => tool.console.error(&path, &reason),
        }
        tool.console.flush();
    }
    tool.console.exit()
}

fn time(tool: &Tool, args: &Run, input: &Input, times: u32) {
    let specs = tool.formats.iter().map(|choice| choice.spec().clone()).collect();
    let mut job = Job::new(input.clone(), specs);
    job.window = args.range.map(window);
    let (mut seconds, mut roots) = (Vec::new(), Vec::new());
    for _ in 0..times {
        let start = Instant::now();
        match hash(&job, &tool.options) {
            Ok(found) => roots = reported_roots(&tool.console, found),
            Err(error) => return report_read_error(tool, args, &error),
        }
        seconds.push(start.elapsed().as_secs_f64());
        if roots.is_empty() {
            return;
        }
    }
    seconds.sort_by(f64::total_cmp);
    let mut text = report::facts(input, &roots, tool, args.reading.io);
    for root in &roots {
        text += &format!("  root      {root}\n");
    }
    let len = roots.first().map_or(0, mksum::Root::len);
    text += &format!("  runs      {times}\n");
    let named = [("best", seconds[0]), ("median", seconds[seconds.len() / 2]), ("worst", seconds[seconds.len() - 1])];
    for (name, seconds) in named {
        text += &format!("  {name:<8}  {}, {}\n", report::speed(len, seconds), report::time(seconds));
    }
    tool.console.print(text.as_bytes());
}
