//! The root of a directory from its catalogue, or from those of its parts: nothing is read but rows.

use crate::error::Error;
use crate::row::is_path;
use crate::store::Catalogue;
use mksum::directory::{Content, DirectorySpec, Entry, Leaves};
use mksum_io::EntryKind;
use std::collections::BTreeMap;

/// The leaves of a tree in each format, and who is shown each entry of the first one.
struct Growing<'a> {
    specs: &'a [DirectorySpec],
    all: Vec<Leaves>,
    each: &'a mut dyn FnMut(&Entry<'_>),
}

impl<'a> Growing<'a> {
    fn new(specs: &'a [DirectorySpec], each: &'a mut dyn FnMut(&Entry<'_>)) -> Self {
        Growing { specs, all: specs.iter().map(Leaves::new).collect(), each }
    }

    /// Adds an entry, whose content in a format is what `content` returns.
    fn push<'c>(
        &mut self,
        (path, mode, modified): (&[u8], u32, (i64, u32)),
        content: &dyn Fn(&DirectorySpec) -> Result<Content<'c>, Error>,
        refuse: &dyn Fn(String) -> Error,
    ) -> Result<(), Error> {
        for (index, (spec, leaves)) in self.specs.iter().zip(&mut self.all).enumerate() {
            let entry = Entry { path, content: content(spec)?, mode, modified };
            if index == 0 {
                (self.each)(&entry);
            }
            leaves.push(&entry).map_err(|error| refuse(error.to_string()))?;
        }
        Ok(())
    }

    /// Adds all entries of a catalogue, which lie below `folder`.
    fn push_all(&mut self, catalogue: &Catalogue, folder: Option<&[u8]>) -> Result<(), Error> {
        catalogue.check_whole()?;
        for row in catalogue.rows() {
            let row = row?;
            let refuse = |why| Error::Row { path: catalogue.input().clone(), row: row.path.clone(), why };
            let link = match row.facts.kind {
                EntryKind::Link => {
                    catalogue.link(&row.path)?.ok_or_else(|| refuse("the text of the link is lost".into()))?
                }
                _ => Vec::new(),
            };
            let kept = if row.facts.kind == EntryKind::File { catalogue.roots(&row)? } else { Vec::new() };
            let content = |spec: &DirectorySpec| match row.facts.kind {
                EntryKind::Directory => Ok(Content::Directory),
                EntryKind::Link => Ok(Content::Link(&link)),
                EntryKind::File | EntryKind::Special => {
                    let root = kept.iter().map(|kept| &kept.root).find(|root| root.spec() == spec.file());
                    let lacks = || {
                        let (path, spec) = (row.path.escape_ascii(), spec.file());
                        let why = format!("{path} has no root in {spec}: 'mksum keep -r -f {spec} DIR' adds it");
                        Error::refused(catalogue.input(), why)
                    };
                    Ok(Content::File(root.ok_or_else(lacks)?.clone()))
                }
            };
            let below = folder.map(|folder| [folder, &row.path].join(&b'/'));
            let path = below.as_deref().unwrap_or(&row.path);
            self.push((path, row.facts.mode, row.facts.modified), &content, &refuse)?;
        }
        Ok(())
    }
}

impl Catalogue {
    /// The leaves of the directory's tree in each format, from which its roots and proofs follow: of the entries as they were when they
    /// were last kept. `each` is shown every entry of the first format, in their order.
    ///
    /// # Errors
    /// If the catalogue cannot be read, or a file has no root in the format of a tree's files.
    pub fn leaves(&self, specs: &[DirectorySpec], each: &mut dyn FnMut(&Entry<'_>)) -> Result<Vec<Leaves>, Error> {
        let mut growing = Growing::new(specs, each);
        growing.push_all(self, None)?;
        Ok(growing.all)
    }
}

/// The leaves in each format of the tree of a directory that has nothing but `parts`: folders, of each its path below the directory
/// and its catalogue. Folders above a part are entries too. `each` is shown every entry of the first format, in their order.
///
/// # Errors
/// As [`Catalogue::leaves`]; if a path is none below a directory, or lies in another part; or if a format has modes or times, which no
/// catalogue has of its own folder.
pub fn joined_leaves(
    parts: &[(Vec<u8>, Catalogue)],
    specs: &[DirectorySpec],
    each: &mut dyn FnMut(&Entry<'_>),
) -> Result<Vec<Leaves>, Error> {
    /// An item in the order of all paths.
    enum Item<'a> {
        Folder,
        /// All entries of a part, whose paths begin with this one.
        Part(&'a [u8], &'a Catalogue),
    }
    let mut items = BTreeMap::new();
    for (place, catalogue) in parts {
        let shown = place.escape_ascii();
        let refuse = |why: String| Error::refused(catalogue.input(), why);
        if let Some(spec) = specs.iter().find(|spec| spec.attributes().next().is_some()) {
            let how = "join without +mode and +mtime, or keep a catalogue of the whole directory";
            return Err(refuse(format!(
                "it does not have the mode and time of '{shown}' itself, which {spec} needs: {how}"
            )));
        }
        if !is_path(place) {
            return Err(refuse(format!("'{shown}' is not a path below a directory")));
        }
        let slashes = place.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
        for end in slashes.chain([place.len()]) {
            items.insert(place[..end].to_vec(), Item::Folder);
        }
        if items.insert([place, &b"/"[..]].concat(), Item::Part(place, catalogue)).is_some() {
            return Err(refuse(format!("there are two parts at '{shown}'")));
        }
    }
    let mut growing = Growing::new(specs, each);
    let mut last: Option<&[u8]> = None;
    for (path, item) in &items {
        if let Some(part) = last.filter(|part| path.strip_prefix(*part).is_some_and(|rest| rest.starts_with(b"/"))) {
            let (inner, outer) = (path.strip_suffix(b"/").unwrap_or(path).escape_ascii(), part.escape_ascii());
            let (_, catalogue) = parts.iter().find(|(place, _)| place == part).expect("one of them");
            return Err(Error::refused(
                catalogue.input(),
                format!("'{inner}' lies in '{outer}', which is a part itself"),
            ));
        }
        match item {
            Item::Folder => {
                let refuse = |why| Error::refused(parts[0].1.input(), why);
                growing.push((path, 0, (0, 0)), &|_| Ok(Content::Directory), &refuse)?;
            }
            Item::Part(place, catalogue) => {
                growing.push_all(catalogue, Some(place))?;
                last = Some(place);
            }
        }
    }
    Ok(growing.all)
}
