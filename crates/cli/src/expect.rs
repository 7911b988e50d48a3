//! --expect: compares one file with one root.

use crate::args::Run;
use crate::exit::{Exit, usage};
use crate::print::{print, report_read_error, reported_roots, window, within};
use crate::report;
use crate::tool::Tool;
use crate::walk::{Rules, length};
use mksum::{Root, format_size};
use mksum_cli::name::Shown;
use mksum_io::{Job, Options, hash};
use std::time::Instant;

/// Prints the file's line if its root is `expected`, and fails if not.
pub fn run(tool: &Tool, args: &Run, expected: &str) -> Exit {
    tool.console.use_json(args.json);
    let choice = &tool.formats[0];
    let claimed = match choice.spec().claimed_root(expected) {
        Ok(claimed) => claimed,
        Err(error) => return usage(&format_args!("--expect: {error} ({})", choice.spec())),
    };
    let input =
        match Rules::new(&args.directories, tool.options.objects.clone()).map(|rules| rules.walk(&args.files).next()) {
            Ok(Some(Ok(input))) => input,
            Ok(Some(Err((path, reason)))) => {
                tool.console.error(&path, &reason);
                return tool.console.exit();
            }
            Ok(None) => unreachable!("without arguments, standard input is the input"),
            Err(reason) => return usage(&reason),
        };
    if choice.guesses(&claimed) && length(&input).is_none() {
        return usage(
            &"to find the part size, the file's length must be known: give --leaf, or a file instead of a stream",
        );
    }
    let part = args.range.map(window);
    let known = length(&input).map(|len| within(part, len));
    let _progress = tool.progress(move || [known].into_iter());
    let specs = choice.candidates(known.unwrap_or(0), &claimed);
    let guessed = specs.len() > 1;
    let (mut job, start) = (Job::new(input, specs), Instant::now());
    job.window = part;
    let options = Options { pipes: !args.directories.recursive, ..tool.options.clone() };
    let roots = match hash(&job, &options) {
        Ok(roots) => reported_roots(&tool.console, roots),
        Err(error) => {
            report_read_error(tool, args, &error);
            return tool.console.exit();
        }
    };
    let path = &job.input;
    match roots.iter().find(|root| root.matches(&claimed)) {
        Some(root) => {
            print(tool, args, path, root, start.elapsed().as_secs_f64());
            if guessed {
                tool.console.note(&format_args!(
                    "{}: the part size is {}",
                    Shown(path),
                    format_size(root.spec().leaf())
                ));
            }
        }
        None if roots.is_empty() => {}
        None => tool.console.error(path, &difference(&roots, expected)),
    }
    if args.verbose && !roots.is_empty() {
        tool.console.note(&report::verbose(path, &roots, start.elapsed().as_secs_f64(), tool, args.reading.io));
    }
    tool.console.exit()
}

fn difference(roots: &[Root], expected: &str) -> String {
    match roots {
        [root] => format!("the root differs:\n  expected {expected}\n  found    {root} ({})", root.spec()),
        _ => {
            let sizes: Vec<_> = roots.iter().map(|root| format_size(root.spec().leaf())).collect();
            format!("the root differs from {expected} with every part size tried: {}", sizes.join(", "))
        }
    }
}
