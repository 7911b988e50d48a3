//! Options that stand before the command.

use std::ffi::{OsStr, OsString};

/// The same command line with the options of all commands after the command, where they stand before it: `mksum --json verify f` is
/// `mksum verify --json f`. Anything else is left as it is: a command is the first word, or it is a file.
pub fn after_command(line: Vec<OsString>, commands: &[&str]) -> Vec<OsString> {
    let end = end_of_common(&line);
    match line.get(end).and_then(|word| word.to_str()) {
        Some(command) if end > 1 && commands.contains(&command) => {
            let (program, rest) = (&line[..1], &line[end + 1..]);
            [program, &line[end..=end], &line[1..end], rest].concat()
        }
        _ => line,
    }
}

/// The first word that is neither an option of all commands nor its value.
pub fn first_word(line: &[OsString]) -> Option<&OsStr> {
    line.get(end_of_common(line)).map(OsString::as_os_str)
}

/// The place of the first word after the options of all commands.
fn end_of_common(line: &[OsString]) -> usize {
    let mut end = 1;
    while let Some(length) = line.get(end).and_then(|word| common(word)) {
        end += length;
    }
    end
}

/// Why a command has no `--json`, if it was given.
pub fn without_json(line: &[OsString]) -> Option<String> {
    let command = line.get(1)?.to_str()?;
    let why = match command {
        "plan" | "map" | "missing" => "its rows are JSON already: omit --json",
        "export" => "give --to json",
        "man" | "completions" | "help" => "it prints no results",
        _ => return None,
    };
    let given = line.iter().take_while(|word| *word != "--").any(|word| word == "--json");
    given.then(|| format!("mksum {command} has no --json: {why}"))
}

/// Whether a command line asks for the short help of the tool itself.
pub fn asks_for_summary(line: &[OsString], commands: &[&str]) -> bool {
    let words = line.iter().skip(1).map(OsString::as_os_str).take_while(|word| *word != "--");
    let first = line.get(1).and_then(|word| word.to_str());
    !first.is_some_and(|word| commands.contains(&word)) && words.into_iter().any(|word| word == "-h")
}

/// The number of words of an option of all commands: itself, and its value.
fn common(word: &OsStr) -> Option<usize> {
    match word.to_str()? {
        "-q" | "--quiet" | "-v" | "--verbose" | "--json" | "--no-progress" => Some(1),
        "-C" | "--color" => Some(2),
        word if word.starts_with("-C") || word.starts_with("--color=") => Some(1),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> Vec<OsString> {
        text.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn options_of_all_commands_go_after_the_command() {
        for (given, expected) in [
            ("mksum --json verify f", "mksum verify --json f"),
            ("mksum -q -C a -Cb --color never status -c x d", "mksum status -q -C a -Cb --color never -c x d"),
            ("mksum --color=always verify -- f", "mksum verify --color=always -- f"),
            ("mksum verify --json f", "mksum verify --json f"),
            // A file, and an option of one command.
            ("mksum --json f verify", "mksum --json f verify"),
            ("mksum -j2 verify f", "mksum -j2 verify f"),
            ("mksum --json -- verify", "mksum --json -- verify"),
            ("mksum -C", "mksum -C"),
            ("mksum -C verify", "mksum -C verify"),
        ] {
            assert_eq!(after_command(line(given), &["verify", "status"]), line(expected), "{given}");
        }
    }

    #[test]
    fn the_summary_is_that_of_the_tool_itself() {
        for (given, asks) in [
            ("mksum -h", true),
            ("mksum -c -h", true),
            ("mksum verify -h", false),
            ("mksum -- -h", false),
            ("mksum --help", false),
        ] {
            assert_eq!(asks_for_summary(&line(given), &["verify"]), asks, "{given}");
        }
    }
}
