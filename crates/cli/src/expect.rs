//! --expect: compares one file with one root.

use crate::args::Run;
use crate::directory;
use crate::exit::{Ended, refuse, usage};
use crate::print::{print, report_read_error, reported_roots, window, within};
use crate::report;
use crate::tool::Tool;
use crate::walk::length;
use mksum::{Root, format_size};
use mksum_cli::choice::Choice;
use mksum_cli::name::Shown;
use mksum_cli::published::Published;
use mksum_io::{Input, Job, Options, hash};
use std::path::Path;
use std::time::Instant;

/// Prints the file's line if its root is `expected`, and fails if not. Without a format, the root's text and the file decide.
pub fn run(tool: &Tool, args: &Run, expected: &str) -> Ended {
    tool.console.use_json(args.json);
    let given = args.choices.any().then(|| &tool.formats[0]);
    let flag = if args.finds_format { "" } else { "--expect: " };
    let published = Published::read(expected, given).map_err(|error| usage(&format_args!("{flag}{error}")))?;
    let only_named = if args.finds_format { published.only_named() } else { Vec::new() };
    let Published { root: claimed, mut usual, mut unusual, .. } = published;
    // What may be the root of a file or of a directory is what the path is.
    let is_folder = args.files.first().and_then(Input::file).is_some_and(Path::is_dir);
    let folders: Vec<_> = usual.iter().chain(&unusual).filter_map(Choice::directory).cloned().collect();
    if let Some(spec) = folders.first().filter(|_| is_folder || usual.iter().all(|choice| choice.directory().is_some()))
    {
        return directory::expect(tool, args, spec, (&claimed, expected));
    }
    usual.retain(|choice| choice.directory().is_none());
    unusual.retain(|choice| choice.directory().is_none());
    unusual.extend_from_slice(&only_named);
    let input = tool.rules(&args.directories)?.walk(&args.files).next();
    let input = input.expect("without arguments, standard input is the input");
    let input = input.map_err(|(path, reason)| tool.console.fail_with(&path, &reason))?;
    let guesses = usual.iter().any(|choice| choice.guesses(&claimed));
    if guesses && length(&input).is_none() {
        return refuse(
            &"to find the part size, the file's length must be known: give --leaf, or a file instead of a stream",
        );
    }
    let part = args.range.map(window);
    let known = length(&input).map(|len| within(part, len));
    let _progress = tool.progress(move || [known].into_iter());
    // A file is read again for the unusual formats; a stream is read once for all.
    let rounds = if known.is_some() { vec![usual, unusual] } else { vec![[usual, unusual].concat()] };
    let options = Options { pipes: !args.directories.recursive, ..tool.options.clone() };
    let (mut tried, mut is_found, start) = (Vec::new(), false, Instant::now());
    for choices in rounds.into_iter().filter(|choices| !choices.is_empty()) {
        let mut specs: Vec<_> =
            choices.iter().flat_map(|choice| choice.candidates(known.unwrap_or(0), &claimed)).collect();
        // A stream has no root in a format that hashes the length first: that is an error only if no other format can be meant.
        if known.is_none() && specs.iter().any(|spec| spec.family().streams()) {
            specs.retain(|spec| spec.family().streams());
        }
        let mut job = Job::new(input.clone(), specs);
        job.window = part;
        let roots = match hash(&job, &options) {
            Ok(roots) => reported_roots(&tool.console, roots),
            Err(error) => {
                report_read_error(tool, args, &error);
                return Ok(tool.console.exit());
            }
        };
        if let Some(root) = roots.iter().find(|root| root.matches(&claimed)) {
            is_found = true;
            print(tool, args, &input, root, start.elapsed().as_secs_f64());
            if only_named.iter().any(|choice| choice.spec() == root.spec()) {
                let name = root.spec();
                tool.console.note(&format_args!(
                    "{}: {name} is a checksum: anybody can make another file that has it ({name}:{root} names it)",
                    Shown(&input)
                ));
            }
            if guesses {
                let size = format_size(root.spec().leaf());
                tool.console.note(&format_args!("{}: the part size is {size}", Shown(&input)));
            }
        }
        tried.extend(roots);
        if is_found {
            break;
        }
    }
    if !tried.is_empty() && !is_found {
        tool.console.differ(&input, &difference(&tried, expected, guesses));
    }
    if args.common.verbose && !tried.is_empty() {
        tool.console.note(&report::verbose(&input, &tried, start.elapsed().as_secs_f64(), tool, args.reading.io));
    }
    Ok(tool.console.exit())
}

fn difference(tried: &[Root], expected: &str, guesses: bool) -> String {
    let all = |name: fn(&Root) -> String| tried.iter().map(name).collect::<Vec<_>>().join(", ");
    match tried {
        _ if guesses => format!(
            "no usual part size gives {expected} (tried: {}); the file may still be intact: give the size of the upload's \
             parts with --leaf",
            all(|root| format_size(root.spec().leaf()))
        ),
        [root] => format!("the root differs:\n  expected {expected}\n  found    {root} ({})", root.spec()),
        [first, ..] => {
            // The sum of all bytes is what other tools print.
            let root = tried.iter().find(|root| root.spec().leaf() >= root.len()).unwrap_or(first);
            let formats = all(|root| root.spec().to_string());
            format!(
                "the root differs from {expected} in every format tried: {formats}\n  found    {root} ({})",
                root.spec()
            )
        }
        [] => format!("the root differs from {expected}"),
    }
}
