//! Kept trees: outboards written, files compared with them, outboards compared with each other.

mod attributes;
pub mod batch;
mod budget;
pub mod diff;
pub mod keep;
mod opened;
mod publish;
pub mod repair;
mod report;
pub mod verify;

use crate::json;
use crate::ranges;
use crate::summary::Verdict;
use crate::tool::Tool;
use crate::walk::{Rules, Unreachable, length};
use mksum_cli::name::Shown;
use mksum_io::outboard::{EXTENSION, is_part_of_outboard, place_of};
use mksum_io::{Error, Input};
use std::io::ErrorKind;

/// The place of a file's outboard: the given one, or the usual one.
pub fn outboard_of(file: &Input, given: Option<&Input>, extension: &str) -> Input {
    given.cloned().unwrap_or_else(|| place_of(file, extension))
}

/// The files that arguments name, without those in directories that belong to outboards.
fn files(rules: &Rules, arguments: &[Input]) -> impl Iterator<Item = Result<Input, Unreachable>> + use<> {
    rules.walk(arguments).map(|input| match input? {
        Input::Stdin => Err((Input::Stdin, "a stream cannot be kept: write it to a file first".into())),
        input => Ok(input),
    })
}

/// The lengths of those files, for progress.
fn lengths(
    rules: &Rules,
    arguments: &[Input],
) -> impl FnOnce() -> Box<dyn Iterator<Item = Option<u64>>> + Send + 'static {
    let (rules, arguments) = (rules.uncounted(), arguments.to_vec());
    move || {
        let length = |file| match file {
            Ok(input) => length(&input),
            Err(_) => Some(0),
        };
        Box::new(files(&rules, &arguments).map(length))
    }
}

/// Whether an error says that there is no file at `path`.
pub fn is_missing(error: &Error, path: &Input) -> bool {
    matches!(error, Error::Open { path: other, error } if other == path && error.kind() == ErrorKind::NotFound)
}

/// Why a file without an outboard cannot be processed.
pub fn needs_outboard(file: &Input, outboard: &Input) -> String {
    format!("there is no outboard {}: run 'mksum keep {}' first", Shown(outboard), Shown(file))
}

/// Reports a file in a directory that has no outboard.
fn report_new(tool: &Tool, json: bool, path: &Input, what: &str) {
    match json {
        true => tool.console.print_json(path, json::State { kind: "new" }),
        false => ranges::line(tool, path, &format_args!("NEW (it has no {what})")),
    }
}

/// Reports that no file in these directories has an outboard.
fn report_none_kept(tool: &Tool, first: &Input, done: &str) {
    let recursive = if first.file().is_some_and(|path| path.is_dir()) { "-r " } else { "" };
    let how =
        format_args!("nothing was {done}, since no tree is kept: run 'mksum keep {recursive}{}' first", Shown(first));
    tool.console.error(first, &how);
}

/// Reports the outboards in directories whose file is gone.
fn report_gone(tool: &Tool, json: bool, rules: &Rules, arguments: &[Input]) {
    let outboards = rules.walk_with(arguments, |_| false).filter_map(|input| match input {
        Ok(Input::File(path)) if path.extension().is_some_and(|end| end == EXTENSION) => Some(path),
        _ => None,
    });
    for outboard in outboards {
        let file = outboard.with_extension("");
        if !file.exists() && !arguments.iter().any(|argument| *argument == *outboard) && is_part_of_outboard(&outboard)
        {
            tool.console.fail();
            tool.console.count(Verdict::Gone, 1);
            match json {
                true => tool.console.print_json(&file, json::State { kind: "gone" }),
                false => ranges::line(tool, &file, &"GONE (its outboard is there)"),
            }
        }
    }
}

/// Reports a file that was not read: only JSON has a line for each.
fn report_unchanged(tool: &Tool, json: bool, path: &Input) {
    if json {
        tool.console.print_json(path, json::State { kind: "unchanged" });
    }
}

/// Reports how many files were not read, if any.
fn report_skipped(tool: &Tool, skipped: u64, same: &str) {
    if skipped > 0 {
        let plural = if skipped == 1 { "file was" } else { "files were" };
        tool.console.note(&format_args!("{skipped} unchanged {plural} not read (same {same})"));
    }
}

/// The state of a file that was processed.
enum Did {
    Done,
    /// Nothing: no tree of it is kept.
    New,
    /// Size, mtime and inode match the outboard, so the file was not read.
    Skipped,
}
