//! The rules by which programs make trees of folders.

use crate::formats::{FOLDER, Family, SWHID_FOLDER};

/// The rules by which a program makes trees of folders.
#[derive(Debug)]
pub(super) struct FolderRule {
    /// The name of the format of files.
    files: &'static str,
    /// The format of trees.
    pub family: Family,
    /// What becomes of folders that have no file or link below them.
    pub empty: EmptyFolders,
    /// The permission bits of which any makes a file executable.
    pub executable: u32,
    /// The name that no entry has, since it is that of the repository itself.
    pub repository: Option<&'static [u8]>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EmptyFolders {
    LeftOut,
    Kept,
}

/// The rules of each format of files whose directories are trees of folders.
static RULES: &[FolderRule] = &[
    // `ce_permissions` of git's read-cache.h: the owner's bit.
    FolderRule {
        files: "git",
        family: FOLDER,
        empty: EmptyFolders::LeftOut,
        executable: 0o100,
        repository: Some(b".git"),
    },
    // `mode_to_perms` of swh.model's from_disk.py: any of the bits.
    FolderRule { files: "swhid", family: SWHID_FOLDER, empty: EmptyFolders::Kept, executable: 0o111, repository: None },
];

/// The way in which a directory has a root, which follows from the format of its files.
#[derive(Clone, Copy, Debug)]
pub(super) enum Rule {
    /// A tree over its entries.
    Entries,
    /// A tree of each folder.
    Folders(&'static FolderRule),
    /// A Nix archive, which has the content of all files.
    Archive,
}

impl Rule {
    pub fn of(files: &Family) -> Rule {
        match RULES.iter().find(|rule| rule.files == files.name) {
            Some(rule) => Rule::Folders(rule),
            None if files.name == "nar" => Rule::Archive,
            None => Rule::Entries,
        }
    }
}

impl FolderRule {
    /// Whether an entry is the repository at the top, or in it: no tree has it.
    pub fn leaves_out(&self, path: &[u8]) -> bool {
        self.repository.is_some_and(|name| path.split(|&byte| byte == b'/').next() == Some(name))
    }
}
