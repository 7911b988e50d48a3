//! The files of a torrent or manifest in XML, and the sums of their pieces.

use crate::expected::Expected;
use crate::url::Url;
use mksum::outboard::{KeptLayout, keep_from};
use mksum::{Digest, Error, Role, Root, Spec, Subtree, Subtrees};
use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};

/// The longest torrent or manifest that is read, in bytes.
pub const LONGEST: u64 = 64 << 20;

/// The files of a torrent, metalink or ASC MHL manifest.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Manifest {
    /// Whether it is a torrent.
    pub is_torrent: bool,
    /// Whether it is an ASC MHL manifest, whose paths begin above the folder `ascmhl` in which it is kept.
    pub is_mhl: bool,
    /// The files.
    pub files: Vec<PiecedFile>,
    /// The pieces of a v1 torrent that span files.
    pub joint: Option<Joint>,
    /// The folders on web servers that have all files.
    pub mirrors: Vec<Url>,
    /// The entries that are not read, and why.
    pub refused: Vec<(PathBuf, String)>,
    /// The info-hashes of a torrent, in hex: v1's (SHA-1) and v2's (SHA-256).
    pub info_hashes: Vec<String>,
}

/// A file of a torrent or metalink.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PiecedFile {
    /// The file's path below the folder, without `..`.
    pub path: PathBuf,
    /// The file's length in bytes, if it is known.
    pub len: Option<u64>,
    /// The sum of the whole file, if it has one.
    pub sum: Option<(Spec, Expected)>,
    /// The sums of its pieces, if it has them: of one of several pieces, whose length is known.
    pub pieces: Option<Pieces>,
    /// The places of this file on web servers.
    pub mirrors: Vec<Url>,
}

/// The sums of the pieces of a file.
#[derive(Clone, Debug)]
pub struct Pieces {
    /// The tree whose subtrees or leaves they are.
    spec: Spec,
    /// The length of the file, and of a piece.
    len: u64,
    piece: u64,
    /// A digest for each piece.
    digests: Vec<u8>,
}

/// The pieces of the concatenation of several files (BEP 3, "pieces").
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Joint {
    /// The sums of the pieces.
    pub pieces: Pieces,
    /// What is concatenated: the index of a file, or `None` for padding of zeros (BEP 47), with its length in bytes.
    pub parts: Vec<(Option<usize>, u64)>,
}

impl Pieces {
    /// The sums of pieces of `piece` bytes each of a file of `len` bytes.
    ///
    /// # Errors
    /// If there are not as many as the file has pieces: as words.
    pub fn new(spec: Spec, (len, piece): (u64, u64), digests: Vec<u8>) -> Result<Pieces, String> {
        let (count, size) = (len.div_ceil(piece), spec.hash().size());
        match u64::try_from(digests.len()).ok() == count.checked_mul(size as u64) {
            true => Ok(Pieces { spec, len, piece, digests }),
            false => Err(format!(
                "expected the sums of {count} pieces, which are {size} bytes each, but found {} bytes",
                digests.len()
            )),
        }
    }

    /// The tree that they belong to.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// The length of a piece, in bytes.
    pub fn piece(&self) -> u64 {
        self.piece
    }

    /// The number of bytes that they are the sums of.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> u64 {
        self.len
    }

    /// The sum of a piece, by its index from 0.
    pub fn get(&self, index: u64) -> Option<Digest> {
        let size = self.spec.hash().size();
        let from = usize::try_from(index).ok()?.checked_mul(size)?;
        self.digests.get(from..from + size).map(Digest::new)
    }

    /// Returns an outboard of these digests: its root follows from them.
    ///
    /// # Errors
    /// If the format has no root for this length.
    pub fn outboard(&self) -> Result<Vec<u8>, Error> {
        keep_from(&self.spec, self.piece, self.len, self)
    }

    /// Returns the root that they make.
    ///
    /// # Errors
    /// If the format has no root for this length.
    pub fn root(&self) -> Result<Root, Error> {
        self.spec.root_from(self, self.len)
    }

    /// The level of the nodes that are pieces.
    fn level(&self) -> u32 {
        (self.piece / self.spec.leaf()).max(1).ilog2()
    }
}

impl Subtrees for Pieces {
    fn digest(&self, _: &Spec, node: Subtree, _: Role) -> Result<Option<Digest>, Error> {
        match node.level.cmp(&self.level()) {
            std::cmp::Ordering::Greater => Ok(None),
            std::cmp::Ordering::Equal => self.get(node.start / self.piece).ok_or(Error::Missing(node)).map(Some),
            std::cmp::Ordering::Less => Err(Error::Missing(node)),
        }
    }
}

impl Manifest {
    /// Whether the first bytes of a file are those of a torrent, or of a manifest in XML: no line of a sum file begins so. 64 bytes are enough.
    pub fn is_begun(bytes: &[u8]) -> bool {
        if let Some(rest) = bytes.strip_prefix(b"d") {
            let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            return (1..=4).contains(&digits) && rest.get(digits) == Some(&b':');
        }
        let text = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes).trim_ascii_start();
        ["<?xml", "<metalink", "<hashlist", "<!--"].iter().any(|begin| text.starts_with(begin.as_bytes()))
    }

    /// Refuses files with the path of another one.
    pub(super) fn refuse_twins(mut self) -> Result<Manifest, String> {
        let mut seen = HashSet::new();
        match self.files.iter().find(|file| !seen.insert(&*file.path)) {
            Some(twin) => Err(format!("two files have the path {}", twin.path.display())),
            None => {
                self.files.shrink_to_fit();
                Ok(self)
            }
        }
    }
}

/// Whether a name can be that of a file in a torrent: in UTF-8, and not a path.
pub fn is_name(name: &str) -> bool {
    push(&mut PathBuf::new(), name.as_bytes()).is_ok()
}

/// Appends a part of a path below the folder.
///
/// # Errors
/// If it is not the name of a file or folder: as words.
pub(super) fn push(path: &mut PathBuf, part: &[u8]) -> Result<(), String> {
    let shown = || crate::name::printable(&String::from_utf8_lossy(part));
    let text = str::from_utf8(part).map_err(|_| format!("the name '{}' is not UTF-8", shown()))?;
    let mut components = Path::new(text).components();
    let is_one =
        matches!(components.next(), Some(Component::Normal(name)) if name == text) && components.next().is_none();
    match is_one && !text.contains(['\0', '/', '\\']) {
        true => {
            path.push(text);
            Ok(())
        }
        false => Err(format!("'{}' is not the name of a file: it would lead out of the folder", shown())),
    }
}

/// The web address that a text is, if it is one: no other place is taken from a file that others wrote.
pub(super) fn web(text: &str) -> Option<Url> {
    let is_web = ["http://", "https://"].iter().any(|scheme| text.starts_with(scheme));
    Url::parse(text).filter(|_| is_web && !text.chars().any(|letter| letter.is_control() || letter == ' '))
}

/// The tree whose leaves are pieces of `piece` bytes: a flat list of their sums.
///
/// # Errors
/// If the hash or the length is not possible: as words.
pub fn flat(hash: &str, piece: u64) -> Result<Spec, String> {
    format!("s3:{hash}:{piece}").parse().map_err(|error| format!("pieces of {hash}: {error}"))
}

/// Whether pieces of this length are subtrees of a tree.
pub(super) fn is_unit(spec: &Spec, piece: u64) -> bool {
    KeptLayout::new(spec.shape(), piece, piece).is_some()
}
