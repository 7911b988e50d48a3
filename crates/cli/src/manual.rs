//! Man pages, from the grammar of the command line.

use crate::args::{grammar, grammar_of, notes};
use crate::console::Console;
use crate::exit::Exit;
use crate::output::print_text;
use clap::Command;
use clap_mangen::Man;
use mksum::formats::FAMILIES;
use mksum_io::reason;
use std::fs;
use std::io;
use std::path::Path;

/// The page of a command, in roff; without a name the page of the tool.
///
/// # Errors
/// If there is no such command.
pub fn page(command: Option<&str>) -> Result<Vec<u8>, String> {
    let found = grammar_of(command)?;
    let mut page = Vec::new();
    let written = match command {
        Some(name) => write_command(&mut page, found, name),
        None => write_tool(&mut page),
    };
    written.expect("memory does not fail");
    Ok(page)
}

/// Writes all pages into a directory.
pub fn install(directory: &Path) -> Exit {
    let commands: Vec<_> = grammar().get_subcommands().map(|command| command.get_name().to_string()).collect();
    let pages = [None].into_iter().chain(commands.iter().map(|name| Some(name.as_str())));
    for name in pages {
        let file = name.map_or("mksum.1".into(), |name| format!("mksum-{name}.1"));
        let page = page(name).expect("a command of the grammar");
        let path = directory.join(file);
        if let Err(error) = fs::write(&path, page) {
            let console = Console::default();
            match error.kind() {
                io::ErrorKind::NotFound => console.error(directory, &"no such directory"),
                _ => console.error(&path, &reason(&error)),
            }
            return console.exit();
        }
    }
    print_text(format!("{} man pages in {}\n", commands.len() + 1, directory.display()).as_bytes())
}

/// The page of a command.
fn write_command(page: &mut Vec<u8>, command: Command, name: &str) -> io::Result<()> {
    let ends = command.get_after_long_help().map(ToString::to_string).unwrap_or_default();
    let usage = command.clone().render_usage().to_string();
    let usage = usage.strip_prefix("Usage: ").unwrap_or(&usage).to_string();
    // The page has a section of its own for what ends --help.
    let command = command.after_long_help("").name(format!("mksum-{name}")).bin_name(format!("mksum {name}"));
    let man = Man::new(command);
    man.render_title(page)?;
    man.render_name_section(page)?;
    page.extend_from_slice(format!(".SH SYNOPSIS\n.nf\n{}.fi\n", verbatim(&usage)).as_bytes());
    man.render_description_section(page)?;
    man.render_options_section(page)?;
    sections(page, &ends);
    page.extend_from_slice(b".SH SEE ALSO\n\\fBmksum\\fR(1)\n");
    Ok(())
}

/// The page of the tool.
fn write_tool(page: &mut Vec<u8>) -> io::Result<()> {
    // The page has a section for each part of what ends --help.
    let man = Man::new(grammar().after_help("").after_long_help(""));
    man.render_title(page)?;
    man.render_name_section(page)?;
    let usage = grammar().render_usage().to_string();
    let usage: Vec<_> = usage.lines().map(|line| line.trim_start_matches("Usage:").trim()).collect();
    page.extend_from_slice(format!(".SH SYNOPSIS\n.nf\n{}.fi\n", verbatim(&usage.join("\n"))).as_bytes());
    man.render_description_section(page)?;
    man.render_options_section(page)?;
    page.extend_from_slice(b".SH COMMANDS\n");
    for command in grammar().get_subcommands() {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        let name = verbatim(command.get_name());
        let text = format!(".TP\n\\fBmksum\\-{}\\fR(1)\n{}", name.trim_end(), verbatim(&about));
        page.extend_from_slice(text.as_bytes());
    }
    page.extend_from_slice(b".SH FORMATS\n");
    for family in FAMILIES {
        let about = verbatim(&format!("{}. Same output as {}.", family.about, family.same_as));
        page.extend_from_slice(format!(".TP\n\\fB{}\\fR\n{about}", verbatim(family.name).trim_end()).as_bytes());
    }
    sections(page, &notes());
    page.extend_from_slice(b".SH SEE ALSO\n\\fBsha256sum\\fR(1), \\fBcksum\\fR(1), \\fBb3sum\\fR(1)\n");
    Ok(())
}

/// A section for each part of a text: its title is the line before a colon.
fn sections(page: &mut Vec<u8>, text: &str) {
    for part in text.split("\n\n").filter(|part| !part.is_empty()) {
        match part.split_once(":\n") {
            Some((title, lines)) => {
                page.extend_from_slice(format!(".SH {}\n.nf\n", title.to_uppercase()).as_bytes());
                page.extend_from_slice(verbatim(lines).as_bytes());
                page.extend_from_slice(b".fi\n");
            }
            None => page.extend_from_slice(format!(".SH NOTES\n{}", verbatim(part)).as_bytes()),
        }
    }
}

/// Lines that roff prints as they are.
fn verbatim(lines: &str) -> String {
    let quote = |line: &str| {
        let line = line.replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\(aq");
        // At the beginning of a line these would be requests.
        if line.starts_with(['.', '\'']) { format!("\\&{line}\n") } else { line + "\n" }
    };
    lines.lines().map(quote).collect()
}
