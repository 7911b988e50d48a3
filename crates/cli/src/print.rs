//! Printing roots: the tool's main job.

use crate::args::Run;
use crate::console::Console;
use crate::exit::{Exit, usage};
use crate::failure::Failure;
use crate::report;
use crate::tool::Tool;
use crate::walk::{Rules, length};
use base64ct::{Base64, Encoding};
use mksum::Root;
use mksum_cli::name;
use mksum_cli::sum::{self, End, Style};
use mksum_io::{Error, Input, Job, Roots, hash_all};
use serde::Serialize;
use std::io::ErrorKind;
use std::ops::ControlFlow;
use std::path::Path;

/// Prints a line for each file and format.
pub fn run(tool: &Tool, args: &Run) -> Exit {
    let rules = match Rules::new(&args.directories) {
        Ok(rules) => rules,
        Err(reason) => return usage(&reason),
    };
    let (lengths, files) = (rules.clone(), args.files.clone());
    let _progress = tool.progress(move || {
        let files = lengths.walk(&files).collect::<Vec<_>>();
        files.into_iter().flatten().map(|input| length(&input))
    });
    if args.files.len() > 1 || args.directories.recursive {
        tool.console.flush_regularly();
    }
    let style = match args {
        Run { json: true, .. } => Lines::Json,
        Run { untagged: true, .. } => Lines::Sums(Style::Untagged),
        _ => Lines::Sums(Style::Tagged),
    };
    let specs: Vec<_> = tool.formats.iter().map(|choice| choice.spec().clone()).collect();
    let jobs = rules.walk(&args.files).filter_map(|input| match input {
        Ok(input) => Some(Job { input, specs: specs.clone() }),
        Err((path, reason)) => {
            tool.console.error(&path, &reason);
            None
        }
    });
    hash_all(jobs, &tool.options, |job, result, took| {
        let seconds = took.as_secs_f64();
        match result {
            Ok(roots) => {
                let roots = reported_roots(&tool.console, roots);
                for root in &roots {
                    tool.console.print(&style.line(tool.end, path(&job.input), root, seconds));
                }
                if args.verbose && !roots.is_empty() {
                    tool.console.tell(&report::verbose(path(&job.input), &roots, seconds, tool, args.reading.io));
                }
            }
            Err(error) => report_error(&tool.console, &error),
        }
        ControlFlow::Continue(())
    });
    tool.console.exit()
}

/// The path that stands for an input in lines and messages.
pub fn path(input: &Input) -> &Path {
    match input {
        Input::Stdin => Path::new("-"),
        Input::Path(path) => path,
    }
}

/// Reports why an input that was named on the command line has no root.
pub fn report_error(console: &Console, error: &Error) {
    match error {
        Error::Open { path, error } if error.kind() == ErrorKind::IsADirectory => {
            console.error(path, &"Is a directory (-r hashes the files in it)");
        }
        _ => console.error(error.path(), error),
    }
}

/// Reports why a command could not do its work for a file.
pub fn report(console: &Console, failure: &Failure) {
    match failure {
        Failure::Io(error) => report_error(console, error),
        Failure::Refused(path, reason) => console.error(path, reason),
    }
}

/// The roots; reports why the other formats have none.
pub fn reported_roots(console: &Console, roots: Roots) -> Vec<Root> {
    roots.into_iter().filter_map(|root| root.map_err(|error| report_error(console, &error)).ok()).collect()
}

/// How a root is printed.
#[derive(Clone, Copy, Debug)]
enum Lines {
    Sums(Style),
    Json,
}

#[derive(Serialize)]
struct Record<'a> {
    path: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_base64: Option<String>,
    format: String,
    length: u64,
    root: String,
    seconds: f64,
}

impl Lines {
    fn line(self, end: End, path: &Path, root: &Root, seconds: f64) -> Vec<u8> {
        let (format, text) = (root.spec().to_string(), root.to_string());
        match self {
            Lines::Sums(style) => sum::line(style, end, &format, name::bytes(path), &text),
            Lines::Json => {
                let path_base64 = path.to_str().is_none().then(|| Base64::encode_string(name::bytes(path)));
                let seconds = crate::report::micros(seconds);
                let path = &*name::lossy(path);
                let record = Record { path, path_base64, format, length: root.len(), root: text, seconds };
                let mut line = serde_json::to_vec(&record).expect("strings and numbers");
                line.push(end.byte());
                line
            }
        }
    }
}
