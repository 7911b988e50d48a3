//! `mksum status`: what differs from a catalogue, without reading any content.

use super::{State, open, print, report, shown_path, summary};
use crate::args::Catalogued;
use crate::exit::Exit;
use crate::tool::Tool;
use mksum_catalogue::{Access, Catalogue, Error, Found, Row, Scope, compare};
use mksum_cli::name::{self, Shown};
use mksum_io::{EntryKind, Facts};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// Prints a line for each file and link that differs; fails if there is one.
pub fn run(tool: &Tool, args: &Catalogued) -> Exit {
    tool.console.use_json(args.json);
    if let Some(catalogue) = open(tool, &args.directory, args.catalogue.as_ref(), Access::Read)
        && let Err(error) = status(tool, args.json, &args.directory, &catalogue)
    {
        report(tool, &error);
    }
    tool.console.exit()
}

/// How an entry differs.
enum Differs {
    New(Facts),
    Changed,
    Missing(Row),
    Moved(Vec<u8>),
    Unreadable(mksum_io::Error),
}

fn status(tool: &Tool, json: bool, directory: &Path, catalogue: &Catalogue) -> Result<(), Error> {
    let (mut found, mut same, mut unknown) = (BTreeMap::new(), 0_u64, 0_u64);
    let formats = catalogue.formats().len() as u64;
    compare(catalogue, &Scope::new(directory, catalogue.path()), &mut |entry| {
        let listed = match &entry {
            Found::Same(listed, _) | Found::Changed(listed, _) | Found::New(listed) => Some(listed),
            _ => None,
        };
        if let Some(listed) = listed.filter(|listed| listed.facts.kind == EntryKind::File)
            && let Err(error) = listed.check_access()
        {
            found.insert(listed.path.clone(), Differs::Unreadable(error));
            return Ok(());
        }
        match entry {
            Found::Same(listed, row) if listed.facts.kind == EntryKind::File && row.roots < formats => {
                found.insert(listed.path, Differs::New(listed.facts));
            }
            Found::Same(listed, _) => same += u64::from(listed.facts.kind != EntryKind::Directory),
            Found::Unknown(_) => unknown += 1,
            Found::New(listed) if listed.facts.kind == EntryKind::Directory => {}
            Found::New(listed) => drop(found.insert(listed.path, Differs::New(listed.facts))),
            Found::Changed(listed, _) => drop(found.insert(listed.path, Differs::Changed)),
            Found::Missing(row) if row.facts.kind == EntryKind::Directory => {}
            Found::Missing(row) => drop(found.insert(row.path.clone(), Differs::Missing(row))),
            Found::Unlisted(unlisted) => drop(found.insert(unlisted.prefix, Differs::Unreadable(unlisted.error))),
        }
        Ok(())
    })?;
    find_moves(&mut found);
    let [mut new, mut changed, mut moved, mut gone, mut unreadable] = [0_u64; 5];
    for (path, state) in &found {
        let path = shown_path(directory, path);
        let line = |state: State<'_>, text: &str| print(tool, json, &path, state, &text);
        match state {
            Differs::New(_) => {
                new += 1;
                line(State::of("new"), "NEW");
            }
            Differs::Changed => {
                changed += 1;
                line(State::of("changed"), "CHANGED");
            }
            Differs::Missing(_) => {
                gone += 1;
                line(State::of("gone"), "GONE");
            }
            Differs::Moved(from) => {
                moved += 1;
                let from = shown_path(directory, from);
                let text = format!("MOVED from {}", Shown(&from));
                line(State { from: Some(name::lossy(&from).into_owned()), ..State::of("moved") }, &text);
            }
            Differs::Unreadable(error) => {
                unreadable += 1;
                tool.console.error(&path, error);
            }
        }
    }
    if !found.is_empty() {
        tool.console.fail();
    }
    let counts = [
        (new, "new"),
        (changed, "changed"),
        (moved, "moved"),
        (gone, "gone"),
        (unreadable, "unreadable"),
        (unknown, "not known"),
        (same, "unchanged"),
    ];
    tool.console.flush();
    tool.console.note(&format_args!("{}: {}", Shown(catalogue.path()), summary(&counts, "no files")));
    Ok(())
}

/// Makes one of a new file and a missing one that have the same device, inode, size and time.
fn find_moves(found: &mut BTreeMap<Vec<u8>, Differs>) {
    let identity = |facts: &Facts| {
        let known = facts.kind == EntryKind::File && facts.inode != 0;
        known.then_some((facts.device, facts.inode, facts.size, facts.modified))
    };
    let mut missing: HashMap<_, Vec<Vec<u8>>> = HashMap::new();
    for (path, state) in found.iter().rev() {
        if let Differs::Missing(row) = state
            && let Some(identity) = identity(&row.facts)
        {
            missing.entry(identity).or_default().push(path.clone());
        }
    }
    let mut gone = Vec::new();
    for state in found.values_mut() {
        if let Differs::New(facts) = state
            && let Some(from) = identity(facts).and_then(|identity| missing.get_mut(&identity)?.pop())
        {
            gone.push(from.clone());
            *state = Differs::Moved(from);
        }
    }
    gone.iter().for_each(|path| drop(found.remove(path)));
}
