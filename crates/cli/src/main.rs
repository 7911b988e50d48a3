//! The tool `mksum`: Merkle roots of files, printed, checked and drawn.
#![deny(unsafe_code)] // streams.rs has an attribute that runs a function before main.

mod about;
mod args;
mod bounded;
#[cfg(feature = "catalogue")]
mod catalogue;
#[cfg(not(feature = "catalogue"))]
#[path = "without_catalogue.rs"]
mod catalogue;
mod check;
mod check_proof;
mod claims;
mod console;
mod copy;
mod devices;
mod directory;
mod exit;
mod expect;
mod extra;
mod failure;
mod figures;
mod formats;
mod get;
mod gpu;
mod graph;
mod interrupt;
mod join;
mod json;
mod kept;
mod log;
mod manual;
mod merklize;
#[cfg(all(feature = "mount", target_os = "linux"))]
mod mount;
#[cfg(not(all(feature = "mount", target_os = "linux")))]
#[path = "without_mount.rs"]
mod mount;
mod names;
mod nice;
mod output;
mod own;
mod pieces;
mod plan;
mod print;
mod progress;
mod prove;
mod ranges;
mod replica;
mod report;
#[cfg(feature = "serve")]
mod serve;
#[cfg(not(feature = "serve"))]
#[path = "without_serve.rs"]
mod serve;
mod signed;
mod stored;
mod streams;
mod summary;
mod tool;
mod torrent;
mod walk;

use args::{Action, Args, Command, Given, Run};
use exit::{Ended, usage};
use kept::{diff, keep, repair, verify};
use mksum_cli::sum::End;
use std::io::{self, IsTerminal};
use std::process::ExitCode;
use tool::Tool;

fn main() -> ExitCode {
    run().unwrap_or_else(|exit| exit).into()
}

/// Does what the command line asks for.
fn run() -> Ended {
    match args::read()? {
        Args { command: None, run } => {
            let given = Given { choices: Some(&run.choices), reading: Some(&run.reading), common: &run.common };
            with_tool(given, run.end(), |tool| on_device(tool, &run))
        }
        Args { command: Some(command), .. } => match command.given() {
            Some(given) => with_tool(given, End::Newline, |tool| with_files(tool, &command)),
            None => about::run(&command),
        },
    }
}

/// Runs a command that works with files.
fn with_files(tool: &Tool, command: &Command) -> Ended {
    // They have formats of directories as such.
    if !matches!(command, Command::Prove(_) | Command::CheckProof(_) | Command::Join(_)) {
        directory::refuse_formats(tool)?;
    }
    match command {
        Command::Keep(args) => keep::run(tool, args),
        Command::Verify(args) => verify::run(tool, args),
        Command::Diff(args) => diff::run(tool, args),
        Command::Status(args) => catalogue::status::run(tool, args),
        Command::Update(args) => catalogue::keep::run_update(tool, args),
        Command::Import(args) => catalogue::import::run(tool, args),
        Command::Export(args) => catalogue::export::run(tool, args),
        Command::Repair(args) => repair::run(tool, args),
        Command::Get(args) => get::run(tool, args),
        Command::Copy(args) => copy::run(tool, args),
        Command::Serve(args) => serve::run(tool, args),
        Command::Mount(args) => mount::run(tool, args),
        Command::Torrent(args) => torrent::run(tool, args),
        Command::Prove(args) => prove::run(tool, args),
        Command::CheckProof(args) => check_proof::run(tool, args),
        Command::Join(args) => join::run(tool, args),
        Command::Plan(args) => plan::write::run(tool, args),
        Command::Map(args) => plan::map::run(tool, args),
        Command::Missing(args) => plan::missing::run(tool, args),
        Command::Merklize(args) => merklize::run(tool, args),
        Command::Log(args) => log::run(tool, args),
        _ => about::run(command),
    }
}

/// Runs what works with files in the environment that the options ask for.
fn with_tool(given: Given<'_>, end: End, run: impl FnOnce(&Tool) -> Ended) -> Ended {
    let tool = Tool::new(given, end).map_err(|why| usage(&why))?;
    interrupt::catch(&tool.console);
    let ended = run(&tool);
    tool.console.flush();
    ended
}

/// The work without a command, on the device that was chosen for it.
fn on_device(tool: &Tool, args: &Run) -> Ended {
    let tool = tool.on(&args.device).map_err(|why| usage(&why))?;
    files(&tool, args)
}

/// The work without a command.
fn files(tool: &Tool, args: &Run) -> Ended {
    if args.files.is_empty() && args.list().is_none() && io::stdin().is_terminal() {
        let end = if cfg!(windows) { "Ctrl-Z and Enter" } else { "Ctrl-D" };
        tool.console.note(&format_args!("reading the standard input: end it with {end}. 'mksum --help' has examples"));
    }
    if args.status {
        tool.console.mute();
    }
    match args.action() {
        Action::Print if tool.formats.iter().any(|choice| choice.directory().is_some()) => directory::run(tool, args),
        Action::Print => print::run(tool, args),
        Action::Check => check::run(tool, args),
        Action::Expect(root) => expect::run(tool, args, root),
        Action::Stored => directory::refuse_formats(tool).and_then(|()| stored::run(tool, args)),
        Action::Graph(style) => directory::refuse_formats(tool).and_then(|()| graph::run(tool, args, style)),
    }
}
