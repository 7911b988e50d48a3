//! Reading a log as everyone can: its checkpoint, and what follows from its tiles. All of it is verified against the checkpoint's root.

use crate::checkpoint::Checkpoint;
use crate::error::Error;
use crate::leaves::leaves;
use crate::note::{LONGEST_NOTE, Note};
use crate::policy::Policy;
use crate::proof::{ConsistencyProof, Proof};
use crate::side_by_side::side_by_side;
use crate::source::Source;
use crate::tile::{CHECKPOINT, HASH, HEIGHT, Tile, WIDTH, entries};
use crate::tree::{ONE_PIECE, TREE, array, from_join, hashes, place, root};
use mksum::proof::Cut;
use mksum::{Digest, Digests, Role, Spec, Subtree, Subtrees};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// The tiles that are asked for at once: those from an entry to the root, and of the right edge.
const AT_ONCE: usize = 16;

/// A log as it is published: a checkpoint, and a source of tiles and entries.
///
/// Whatever a method returns was verified against the checkpoint's root. Whether the checkpoint is signed by whom the caller trusts,
/// [`Published::verified`] answers.
#[derive(Debug)]
pub struct Published<S> {
    source: S,
    note: Note,
    checkpoint: Checkpoint,
    cache: Mutex<Cache>,
}

/// The tiles that were read last.
#[derive(Debug, Default)]
struct Cache(HashMap<Tile, Arc<Vec<u8>>>);

impl Cache {
    /// The most tiles that are kept: 2 MiB.
    const MOST: usize = 256;
}

impl<S: Source> Published<S> {
    /// The log with the newest checkpoint of a source, whose signatures are not looked at.
    ///
    /// # Errors
    /// If the source has no checkpoint.
    pub fn unverified(source: S) -> Result<Published<S>, Error> {
        let note = source.read(CHECKPOINT, LONGEST_NOTE)?.ok_or_else(|| Error::Missing { name: CHECKPOINT.into() })?;
        Published::at(source, Note::parse(&note)?)
    }

    /// The log with the newest checkpoint of a source, signed as `policy` wants it.
    ///
    /// # Errors
    /// If the source has no checkpoint, or it is not signed so.
    pub fn verified(source: S, policy: &Policy) -> Result<Published<S>, Error> {
        let log = Published::unverified(source)?;
        policy.check(&log.note)?;
        Ok(log)
    }

    /// The log as a checkpoint shows it.
    ///
    /// # Errors
    /// If the note is no checkpoint.
    pub fn at(source: S, note: Note) -> Result<Published<S>, Error> {
        let checkpoint = note.text().parse()?;
        Ok(Published { source, note, checkpoint, cache: Mutex::default() })
    }

    /// The checkpoint.
    pub fn checkpoint(&self) -> &Checkpoint {
        &self.checkpoint
    }

    /// The checkpoint with its signatures.
    pub fn note(&self) -> &Note {
        &self.note
    }

    /// Where the files are read from.
    pub fn source(&self) -> &S {
        &self.source
    }

    /// A proof that the entry at `index` is in the log.
    ///
    /// # Errors
    /// If there is no such entry, or a tile is missing or damaged.
    pub fn inclusion(&self, index: u64) -> Result<Proof, Error> {
        self.has(index)?;
        self.read_above(index);
        let proof = self.prove(index..index + 1)?;
        Ok(Proof::new(index, hashes(&proof), self.note.clone()))
    }

    /// A proof that the log has only grown since it had `old` entries.
    ///
    /// # Errors
    /// If it has fewer now, or a tile is missing or damaged.
    pub fn consistency(&self, old: u64) -> Result<ConsistencyProof, Error> {
        let (hashes, _) = self.growth(old)?;
        Ok(ConsistencyProof::new(old, hashes, self.note.clone()))
    }

    /// The hashes of a consistency proof since a size, and the root of the tree then.
    pub(crate) fn growth(&self, old: u64) -> Result<(Vec<[u8; HASH]>, [u8; HASH]), Error> {
        let size = self.checkpoint.size();
        if old > size {
            return Err(Error::Refused(format!("the log has {size} entries, and had never {old}")));
        }
        if old == 0 || old == size {
            return Ok((Vec::new(), root(&self, old)?));
        }
        self.read_above(old);
        let cut =
            Cut::consistency(&TREE, TREE.shape().root(old), size).map_err(|error| Error::Invalid(error.to_string()))?;
        let (found, sent) = TREE.prove(&self, cut, &ONE_PIECE).map_err(from_join)?;
        self.is_root(array(found.digest()))?;
        let old_root = root(&self, old)?;
        // The tiles of the older tree's edge are vouched for by the proof alone.
        let hashes = hashes(&sent);
        crate::tree::verify_consistency((old, old_root), &hashes, (size, self.checkpoint.root())).map_err(|_| {
            self.damaged(format!("the tiles have another tree of {old} entries than the signed one begins with"))
        })?;
        Ok((hashes, old_root))
    }

    /// The entry at `index`.
    ///
    /// # Errors
    /// If there is no such entry, or a file is missing or damaged.
    pub fn entry(&self, index: u64) -> Result<Vec<u8>, Error> {
        self.has(index)?;
        self.read_above(index);
        Ok(self.bundle(index / WIDTH)?.swap_remove((index % WIDTH) as usize))
    }

    /// The entries from an index on, in order, a bundle at a time.
    pub fn entries(&self, range: Range<u64>) -> impl Iterator<Item = Result<Vec<u8>, Error>> + '_ {
        let end = range.end.min(self.checkpoint.size());
        let bundles = range.start / WIDTH..if range.start < end { end.div_ceil(WIDTH) } else { range.start / WIDTH };
        bundles.flat_map(move |number| {
            let first = number * WIDTH;
            match self.bundle(number) {
                Err(error) => vec![Err(error)],
                Ok(entries) => {
                    let wanted = (range.start.max(first) - first) as usize..(end.min(first + WIDTH) - first) as usize;
                    entries.into_iter().take(wanted.end).skip(wanted.start).map(Ok).collect()
                }
            }
        })
    }

    /// The entries of a bundle, which were compared with the tree.
    pub(crate) fn bundle(&self, number: u64) -> Result<Vec<Vec<u8>>, Error> {
        let size = self.checkpoint.size();
        let tile = Tile::of(None, number, size).ok_or_else(|| Error::Refused(format!("the log has {size} entries")))?;
        let (held, bytes) = read(&self.source, tile)?;
        let name = held.name();
        let entries = entries(&name, &bytes, tile.width, held.width)?;
        let expected = self.tile(Tile { level: Some(0), ..tile })?;
        let found = leaves(&entries);
        if let Some(at) =
            found.as_bytes().chunks(HASH).zip(expected.chunks(HASH)).position(|(found, hash)| found != hash)
        {
            let why = format!("entry {} has another hash than the tree has at its index", number * WIDTH + at as u64);
            return Err(Error::Damaged { name, why });
        }
        self.has_leaves(number)?;
        Ok(entries)
    }

    /// Checks that the root follows from the leaves in a tile: then they are those of the signed tree.
    pub(crate) fn has_leaves(&self, number: u64) -> Result<(), Error> {
        let first = number * WIDTH;
        self.prove(first..self.checkpoint.size().min(first + WIDTH)).map(|_| ())
    }

    /// The hash of each entry and its index, in order: what [`entry_hash`](crate::entry_hash) gives.
    ///
    /// # Errors
    /// If a tile is missing or damaged.
    pub fn entry_hashes(&self) -> impl Iterator<Item = Result<([u8; 32], u64), Error>> + '_ {
        let size = self.checkpoint.size();
        (0..size.div_ceil(WIDTH)).flat_map(move |number| {
            let tile = Tile::of(Some(0), number, size).expect("a tile below the size");
            match self.has_leaves(number).and_then(|()| self.tile(tile)) {
                Err(error) => vec![Err(error)],
                Ok(bytes) => bytes
                    .chunks(HASH)
                    .zip(number * WIDTH..)
                    .map(|(hash, index)| Ok((hash.try_into().expect("32 bytes"), index)))
                    .collect(),
            }
        })
    }

    fn has(&self, index: u64) -> Result<(), Error> {
        match index < self.checkpoint.size() {
            true => Ok(()),
            false => Err(Error::Refused(format!(
                "the log has no entry {index}: it has {}, and the first one has the index 0",
                self.checkpoint.size()
            ))),
        }
    }

    /// The hashes beside a range of entries, if the root follows from them and the hashes of the entries.
    fn prove(&self, range: Range<u64>) -> Result<Digests, Error> {
        let tree = TREE.shape().root(self.checkpoint.size());
        let cut = Cut::range(&TREE, tree, range.clone()).map_err(|error| Error::Invalid(error.to_string()))?;
        let leaves = Below { source: self, range };
        let (found, sent) = TREE.prove(&leaves, cut, &ONE_PIECE).map_err(from_join)?;
        self.is_root(array(found.digest()))?;
        Ok(sent)
    }

    /// Reads the tiles between an entry and the root at once: one after the other, each would wait for a disk or a network. An error comes
    /// again from whoever needs the tile.
    fn read_above(&self, index: u64) {
        let size = self.checkpoint.size();
        let levels = (0..u64::BITS / HEIGHT).take_while(|level| size >> (HEIGHT * level) > 0);
        let mut tiles: Vec<Tile> = levels
            .flat_map(|level| {
                let places = [index, size].map(|entry| (entry >> (HEIGHT * level)) / WIDTH);
                places.into_iter().filter_map(move |place| Tile::of(Some(level), place, size))
            })
            .collect();
        tiles.sort_unstable();
        tiles.dedup();
        tiles.retain(|tile| !self.cache.lock().unwrap_or_else(PoisonError::into_inner).0.contains_key(tile));
        let _ = side_by_side(AT_ONCE, &tiles, |tile| self.tile(*tile).map(|_| ()));
    }

    fn is_root(&self, found: [u8; HASH]) -> Result<(), Error> {
        match found == self.checkpoint.root() {
            true => Ok(()),
            false => Err(self.damaged("the tiles have another root than the checkpoint".into())),
        }
    }

    fn damaged(&self, why: String) -> Error {
        Error::Damaged {
            name: "tile".into(),
            why: format!("{why}: a tile is damaged ('fsck' finds which one), or of another log"),
        }
    }

    /// The bytes of a tile as wide as asked for.
    pub(crate) fn tile(&self, tile: Tile) -> Result<Arc<Vec<u8>>, Error> {
        let lock = || self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().0.get(&tile) {
            return Ok(known.clone());
        }
        let (held, mut bytes) = read(&self.source, tile)?;
        let expected = held.width as usize * HASH;
        if bytes.len() != expected {
            let why = format!("it has {} bytes: expected {expected}", bytes.len());
            return Err(Error::Damaged { name: held.name(), why });
        }
        bytes.truncate(tile.width as usize * HASH);
        let bytes = Arc::new(bytes);
        let mut cache = lock();
        if cache.0.len() >= Cache::MOST {
            cache.0.clear();
        }
        cache.0.insert(tile, bytes.clone());
        Ok(bytes)
    }
}

/// A tile or bundle, or the full one in whose place a log may have removed it: which one, and its bytes.
pub(crate) fn read(source: &dyn Source, tile: Tile) -> Result<(Tile, Vec<u8>), Error> {
    if let Some(bytes) = source.read(&tile.name(), tile.longest())? {
        return Ok((tile, bytes));
    }
    if tile.is_partial()
        && let Some(bytes) = source.read(&tile.full().name(), tile.longest())?
    {
        return Ok((tile.full(), bytes));
    }
    Err(Error::Missing { name: tile.name() })
}

/// The tree that the tiles have. Nothing in them is trusted: a join finds the root, or another one.
impl<S: Source> Subtrees for Published<S> {
    fn digest(&self, _: &Spec, node: Subtree, _: Role) -> Result<Option<Digest>, mksum::Error> {
        let Some((level, number)) = place(node) else { return Ok(None) };
        let Some(tile) = Tile::of(Some(level), number / WIDTH, self.checkpoint.size()) else { return Ok(None) };
        let bytes = self.tile(tile).map_err(mksum::Error::source)?;
        let at = (number % WIDTH) as usize * HASH;
        Ok(bytes.get(at..at + HASH).map(Digest::new))
    }
}

/// A tree of which the nodes over a range are joined from its leaves.
struct Below<'a, S> {
    source: &'a Published<S>,
    range: Range<u64>,
}

impl<S: Source> Subtrees for Below<'_, S> {
    fn digest(&self, spec: &Spec, node: Subtree, role: Role) -> Result<Option<Digest>, mksum::Error> {
        let touches = node.start < self.range.end && self.range.start < node.end();
        if node.level > 0 && touches { Ok(None) } else { self.source.digest(spec, node, role) }
    }
}
