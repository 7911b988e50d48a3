//! Commands about the tool itself: help, man pages, completions, lists.

use crate::args::{Command, grammar, grammar_of};
use crate::exit::{Exit, usage};
use crate::output::print_text;
use crate::{devices, formats, manual};

/// Runs such a command.
pub fn run(command: &Command) -> Exit {
    let text = match command {
        Command::Formats { json: false, .. } => Ok(formats::table().into_bytes()),
        Command::Formats { json: true, .. } => Ok(formats::json().into_bytes()),
        Command::ShowHelp { command, .. } => {
            grammar_of(command.as_deref()).map(|mut command| command.render_long_help().to_string().into_bytes())
        }
        Command::Man { directory: Some(directory), .. } => return manual::install(directory),
        Command::Man { command, .. } => manual::page(command.as_deref()),
        Command::Completions { shell, .. } => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut grammar(), "mksum", &mut script);
            Ok(script)
        }
        Command::Devices { verbose, json, .. } => devices::list(*verbose, *json),
        Command::Keep(_)
        | Command::Verify(_)
        | Command::Diff(_)
        | Command::Status(_)
        | Command::Update(_)
        | Command::Import(_)
        | Command::Export(_)
        | Command::Repair(_)
        | Command::Get(_)
        | Command::Prove(_)
        | Command::CheckProof(_)
        | Command::Join(_)
        | Command::Plan(_)
        | Command::Map(_)
        | Command::Missing(_)
        | Command::Merklize(_) => unreachable!("they work with files"),
    };
    match text {
        Ok(text) => print_text(&text),
        Err(reason) => usage(&reason),
    }
}
