//! `mksum keep -r` and `mksum update`: a catalogue is made, and brought up to date.

use super::{State, open, print, report, shown_path, summary, wait};
use crate::args::{Catalogued, Keep, Symlinks};
use crate::exit::{Exit, usage};
use crate::json;
use crate::tool::Tool;
use mksum_catalogue::{Access, Catalogue, DAMAGE, Event, Kept, place, update};
use mksum_cli::name::{self, Shown};
use mksum_cli::sum::{self, End, Style};
use mksum_io::Input;
use std::path::Path;

/// Keeps a catalogue of each directory.
pub fn run(tool: &Tool, args: &Keep) -> Exit {
    let outboards = [
        (args.update, "--update"),
        (args.quick, "--quick"),
        (args.accept_changes, "--accept-changes"),
        (args.keep_leaf.is_some(), "--keep-leaf"),
        (!args.directories.exclude.is_empty(), "--exclude"),
        (args.directories.symlinks == Symlinks::Follow, "--symlinks follow"),
    ];
    if let Some((_, flag)) = outboards.iter().find(|(given, _)| *given) {
        let how = "omit it, or add --beside for an outboard beside each file";
        return usage(&format_args!("{flag} is not for a catalogue, which covers all of a directory: {how}"));
    }
    if args.output.as_ref().and_then(Input::url).is_some() {
        return usage(&"a catalogue is written to a file: give --output a path");
    }
    if args.output.is_some() && args.files.len() > 1 {
        return usage(&"--output can be used with one directory only");
    }
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
            let specs: Vec<_> = tool.formats.iter().map(|choice| choice.spec().clone()).collect();
            // Without -f, a catalogue that is there keeps its formats.
            if args.choices.any() || catalogue.formats().len() == 0 {
                catalogue.add_formats(&specs)?;
            }
            Ok(catalogue)
        });
        match made {
            Ok(mut catalogue) => bring(tool, args.json, Lines::Roots, directory, &mut catalogue),
            Err(error) => report(tool, &error),
        }
    }
    tool.console.exit()
}

/// Brings a catalogue up to date.
pub fn run_update(tool: &Tool, args: &Catalogued) -> Exit {
    tool.console.use_json(args.json);
    tool.console.flush_regularly();
    let _progress = tool.progress(|| [None].into_iter());
    if let Some(mut catalogue) = open(tool, &args.directory, args.catalogue.as_ref(), Access::Write) {
        bring(tool, args.json, Lines::States, &args.directory, &mut catalogue);
    }
    tool.console.exit()
}

/// What is printed of a file that was read.
#[derive(Clone, Copy, PartialEq)]
enum Lines {
    /// Its roots.
    Roots,
    /// How it differed.
    States,
}

fn bring(tool: &Tool, json: bool, lines: Lines, directory: &Path, catalogue: &mut Catalogue) {
    let [mut new, mut changed, mut moved, mut gone, mut damaged, mut busy, mut failed, mut read] = [0_u64; 8];
    let trees = catalogue.outboards();
    let mut each = |path: &[u8], event: Event<'_>| {
        let path = &*shown_path(directory, path);
        let roots = |kept: &[Kept]| {
            if lines == Lines::Roots {
                kept.iter().for_each(|kept| print_root(tool, json, path, (kept, &trees)));
            }
        };
        let state = |state: State<'_>, text: &str| {
            if lines == Lines::States {
                print(tool, json, path, state, &text);
            }
        };
        match event {
            Event::New(kept) => {
                new += 1;
                roots(kept);
                state(State::of("new"), "NEW");
            }
            Event::Changed(kept) => {
                changed += 1;
                roots(kept);
                state(State::of("changed"), "CHANGED");
            }
            Event::Touched(kept) => {
                read += 1;
                roots(kept);
            }
            Event::Moved(from, kept) => {
                moved += 1;
                let from = shown_path(directory, from);
                roots(kept);
                let text = format!("MOVED from {}", Shown(&from));
                state(State::moved(&from), &text);
            }
            Event::Missing => {
                gone += 1;
                print(tool, json, path, State::of("gone"), &"GONE");
            }
            Event::Damaged => {
                damaged += 1;
                let text = format!(
                    "damaged: {DAMAGE}. Its row is kept: repair it (mksum repair -r), or touch it if the content is right"
                );
                tool.console.error(path, &text);
            }
            Event::Busy(error) => {
                busy += 1;
                tool.console.error(path, &format_args!("it is being written, so it has no root yet ({error})"));
            }
            Event::Failed(error) => {
                failed += 1;
                tool.console.error(path, &error);
            }
        }
    };
    if let Err(error) = update(catalogue, directory, &tool.options, &mut each) {
        report(tool, &error);
    }
    let counts = [
        (new, "new"),
        (changed, "changed"),
        (read, "read again, with the same content"),
        (moved, "moved"),
        (gone, "gone"),
        (damaged, "damaged"),
        (busy, "being written"),
        (failed, "unreadable"),
    ];
    tool.console.flush();
    tool.console.note(&format_args!("{}: {}", Shown(catalogue.path()), summary(&counts, "nothing has changed")));
}

fn print_root(tool: &Tool, json: bool, path: &Path, (kept, trees): (&Kept, &Path)) {
    let root = &kept.root;
    match json {
        true => {
            let outboard = kept.outboard.as_ref().map(|outboard| trees.join(outboard));
            let outboard = outboard.as_deref().map(name::lossy);
            tool.console.print_json(path, json::Root { outboard: outboard.as_deref(), ..json::Root::new(root) });
        }
        false => {
            let line =
                sum::line(Style::Tagged, End::Newline, &root.spec().tag(), &name::listed(path), &root.to_string());
            tool.console.print(&line);
        }
    }
}
