//! Printing roots: the tool's main job.

use crate::args::Run;
use crate::console::Console;
use crate::exit::Ended;
use crate::failure::Failure;
use crate::figures::grouped;
use crate::names::Names;
use crate::tool::Tool;
use crate::walk::{Rules, length};
use crate::{figures, json, report};
use mksum::Root;
use mksum_cli::name::{self, Named, Shown};
use mksum_cli::range::ByteRange;
use mksum_cli::sum::{self, Style};
use mksum_io::{Error, Input, Job, Options, Roots, Unreadable, Window, hash_all, reason, unreadable};
use std::io::ErrorKind;
use std::ops::ControlFlow;

/// Prints a line for each file and format.
pub fn run(tool: &Tool, args: &Run) -> Ended {
    let rules = tool.rules(&args.directories)?;
    tool.console.use_json(args.json);
    let window = args.range.map(window);
    let inputs = match args.list() {
        None => rules.walk(&args.files),
        Some((list, end)) => {
            let names = Names::open(list, end).map_err(|error| tool.console.fail_with(list, &reason(&error)))?;
            rules.walk_names(list, names)
        }
    };
    let _progress = tool.progress(lengths(&rules, args));
    if args.files.len() > 1 || args.directories.recursive || args.list().is_some() {
        tool.console.flush_regularly();
    }
    let specs: Vec<_> = tool.formats.iter().map(|choice| choice.spec().clone()).collect();
    let jobs = inputs.filter_map(|input| match input {
        Ok(input) => {
            let mut job = Job::new(input, specs.clone());
            job.window = window;
            Some(job)
        }
        Err((path, reason)) => {
            tool.console.error(&path, &reason);
            None
        }
    });
    let pipes = !args.directories.recursive && args.list().is_none();
    let options = Options { pipes, ..tool.options.clone() };
    hash_all(jobs, &options, |job, result, took| {
        let seconds = took.as_secs_f64();
        tool.options.meter.finish_file();
        match result {
            Ok(roots) => {
                let roots = reported_roots(&tool.console, roots);
                roots.iter().for_each(|root| print(tool, args, &job.input, root, seconds));
                if args.common.verbose && !roots.is_empty() {
                    tool.console.note(&report::verbose(&job.input, &roots, seconds, tool, args.reading.io));
                }
            }
            Err(error) => report_read_error(tool, args, &error),
        }
        ControlFlow::Continue(())
    });
    rules.report_skipped(&tool.console);
    if args.common.verbose {
        report::traffic(tool);
    }
    Ok(tool.console.exit())
}

/// The lengths of the files that will be hashed, for progress; unknown where their names can be read only once.
fn lengths(
    rules: &Rules,
    args: &Run,
) -> impl FnOnce() -> Box<dyn Iterator<Item = Option<u64>>> + Send + 'static + use<> {
    let (rules, files, window) = (rules.uncounted(), args.files.clone(), args.range.map(window));
    let list = args.list().map(|(list, end)| (list.to_path_buf(), end));
    move || {
        let inputs = match list {
            None => rules.walk(&files),
            Some((list, end)) => {
                let file = list.as_os_str() != "-" && std::fs::metadata(&list).is_ok_and(|metadata| metadata.is_file());
                match if file { Names::open(&list, end).ok() } else { None } {
                    Some(names) => rules.walk_names(&list, names),
                    None => return Box::new([None].into_iter()),
                }
            }
        };
        Box::new(inputs.flatten().map(move |input| length(&input).map(|len| within(window, len))))
    }
}

/// Prints the root of a file as a line.
pub fn print(tool: &Tool, args: &Run, path: &Input, root: &Root, seconds: f64) {
    let (tag, text) = (root.spec().tag(), root.to_string());
    let line = match args {
        Run { json: true, .. } => {
            let start = args.range.map(|range| range.start);
            let seconds = Some(figures::micros(seconds));
            let mut line = json::line(path, json::Root { start, seconds, ..json::Root::new(root) });
            line.pop();
            line.push(tool.end.byte());
            line
        }
        Run { range: Some(range), .. } => {
            let tag = format!("{tag}@{}..{}", range.start, range.start + root.len());
            sum::line(Style::Tagged, tool.end, &tag, &name::listed(path), &text)
        }
        Run { untagged: true, .. } => sum::line(Style::Untagged, tool.end, &tag, &name::listed(path), &text),
        _ => sum::line(Style::Tagged, tool.end, &tag, &name::listed(path), &text),
    };
    tool.console.print(&line);
}

/// Prints the root of a file as an object with these fields, or as a line.
pub fn print_root<T: Named + ?Sized>(tool: &Tool, json: bool, path: &T, root: &Root, record: json::Root<'_>) {
    match json {
        true => tool.console.print_json(path, record),
        false => {
            let (tag, path) = (root.spec().tag(), name::listed(path));
            tool.console.print(&sum::line(Style::Tagged, tool.end, &tag, &path, &record.root));
        }
    }
}

/// A range as the part of an input that is hashed.
pub fn window(range: ByteRange) -> Window {
    Window { start: range.start, end: range.end }
}

/// The bytes of an input of `len` bytes that are hashed.
pub fn within(window: Option<Window>, len: u64) -> u64 {
    let Some(Window { start, end }) = window else { return len };
    end.unwrap_or(len).min(len).saturating_sub(start)
}

/// Reports why an input that was named on the command line could not be processed.
pub fn report_error(console: &Console, error: &Error) {
    match error {
        Error::Open { path, error } if error.kind() == ErrorKind::IsADirectory => {
            console.error(path, &"Is a directory (-r processes the files in it, -f dir hashes it as one tree)");
        }
        _ => console.error(error.input(), error),
    }
}

/// Reports why a file could not be fetched or copied.
pub fn report_transfer(console: &Console, error: &mksum_get::Error) {
    match error {
        mksum_get::Error::Io(error) => report_error(console, error),
        mksum_get::Error::Refused(place, why) => console.error(place, why),
    }
}

/// Reports why an input has no root; with --list-unreadable all ranges that the disk cannot read.
pub fn report_read_error(tool: &Tool, args: &Run, error: &Error) {
    let console = &tool.console;
    if !error.is_of_media() {
        return report_error(console, error);
    }
    if !args.list_unreadable {
        return console
            .error(error.input(), &format_args!("{error} (--list-unreadable reports all unreadable ranges)"));
    }
    let (mut count, mut bytes) = (0_u64, 0);
    let options = Options { threads: 1, ..tool.options.clone() };
    let scanned = unreadable(error.input(), &options, &mut |part: Unreadable| {
        let (range, why) = (part.range.clone(), mksum_io::reason(&part.error()));
        (count, bytes) = (count + 1, bytes + range.end - range.start);
        let len = range.end - range.start;
        if args.json {
            console.print_json(error.input(), json::Unreadable::new(&part));
        }
        let path = Shown(error.input());
        console.note(&format_args!(
            "{path}: unreadable {}..{} ({} bytes): {why}",
            range.start,
            range.end,
            grouped(len)
        ));
    });
    match scanned {
        Ok(len) if count > 0 => {
            let ranges = if count == 1 { "1 range".into() } else { format!("{count} ranges") };
            let (bytes, len) = (grouped(bytes), grouped(len));
            console.error(error.input(), &format_args!("{bytes} of {len} bytes are unreadable ({ranges}): no root"));
        }
        // Every byte could be read now.
        Ok(_) => console.error(error.input(), &format_args!("{error}; a second read succeeded: try again")),
        // A stream, which cannot be read again.
        Err(_) => report_error(console, error),
    }
}

/// Reports why a command could not do its work for a file.
pub fn report(console: &Console, failure: &Failure) {
    match failure {
        Failure::Io(error) => report_error(console, error),
        Failure::Refused(path, reason) => console.error(path, reason),
        Failure::Usage(reason) => console.usage(reason),
    }
}

/// The file that may not be written, and why, if that is the error.
pub fn unwritable(error: &Error) -> Option<(&Input, String)> {
    let Error::Write { path, error } = error else { return None };
    let is_refused = matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem);
    is_refused.then(|| (path, reason(error)))
}

/// Says what to do where no file can be written beside another.
pub fn suggest_place(tool: &Tool, error: &Error) {
    if let Some((path, _)) = unwritable(error) {
        tool.console.note(&format_args!("{}: --output PATH writes it to another place", Shown(path)));
    }
}

/// The roots; reports why the other formats have none.
pub fn reported_roots(console: &Console, roots: Roots) -> Vec<Root> {
    roots.into_iter().filter_map(|root| root.map_err(|error| report_error(console, &error)).ok()).collect()
}
