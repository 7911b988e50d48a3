//! The Nix archive of a directory (`spec/nar.md`).

use super::EntryError;
use super::entry::is_path;
use crate::archive::{MAGIC, after_content, is_executable, put, put_file};
use alloc::vec;
use alloc::vec::Vec;

/// An entry of a directory in its archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Member<'a> {
    /// A file: its length in bytes, and its permission bits.
    File {
        /// The length of the content, in bytes.
        len: u64,
        /// The permission bits, of which the owner's to execute counts.
        mode: u32,
    },
    /// A directory; its entries are members of their own.
    Directory,
    /// A symbolic link with this text, which is not followed.
    Link(&'a [u8]),
}

/// The Nix archive of a directory, whose members are added in the order of [`Archive::order`]: all of its bytes but the content of files.
///
/// ```
/// use mksum::directory::{Archive, Member};
///
/// let (mut archive, mut bytes) = Archive::begin();
/// bytes.extend(archive.push(b"a", Member::File { len: 5, mode: 0o644 })?);
/// bytes.extend(b"hello");
/// bytes.extend(archive.end());
/// assert_eq!(bytes.len() % 8, 0);
/// # Ok::<(), mksum::directory::EntryError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Archive {
    /// The paths of the open folders, the innermost last.
    open: Vec<Vec<u8>>,
    /// The last member's path.
    last: Vec<u8>,
    /// The length of the last member, if it is a file: its end is written before the next.
    content: Option<u64>,
}

impl Archive {
    /// An archive without members, and its first bytes.
    pub fn begin() -> (Archive, Vec<u8>) {
        let mut out = Vec::new();
        put(&mut out, &[MAGIC, b"(", b"type", b"directory"]);
        (Archive { open: vec![], last: Vec::new(), content: None }, out)
    }

    /// The names in a path: the paths of members are ordered by these, as sequences.
    pub fn order(path: &[u8]) -> impl Iterator<Item = &[u8]> + Clone {
        path.split(|&byte| byte == b'/')
    }

    /// Adds a member. Returns the bytes up to it, or up to the content of a file, which follows.
    ///
    /// # Errors
    /// If its path is not one, does not follow that of the last member, or its directory is no member.
    pub fn push(&mut self, path: &[u8], member: Member<'_>) -> Result<Vec<u8>, EntryError> {
        if !is_path(path) {
            return Err(EntryError::Path);
        }
        if !self.last.is_empty() && Archive::order(&self.last).ge(Archive::order(path)) {
            return Err(EntryError::Order);
        }
        let (above, name) = match path.iter().rposition(|&byte| byte == b'/') {
            None => (&[][..], path),
            Some(slash) => (&path[..slash], &path[slash + 1..]),
        };
        let kept = match self.open.iter().rposition(|open| open == above) {
            None if above.is_empty() => 0,
            last => last.ok_or(EntryError::Above)? + 1,
        };
        let mut out = Vec::new();
        self.end_content(&mut out);
        self.open.drain(kept..).for_each(|_| put(&mut out, &[b")", b")"]));
        put(&mut out, &[b"entry", b"(", b"name", name, b"node"]);
        match member {
            Member::File { len, mode } => {
                put_file(&mut out, is_executable(mode), len);
                self.content = Some(len);
            }
            Member::Directory => {
                put(&mut out, &[b"(", b"type", b"directory"]);
                self.open.push(path.to_vec());
            }
            Member::Link(text) => put(&mut out, &[b"(", b"type", b"symlink", b"target", text, b")", b")"]),
        }
        self.last.clear();
        self.last.extend_from_slice(path);
        Ok(out)
    }

    /// Ends the last member, if it is a file.
    fn end_content(&mut self, out: &mut Vec<u8>) {
        if let Some(len) = self.content.take() {
            out.extend(after_content(len));
            put(out, &[b")"]);
        }
    }

    /// The last bytes.
    pub fn end(mut self) -> Vec<u8> {
        let mut out = Vec::new();
        self.end_content(&mut out);
        self.open.iter().for_each(|_| put(&mut out, &[b")", b")"]));
        put(&mut out, &[b")"]);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Spec;
    use alloc::string::ToString;

    #[test]
    fn members_come_in_the_order_of_their_names_and_below_a_folder() {
        let (mut archive, mut bytes) = Archive::begin();
        bytes.extend(archive.push(b"a", Member::Directory).unwrap());
        bytes.extend(archive.push(b"a/b", Member::Link(b"c")).unwrap());
        // A slash is below every other byte of a name.
        bytes.extend(archive.push(b"a-", Member::File { len: 1, mode: 0 }).unwrap());
        bytes.extend(b"x");
        assert_eq!(archive.push(b"a/c", Member::Directory), Err(EntryError::Order));
        assert_eq!(archive.push(b"b/c", Member::Directory), Err(EntryError::Above));
        assert_eq!(archive.push(b"../c", Member::Directory), Err(EntryError::Path));
        bytes.extend(archive.end());
        // `nix-hash --type sha256 DIR`, with nix 2.8.0.
        assert_eq!(
            "sha256".parse::<Spec>().unwrap().root(&bytes).unwrap().to_string(),
            "33f2b0f6f53f44b9d5038e288201d493318f02bff34acb951381619a71ed3526"
        );
    }
}
