//! Directories as lists of downloads.

use crate::error::Error;
use crate::long::LONG;
use crate::row::Kept;
use crate::side::Side;
use crate::store::{TREES, place};
use mksum::Root;
use mksum::directory::{Content, DirectorySpec, Entry};
use mksum_get::{Attributes, Expected, List, Listed, Other, OtherKind};
use mksum_io::{EntryKind, Input, Options, path_from_bytes};
use std::path::{Path, PathBuf};

/// A directory that has a trusted root.
#[derive(Debug)]
pub struct Directory {
    /// The root.
    pub root: Root,
    /// The entries of the folder.
    pub list: List,
}

/// The place of the catalogue of the directory at a path or URL.
pub fn place_below(directory: &Input) -> Input {
    directory.join(&place(Path::new("")))
}

/// Lists a directory that has the trusted root, from the first catalogue at these places whose entries give it: the catalogues are not
/// trusted. `note` is told why others are not used.
///
/// # Errors
/// If `expected` is no root of a directory, or none of the catalogues has it: the error of the last one.
pub fn list_directory(
    places: &[Input],
    expected: &Expected,
    options: &Options,
    note: &mut dyn FnMut(Error),
) -> Result<Directory, Error> {
    let Some(spec) = expected.directory() else {
        return Err(Error::refused(Input::Stdin, "the root is not one of a directory"));
    };
    let mut last = Error::refused(Input::Stdin, "no place of a catalogue is given");
    for (index, place) in places.iter().enumerate() {
        match directory(place, (expected, spec), &trees(places), options) {
            Ok(found) => return Ok(found),
            Err(error @ Error::Io(mksum_io::Error::Stopped { .. })) => return Err(error),
            Err(error) if index + 1 == places.len() => last = error,
            Err(error) => note(error),
        }
    }
    Err(last)
}

fn directory(
    place: &Input,
    (expected, spec): (&Expected, &DirectorySpec),
    trees: &[Input],
    options: &Options,
) -> Result<Directory, Error> {
    let catalogue = Side::catalogue(place, options)?;
    let mut list = List::of_directory();
    // What is listed is what is hashed: another process may write to a catalogue on this machine.
    let leaves = catalogue.leaves(std::slice::from_ref(spec), &mut |entry| add(&mut list, (entry, spec), trees))?;
    let root = leaves[0].root().expect("each leaf is there");
    if !root.matches(expected.root()) {
        let expected = expected.text();
        let why = "the catalogue is of another directory, or of another time";
        return Err(Error::refused(place, format_args!("{why}:\n  expected root {expected}\n  found root    {root}")));
    }
    Ok(Directory { root, list })
}

/// Adds an entry, with the attributes that the root covers.
fn add(list: &mut List, (entry, spec): (&Entry<'_>, &DirectorySpec), trees: &[Input]) {
    let has = |name| spec.attributes().any(|attribute| attribute == name);
    let attributes = Attributes {
        mode: has("mode").then_some(entry.mode & 0o7777),
        modified: has("mtime").then_some(entry.modified),
    };
    let Some(name) = named(list, entry.path) else { return };
    match &entry.content {
        Content::File(root) => {
            // Shorter files have no outboard.
            let outboard = (root.len() >= LONG).then(|| format!("{}.mkt", root.digest()));
            list.files.push(listed(name, root, outboard.as_deref(), (trees, attributes)));
        }
        Content::Directory => list.others.push(Other { name, kind: OtherKind::Folder, attributes }),
        Content::Link(text) => match path_from_bytes(text) {
            Some(text) => {
                // The mode of a link is no part of its entry.
                let attributes = Attributes { mode: None, ..attributes };
                list.others.push(Other { name, kind: OtherKind::Link(text), attributes });
            }
            None => list.refused.push((name, "no link has its text here".into())),
        },
    }
}

/// Lists the files of a catalogue that is itself trusted: of several roots of a file the longest counts.
///
/// # Errors
/// If the catalogue cannot be read, or lacks entries that could not be read when it was kept.
pub fn list_files(place: &Input, options: &Options) -> Result<List, Error> {
    let mut list = list_by(place, &|kept| (size(kept), kept.outboard.is_some()), options)?;
    list.others.clear();
    list.files.iter_mut().for_each(|file| file.attributes = Attributes::default());
    list.refuse_clashes();
    Ok(list)
}

/// Lists all entries of a catalogue that is itself trusted, with their attributes: of several roots of a file the one that has an outboard
/// counts, or else the longest.
///
/// # Errors
/// As [`list_files`].
pub fn list_entries(place: &Input, options: &Options) -> Result<List, Error> {
    let mut list = list_by(place, &|kept| (kept.outboard.is_some(), size(kept)), options)?;
    list.is_directory = true;
    Ok(list)
}

fn size(kept: &Kept) -> usize {
    kept.root.spec().hash().size()
}

/// Lists the entries of a trusted catalogue: of several roots of a file the one with the highest rank.
fn list_by<R: Ord>(place: &Input, rank: &dyn Fn(&Kept) -> R, options: &Options) -> Result<List, Error> {
    let catalogue = Side::catalogue(place, options)?;
    catalogue.check_pages()?;
    if let Some(unread) = catalogue.check_list()? {
        return Err(unread);
    }
    let (mut list, trees) = (List::default(), trees(std::slice::from_ref(place)));
    for row in catalogue.rows() {
        let row = row?;
        let Some(name) = named(&mut list, &row.path) else { continue };
        let attributes = Attributes { mode: Some(row.facts.mode & 0o7777), modified: Some(row.facts.modified) };
        match row.facts.kind {
            EntryKind::File => match catalogue.roots(&row)?.into_iter().max_by_key(rank) {
                Some(Kept { root, outboard, .. }) => {
                    list.files.push(listed(name, &root, outboard.as_deref(), (&trees, attributes)));
                }
                None => list.refused.push((name, "the catalogue has no root of it".into())),
            },
            EntryKind::Directory => list.others.push(Other { name, kind: OtherKind::Folder, attributes }),
            EntryKind::Link => match catalogue.link(&row.path)?.and_then(|text| path_from_bytes(&text)) {
                Some(text) => list.others.push(Other { name, kind: OtherKind::Link(text), attributes }),
                None => list.refused.push((name, "no link has its text here".into())),
            },
            EntryKind::Special => {}
        }
    }
    Ok(list)
}

/// The path of an entry, if a file can have it here.
fn named(list: &mut List, path: &[u8]) -> Option<PathBuf> {
    let name = path_from_bytes(path);
    if name.is_none() {
        list.refused.push((String::from_utf8_lossy(path).into_owned().into(), "no file has this name here".into()));
    }
    name
}

fn listed(name: PathBuf, root: &Root, outboard: Option<&str>, (trees, attributes): (&[Input], Attributes)) -> Listed {
    let outboards = outboard.map(|name| trees.iter().map(|trees| trees.join(Path::new(name))).collect());
    let mut listed = Listed::new(name, Expected::from(root));
    (listed.len, listed.outboards, listed.attributes) =
        (Some(root.len()), Some(outboards.unwrap_or_default()), attributes);
    listed
}

/// The folders of the outboards of catalogues.
fn trees(catalogues: &[Input]) -> Vec<Input> {
    catalogues.iter().map(|place| place.with_extension(TREES)).collect()
}
