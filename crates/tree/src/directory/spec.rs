//! The format of a directory's root by name: `dir[+mode][+mtime][:FORMAT]`; with the formats of git and Nix, what these make of a directory.

use super::rule::Rule;
use crate::formats::Family;
use crate::{Algorithm, Digest, Role, Spec, SpecError};
use alloc::format;
use alloc::string::String;
use core::fmt;
use core::str::FromStr;

/// The format of a directory's root: that of its files, and the attributes that count.
///
/// Parses `dir[+mode][+mtime][:FORMAT]` and prints the one canonical form.
///
/// ```
/// let spec: mksum::directory::DirectorySpec = "dir+mode".parse()?;
/// assert_eq!(spec.to_string(), "dir+mode:rfc6962:sha256:64KiB");
/// # Ok::<(), mksum::SpecError>(())
/// ```
#[derive(Clone, Debug)]
pub struct DirectorySpec {
    file: Spec,
    tree: Spec,
    /// Whether the permission bits count.
    pub(super) mode: bool,
    /// Whether the times of the last change count.
    pub(super) mtime: bool,
    pub(super) rule: Rule,
}

impl PartialEq for DirectorySpec {
    fn eq(&self, other: &Self) -> bool {
        // All else follows from these.
        (&self.file, self.mode, self.mtime) == (&other.file, other.mode, other.mtime)
    }
}

impl Eq for DirectorySpec {}

impl DirectorySpec {
    /// The word that begins the name of each such format.
    pub const NAME: &'static str = "dir";

    /// The format without attributes, of directories whose files have roots in the format `file`.
    ///
    /// # Errors
    /// If no tree of RFC 6962 has the hash of that format, and it is none of git's or Nix's.
    pub fn new(file: Spec) -> Result<Self, SpecError> {
        let rule = Rule::of(file.family());
        let tree = match rule {
            Rule::Folders(rule) => Spec::new(&rule.family).with_hash(file.hash())?,
            Rule::Archive => file.clone(),
            Rule::Entries => {
                let rfc6962 = Family::named("rfc6962").expect("a row of the table");
                Spec::new(rfc6962).with_hash(file.hash())?.with_leaf(1)?
            }
        };
        Ok(DirectorySpec { file, tree, mode: false, mtime: false, rule })
    }

    /// Returns this format with another format of the files' roots.
    ///
    /// # Errors
    /// As [`DirectorySpec::new`].
    pub fn with_file(self, file: Spec) -> Result<Self, SpecError> {
        DirectorySpec { mode: self.mode, mtime: self.mtime, ..DirectorySpec::new(file)? }.checked()
    }

    /// Returns this format if its files' format allows the attributes.
    fn checked(self) -> Result<Self, SpecError> {
        if !self.has_proofs() && (self.mode || self.mtime) {
            let name = self.file.family().name;
            return Err(SpecError::new(format!(
                "directories of {name} have modes of their own, and no times: omit +mode and +mtime"
            )));
        }
        Ok(self)
    }

    /// Whether entries have proofs: in a tree over entries, and not in git's trees or Nix's archives.
    pub fn has_proofs(&self) -> bool {
        matches!(self.rule, Rule::Entries)
    }

    /// Whether the root is that of an [`Archive`](super::Archive), which has the content of all files: no roots of files make it.
    pub fn is_archive(&self) -> bool {
        matches!(self.rule, Rule::Archive)
    }

    /// Whether no root of this format covers the entry with this path: git has no tree of its own folder at the top, `.git`.
    pub fn leaves_out(&self, path: &[u8]) -> bool {
        matches!(self.rule, Rule::Folders(rule) if rule.leaves_out(path))
    }

    /// Whether `text` names a format of directories rather than of files.
    pub fn is_name(text: &str) -> bool {
        let word = text.split(['+', ':']).next().unwrap_or_default();
        word.eq_ignore_ascii_case(Self::NAME)
    }

    /// The format of the files' roots.
    pub fn file(&self) -> &Spec {
        &self.file
    }

    /// The format of the tree over entries: the leaf with index i is byte i of its input. With git's formats of files, that of a folder's
    /// tree, which is hashed as one leaf; with Nix's, that of the files.
    pub fn tree(&self) -> &Spec {
        &self.tree
    }

    /// The hash of both.
    pub fn hash(&self) -> Algorithm {
        self.tree.hash()
    }

    /// The names of the attributes that count, in their order.
    pub fn attributes(&self) -> impl Iterator<Item = &'static str> {
        [(self.mode, "mode"), (self.mtime, "mtime")].into_iter().filter_map(|(counts, name)| counts.then_some(name))
    }

    /// The leaf of an entry with these bytes.
    pub fn leaf(&self, entry: &[u8]) -> Digest {
        self.tree.leaf_digest(0, entry, Role::Root)
    }
}

impl fmt::Display for DirectorySpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(DirectorySpec::NAME)?;
        self.attributes().try_for_each(|name| write!(f, "+{name}"))?;
        write!(f, ":{}", self.file())
    }
}

impl FromStr for DirectorySpec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        let (head, file) = match text.split_once(':') {
            Some((head, file)) => (head, file.parse()?),
            None => (text, Spec::default()),
        };
        let refuse = || {
            let shown: String = head.chars().take(40).collect();
            SpecError::new(format!("'{shown}' names no format of directories: it is dir[+mode][+mtime][:FORMAT]"))
        };
        let mut spec = DirectorySpec::new(file)?;
        let mut parts = head.split('+');
        if !parts.next().is_some_and(|name| name.eq_ignore_ascii_case(Self::NAME)) {
            return Err(refuse());
        }
        for part in parts {
            match part {
                "mode" if !spec.mode && !spec.mtime => spec.mode = true,
                "mtime" if !spec.mtime => spec.mtime = true,
                _ => return Err(refuse()),
            }
        }
        spec.checked()
    }
}
