//! Commands about the tool itself: help, man pages, completions, lists.

use crate::args::{Command, grammar, grammar_of};
use crate::exit::{Ended, usage};
use crate::output::print_text;
use crate::{devices, formats, manual};
use clap::Command as Clap;
use clap::builder::PossibleValuesParser;
use mksum::Algorithm;
use mksum::formats::FAMILIES;

/// Runs such a command.
pub fn run(command: &Command) -> Ended {
    let text = match command {
        Command::Formats { format, json, .. } => Ok(match (format, json) {
            (None, false) => formats::table(),
            (None, true) => formats::json(),
            (Some(format), false) => formats::explained(format),
            (Some(format), true) => formats::one_as_json(format),
        }
        .into_bytes()),
        Command::Which { sum, .. } => formats::of_sum(sum).map(String::into_bytes),
        Command::ShowHelp { command, .. } => {
            grammar_of(command.as_deref()).map(|mut command| command.render_long_help().to_string().into_bytes())
        }
        Command::Man { directory: Some(directory), .. } => return Ok(manual::install(directory)),
        Command::Man { command, .. } => manual::page(command.as_deref()),
        Command::Completions { shell, .. } => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut with_values(grammar()), "mksum", &mut script);
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
        | Command::Copy(_)
        | Command::Prove(_)
        | Command::CheckProof(_)
        | Command::Join(_)
        | Command::Plan(_)
        | Command::Map(_)
        | Command::Missing(_)
        | Command::Merklize(_)
        | Command::Log(_)
        | Command::Serve(_)
        | Command::Mount(_)
        | Command::Torrent(_) => unreachable!("they work with files"),
    };
    let text = text.map_err(|why| usage(&why))?;
    Ok(print_text(&text))
}

/// The grammar with the values that a shell can complete: formats, hashes and devices. More are allowed than these, such as
/// `rfc6962:blake3:1MiB`, so the grammar itself has none.
fn with_values(grammar: Clap) -> Clap {
    let formats: Vec<_> = FAMILIES.iter().map(|family| family.name).chain(["dir"]).collect();
    let hashes: Vec<_> = Algorithm::all().map(Algorithm::name).collect();
    let values = move |command: Clap| {
        let names: Vec<_> = command.get_arguments().map(|argument| argument.get_id().clone()).collect();
        names.into_iter().fold(command, |command, name| {
            let values = match name.as_str() {
                "formats" | "format" | "foreign" => &formats[..],
                "algorithm" | "hash" => &hashes[..],
                "device" => &["cpu", "auto", "cuda:", "opencl:"][..],
                _ => return command,
            };
            // A flag without a value stays one.
            command.mut_arg(name, |argument| match argument.get_action().takes_values() {
                true => argument.value_parser(PossibleValuesParser::new(values.to_vec())),
                false => argument,
            })
        })
    };
    values(grammar).mut_subcommands(values)
}
