//! Hashes of a log's tree (RFC 6962, 2.1), by mksum's engine: an entry is a leaf, so "bytes" of the engine count entries here.

use crate::error::Error;
use crate::tile::{HASH, HEIGHT, Tile, WIDTH};
use mksum::proof::{Cut, ProofError};
use mksum::{Digest, Digests, Plan, Role, Spec, Subtree, Subtrees};
use std::fmt;
use std::sync::LazyLock;

/// The tree of RFC 6962 over leaves of "one byte": one entry each.
pub(crate) static TREE: LazyLock<Spec> = LazyLock::new(|| "rfc6962:sha256:1".parse().expect("a format of the table"));
static SHA256: LazyLock<Spec> = LazyLock::new(|| "sha256".parse().expect("a format of the table"));

/// No threads: a proof reads a few tiles.
pub(crate) const ONE_PIECE: Plan = Plan { threads: 1, piece: u64::MAX, group: 1 };

/// The SHA-256 of some bytes.
pub(crate) fn sha256(bytes: &[u8]) -> [u8; HASH] {
    array(SHA256.root_digest(bytes).expect("every length has a sum"))
}

/// The hash of an entry as a leaf (RFC 6962, 2.1).
pub fn entry_hash(entry: &[u8]) -> [u8; 32] {
    array(leaf(entry))
}

/// The same as a digest of the engine.
pub(crate) fn leaf(entry: &[u8]) -> Digest {
    TREE.leaf_digest(0, entry, Role::Inner)
}

/// The bytes of a SHA-256.
pub(crate) fn array(digest: Digest) -> [u8; HASH] {
    digest.as_bytes().try_into().expect("32 bytes of SHA-256")
}

/// The root of a tree whose nodes a source has.
pub(crate) fn root(source: &dyn Subtrees, size: u64) -> Result<[u8; HASH], Error> {
    TREE.root_from(source, size).map(|root| array(root.digest())).map_err(from_join)
}

/// The error behind a failed join.
pub(crate) fn from_join(error: mksum::Error) -> Error {
    match error {
        mksum::Error::Source(error) => match error.downcast::<Error>() {
            Ok(error) => *error,
            Err(error) => Error::Invalid(error.to_string()),
        },
        error => Error::Invalid(error.to_string()),
    }
}

/// Verifies that a leaf is at `index` in the tree with a root (RFC 9162, 2.1.3.2).
pub(crate) fn verify_inclusion(
    leaf: [u8; HASH],
    index: u64,
    proof: &[[u8; HASH]],
    size: u64,
    root: [u8; HASH],
) -> Result<(), Error> {
    let wrong = |error: ProofError| match error {
        ProofError::Count { expected, found } => Error::Invalid(match expected {
            Some(expected) => format!("the proof has {found} hashes: expected {expected}"),
            None => format!("the proof has {found} hashes: more are expected"),
        }),
        ProofError::Range { .. } => Error::Invalid(format!("the tree of {size} entries has no entry {index}")),
        error => Error::Invalid(error.to_string()),
    };
    let end = index.checked_add(1).ok_or_else(|| Error::Invalid(format!("there is no entry {index}")))?;
    let cut = Cut::range(&TREE, TREE.shape().root(size), index..end).map_err(wrong)?;
    let found = TREE.verify_range(&One(index, Digest::new(&leaf)), &digests(proof), cut).map_err(wrong)?;
    match found.digest().as_bytes() == root {
        true => Ok(()),
        false => Err(Error::Invalid(format!(
            "the proof does not lead from this entry at index {index} to the root of the checkpoint: it is another entry, or \
             another tree"
        ))),
    }
}

/// Verifies that the tree of `new_size` entries begins with that of `old_size` (RFC 9162, 2.1.4.2).
pub(crate) fn verify_consistency(
    (old_size, old_root): (u64, [u8; HASH]),
    proof: &[[u8; HASH]],
    (new_size, new_root): (u64, [u8; HASH]),
) -> Result<(), Error> {
    let wrong = |error: ProofError| match error {
        ProofError::Count { .. } => {
            Error::Invalid(format!("the proof has {} hashes: another number is expected", proof.len()))
        }
        ProofError::Consistency { .. } => {
            Error::Invalid(format!("a tree of {new_size} entries does not extend one of {old_size}"))
        }
        error => Error::Invalid(error.to_string()),
    };
    let contradiction =
        || Error::Invalid(format!("the tree of {new_size} entries does not extend this tree of {old_size}"));
    if old_size == 0 || old_size == new_size {
        // Every tree extends that of no entries, and itself alone of its size.
        let is_empty_root = old_size > 0 || root(&Vec::new(), 0)? == old_root;
        return match proof.is_empty() && is_empty_root && (old_size == 0 || old_root == new_root) {
            true => Ok(()),
            false => Err(contradiction()),
        };
    }
    let cut = Cut::consistency(&TREE, TREE.shape().root(old_size), new_size).map_err(wrong)?;
    let (old, new) =
        TREE.verify_consistency(&Vec::new(), &digests(proof), cut, Digest::new(&old_root)).map_err(wrong)?;
    match old.digest().as_bytes() == old_root && new.digest().as_bytes() == new_root {
        true => Ok(()),
        false => Err(contradiction()),
    }
}

pub(crate) fn digests(hashes: &[[u8; HASH]]) -> Digests {
    Digests::from_bytes(HASH, hashes.concat())
}

pub(crate) fn hashes(digests: &Digests) -> Vec<[u8; HASH]> {
    digests.iter().map(array).collect()
}

/// The one leaf that a verifier has, also where it is the whole tree.
struct One(u64, Digest);

impl Subtrees for One {
    fn digest(&self, _: &Spec, node: Subtree, _: Role) -> Result<Option<Digest>, mksum::Error> {
        Ok((node.level == 0 && node.start == self.0).then_some(self.1))
    }
}

/// A part of a tile that was completed, or is the last of its level.
pub(crate) trait Tiles {
    /// Receives a tile with the bytes of its hashes.
    fn tile(&mut self, tile: Tile, hashes: &[u8]) -> Result<(), Error>;
}

/// The right edge of a growing tree: for each level of tiles the hashes of the last, partial one.
#[derive(Clone)]
pub(crate) struct Edge {
    size: u64,
    /// Fewer than 256 hashes each; the level of tiles is the place.
    levels: Vec<Digests>,
}

impl fmt::Debug for Edge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Edge({} entries)", self.size)
    }
}

impl Edge {
    /// The edge of a tree without entries.
    pub fn new() -> Edge {
        Edge { size: 0, levels: Vec::new() }
    }

    /// The edge of a tree of `size` entries, whose partial tiles `read` has: the bytes of their hashes.
    pub fn read(size: u64, mut read: impl FnMut(Tile) -> Result<Vec<u8>, Error>) -> Result<Edge, Error> {
        let mut levels = Vec::new();
        for level in 0..=7 {
            let count = size >> (HEIGHT * level);
            if count == 0 {
                break;
            }
            levels.push(Digests::from_bytes(
                HASH,
                match Tile::of(Some(level), count / WIDTH, size) {
                    None => Vec::new(),
                    Some(tile) => {
                        let bytes = read(tile)?;
                        let expected = tile.width as usize * HASH;
                        if bytes.len() != expected {
                            let why = format!("the tile has {} bytes: expected {expected}", bytes.len());
                            return Err(Error::Damaged { name: tile.name(), why });
                        }
                        bytes
                    }
                },
            ));
        }
        Ok(Edge { size, levels })
    }

    /// The number of entries.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Appends hashes of entries, one after another, at most as many as the last tile has room for, and hands on the tiles that they
    /// complete.
    pub fn push(&mut self, leaves: &[u8], tiles: &mut dyn Tiles) -> Result<(), Error> {
        let count = (leaves.len() / HASH) as u64;
        assert!(count <= WIDTH - self.size % WIDTH, "the room in the last tile");
        let last = (self.size + count).wrapping_sub(1);
        let mut hashes = Digests::from_bytes(HASH, leaves.into());
        for level in 0.. {
            if level == self.levels.len() {
                self.levels.push(Digests::new(HASH));
            }
            self.levels[level].extend(hashes.iter());
            if (self.levels[level].len() as u64) < WIDTH {
                break;
            }
            let full = std::mem::replace(&mut self.levels[level], Digests::new(HASH));
            let index = last >> (HEIGHT * (level as u32 + 1));
            tiles.tile(Tile { level: Some(level as u32), index, width: WIDTH }, full.as_bytes())?;
            hashes = tile_root(full);
        }
        self.size += count;
        Ok(())
    }

    /// Hands on the last tile of each level that is partial and has other hashes than in the tree of `since` entries.
    pub fn partial(&self, since: u64, tiles: &mut dyn Tiles) -> Result<(), Error> {
        for (level, hashes) in self.levels.iter().enumerate() {
            let count = |size: u64| size >> (HEIGHT * level as u32);
            if !hashes.is_empty() && count(since) != count(self.size) {
                let tile =
                    Tile { level: Some(level as u32), index: count(self.size) / WIDTH, width: hashes.len() as u64 };
                tiles.tile(tile, hashes.as_bytes())?;
            }
        }
        Ok(())
    }

    /// The root of the tree.
    pub fn root(&self) -> [u8; HASH] {
        root(self, self.size).expect("the edge has all hashes of perfect subtrees")
    }
}

/// The one hash over a full tile.
fn tile_root(mut level: Digests) -> Digests {
    let mut above = Digests::new(HASH);
    while level.len() > 1 {
        above.clear();
        TREE.parent_digests(level.as_bytes(), &mut above);
        std::mem::swap(&mut level, &mut above);
    }
    level
}

/// The place of a node among the tiles: its tile's level, its number on that level; `None` if it is within tiles, or not perfect.
pub(crate) fn place(node: Subtree) -> Option<(u32, u64)> {
    let is_perfect = node.level < 64 && node.len == 1 << node.level;
    (is_perfect && node.level.is_multiple_of(HEIGHT)).then(|| (node.level / HEIGHT, node.start >> node.level))
}

impl Subtrees for Edge {
    fn digest(&self, _: &Spec, node: Subtree, _: Role) -> Result<Option<Digest>, mksum::Error> {
        let Some((level, number)) = place(node) else { return Ok(None) };
        let Some(hashes) = self.levels.get(level as usize) else { return Ok(None) };
        let first = (self.size >> (HEIGHT * level)) / WIDTH * WIDTH;
        Ok(number.checked_sub(first).and_then(|at| hashes.get(at as usize)))
    }
}
