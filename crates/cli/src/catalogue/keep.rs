//! `mksum keep -r` and `mksum update`: a catalogue is made, and brought up to date.

use super::findings::Findings;
use super::{on_each, open_to_write, report, shown_path, wait};
use crate::args::{Keep, Symlinks, Update};
use crate::exit::{Ended, Exit, refuse};
use crate::json;
use crate::log::Record;
use crate::print::{print_root, suggest_place};
use crate::tool::Tool;
use mksum::directory::DirectorySpec;
use mksum_catalogue::{Catalogue, Error, Kept, State, accept_changes, place, update};
use mksum_cli::name::{self, Shown};
use mksum_cli::sum::{self, End, Style};
use mksum_io::Input;
use std::path::Path;

/// Keeps a catalogue of each directory.
pub fn run(tool: &Tool, args: &Keep) -> Ended {
    let outboards = [
        (args.update, "--update"),
        (args.quick, "--quick"),
        (args.keep_leaf.is_some(), "--keep-leaf"),
        (args.directories.symlinks == Symlinks::Follow, "--symlinks follow"),
    ];
    if args.accept_changes {
        return refuse(
            &"a catalogue that is there is updated: mksum update --accept-changes PATH DIR accepts a file or folder, and '.' all",
        );
    }
    if let Some((_, flag)) = outboards.iter().find(|(given, _)| *given) {
        let how = "omit it, or add --beside for an outboard beside each file";
        return refuse(&format_args!("{flag} is not for a catalogue, which covers all of a directory: {how}"));
    }
    if args.output.as_ref().and_then(Input::url).is_some() {
        return refuse(&"a catalogue is written to a file: give --output a path");
    }
    if args.output.is_some() && args.files.len() > 1 {
        return refuse(&"--output can be used with one directory only");
    }
    let mut record = Record::begin(tool, args.log.as_deref(), args.json)?;
    tool.console.use_json(args.json);
    tool.console.flush_regularly();
    let _progress = tool.progress(|| [None].into_iter());
    for input in &args.files {
        let Some(directory) = input.file().filter(|path| path.is_dir()) else {
            tool.console.error(input, &"not a directory: omit --recursive to keep the tree of a file");
            continue;
        };
        let path = args.output.as_ref().map_or_else(|| place(directory), |output| output.as_os_str().into());
        let made = Catalogue::create(&path, &mut || wait(tool, &path)).and_then(|mut catalogue| {
            catalogue.add_exclude(&args.directories.exclude)?;
            // Without -f, a catalogue that is there keeps its formats, and a new one has those that stand beside it.
            if args.choices.any() || catalogue.formats().len() == 0 {
                let specs = match catalogue.default_formats() {
                    beside if !args.choices.any() && !beside.is_empty() => beside.to_vec(),
                    _ => tool.formats.iter().map(|choice| choice.spec().clone()).collect(),
                };
                catalogue.add_formats(&specs)?;
            }
            Ok(catalogue)
        });
        match made {
            Ok(mut catalogue) => {
                bring(tool, args.json, Lines::Roots, directory, &mut catalogue);
                note_roots(tool, record.as_mut(), directory, &catalogue);
            }
            Err(error) => {
                report(tool, &error);
                if let Error::Io(error) = &error {
                    suggest_place(tool, error);
                }
            }
        }
    }
    Ok(record.map_or_else(|| tool.console.exit(), |record| record.end(tool, args.json)))
}

/// Notes the roots of a directory for the log: a line for each format of its catalogue, as `mksum -f dir` prints it.
fn note_roots(tool: &Tool, record: Option<&mut Record>, directory: &Path, catalogue: &Catalogue) {
    let Some(record) = record.filter(|_| tool.console.exit() == Exit::Good) else { return };
    let specs = catalogue.formats().map(|spec| format!("dir:{spec}").parse::<DirectorySpec>());
    let specs: Vec<_> = specs.filter_map(Result::ok).collect();
    if specs.is_empty() {
        return tool.console.error(directory, &"no format of its catalogue has roots of directories: add one with -f");
    }
    match catalogue.leaves(&specs, &mut |_| {}) {
        Ok(leaves) => {
            for (spec, leaves) in specs.iter().zip(&leaves) {
                let root = leaves.root().expect("each leaf is there").to_string();
                record.push(sum::line(Style::Tagged, End::Newline, &spec.to_string(), &name::listed(directory), &root));
            }
        }
        Err(error) => report(tool, &error),
    }
}

/// Brings a catalogue up to date.
pub fn run_update(tool: &Tool, args: &Update) -> Ended {
    let Update { catalogued: args, dry_run, accept_changes: accepted, log, .. } = args;
    if *dry_run {
        return super::status::run_dry(tool, args);
    }
    let mut record = Record::begin(tool, log.as_deref(), args.json)?;
    let directory = [Input::from(&args.directory)];
    let exit =
        on_each(tool, args.json, (&directory, args.catalogue.as_ref()), open_to_write, &mut |directory, catalogue| {
            for path in accepted {
                if accept_changes(catalogue, name::bytes(path))? == 0 {
                    tool.console
                        .error(path, &format_args!("no such file in the catalogue {}", Shown(catalogue.path())));
                }
            }
            bring(tool, args.json, Lines::States, directory, catalogue);
            note_roots(tool, record.as_mut(), directory, catalogue);
            Ok(())
        });
    Ok(record.map_or(exit?, |record| record.end(tool, args.json)))
}

/// What is printed of a file that was read.
#[derive(Clone, Copy, PartialEq)]
enum Lines {
    /// The directory's roots are printed.
    Roots,
    /// How it differed.
    States,
}

fn bring(tool: &Tool, json: bool, lines: Lines, directory: &Path, catalogue: &mut Catalogue) {
    let mut found = Findings::new(tool, json, directory);
    let trees = catalogue.outboards();
    let done = update(catalogue, directory, &tool.options, &mut |finding| {
        found.count(&finding);
        match finding.state {
            State::Damaged => {
                let how =
                    "Its row is kept: repair it (mksum repair -r), or take it as it is (mksum update --accept-changes)";
                let reason = finding.reason().unwrap_or_default();
                let path = shown_path(directory, &finding.path);
                tool.console.error(&path, &format_args!("damaged: {reason}. {how}"));
            }
            State::Busy => {
                let reason = finding.reason().unwrap_or_default();
                let words = format!("it is being written, so it has no root yet ({reason})");
                found.print(finding, Some(&words));
            }
            State::New | State::Changed | State::Touched | State::Moved if lines == Lines::Roots => {
                // A person wants the number of them; 'mksum export' has the lines.
                if tool.console.is_brief() {
                    return;
                }
                let path = shown_path(directory, &finding.path);
                for Kept { root, outboard, .. } in &finding.roots {
                    let outboard = outboard.as_ref().map(|outboard| trees.join(outboard));
                    let outboard = outboard.as_deref().map(name::lossy);
                    let record = json::Root { outboard: outboard.as_deref(), ..json::Root::new(root) };
                    print_root(tool, json, &path, root, record);
                }
            }
            State::Touched => {}
            _ => found.print(finding, None),
        }
    });
    match done {
        // What was to be written last is not there.
        Err(error @ Error::Database { .. }) => {
            report(tool, &error);
            tool.console.flush();
            tool.console.note(&format_args!("{}: not finished: run it again", Shown(catalogue.path())));
        }
        Err(error @ Error::Elsewhere { .. }) => {
            report(tool, &error);
            let (path, shown) = (catalogue.path(), Shown(directory));
            let given = if path == place(directory) { String::new() } else { format!("-c {} ", Shown(path)) };
            let how =
                format_args!("{shown}: to take all that it has now: mksum update --accept-changes . {given}{shown}");
            tool.console.note(&how);
        }
        done => {
            if let Err(error) = done {
                report(tool, &error);
            }
            found.end(catalogue, &[], &[], "nothing has changed");
        }
    }
}
