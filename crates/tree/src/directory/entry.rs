//! Entries of a directory, as the bytes that are hashed.

use super::DirectorySpec;
use crate::Root;
use alloc::string::ToString;
use alloc::vec::Vec;
use core::fmt;

/// An entry: something at a path below the directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// The entry's path below the directory: names of any bytes, with slashes between them.
    pub path: &'a [u8],
    /// The entry's type, with a file's root or a link's text.
    pub content: Content<'a>,
    /// The permission bits, of which 12 count; those of a link never do.
    pub mode: u32,
    /// The time of the last change, in seconds since 1970 and nanoseconds.
    pub modified: (i64, u32),
}

/// The type of an entry, with what its digest covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content<'a> {
    /// A regular file with this root.
    File(Root),
    /// A directory; its entries are entries of their own.
    Directory,
    /// A symbolic link with this text, which is not followed.
    Link(&'a [u8]),
}

impl Content<'_> {
    /// The byte that says so.
    fn letter(&self) -> u8 {
        match self {
            Content::File(_) => b'f',
            Content::Directory => b'd',
            Content::Link(_) => b'l',
        }
    }
}

/// Whether bytes are the path of an entry: names with single slashes between them, none of which is `.` or `..`.
pub(super) fn is_path(path: &[u8]) -> bool {
    let is_name = |name: &[u8]| !name.is_empty() && name != b"." && name != b".." && !name.contains(&0);
    path.split(|&byte| byte == b'/').all(is_name)
}

impl DirectorySpec {
    /// The bytes of an entry: what its leaf is the hash of.
    ///
    /// # Errors
    /// If the entry's path is not one, its file's root is in another format, or the format is git's or Nix's, whose roots are not made of such bytes.
    pub fn encode(&self, entry: &Entry<'_>) -> Result<Vec<u8>, EntryError> {
        if !is_path(entry.path) {
            return Err(EntryError::Path);
        }
        if !self.has_proofs() {
            return Err(EntryError::Folders);
        }
        let mut bytes = Vec::with_capacity(entry.path.len() + 128);
        bytes.push(entry.content.letter());
        put(&mut bytes, entry.path);
        match &entry.content {
            Content::File(root) if root.spec() == self.file() => {
                bytes.extend(root.len().to_le_bytes());
                put(&mut bytes, root.spec().to_string().as_bytes());
                put(&mut bytes, root.digest().as_bytes());
            }
            Content::File(_) => return Err(EntryError::Format),
            Content::Directory => {}
            Content::Link(text) => put(&mut bytes, text),
        }
        if self.mode {
            let mode = if matches!(entry.content, Content::Link(_)) { 0 } else { entry.mode & 0o7777 };
            bytes.extend(mode.to_le_bytes());
        }
        if self.mtime {
            bytes.extend(entry.modified.0.to_le_bytes());
            bytes.extend(entry.modified.1.to_le_bytes());
        }
        Ok(bytes)
    }
}

/// Appends a part of variable length, and its length before it.
fn put(bytes: &mut Vec<u8>, part: &[u8]) {
    bytes.extend((part.len() as u64).to_le_bytes());
    bytes.extend(part);
}

impl<'a> Entry<'a> {
    /// The entry that these bytes are, all of them.
    ///
    /// # Errors
    /// If they are none of this format.
    pub fn parse(spec: &DirectorySpec, bytes: &'a [u8]) -> Result<Entry<'a>, EntryError> {
        let mut rest = Rest(bytes);
        let letter = rest.take(1)?[0];
        let path = rest.part()?;
        let content = match letter {
            b'f' => {
                let len = rest.number()?;
                if rest.part()? != spec.file().to_string().as_bytes() {
                    return Err(EntryError::Format);
                }
                let digest = rest.part()?;
                if digest.len() != spec.file().hash().size() {
                    return Err(EntryError::Malformed);
                }
                Content::File(spec.file().root_with_digest(crate::Digest::new(digest), len))
            }
            b'd' => Content::Directory,
            b'l' => Content::Link(rest.part()?),
            _ => return Err(EntryError::Malformed),
        };
        let four = |bytes: &[u8]| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        let mode = if spec.mode { four(rest.take(4)?) } else { 0 };
        let modified = if spec.mtime { (rest.number()? as i64, four(rest.take(4)?)) } else { (0, 0) };
        let entry = Entry { path, content, mode, modified };
        // One entry has one form.
        match spec.encode(&entry)? == bytes {
            true => Ok(entry),
            false => Err(EntryError::Malformed),
        }
    }
}

/// Bytes that are read from the front.
struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    fn take(&mut self, len: usize) -> Result<&'a [u8], EntryError> {
        let (taken, rest) = self.0.split_at_checked(len).ok_or(EntryError::Malformed)?;
        self.0 = rest;
        Ok(taken)
    }

    fn number(&mut self) -> Result<u64, EntryError> {
        Ok(u64::from_le_bytes(self.take(8)?.try_into().expect("eight bytes")))
    }

    fn part(&mut self) -> Result<&'a [u8], EntryError> {
        let len = usize::try_from(self.number()?).map_err(|_| EntryError::Malformed)?;
        self.take(len)
    }
}

/// The reason why an entry of a directory is not valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryError {
    /// The entry's path is empty, absolute, or has an empty name, `.`, `..` or a zero byte.
    Path,
    /// The entry's path does not sort after that of the entry before it.
    Order,
    /// The root of the entry's file is in another format.
    Format,
    /// The bytes are not a framed entry.
    Malformed,
    /// The directory of the entry is not an entry before it.
    Above,
    /// The entry is a repository below the directory, of which git has no tree.
    Repository,
    /// The format has trees of folders or an archive, which have no framed entries.
    Folders,
    /// The format is an archive, which has the content of all files.
    Archive,
}

impl fmt::Display for EntryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            EntryError::Path => "not a path below a directory: expected names with single slashes between them",
            EntryError::Order => "its path does not follow that of the entry before it",
            EntryError::Format => "the file's root is in another format than the directory's name says",
            EntryError::Malformed => "these bytes are not an entry of a directory in this format",
            EntryError::Above => "its directory is not an entry before it",
            EntryError::Repository => {
                "a repository of its own, of which git records a commit and no content: remove its .git, or use dir:swhid"
            }
            EntryError::Folders => "trees of git and archives of Nix have no proofs of entries: choose another format, as in -f dir:sha256",
            EntryError::Archive => {
                "a Nix archive has the content of all files, of which a catalogue has only roots: give the directory itself, not its catalogue"
            }
        })
    }
}

impl core::error::Error for EntryError {}
