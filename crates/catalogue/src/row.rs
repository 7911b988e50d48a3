//! Rows of a catalogue, which are checked before they are believed.

use mksum::{Digest, Root, Spec};
use mksum_io::{EntryKind, Facts};

/// An entry as the catalogue has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The bytes of its path below the directory, with slashes between names.
    pub path: Vec<u8>,
    /// The entry's metadata when it was read.
    pub facts: Facts,
    /// The number of its roots: one a format of the catalogue, if all were computed.
    pub roots: u64,
    /// Whether a repair of it was begun and not finished: it may have any time then, and any bytes.
    pub repair: bool,
}

/// A root in a catalogue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// The root, with its format.
    pub root: Root,
    /// The time at which the content was last found to have it, in seconds since 1970; 0 if it was imported, and never verified.
    pub verified: i64,
    /// The command that found so.
    pub by: String,
    /// The name of the file's outboard in this format, if there is one.
    pub outboard: Option<String>,
    /// The bytes from the beginning that the present round of verification has found intact.
    pub progress: u64,
}

impl Row {
    /// Whether an entry has the size, time of change and inode of the row, so that it counts as unchanged.
    ///
    /// Where the system has no inodes, size and time decide.
    pub fn is_of(&self, facts: &Facts) -> bool {
        let (own, other) = (&self.facts, facts);
        let same_inode = own.inode == other.inode || own.inode == 0 || other.inode == 0;
        let same_time = self.repair || time(own.modified) == time(other.modified);
        let same = own.kind == other.kind && same_time && same_inode;
        // A directory's time changes with the names in it, which have rows of their own.
        if own.kind == EntryKind::Directory { other.kind == own.kind } else { same && own.size == other.size }
    }
}

/// A time in nanoseconds since 1970: the nearest that a row can hold.
pub(crate) fn time((seconds, nanoseconds): (i64, u32)) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(nanoseconds.into())
}

/// The letter of a kind of entry.
pub(crate) fn letter(kind: EntryKind) -> &'static str {
    match kind {
        EntryKind::File => "f",
        EntryKind::Directory => "d",
        EntryKind::Link => "l",
        EntryKind::Special => "s",
    }
}

/// The columns of a row, as they were read.
pub(crate) struct Columns {
    pub path: Vec<u8>,
    pub kind: String,
    pub size: i64,
    pub modified: i64,
    pub inode: i64,
    pub device: i64,
    pub mode: i64,
    pub roots: i64,
    pub repair: i64,
}

impl Columns {
    /// The row; why it is none.
    pub fn row(self) -> Result<Row, (Vec<u8>, String)> {
        let Columns { path, kind, size, modified, inode, device, mode, roots, repair } = self;
        let kind = match &*kind {
            "f" => EntryKind::File,
            "d" => EntryKind::Directory,
            "l" => EntryKind::Link,
            _ => return Err((path, format!("'{kind}' is not a type of entries: expected f, d or l"))),
        };
        if !is_path(&path) {
            return Err((path, "not a path below a directory".into()));
        }
        let (Ok(size), Ok(roots)) = (u64::try_from(size), u64::try_from(roots)) else {
            return Err((path, "a size or a number is below zero".into()));
        };
        let modified = (modified.div_euclid(1_000_000_000), modified.rem_euclid(1_000_000_000) as u32);
        let (inode, device, mode) = (inode as u64, device as u64, mode as u32);
        Ok(Row { path, facts: Facts { kind, size, modified, inode, device, mode }, roots, repair: repair != 0 })
    }
}

/// Whether bytes are the path of an entry: one that leads out of the directory could have any file read or written.
pub(crate) fn is_path(path: &[u8]) -> bool {
    let is_name = |name: &[u8]| {
        let plain = !name.is_empty() && name != b"." && name != b".." && !name.contains(&0);
        plain && !(cfg!(windows) && name.iter().any(|byte| b"\\:".contains(byte)))
    };
    path.split(|&byte| byte == b'/').all(is_name)
}

/// A root with these columns; why there is none.
pub(crate) fn root(spec: &Spec, len: u64, digest: &[u8]) -> Result<Root, String> {
    let expected = spec.hash().size();
    match digest.len() == expected {
        true => Ok(spec.root_with_digest(Digest::new(digest), len)),
        false => Err(format!("its root in {spec} has {} bytes: expected {expected}", digest.len())),
    }
}

/// Whether a name is one of an outboard that this crate writes.
pub(crate) fn is_outboard(name: &str) -> bool {
    let digits = name.strip_suffix(".mkt").unwrap_or_default();
    !digits.is_empty() && digits.len() <= 256 && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_do_not_lead_out_of_the_directory() {
        for path in [&b""[..], b"/", b"/a", b"a/", b"a//b", b"..", b"a/../b", b".", b"a\0"] {
            assert!(!is_path(path), "{}", path.escape_ascii());
        }
        assert!(is_path(b"a/b..c/...") && is_path(b"\xff"));
        assert!(is_outboard("0af.mkt") && !is_outboard("../0.mkt") && !is_outboard(".mkt"));
    }
}
