//! The writer of a log. Bundles, tiles, a wait for the disk, the record of what is signed, and only then the checkpoint.

use crate::algorithm::KeyKind;
use crate::checkpoint::Checkpoint;
use crate::disk::{Access, Disk, Lock, lock, replace};
use crate::error::Error;
use crate::key::{SignerKey, VerifierKey};
use crate::leaves::leaves;
use crate::longest::LONGEST_ENTRY;
use crate::note::{LONGEST_NOTE, Note};
use crate::published::{Published, read};
use crate::source::{Folder, Source, read_file};
use crate::tile::{CHECKPOINT, HASH, Tile, WIDTH, push_entry};
use crate::tree::{Edge, Tiles};
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The folder within that of a log which is not served: the key, the lock, and the last checkpoint that was signed.
pub const STATE_FOLDER: &str = ".mksum/log";
const KEY: &str = "key";
const LOCK: &str = "lock";
const SIGNED: &str = "signed";

/// A log that is open to be written: a folder of files that any web server can serve.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("ledger");
/// use mksum_log::{Folder, Log, Policy, Published};
///
/// let mut log = Log::create(&path, "example.com/ledger")?;
/// assert_eq!(log.append(["one", "two"])?, 0..2);
/// log.checkpoint()?;
///
/// let policy = Policy::from(log.verifier());
/// let proof = Published::verified(Folder::new(&path), &policy)?.inclusion(1)?;
/// proof.check(b"two", &policy)?;
/// assert!(proof.check(b"three", &policy).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Log {
    key: SignerKey,
    writer: Writer,
    /// The last checkpoint that was signed.
    signed: (Note, Checkpoint),
    /// Why nothing more can be written, until the log is opened again.
    failed: bool,
    _lock: Lock,
}

impl Log {
    /// Makes an empty log in a new or empty folder, with a new key, and publishes its first checkpoint.
    ///
    /// `origin` names the log and its key: mostly the URL where it will be served, without the scheme.
    ///
    /// # Errors
    /// If the folder has files, the origin has spaces or a plus sign, or a file cannot be written.
    pub fn create(path: &Path, origin: &str) -> Result<Log, Error> {
        let key = SignerKey::generate(origin, KeyKind::Ed25519)?;
        Log::create_with(path, key)
    }

    /// The same with a key that exists: its name is the origin. A key signs one log alone.
    ///
    /// # Errors
    /// As [`Log::create`].
    pub fn create_with(path: &Path, key: SignerKey) -> Result<Log, Error> {
        if key.verifier().kind() != KeyKind::Ed25519 {
            return Err(Error::Refused("the key of a log is a plain Ed25519 key: its type is 0x01".into()));
        }
        let state = path.join(STATE_FOLDER);
        fs::create_dir_all(&state).map_err(Error::io(&state))?;
        let lock = lock(&state.join(LOCK))?;
        if path.join(CHECKPOINT).exists() || state.join(SIGNED).exists() {
            return Err(Error::Refused(format!("{}: this folder has a log already", path.display())));
        }
        if let Some(other) =
            fs::read_dir(path).map_err(Error::io(path))?.flatten().find(|entry| entry.file_name() != ".mksum")
        {
            let other = other.path();
            return Err(Error::Refused(format!("{}: a new log needs an empty folder", other.display())));
        }
        let key_path = state.join(KEY);
        // A crash between the key and the first checkpoint leaves a key that signed nothing.
        replace(&key_path, format!("{}\n", key.to_secret_text()).as_bytes(), Access::Owner)?;
        let mut disk = Disk::new(path);
        let empty = Checkpoint::new(key.name(), 0, Edge::new().root())?;
        let note = Note::sign(&empty.to_string(), &key, 0)?;
        publish(&mut disk, &note)?;
        let writer = Writer { disk, edge: Edge::new(), bundle: Vec::new() };
        Ok(Log { key, writer, signed: (note, empty), failed: false, _lock: lock })
    }

    /// Opens a log to append to it. After a crash it goes on from the last checkpoint that was signed.
    ///
    /// # Errors
    /// If another process has it open, there is none, its key can be read by others, or its tree does not extend the last checkpoint
    /// that was signed.
    pub fn open(path: &Path) -> Result<Log, Error> {
        let state = path.join(STATE_FOLDER);
        if !state.is_dir() {
            return Err(Error::Refused(format!(
                "{}: this folder has no log: 'mksum log init' makes one",
                path.display()
            )));
        }
        let lock = lock(&state.join(LOCK))?;
        let key = SignerKey::read(&state.join(KEY))?;
        let (signed, checkpoint) = last_signed(path, &key.verifier())?;
        let mut disk = Disk::new(path);
        let source = Folder::new(path);
        let writer = Writer::read(path, &source, &checkpoint).map_err(|error| match error {
            Error::Missing { .. } | Error::Damaged { .. } => Error::NotExtended {
                path: path.into(),
                why: format!("{error}; the last checkpoint that was signed has {} entries", checkpoint.size()),
            },
            error => error,
        })?;
        let published = read_file(&path.join(CHECKPOINT), LONGEST_NOTE)?;
        if published.as_deref() != Some(signed.to_string().as_bytes()) {
            // It was signed, and not published yet.
            disk.replace(CHECKPOINT, signed.to_string().as_bytes())?;
        }
        Ok(Log { key, writer, signed: (signed, checkpoint), failed: false, _lock: lock })
    }

    /// The public key.
    pub fn verifier(&self) -> VerifierKey {
        self.key.verifier()
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        self.writer.disk.root()
    }

    /// The number of entries, with those that no checkpoint covers yet.
    pub fn size(&self) -> u64 {
        self.writer.edge.size()
    }

    /// The last checkpoint, with its signatures.
    pub fn note(&self) -> &Note {
        &self.signed.0
    }

    /// The number of entries that the last checkpoint covers.
    pub fn signed_size(&self) -> u64 {
        self.signed.1.size()
    }

    /// Appends entries of at most 65,535 bytes each, and returns their indices. They are in the log once
    /// [`checkpoint`](Log::checkpoint) returns: after a crash before that, they are not.
    ///
    /// # Errors
    /// If an entry is too long: then none of them is appended. If a file cannot be written: then open the log again.
    pub fn append<E: AsRef<[u8]>>(&mut self, entries: impl IntoIterator<Item = E>) -> Result<Range<u64>, Error> {
        self.check()?;
        let entries: Vec<E> = entries.into_iter().collect();
        for (entry, number) in entries.iter().zip(1..) {
            if entry.as_ref().len() > LONGEST_ENTRY {
                return Err(Error::TooLong { number, len: entry.as_ref().len() as u64 });
            }
        }
        let first = self.size();
        let pushed = self.writer.push(&entries);
        self.or_fail(pushed)?;
        Ok(first..self.size())
    }

    /// Signs and publishes a checkpoint of all entries: when it returns, they are on the disk and in the log for good.
    ///
    /// # Errors
    /// If a file cannot be written: then open the log again.
    pub fn checkpoint(&mut self) -> Result<&Checkpoint, Error> {
        self.check()?;
        if self.size() != self.signed.1.size() {
            let committed = self.commit();
            self.or_fail(committed)?;
        }
        Ok(&self.signed.1)
    }

    fn commit(&mut self) -> Result<(), Error> {
        let since = self.signed.1.size();
        self.writer.finish(since)?;
        let checkpoint = Checkpoint::new(self.key.name(), self.size(), self.writer.edge.root())?;
        let note = Note::sign(&checkpoint.to_string(), &self.key, 0)?;
        publish(&mut self.writer.disk, &note)?;
        self.signed = (note, checkpoint);
        self.writer.remove_partial(since);
        Ok(())
    }

    /// Adds a witness's signature to the last checkpoint, and publishes it so.
    ///
    /// # Errors
    /// If it is not a valid signature of that checkpoint by the key, or a file cannot be written.
    pub fn add_cosignature(&mut self, line: &str, witness: &VerifierKey) -> Result<(), Error> {
        self.check()?;
        let mut note = self.signed.0.clone();
        note.add(crate::note::NoteSignature::parse(line)?, witness)?;
        let published = publish(&mut self.writer.disk, &note);
        self.or_fail(published)?;
        self.signed.0 = note;
        Ok(())
    }

    fn check(&self) -> Result<(), Error> {
        match self.failed {
            false => Ok(()),
            true => Err(Error::Refused("a file of the log could not be written: open the log again".into())),
        }
    }

    fn or_fail<T>(&mut self, result: Result<T, Error>) -> Result<T, Error> {
        self.failed |= result.is_err();
        result
    }
}

/// The verifier key of the log in a folder of this machine, if its secret key is there.
///
/// # Errors
/// If the key cannot be read, or others can read it.
pub fn own_key(path: &Path) -> Result<Option<VerifierKey>, Error> {
    let key = path.join(STATE_FOLDER).join(KEY);
    match key.exists() {
        true => SignerKey::read(&key).map(|key| Some(key.verifier())),
        false => Ok(None),
    }
}

/// Records what was signed, and then publishes it: nothing is published that could be forgotten.
fn publish(disk: &mut Disk, note: &Note) -> Result<(), Error> {
    disk.replace_in_turn(&[&format!("{STATE_FOLDER}/{SIGNED}"), CHECKPOINT], note.to_string().as_bytes())
}

/// The newest checkpoint that the key signed: the recorded one, or a published one of a larger tree.
fn last_signed(path: &Path, key: &VerifierKey) -> Result<(Note, Checkpoint), Error> {
    let mut newest: Option<(Note, Checkpoint)> = None;
    let signed = path.join(STATE_FOLDER).join(SIGNED);
    for file in [signed.clone(), path.join(CHECKPOINT)] {
        let Some(bytes) = read_file(&file, LONGEST_NOTE)? else { continue };
        let read = Note::parse(&bytes).and_then(|note| {
            let checkpoint: Checkpoint = note.text().parse()?;
            match note.verify(key)? {
                Some(_) if checkpoint.origin() == key.name() => Ok((note, checkpoint)),
                _ => Err(Error::Untrusted("the checkpoint is not signed by the log's key".into())),
            }
        });
        let (note, checkpoint) = match read {
            Ok(read) => read,
            // A published file that is torn is published again from the record.
            Err(_) if file != signed && newest.is_some() => continue,
            Err(error) => return Err(Error::NotExtended { path: file, why: error.to_string() }),
        };
        let (size, root) = (checkpoint.size(), checkpoint.root());
        match &newest {
            Some((_, known)) if known.size() == size && known.root() != root => {
                let why = format!("two checkpoints of {size} entries were signed, with different roots");
                return Err(Error::NotExtended { path: path.into(), why });
            }
            Some((_, known)) if known.size() >= size => {}
            _ => newest = Some((note, checkpoint)),
        }
    }
    newest.ok_or_else(|| Error::NotExtended {
        path: path.into(),
        why: "the record of the last checkpoint that was signed is gone".into(),
    })
}

/// The files of a growing log.
#[derive(Debug)]
pub(crate) struct Writer {
    pub disk: Disk,
    pub edge: Edge,
    /// The bytes of the last bundle, if it is partial.
    bundle: Vec<u8>,
}

/// Writes tiles as they come.
struct ToDisk<'a>(&'a mut Disk);

impl Tiles for ToDisk<'_> {
    fn tile(&mut self, tile: Tile, hashes: &[u8]) -> Result<(), Error> {
        self.0.write(&tile.name(), hashes)
    }
}

impl Writer {
    /// The writer of a log without entries.
    pub fn empty(path: &Path) -> Writer {
        Writer { disk: Disk::new(path), edge: Edge::new(), bundle: Vec::new() }
    }

    /// The writer of the tree that a checkpoint shows, whose right edge is verified against the root.
    pub fn read(path: &Path, source: &dyn Source, checkpoint: &Checkpoint) -> Result<Writer, Error> {
        let size = checkpoint.size();
        let edge = Edge::read(size, |tile| {
            let (held, mut bytes) = read(source, tile)?;
            if bytes.len() != held.width as usize * HASH {
                let why = format!("it has {} bytes: expected {}", bytes.len(), held.width as usize * HASH);
                return Err(Error::Damaged { name: held.name(), why });
            }
            bytes.truncate(tile.width as usize * HASH);
            Ok(bytes)
        })?;
        if edge.root() != checkpoint.root() {
            let why = format!("the tiles have another root than the checkpoint of {size} entries");
            return Err(Error::Damaged { name: "tile".into(), why });
        }
        let mut bundle = Vec::new();
        if !size.is_multiple_of(WIDTH) {
            let log = Published::at(source, Note::of(checkpoint))?;
            for entry in log.bundle(size / WIDTH)? {
                push_entry(&mut bundle, &entry);
            }
        }
        Ok(Writer { disk: Disk::new(path), edge, bundle })
    }

    /// Appends entries of at most 65,535 bytes each.
    pub fn push<E: AsRef<[u8]>>(&mut self, entries: &[E]) -> Result<(), Error> {
        let hashes = leaves(entries);
        let (mut entries, mut hashes) = (entries, hashes.as_bytes());
        while !entries.is_empty() {
            let size = self.edge.size();
            let count = entries.len().min((WIDTH - size % WIDTH) as usize);
            let (some, rest) = entries.split_at(count);
            some.iter().for_each(|entry| push_entry(&mut self.bundle, entry.as_ref()));
            if (size + count as u64).is_multiple_of(WIDTH) {
                let tile = Tile { level: None, index: size / WIDTH, width: WIDTH };
                self.disk.write(&tile.name(), &self.bundle)?;
                self.bundle.clear();
            }
            self.edge.push(&hashes[..count * HASH], &mut ToDisk(&mut self.disk))?;
            (entries, hashes) = (rest, &hashes[count * HASH..]);
        }
        Ok(())
    }

    /// Writes what is partial and has changed since a size, and waits until all is on the disk.
    pub fn finish(&mut self, since: u64) -> Result<(), Error> {
        let size = self.edge.size();
        if let Some(tile) = Tile::of(None, size / WIDTH, size).filter(|_| size != since) {
            self.disk.write(&tile.name(), &self.bundle)?;
        }
        self.edge.partial(since, &mut ToDisk(&mut self.disk))?;
        self.disk.sync()
    }

    /// Removes the partial tiles of the tree of `since` entries in whose places full ones are now.
    pub fn remove_partial(&mut self, since: u64) {
        let size = self.edge.size();
        for level in std::iter::once(None).chain((0..8).map(Some)) {
            let count = since >> (crate::tile::HEIGHT * level.unwrap_or(0));
            let Some(tile) = Tile::of(level, count / WIDTH, since) else { continue };
            if Tile::of(level, tile.index, size).is_some_and(|now| !now.is_partial()) {
                self.disk.remove_partial(&tile.partial_folder());
            }
        }
    }
}

/// The folder of evidence of a log's contradictions.
pub(crate) fn evidence(path: &Path) -> PathBuf {
    path.join(STATE_FOLDER).join("evidence")
}

/// The paths of the state that a mirror has.
pub(crate) fn mirror_lock(path: &Path) -> Result<Lock, Error> {
    let state = path.join(STATE_FOLDER);
    fs::create_dir_all(&state).map_err(Error::io(&state))?;
    if state.join(KEY).exists() {
        return Err(Error::Refused(format!("{}: this is a log with a key of its own, not a mirror", path.display())));
    }
    lock(&state.join(LOCK))
}
