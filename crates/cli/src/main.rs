//! The tool `mksum`: Merkle roots of files, printed, checked and drawn.
#![forbid(unsafe_code)]

mod about;
mod args;
mod benchmark;
mod check;
mod console;
mod devices;
mod exit;
mod expect;
mod extent;
mod formats;
mod graph;
mod interrupt;
mod manual;
mod nice;
mod print;
mod progress;
mod report;
mod tool;
mod walk;

use args::{Action, Args};
use std::process::ExitCode;
use tool::Tool;

fn main() -> ExitCode {
    let args = match args::read() {
        Ok(Args { command: Some(command), .. }) => return about::run(&command).into(),
        Ok(args) => args.run,
        Err(exit) => return exit.into(),
    };
    let tool = match Tool::new(&args) {
        Ok(tool) => tool,
        Err(reason) => return exit::usage(&reason).into(),
    };
    interrupt::catch(&tool.console);
    let exit = match args.action() {
        Action::Print => print::run(&tool, &args),
        Action::Check => check::run(&tool, &args),
        Action::Expect(root) => expect::run(&tool, &args, root),
        Action::Graph(style) => graph::run(&tool, &args, style),
        Action::Benchmark(times) => benchmark::run(&tool, &args, times),
    };
    tool.console.flush();
    exit.into()
}
