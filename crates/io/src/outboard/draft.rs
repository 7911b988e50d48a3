//! An outboard while it is written, under a name of its own until it is whole.

use super::{Stored, with_extension};
use crate::Error;
use crate::platform::{sync_folder, write_at};
use mksum::{Begun, HEADER, Header, Kept, Outboard, SEALS, Subtree};
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, SyncSender, TrySendError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// An outboard being written from its first digest to its last, from time to time made safe against a crash.
#[derive(Debug)]
pub(crate) struct Draft {
    /// Where it is to be in the end, and where it is now.
    target: PathBuf,
    path: PathBuf,
    file: File,
    header: Header,
    kept: Kept,
    /// Digests written and not written.
    done: u64,
    buffer: Vec<u8>,
    /// The digests that cover what is done, as [`Kept::frontier`] has them.
    frontier: Vec<(Subtree, Vec<u8>)>,
    /// Units done since somebody last looked at the clock, in bytes.
    unclocked: u64,
    last: Instant,
    /// The time between checkpoints.
    pub interval: Duration,
    /// Which seal the first checkpoint overwrites.
    turn: usize,
    syncer: Option<Syncer>,
}

impl Draft {
    /// The bytes of the file after which the clock is looked at.
    const CLOCKED: u64 = 256 << 10;
    const BUFFER: usize = 64 << 10;

    /// Goes on with what was begun of this very outboard, or begins.
    pub fn open(target: &Path, header: Header) -> Result<Draft, Error> {
        let mut draft = Draft::create(target, "part", header)?;
        let begun = Stored::of(&draft.path, &draft.file).map(|stored| Begun::open(&stored));
        // What nothing tells from another file is begun anew.
        let same = |begun: &Begun| *begun.header() == draft.header && draft.header.identity.is_some();
        match begun?.ok().filter(|begun| same(begun) && begun.done() > 0) {
            Some(begun) => {
                draft.turn = begun.next_seal();
                draft.done = begun.done();
                draft.frontier = begun.into_frontier();
                let end = draft.end();
                draft.file.set_len(end).map_err(|error| draft.fail(error))?;
            }
            None => draft.begin()?,
        }
        Ok(draft)
    }

    /// Begins with the first `done` digests of another outboard, whose frontier is still to be [trusted](Draft::trust).
    pub fn copy(target: &Path, header: Header, old: &Outboard<Stored>, done: u64) -> Result<Draft, Error> {
        // Under another name: what was not read of the file must not pass for what an interrupted run has read.
        let mut draft = Draft::create(target, "update", header)?;
        draft.begin()?;
        draft.done = done;
        let bytes = done * draft.header.spec.hash().size() as u64;
        let copied = old.bytes().copy_to(HEADER, bytes, &draft.file).map_err(|error| draft.fail(error))?;
        if copied != bytes {
            return Err(draft.fail(io::Error::other(format!("only {copied} of {bytes} bytes could be copied"))));
        }
        Ok(draft)
    }

    fn create(target: &Path, suffix: &str, header: Header) -> Result<Draft, Error> {
        let path = with_extension(target, suffix);
        let fail = |error| Error::Write { path: path.clone(), error };
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path).map_err(fail)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(fail(io::Error::other("another process is writing it: wait for that, or end it")));
            }
            // A file system without locks: nobody else is then known to write.
            Err(TryLockError::Error(_)) => {}
        }
        let kept = header.kept().map_err(|error| Error::from_outboard(error.into(), &path))?;
        Ok(Draft {
            target: target.into(),
            path,
            file,
            header,
            kept,
            done: 0,
            buffer: Vec::new(),
            frontier: Vec::new(),
            unclocked: 0,
            last: Instant::now(),
            interval: Duration::from_secs(1),
            turn: 0,
            syncer: None,
        })
    }

    /// Writes the header into a file without anything else.
    fn begin(&mut self) -> Result<(), Error> {
        let header = self.header.encode().map_err(|error| Error::from_outboard(error.into(), &self.path))?;
        let write = || {
            self.file.set_len(0)?;
            write_at(&self.file, &header, 0)
        };
        write().map_err(|error| self.fail(error))
    }

    /// Takes the digests of the frontier from `right`, which has checked them.
    pub fn trust(&mut self, right: impl Fn(Subtree) -> Result<Vec<u8>, mksum::Error>) -> Result<(), mksum::Error> {
        let frontier = self.kept.frontier(self.done).into_iter();
        self.frontier = frontier.map(|node| Ok((node, right(node)?))).collect::<Result<_, mksum::Error>>()?;
        Ok(())
    }

    /// How many digests there are.
    pub fn done(&self) -> u64 {
        self.done
    }

    /// The offset before which every byte of the file was hashed.
    pub fn position(&self) -> u64 {
        self.frontier.last().map_or(0, |(node, _)| node.end())
    }

    /// The nodes that are kept.
    pub fn kept(&self) -> Kept {
        self.kept
    }

    /// The digests that cover what is done: what a join goes on from.
    ///
    /// # Panics
    /// If the format's digests are not as long.
    pub fn known<const D: usize>(&self) -> BTreeMap<Subtree, [u8; D]> {
        let digest = |digest: &Vec<u8>| digest[..].try_into().expect("a digest of this format");
        self.frontier.iter().map(|(node, stored)| (*node, digest(stored))).collect()
    }

    /// Appends the digest of the next node.
    pub fn push(&mut self, node: Subtree, digest: &[u8]) -> Result<(), Error> {
        while self.frontier.last().is_some_and(|(last, _)| self.is_child(*last, node)) {
            self.frontier.pop();
        }
        self.frontier.push((node, digest.into()));
        self.buffer.extend_from_slice(digest);
        self.done += 1;
        if self.buffer.len() >= Self::BUFFER {
            self.write()?;
        }
        if self.kept.is_unit(node) {
            self.unclocked += node.len;
            if self.unclocked >= Self::CLOCKED {
                self.unclocked = 0;
                // With the last digest comes the end.
                if self.last.elapsed() >= self.interval && self.done < self.kept.count() {
                    self.checkpoint()?;
                }
            }
        }
        Ok(())
    }

    /// Writes the digest of a node whose old one is there.
    pub fn overwrite(&mut self, node: Subtree, digest: &[u8]) -> Result<(), Error> {
        let Some(place) = self.kept.place(node) else { return Ok(()) };
        let at = HEADER + place * digest.len() as u64;
        write_at(&self.file, digest, at).map_err(|error| self.fail(error))
    }

    /// Where the digests end.
    fn end(&self) -> u64 {
        HEADER + self.done * self.header.spec.hash().size() as u64
    }

    /// Whether `last`, which came just before, or after others that are, lies below `node`.
    fn is_child(&self, last: Subtree, node: Subtree) -> bool {
        !self.kept.is_unit(node) && last.start >= node.start && last.end() <= node.end()
    }

    /// Writes what waits.
    fn write(&mut self) -> Result<(), Error> {
        let at = self.end() - self.buffer.len() as u64;
        write_at(&self.file, &self.buffer, at).map_err(|error| self.fail(error))?;
        self.buffer.clear();
        Ok(())
    }

    /// Has what is done so far made safe, on another thread; later, if that is still busy with the last.
    fn checkpoint(&mut self) -> Result<(), Error> {
        self.write()?;
        let frontier = self.frontier.iter().map(|(_, digest)| &digest[..]);
        let seal = self.header.checkpoint(self.done, frontier);
        let seal = seal.map_err(|error| Error::from_outboard(error.into(), &self.path))?;
        if self.syncer.is_none() {
            let started = Syncer::start(&self.file, &self.path, self.turn).map_err(|error| self.fail(error))?;
            self.syncer = Some(started);
        }
        self.last = Instant::now();
        match &self.syncer {
            // It has ended, and knows why.
            Some(syncer) if !syncer.ask(seal) => self.join(),
            _ => Ok(()),
        }
    }

    fn join(&mut self) -> Result<(), Error> {
        let ended = self.syncer.take().map_or(Ok(()), Syncer::finish);
        ended.map_err(|error| self.fail(error))
    }

    fn fail(&self, error: io::Error) -> Error {
        Error::Write { path: self.path.clone(), error }
    }

    /// Puts the outboard in its place, when all its digests are there, with `root` over them.
    pub fn finish(mut self, root: &[u8]) -> Result<(), Error> {
        assert_eq!(self.done, self.kept.count(), "every kept node was told");
        self.write()?;
        let checkpoints = self.syncer.is_some();
        self.join()?;
        let seal = self.header.finished(root).map_err(|error| Error::from_outboard(error.into(), &self.path))?;
        let end = || {
            if checkpoints {
                // A checkpoint is worth keeping until what comes after it is safe too.
                self.file.sync_data()?;
            }
            for place in SEALS {
                write_at(&self.file, &seal, place)?;
            }
            self.file.sync_all()?;
            fs::rename(&self.path, &self.target)?;
            sync_folder(&self.target)
        };
        end().map_err(|error| self.fail(error))
    }

    /// Removes it: what it was begun for has changed.
    pub fn discard(self) {
        // One that stays is not gone on with: its header tells another file.
        let _ = fs::remove_file(&self.path);
    }
}

/// A thread that makes checkpoints, so that nobody who hashes waits for the disk.
#[derive(Debug)]
struct Syncer {
    seals: SyncSender<Vec<u8>>,
    thread: JoinHandle<io::Result<()>>,
}

impl Syncer {
    fn start(file: &File, path: &Path, turn: usize) -> io::Result<Syncer> {
        sync_folder(path)?;
        let file = file.try_clone()?;
        let (seals, asked) = mpsc::sync_channel::<Vec<u8>>(1);
        let work = move || {
            for (turn, seal) in (turn..).zip(asked.iter()) {
                // First what it vouches for, then the seal itself.
                file.sync_data()?;
                write_at(&file, &seal, SEALS[turn % SEALS.len()])?;
                file.sync_data()?;
            }
            Ok(())
        };
        let thread = thread::Builder::new().name("checkpoints".into()).spawn(work)?;
        Ok(Syncer { seals, thread })
    }

    /// Whether it is still there to be asked.
    fn ask(&self, seal: Vec<u8>) -> bool {
        !matches!(self.seals.try_send(seal), Err(TrySendError::Disconnected(_)))
    }

    fn finish(self) -> io::Result<()> {
        drop(self.seals);
        self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}
