//! What is mounted: folders, links and files by their paths.

use mksum_get::{Attributes, List, OtherKind};
use mksum_io::{EntryKind, Error, HeldDirectory, HeldFile, Input, Opening, Options, Refusal, Verified, WriteBack};
use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};

/// The entries of a file system, each with its attributes. They stay as they are while it is mounted.
#[derive(Debug)]
pub struct Tree {
    nodes: Vec<Node>,
    /// The directory of this machine that has all files, and its path: no link below it is followed.
    folder: Option<(PathBuf, HeldDirectory)>,
}

/// An entry of a [`Tree`].
#[derive(Debug)]
pub enum Entry {
    /// A folder.
    Folder,
    /// A symbolic link with this text.
    Link(PathBuf),
    /// A file, and what its bytes are verified against. Its `len` is the size of the file.
    File(Box<Opening>),
}

/// An entry with its number.
#[derive(Debug)]
pub struct Node {
    /// The number of the folder that has it; of the root, its own.
    pub parent: u64,
    pub attributes: Attributes,
    pub kind: Kind,
}

#[derive(Debug)]
pub enum Kind {
    /// The names in a folder, sorted, with their numbers.
    Folder(Vec<(OsString, u64)>),
    Link(PathBuf),
    File(Box<Opening>),
}

impl Default for Tree {
    fn default() -> Self {
        Tree::new()
    }
}

impl Tree {
    /// The number of the root.
    pub const ROOT: u64 = 1;

    /// An empty folder.
    pub fn new() -> Tree {
        let kind = Kind::Folder(Vec::new());
        Tree { nodes: vec![Node { parent: Self::ROOT, attributes: Attributes::default(), kind }], folder: None }
    }

    /// The entries of a list, whose files lie below `folder`, with copies of that folder as replicas. `refuse` receives the entries that
    /// are not shown, and why.
    ///
    /// # Errors
    /// If the folder is one of this machine and cannot be opened.
    pub fn of_list(
        list: List,
        (folder, copies, write_back): (&Input, &[Input], WriteBack),
        refuse: &mut dyn FnMut(&Path, &str),
    ) -> Result<Tree, Error> {
        let mut tree = Tree::new();
        if let Some(path) = folder.file() {
            tree.folder = Some((path.into(), HeldDirectory::open(path)?));
        }
        for (name, why) in &list.refused {
            refuse(name, why);
        }
        for other in list.others {
            let entry = match other.kind {
                OtherKind::Folder => Entry::Folder,
                OtherKind::Link(text) => Entry::Link(text),
            };
            if let Err(why) = tree.insert(&other.name, entry, other.attributes) {
                refuse(&other.name, &why);
            }
        }
        for file in &list.files {
            let opening = Opening { write_back, ..file.opening(folder, copies) };
            if let Err(why) = tree.insert(file.name(), Entry::File(opening.into()), file.attributes) {
                refuse(file.name(), &why);
            }
        }
        Ok(tree)
    }

    /// Opens a file of the tree.
    pub(crate) fn open(&self, opening: &Opening, options: &Options) -> Result<Verified, Error> {
        let below = self.folder.as_ref().and_then(|(folder, held)| {
            let below = opening.file.file()?.strip_prefix(folder).ok()?;
            Some((held, below))
        });
        let Some((folder, below)) = below else { return Verified::open(opening.clone(), options) };
        let held = HeldFile::open_below(folder, below)?;
        if held.facts().kind != EntryKind::File {
            let refusal = Refusal::NotWhole("not a regular file".into());
            return Err(Error::Refused { path: opening.file.clone(), refusal });
        }
        Verified::of_file(held.reader_at_path(options)?, opening.clone())
    }

    /// Adds an entry at a path, and the folders above it that are missing.
    ///
    /// # Errors
    /// If the path is none below a folder or has an entry already, or the length of a file is not known: the reason, as words.
    pub fn insert(&mut self, path: &Path, entry: Entry, attributes: Attributes) -> Result<(), String> {
        let kind = match entry {
            Entry::Folder => Kind::Folder(Vec::new()),
            Entry::Link(text) => Kind::Link(text),
            Entry::File(opening) if opening.len.is_none() => return Err("its length is not known".into()),
            Entry::File(opening) => Kind::File(opening),
        };
        let mut names = Vec::new();
        for part in path.components() {
            match part {
                Component::Normal(name) => names.push(name),
                _ => return Err("it is no path below a folder".into()),
            }
        }
        let Some((last, above)) = names.split_last() else { return Err("it has no name".into()) };
        let mut folder = Self::ROOT;
        for name in above {
            folder = self.add(folder, name, || (Attributes::default(), Kind::Folder(Vec::new())))?.0;
        }
        let is_folder = matches!(kind, Kind::Folder(_));
        let (number, is_new) = self.add(folder, last, || (attributes, kind))?;
        match self.nodes.get_mut(number as usize - 1) {
            _ if is_new => Ok(()),
            // It was made for what is in it.
            Some(Node { kind: Kind::Folder(_), attributes: known, .. }) if is_folder => {
                *known = attributes;
                Ok(())
            }
            _ => Err("another entry has this path".into()),
        }
    }

    /// The number of a name in a folder, and whether it was added.
    fn add(
        &mut self,
        folder: u64,
        name: &OsStr,
        make: impl FnOnce() -> (Attributes, Kind),
    ) -> Result<(u64, bool), String> {
        let next = self.nodes.len() as u64 + 1;
        let Some(Node { kind: Kind::Folder(names), .. }) = self.nodes.get_mut(folder as usize - 1) else {
            return Err("it is below an entry that is no folder".into());
        };
        match names.binary_search_by(|(known, _)| (**known).cmp(name)) {
            Ok(found) => Ok((names[found].1, false)),
            Err(place) => {
                names.insert(place, (name.into(), next));
                let (attributes, kind) = make();
                self.nodes.push(Node { parent: folder, attributes, kind });
                Ok((next, true))
            }
        }
    }

    /// The entry with a number.
    pub(crate) fn node(&self, number: u64) -> Option<&Node> {
        self.nodes.get(usize::try_from(number).ok()?.checked_sub(1)?)
    }

    /// The number of a name in a folder.
    pub(crate) fn find(&self, folder: u64, name: &OsStr) -> Option<u64> {
        let Kind::Folder(names) = &self.node(folder)?.kind else { return None };
        let found = names.binary_search_by(|(known, _)| (**known).cmp(name)).ok()?;
        Some(names[found].1)
    }

    /// The number of entries.
    pub(crate) fn count(&self) -> u64 {
        self.nodes.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_have_one_place_each() {
        let mut tree = Tree::new();
        let mut add = |path: &str, entry| tree.insert(Path::new(path), entry, Attributes::default()).is_ok();
        let file = |len| Entry::File(Opening { len, ..Opening::new(Path::new("f"), Path::new("f.mkt")) }.into());
        assert!(add("b/c", file(Some(1))) && add("a", Entry::Link("b".into())) && add("b", Entry::Folder));
        for path in ["", "/x", "../x", "b/../x", "a", "b/c", "b/c/d", "a/d"] {
            assert!(!add(path, file(Some(1))), "{path}");
        }
        assert!(!add("b/c", Entry::Folder) && !add("d", file(None)) && !add("a", Entry::Folder));
        let folder = tree.find(Tree::ROOT, "b".as_ref()).unwrap();
        assert_eq!(
            (tree.count(), tree.find(folder, "c".as_ref()), tree.find(folder, "x".as_ref())),
            (4, Some(3), None)
        );
        assert_eq!(tree.node(3).unwrap().parent, folder);
        assert!(tree.node(0).is_none() && tree.node(5).is_none() && tree.find(3, "c".as_ref()).is_none());
    }
}
