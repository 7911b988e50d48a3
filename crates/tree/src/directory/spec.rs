//! The format of a directory's root by name: `dir[+mode][+mtime][:FORMAT]`.

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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectorySpec {
    file: Spec,
    tree: Spec,
    /// Whether the permission bits count.
    pub(super) mode: bool,
    /// Whether the times of the last change count.
    pub(super) mtime: bool,
}

impl DirectorySpec {
    /// The word that begins the name of each such format.
    pub const NAME: &'static str = "dir";

    /// The format without attributes, of directories whose files have roots in the format `file`.
    ///
    /// # Errors
    /// If no tree of RFC 6962 has the hash of that format.
    pub fn new(file: Spec) -> Result<Self, SpecError> {
        let rfc6962 = Family::named("rfc6962").expect("a row of the table");
        let tree = Spec::new(rfc6962).with_hash(file.hash())?.with_leaf(1)?;
        Ok(DirectorySpec { file, tree, mode: false, mtime: false })
    }

    /// Returns this format with another format of the files' roots.
    ///
    /// # Errors
    /// As [`DirectorySpec::new`].
    pub fn with_file(self, file: Spec) -> Result<Self, SpecError> {
        Ok(DirectorySpec { mode: self.mode, mtime: self.mtime, ..DirectorySpec::new(file)? })
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

    /// The format of the tree over entries: the leaf with index i is byte i of its input.
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
        Ok(spec)
    }
}
