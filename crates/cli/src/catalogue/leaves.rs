//! A catalogue in the place of its directory, for roots and proofs; catalogues of parts in the place of the whole.

use super::{explained, report};
use crate::args::read_place;
use crate::exit::{Exit, usage};
use crate::tool::Tool;
use mksum::directory::{DirectorySpec, Entry, Leaves};
use mksum_catalogue::{Access, Catalogue, Side, is_catalogue, joined_leaves, place as place_of};
use mksum_cli::name::{self, Shown};
use mksum_io::Input;
use std::path::{Component, Path};

/// The leaves of the tree of the directory whose catalogue is at `path`, if one is; no leaves if it has none, which was reported.
pub fn of(
    tool: &Tool,
    path: &Path,
    specs: &[DirectorySpec],
    each: &mut dyn FnMut(&Entry<'_>),
) -> Option<Option<Vec<Leaves>>> {
    is_catalogue(path).then(|| {
        let leaves = Catalogue::open(path, Access::Read, &mut || {}).and_then(|catalogue| {
            if !catalogue.exclude().globs().is_empty() {
                let how = "what its configuration excludes is no part of the root or proof";
                tool.console.note(&format_args!("{}: {how}", Shown(path)));
            }
            catalogue.leaves(specs, each)
        });
        leaves.map_err(|error| report(tool, &error)).ok()
    })
}

/// The leaves of the tree of a directory that has only these parts, each `PLACE=CATALOGUE`; the exit if it has none, after the reason was
/// reported.
pub fn of_parts(tool: &Tool, parts: &[Input], specs: &[DirectorySpec]) -> Result<Vec<Leaves>, Exit> {
    let mut opened = Vec::new();
    for text in parts {
        let Some((place, from)) = part(Path::new(text.as_os_str())) else {
            return Err(usage(&format_args!("'{}' is not PLACE=CATALOGUE", Shown(text))));
        };
        let below = name::path(&place).unwrap_or_default();
        if place.is_empty() || !below.components().all(|part| matches!(part, Component::Normal(_))) {
            let how = "give the path of a folder below the directory, as in sub/folder=CATALOGUE";
            return Err(usage(&format_args!(
                "'{}': '{}' is not a path below a directory: {how}",
                Shown(text),
                place.escape_ascii()
            )));
        }
        match Side::catalogue(&from, &tool.options) {
            Ok(catalogue) => opened.push((place, catalogue)),
            Err(error) => match from.file().filter(|path| path.is_dir()) {
                Some(path) => report(tool, &explained(error, path, &place_of(path))),
                None => report(tool, &error),
            },
        }
    }
    if opened.len() < parts.len() {
        return Err(tool.console.exit());
    }
    joined_leaves(&opened, specs, &mut |_| {}).map_err(|error| {
        report(tool, &error);
        tool.console.exit()
    })
}

/// The place and the catalogue in `PLACE=CATALOGUE`. Both may have a '=': the place ends at the first one after which something exists.
fn part(text: &Path) -> Option<(Vec<u8>, Input)> {
    let bytes = name::listed(text);
    let ends = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'=').map(|(at, _)| at);
    let parts = ends.filter_map(|at| Some((&bytes[..at], read_place(name::path(&bytes[at + 1..])?).ok()?)));
    let parts: Vec<_> = parts.collect();
    let found = parts.iter().find(|(_, from)| from.file().is_none_or(Path::exists)).or(parts.first());
    found.map(|(place, from)| (place.strip_suffix(b"/").unwrap_or(place).to_vec(), from.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_ends_where_something_exists_behind_it() {
        let folder = tempfile::tempdir().unwrap();
        let there = folder.path().join("x=y");
        std::fs::write(&there, "").unwrap();
        let text = format!("a=b/c={}", there.display());
        assert_eq!(part(Path::new(&text)), Some((b"a=b/c".to_vec(), Input::File(there))));
        assert_eq!(part(Path::new("a/=b=c")), Some((b"a".to_vec(), Input::place("b=c"))));
        assert_eq!(part(Path::new("a=s3://x/y=z")), Some((b"a".to_vec(), Input::place("s3://x/y=z"))));
        assert_eq!((part(Path::new("a=")), part(Path::new("a"))), (None, None));
    }
}
