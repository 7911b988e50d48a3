//! `mksum import`: the roots of a list become rows of a catalogue, to be verified later.

use super::{State, print, report, shown_path, side, summary, wait};
use crate::args::Import;
use crate::exit::Exit;
use crate::tool::Tool;
use mksum_catalogue::{Catalogue, Imported, Side, import, place};
use mksum_cli::name::Shown;
use mksum_io::Input;

/// Takes the roots of each list.
pub fn run(tool: &Tool, args: &Import) -> Exit {
    tool.console.use_json(args.json);
    tool.console.flush_regularly();
    if !args.directory.is_dir() {
        tool.console.error(&args.directory, &"not a directory");
        return tool.console.exit();
    }
    let choice = tool.formats.first().filter(|_| args.choices.any());
    for list in &args.lists {
        let side = match side(tool, list, choice) {
            Ok(side) => side,
            Err(error) => {
                report(tool, &error);
                continue;
            }
        };
        let path = args.catalogue.clone().unwrap_or_else(|| place(&args.directory));
        match Catalogue::create(&path, &mut || wait(tool, &path)) {
            Ok(mut catalogue) => one(tool, args, (list, side), &mut catalogue),
            Err(error) => report(tool, &error),
        }
    }
    tool.console.exit()
}

fn one(tool: &Tool, args: &Import, (name, list): (&Input, Side), catalogue: &mut Catalogue) {
    let [mut taken, mut known, mut missing, mut others] = [0_u64; 4];
    let imported = import(catalogue, &args.directory, list.into_entries(), &tool.options, &mut |path, imported| {
        let path = &*shown_path(&args.directory, path);
        match imported {
            Imported::Taken(_) => {
                taken += 1;
                if args.json {
                    print(tool, true, path, State::of("imported"), &"");
                }
            }
            Imported::Known => known += 1,
            Imported::Missing => {
                missing += 1;
                tool.console.error(path, &"no such file: paths of a list are those below the directory");
            }
            Imported::Length(expected, found) => {
                others += 1;
                let text = format_args!("it has {found} bytes, and {expected} in the list: its root was not imported");
                tool.console.error(path, &text);
            }
            Imported::Contradiction(kept, listed) => {
                others += 1;
                let text = format_args!(
                    "the catalogue has {kept} in {}, the list {listed}: nothing was imported for it",
                    kept.spec()
                );
                tool.console.error(path, &text);
            }
            Imported::Failed(error) => {
                others += 1;
                tool.console.error(path, &error);
            }
        }
    });
    tool.console.flush();
    if let Err(error) = imported {
        return report(tool, &error);
    }
    if taken + known + missing + others == 0 {
        return tool.console.error(name, &"there is nothing in it: expected lines with a path and a root");
    }
    let counts = [(taken, "imported"), (known, "known already"), (missing, "missing"), (others, "refused")];
    let how = match taken {
        0 => String::new(),
        _ => format!(". Nothing was read: 'mksum verify -r {}' compares the files", Shown(&args.directory)),
    };
    tool.console.note(&format_args!("{}: {}{how}", Shown(catalogue.path()), summary(&counts, "")));
}
