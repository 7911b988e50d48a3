//! The root of a directory: a tree of RFC 6962 over its entries (`spec/directory.md`), git's trees of folders
//! (`spec/git.md`), or a Nix archive (`spec/nar.md`).

mod archive;
mod entry;
mod folder;
mod proof;
mod rule;
mod spec;

pub use archive::{Archive, Member};
pub use entry::{Content, Entry, EntryError};
pub use proof::{EntryProof, EntryProofError};
pub use spec::DirectorySpec;

use crate::{Digest, Digests, Error, Hash, Role, Root, Spec, Subtree, Subtrees};
use alloc::vec::Vec;
use core::cmp::Ordering;
use folder::Folders;
use rule::Rule;

/// The leaves of a directory's tree, which are added in the order of their paths: O(1) memory each, a digest.
///
/// ```
/// use mksum::directory::{Content, DirectorySpec, Entry, Leaves};
///
/// let spec: DirectorySpec = "dir:sha256".parse()?;
/// let mut leaves = Leaves::new(&spec);
/// let root = spec.file().root(b"hello")?;
/// leaves.push(&Entry { path: b"a", content: Content::File(root), mode: 0o644, modified: (0, 0) })?;
/// leaves.push(&Entry { path: b"b", content: Content::Link(b"a"), mode: 0, modified: (0, 0) })?;
/// assert_eq!(leaves.root()?.len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Leaves {
    spec: DirectorySpec,
    state: State,
    last: Vec<u8>,
}

#[derive(Clone, Debug)]
enum State {
    /// The leaves of a tree over entries.
    Entries(Digests),
    /// Git's trees.
    Folders(Folders),
    /// The root of an archive, and the number of its entries.
    Archive(Digest, u64),
}

impl Leaves {
    /// An empty list of entries for a directory's tree.
    pub fn new(spec: &DirectorySpec) -> Self {
        let state = match spec.rule {
            Rule::Entries => State::Entries(Digests::new(spec.tree().hash().size())),
            Rule::Folders(rule) => State::Folders(Folders::new(rule)),
            Rule::Archive => {
                let (archive, bytes) = Archive::begin();
                let digest = mksum_lanes::digest(Hash::Sha256, &[&bytes, &archive.end()]);
                State::Archive(Digest::new(&digest[..Hash::Sha256.size()]), 0)
            }
        };
        Leaves { spec: spec.clone(), state, last: Vec::new() }
    }

    /// The finished list of an [`Archive`] with this SHA-256 and number of members: it has no leaves but a root.
    ///
    /// # Panics
    /// If `spec` is not a format of archives, or `digest` is none of SHA-256.
    pub fn of_archive(spec: &DirectorySpec, digest: Digest, members: u64) -> Self {
        assert!(spec.is_archive() && digest.as_bytes().len() == spec.hash().size(), "an archive's digest");
        Leaves { spec: spec.clone(), state: State::Archive(digest, members), last: Vec::new() }
    }

    /// Adds an entry.
    ///
    /// # Errors
    /// If its path does not follow that of the last one, or it is none of this format.
    pub fn push(&mut self, entry: &Entry<'_>) -> Result<(), EntryError> {
        if !entry::is_path(entry.path) {
            return Err(EntryError::Path);
        }
        // No path is empty: none is the last one before the first.
        if self.last.as_slice().cmp(entry.path) != Ordering::Less {
            return Err(EntryError::Order);
        }
        match &mut self.state {
            State::Entries(digests) => digests.push(self.spec.leaf(&self.spec.encode(entry)?)),
            State::Folders(folders) => folders.push((self.spec.file(), self.spec.tree()), entry)?,
            State::Archive(..) => return Err(EntryError::Archive),
        }
        self.last.clear();
        self.last.extend_from_slice(entry.path);
        Ok(())
    }

    /// The number of entries.
    pub fn len(&self) -> u64 {
        match &self.state {
            State::Entries(digests) => digests.len() as u64,
            State::Folders(folders) => folders.len(),
            State::Archive(_, members) => *members,
        }
    }

    /// Whether there are none: an empty directory has a root, too.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The root over all entries so far; its length is their number.
    ///
    /// # Errors
    /// None that this source can cause.
    pub fn root(&self) -> Result<Root, Error> {
        let tree = self.spec.tree();
        match &self.state {
            State::Entries(_) => tree.root_from(self, self.len()),
            State::Folders(folders) => Ok(tree.root_with_digest(folders.top(tree), self.len())),
            State::Archive(digest, members) => Ok(tree.root_with_digest(*digest, *members)),
        }
    }
}

impl Subtrees for Leaves {
    fn digest(&self, _: &Spec, node: Subtree, _: Role) -> Result<Option<Digest>, Error> {
        match &self.state {
            State::Entries(digests) if node.level == 0 => Ok(digests.get(node.start as usize)),
            _ => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::string::ToString;
    use alloc::vec;

    fn entry<'a>(path: &'a [u8], content: Content<'a>) -> Entry<'a> {
        Entry { path, content, mode: 0o100_644, modified: (-1, 5) }
    }

    /// The paths in the tests, in their order.
    const PATHS: [&[u8]; 5] = [b"a", b"a.b", b"a/b", b"a0", b"\xff"];

    fn leaves(spec: &DirectorySpec) -> (Leaves, Vec<Vec<u8>>) {
        let (mut leaves, mut entries) = (Leaves::new(spec), Vec::new());
        for (number, path) in PATHS.into_iter().enumerate() {
            let content = match number {
                0 => Content::Directory,
                1 => Content::Link(b"a/b"),
                _ => Content::File(spec.file().root(path).unwrap()),
            };
            let entry = entry(path, content);
            leaves.push(&entry).unwrap();
            entries.push(spec.encode(&entry).unwrap());
        }
        (leaves, entries)
    }

    #[test]
    fn names_of_formats_are_canonical() {
        for (text, canonical) in [
            ("dir", "dir:rfc6962:sha256:64KiB"),
            ("DIR:sha256", "dir:sha256"),
            ("dir+mode+mtime:blake3", "dir+mode+mtime:blake3"),
            ("dir:fsverity", "dir:fsverity:sha256:4KiB"),
        ] {
            assert_eq!(text.parse::<DirectorySpec>().unwrap().to_string(), canonical);
            assert_eq!(canonical.parse::<DirectorySpec>().unwrap().to_string(), canonical);
            assert!(DirectorySpec::is_name(text));
        }
        for text in
            ["", "dir+", "dir+mtime+mode", "dir+mode+mode", "dir:", "dir:dir", "dir:sha3-256", "dir:md6", "directory"]
        {
            assert!(text.parse::<DirectorySpec>().is_err(), "{text}");
        }
    }

    #[test]
    fn entries_are_read_back_and_no_other_bytes_are() {
        for text in ["dir:sha256", "dir+mode", "dir+mode+mtime:md5"] {
            let spec: DirectorySpec = text.parse().unwrap();
            for bytes in leaves(&spec).1 {
                let read = Entry::parse(&spec, &bytes).unwrap();
                assert_eq!(spec.encode(&read).unwrap(), bytes);
                for len in 0..bytes.len() {
                    assert!(Entry::parse(&spec, &bytes[..len]).is_err(), "{text} {len}");
                }
                assert!(Entry::parse(&spec, &[&bytes[..], b"x"].concat()).is_err());
                // Lengths that are too long are not believed.
                assert!(Entry::parse(&spec, &[&bytes[..1], &[0xff; 8], &bytes[9..]].concat()).is_err());
            }
        }
    }

    #[test]
    fn paths_ascend_and_stay_below_the_directory() {
        let spec: DirectorySpec = "dir".parse().unwrap();
        let (mut leaves, _) = leaves(&spec);
        assert_eq!(leaves.push(&entry(b"b", Content::Directory)), Err(EntryError::Order));
        for path in [&b""[..], b"/", b"a/", b"../a", b"a//b", b"a\0"] {
            assert_eq!(spec.encode(&entry(path, Content::Directory)), Err(EntryError::Path));
        }
        let other = "sha256".parse::<Spec>().unwrap().root(b"").unwrap();
        assert_eq!(spec.encode(&entry(b"a", Content::File(other))), Err(EntryError::Format));
    }

    #[test]
    fn proofs_hold_for_each_entry_and_for_no_changed_byte() {
        let spec: DirectorySpec = "dir+mode:sha256".parse().unwrap();
        let (leaves, entries) = leaves(&spec);
        let root = leaves.root().unwrap();
        for (index, bytes) in entries.iter().enumerate() {
            let (same, proof) = EntryProof::new(&leaves, index as u64, bytes.clone()).unwrap();
            assert_eq!(same, root);
            let sent = proof.to_bytes();
            let read = EntryProof::parse(&sent).unwrap();
            assert_eq!(read.verify(&spec, &(&root).into()).unwrap().path, PATHS[index]);
            assert_eq!(read.place(), (index as u64, 5));
            for at in 0..sent.len() {
                let mut changed = sent.clone();
                changed[at] ^= 1;
                let shown = EntryProof::parse(&changed);
                let entry = shown.as_ref().ok().and_then(|proof| proof.verify(&spec, &(&root).into()).ok());
                // The number of entries and the index are shown only as far as the tree's shape needs them.
                assert!(entry.is_none_or(|entry| entry.path == PATHS[index]), "byte {at}");
            }
        }
        assert!(EntryProof::new(&leaves, 5, vec![]).is_err());
    }

    #[test]
    fn an_empty_directory_has_the_root_of_no_bytes() {
        let spec: DirectorySpec = "dir:sha256".parse().unwrap();
        let root = Leaves::new(&spec).root().unwrap();
        assert_eq!(format!("{root}"), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    }
}
