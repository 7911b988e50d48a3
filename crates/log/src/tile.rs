//! Names of a log's files, and bundles of entries (C2SP tlog-tiles).

use crate::error::Error;
use crate::longest::LONGEST_ENTRY;
use std::fmt::Write;

/// The hashes in a full tile, and the entries in a full bundle.
pub(crate) const WIDTH: u64 = 256;
/// The levels of a tile's tree.
pub(crate) const HEIGHT: u32 = 8;
/// The size of a hash, in bytes.
pub(crate) const HASH: usize = 32;
/// The longest tile of hashes, in bytes.
pub(crate) const LONGEST_TILE: usize = WIDTH as usize * HASH;
/// The longest bundle, in bytes.
pub(crate) const LONGEST_BUNDLE: usize = WIDTH as usize * (LONGEST_ENTRY + 2);
/// The file with the newest checkpoint.
pub(crate) const CHECKPOINT: &str = "checkpoint";

/// A file of a log: a tile of hashes, or a bundle of entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Tile {
    /// The level of the tile; `None` for a bundle of entries.
    pub level: Option<u32>,
    /// The place on its level, from 0.
    pub index: u64,
    /// The hashes or entries in it: 1 to 256.
    pub width: u64,
}

impl Tile {
    /// The tile or bundle number `index` of its level, in a tree of `size` entries; `None` if it is empty.
    pub fn of(level: Option<u32>, index: u64, size: u64) -> Option<Tile> {
        let count = size.checked_shr(HEIGHT * level.unwrap_or(0)).unwrap_or(0);
        let width = count.checked_sub(index.checked_mul(WIDTH)?)?.min(WIDTH);
        (width > 0).then_some(Tile { level, index, width })
    }

    /// Whether it can grow.
    pub fn is_partial(self) -> bool {
        self.width < WIDTH
    }

    /// The full tile at its place.
    pub fn full(self) -> Tile {
        Tile { width: WIDTH, ..self }
    }

    /// The name without the width.
    fn full_name(self) -> String {
        let mut name = match self.level {
            Some(level) => format!("tile/{level}"),
            None => "tile/entries".into(),
        };
        let mut groups = vec![self.index % 1000];
        let mut rest = self.index / 1000;
        while rest > 0 {
            groups.push(rest % 1000);
            rest /= 1000;
        }
        for (place, group) in groups.iter().enumerate().rev() {
            let prefix = if place > 0 { "x" } else { "" };
            write!(name, "/{prefix}{group:03}").expect("memory does not fail");
        }
        name
    }

    /// The name within the log: `tile/1/x001/x234/067.p/8`.
    pub fn name(self) -> String {
        match self.is_partial() {
            true => format!("{}/{}", self.partial_folder(), self.width),
            false => self.full_name(),
        }
    }

    /// The folder of the partial tiles at its place.
    pub fn partial_folder(self) -> String {
        format!("{}.p", self.full_name())
    }

    /// The longest that its file may be, in bytes.
    pub fn longest(self) -> usize {
        match self.level {
            Some(_) => LONGEST_TILE,
            None => LONGEST_BUNDLE,
        }
    }
}

/// Appends an entry to the bytes of a bundle. The caller checked the length.
pub(crate) fn push_entry(bundle: &mut Vec<u8>, entry: &[u8]) {
    let len = u16::try_from(entry.len()).expect("the caller checks the length of entries");
    bundle.extend(len.to_be_bytes());
    bundle.extend(entry);
}

/// The first `width` entries of a bundle, which has `held` of them.
pub(crate) fn entries(name: &str, bundle: &[u8], width: u64, held: u64) -> Result<Vec<Vec<u8>>, Error> {
    let damaged = |at: usize, why: String| Error::Damaged { name: name.into(), why: format!("byte {at}: {why}") };
    let (mut left, mut entries) = (bundle, Vec::new());
    while let Some((len, rest)) = left.split_first_chunk::<2>() {
        let len = usize::from(u16::from_be_bytes(*len));
        let at = bundle.len() - left.len();
        if rest.len() < len {
            return Err(damaged(at, format!("an entry of {len} bytes begins here, and {} bytes follow", rest.len())));
        }
        entries.push(rest[..len].to_vec());
        left = &rest[len..];
        if entries.len() as u64 > held {
            return Err(damaged(at, format!("the bundle has more than {held} entries")));
        }
    }
    if !left.is_empty() {
        return Err(damaged(bundle.len() - 1, "one byte is left: expected a length of two bytes".into()));
    }
    if entries.len() as u64 != held {
        return Err(damaged(bundle.len(), format!("the bundle has {} entries: expected {held}", entries.len())));
    }
    entries.truncate(width as usize);
    Ok(entries)
}
