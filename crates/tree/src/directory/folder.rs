//! Trees as git has them: one of each folder, whose id is an entry of the folder above (`spec/git.md`).

use super::rule::{EmptyFolders, FolderRule};
use super::{Content, Entry, EntryError};
use crate::{Digest, Role, Spec};
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Ordering;

/// A folder whose entries are not all there.
#[derive(Clone, Debug)]
struct Open {
    path: Vec<u8>,
    /// The index of the folder above it.
    above: usize,
    /// The tree so far: mode, a space, name, a zero byte and the bytes of the id, for each entry.
    tree: Vec<u8>,
}

/// The trees of folders whose entries come in the order of their paths: O(1) memory for each entry of an open folder.
#[derive(Clone, Debug)]
pub(super) struct Folders {
    rule: &'static FolderRule,
    /// The open folders. The first is the directory itself; each later one is closed before those before it.
    open: Vec<Open>,
    entries: u64,
}

impl Folders {
    pub fn new(rule: &'static FolderRule) -> Self {
        Folders { rule, open: vec![Open { path: Vec::new(), above: 0, tree: Vec::new() }], entries: 0 }
    }

    /// The number of entries so far.
    pub fn len(&self) -> u64 {
        self.entries
    }

    /// Adds an entry whose path follows that of the last one.
    pub fn push(&mut self, (files, trees): (&Spec, &Spec), entry: &Entry<'_>) -> Result<(), EntryError> {
        if self.rule.leaves_out(entry.path) {
            return Ok(());
        }
        let (above, name) = match entry.path.iter().rposition(|&byte| byte == b'/') {
            None => (&[][..], entry.path),
            Some(slash) => (&entry.path[..slash], &entry.path[slash + 1..]),
        };
        if self.rule.repository == Some(name) {
            return Err(EntryError::Repository);
        }
        while let [_, .., last] = &self.open[..]
            && is_past(&last.path, entry.path)
        {
            self.close(trees);
        }
        let above = self.open.iter().rposition(|open| open.path == above).ok_or(EntryError::Above)?;
        self.entries += 1;
        let (mode, id) = match &entry.content {
            Content::Directory => {
                self.open.push(Open { path: entry.path.to_vec(), above, tree: Vec::new() });
                return Ok(());
            }
            Content::File(root) if root.spec() != files => return Err(EntryError::Format),
            Content::File(root) if entry.mode & self.rule.executable != 0 => ("100755", root.digest()),
            Content::File(root) => ("100644", root.digest()),
            Content::Link(text) => ("120000", files.leaf_digest(0, text, Role::Root)),
        };
        append(&mut self.open[above].tree, mode, name, &id);
        Ok(())
    }

    /// Closes the last open folder, which becomes an entry of the one above it.
    fn close(&mut self, trees: &Spec) {
        let Some(Open { path, above, tree }) = self.open.pop() else { return };
        if tree.is_empty() && self.rule.empty == EmptyFolders::LeftOut {
            return;
        }
        let id = trees.leaf_digest(0, &tree, Role::Root);
        let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
        append(&mut self.open[above].tree, "40000", name, &id);
    }

    /// The id of the directory's tree.
    pub fn top(&self, trees: &Spec) -> Digest {
        let mut all = self.clone();
        while all.open.len() > 1 {
            all.close(trees);
        }
        trees.leaf_digest(0, &all.open[0].tree, Role::Root)
    }
}

/// Whether `path` comes after all that is in `folder`. Paths come in the order of their bytes, and so do the entries of a tree: git
/// sorts a folder as if its name ended in a slash, which is where its content stands among the paths (`base_name_compare` of git's
/// read-cache.c). A folder whose name goes on with a byte below the slash, as `a-` after `a`, is within the span of the shorter one.
fn is_past(folder: &[u8], path: &[u8]) -> bool {
    let is_within = path.strip_prefix(folder).is_some_and(|rest| rest.starts_with(b"/"));
    !is_within && path.iter().cmp(folder.iter().chain(b"/")) == Ordering::Greater
}

/// Appends an entry to a tree.
fn append(tree: &mut Vec<u8>, mode: &str, name: &[u8], id: &Digest) {
    tree.extend_from_slice(mode.as_bytes());
    tree.push(b' ');
    tree.extend_from_slice(name);
    tree.push(0);
    tree.extend_from_slice(id.as_bytes());
}

#[cfg(all(test, feature = "sha1"))]
mod tests {
    use crate::directory::{Content, DirectorySpec, Entry, EntryError, Leaves};
    use alloc::string::{String, ToString};

    fn entry<'a>(path: &'a str, content: Content<'a>) -> Entry<'a> {
        Entry { path: path.as_bytes(), content, mode: 0o644, modified: (0, 0) }
    }

    /// The root of a directory with these files, each of which holds its own path, and of folders, whose paths end in a slash.
    fn root(format: &str, paths: &[&str]) -> Result<String, EntryError> {
        let spec: DirectorySpec = format.parse().unwrap();
        let mut leaves = Leaves::new(&spec);
        for path in paths {
            let content = match path.ends_with('/') {
                true => Content::Directory,
                false => Content::File(spec.file().root(path.as_bytes()).unwrap()),
            };
            leaves.push(&entry(path.trim_end_matches('/'), content))?;
        }
        Ok(leaves.root().unwrap().to_string())
    }

    #[test]
    fn a_directory_without_files_has_the_root_of_an_empty_tree() {
        // As `git mktree </dev/null` prints.
        let empty = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
        assert_eq!(root("dir:git:sha1", &[]).unwrap(), empty);
        assert_eq!(root("dir:git:sha1", &["a/", "a/b/", "c/"]).unwrap(), empty);
        assert_eq!(root("dir:swhid", &[]).unwrap(), ["swh:1:dir:", empty].concat());
        assert_ne!(root("dir:swhid", &["a/"]), root("dir:swhid", &[]));
        let long = "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321";
        assert_eq!(root("dir:git:sha256", &[]).unwrap(), long);
    }

    #[test]
    fn a_folder_stands_where_its_slash_does() {
        // `git add . && git write-tree`, with git 2.39.
        let paths = ["A", "a/", "a-/", "a-/c", "a.b", "a/b", "a/b.c", "a/c/", "a/c/d", "a0"];
        let expected = "9132bac3afa768019f7cb9019a7f124fa4f9d27f";
        assert_eq!(root("dir:git:sha1", &paths).unwrap(), expected);
        assert_eq!(root("dir:swhid", &paths).unwrap(), ["swh:1:dir:", expected].concat());
    }

    #[test]
    fn entries_that_no_tree_has_are_refused() {
        assert_eq!(root("dir:git:sha1", &["a/b"]), Err(EntryError::Above));
        assert_eq!(root("dir:git:sha1", &["a", "a/b"]), Err(EntryError::Above));
        assert_eq!(root("dir:git:sha1", &["a/", "a/.git/"]), Err(EntryError::Repository));
        assert_eq!(root("dir:git:sha1", &[".git/", ".git/x", "a"]), root("dir:git:sha1", &["a"]));
        assert_ne!(root("dir:swhid", &[".git/", ".git/x", "a"]), root("dir:swhid", &["a"]));
        assert_eq!(root("dir:git:sha1", &["b", "a"]), Err(EntryError::Order));
        for text in ["dir+mode:git:sha1", "dir+mtime:swhid"] {
            assert!(text.parse::<DirectorySpec>().is_err(), "{text}");
        }
    }

    #[test]
    fn only_the_owners_bit_counts_for_git_and_any_for_swhid() {
        let with = |format: &str, mode| {
            let spec: DirectorySpec = format.parse().unwrap();
            let mut leaves = Leaves::new(&spec);
            let file = entry("a", Content::File(spec.file().root(b"a").unwrap()));
            leaves.push(&Entry { mode, ..file }).unwrap();
            leaves.root().unwrap().to_string()
        };
        for (format, [group, owner]) in [("dir:git:sha1", [false, true]), ("dir:swhid", [true, true])] {
            let plain = with(format, 0o644);
            assert_eq!((with(format, 0o674) != plain, with(format, 0o744) != plain), (group, owner), "{format}");
        }
    }
}
