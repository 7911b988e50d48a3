//! An outboard while it is written, under a name of its own until it is whole.

use super::{Stored, with_extension};
use crate::platform::{sync_folder, write_at};
use crate::{Error, Refusal};
use mksum::outboard::{HEADER, Header, KeptLayout, Outboard, PartialOutboard, SEALS};
use mksum::{Digest, Subtree};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, SyncSender, TrySendError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// An outboard being written from its first digest to its last, from time to time made safe against a crash.
#[derive(Debug)]
pub(crate) struct Draft {
    /// The path of the finished outboard, and the one until then.
    target: PathBuf,
    path: PathBuf,
    file: File,
    header: Header,
    layout: KeptLayout,
    /// The number of digests so far, written and waiting.
    done: u64,
    buffer: Vec<u8>,
    /// The digests that cover them, as [`KeptLayout::frontier`] orders them.
    frontier: Vec<(Subtree, Digest)>,
    /// The length of the units done since the clock was last read, in bytes.
    unclocked: u64,
    last: Instant,
    /// The time between checkpoints.
    pub interval: Duration,
    /// The index of the seal that the first checkpoint overwrites.
    turn: usize,
    syncer: Option<Syncer>,
}

impl Draft {
    /// The bytes of the file after which the clock is read.
    const CLOCKED: u64 = 256 << 10;
    const BUFFER: usize = 64 << 10;

    /// Resumes the unfinished outboard with this very header, or begins a new one.
    pub fn open(target: &Path, header: Header) -> Result<Draft, Error> {
        let mut draft = Draft::create(target, "part", header)?;
        let begun = Stored::of(&draft.path, &draft.file).map(|stored| PartialOutboard::open(&stored));
        // Without an identity it may be of another file, so it is begun anew.
        let same = |begun: &PartialOutboard| *begun.header() == draft.header && draft.header.identity.is_some();
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
        // Under another name: digests that were not read of the file must not pass for those of an interrupted run.
        let mut draft = Draft::create(target, "update", header)?;
        draft.begin()?;
        draft.done = done;
        let bytes = done * draft.header.spec.hash().size() as u64;
        let copied = old.bytes().copy_to(HEADER, bytes, &draft.file).map_err(|error| draft.fail(error))?;
        if copied != bytes {
            let how = format!("it ended after {copied} of {bytes} bytes of digests");
            return Err(Error::Changed { path: old.bytes().path().into(), how });
        }
        Ok(draft)
    }

    fn create(target: &Path, suffix: &str, header: Header) -> Result<Draft, Error> {
        let path = with_extension(target, suffix);
        let fail = |error| Error::Write { path: path.clone(), error };
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path).map_err(fail)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(Error::refused(&path, Refusal::Busy)),
            // A file system without locks: then another writer is not known.
            Err(TryLockError::Error(_)) => {}
        }
        let layout = header.layout().map_err(|error| Error::from_outboard(error, &path))?;
        Ok(Draft {
            target: target.into(),
            path,
            file,
            header,
            layout,
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
        let header = self.header.encode().map_err(|error| Error::from_outboard(error, &self.path))?;
        let write = || {
            self.file.set_len(0)?;
            write_at(&self.file, &header, 0)
        };
        write().map_err(|error| self.fail(error))
    }

    /// Takes the digests of the frontier from `right`, which has checked them.
    pub fn trust(&mut self, right: impl Fn(Subtree) -> Result<Digest, mksum::Error>) -> Result<(), mksum::Error> {
        let frontier = self.layout.frontier(self.done).into_iter();
        self.frontier = frontier.map(|node| Ok((node, right(node)?))).collect::<Result<_, mksum::Error>>()?;
        Ok(())
    }

    /// The number of digests so far.
    pub fn done(&self) -> u64 {
        self.done
    }

    /// The offset before which every byte of the file was hashed.
    pub fn position(&self) -> u64 {
        self.frontier.last().map_or(0, |(node, _)| node.end())
    }

    /// The layout of the kept nodes.
    pub fn layout(&self) -> KeptLayout {
        self.layout
    }

    /// The digests that cover what is done: a join resumes from them.
    pub fn known(&self) -> Vec<(Subtree, Digest)> {
        self.frontier.clone()
    }

    /// Appends the digest of the next node.
    pub fn push(&mut self, node: Subtree, digest: &Digest) -> Result<(), Error> {
        while self.frontier.last().is_some_and(|(last, _)| self.is_child(*last, node)) {
            self.frontier.pop();
        }
        self.frontier.push((node, *digest));
        self.buffer.extend_from_slice(digest.as_bytes());
        self.done += 1;
        if self.buffer.len() >= Self::BUFFER {
            self.write()?;
        }
        if self.layout.is_unit(node) {
            self.unclocked += node.len;
            if self.unclocked >= Self::CLOCKED {
                self.unclocked = 0;
                // With the last digest comes the end.
                if self.last.elapsed() >= self.interval && self.done < self.layout.count() {
                    self.checkpoint()?;
                }
            }
        }
        Ok(())
    }

    /// Overwrites the digest of a node.
    pub fn overwrite(&mut self, node: Subtree, digest: &Digest) -> Result<(), Error> {
        let Some(place) = self.layout.place(node) else { return Ok(()) };
        let at = HEADER + place * digest.as_bytes().len() as u64;
        write_at(&self.file, digest.as_bytes(), at).map_err(|error| self.fail(error))
    }

    /// The offset after the last digest.
    fn end(&self) -> u64 {
        HEADER + self.done * self.header.spec.hash().size() as u64
    }

    /// Whether `last`, the last node of the frontier, lies below `node`.
    fn is_child(&self, last: Subtree, node: Subtree) -> bool {
        !self.layout.is_unit(node) && last.start >= node.start && last.end() <= node.end()
    }

    /// Writes the digests that wait.
    fn write(&mut self) -> Result<(), Error> {
        let at = self.end() - self.buffer.len() as u64;
        write_at(&self.file, &self.buffer, at).map_err(|error| self.fail(error))?;
        self.buffer.clear();
        Ok(())
    }

    /// Makes what is done so far safe against a crash, on another thread; later, if that is still busy with the last time.
    fn checkpoint(&mut self) -> Result<(), Error> {
        self.write()?;
        let frontier = self.frontier.iter().map(|(_, digest)| *digest);
        let seal = self.header.checkpoint(self.done, frontier);
        let seal = seal.map_err(|error| Error::from_outboard(error, &self.path))?;
        self.last = Instant::now();
        if self.syncer.is_none() {
            sync_folder(&self.path).map_err(|error| self.fail(error))?;
            self.syncer = Syncer::start(&self.file, self.turn).ok();
        }
        match &self.syncer {
            // The thread has ended, and its error says why.
            Some(syncer) if !syncer.ask(&seal) => self.join(),
            Some(_) => Ok(()),
            // The system has no thread for it.
            None => {
                self.turn += 1;
                make_safe(&self.file, &seal, self.turn - 1).map_err(|error| self.fail(error))
            }
        }
    }

    fn join(&mut self) -> Result<(), Error> {
        let ended = self.syncer.take().map_or(Ok(()), Syncer::finish);
        ended.map_err(|error| self.fail(error))
    }

    fn fail(&self, error: io::Error) -> Error {
        Error::Write { path: self.path.clone(), error }
    }

    /// Moves the outboard to its final path; all its digests must be there, and `root` is made of them.
    pub fn finish(mut self, root: Digest) -> Result<(), Error> {
        assert_eq!(self.done, self.layout.count(), "every kept node was pushed");
        self.write()?;
        let checkpoints = self.syncer.is_some() || self.turn > 0;
        self.join()?;
        let seal = self.header.finished(root).map_err(|error| Error::from_outboard(error, &self.path))?;
        let end = || {
            if checkpoints {
                // The last checkpoint is overwritten only when the digests after it are safe too.
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

    /// Removes it: the file has changed.
    pub fn discard(self) {
        // If it stays, it is not resumed: its header is that of another file.
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
    fn start(file: &File, turn: usize) -> io::Result<Syncer> {
        let file = file.try_clone()?;
        let (seals, asked) = mpsc::sync_channel::<Vec<u8>>(1);
        let work = move || (turn..).zip(asked).try_for_each(|(turn, seal)| make_safe(&file, &seal, turn));
        let thread = thread::Builder::new().name("checkpoints".into()).spawn(work)?;
        Ok(Syncer { seals, thread })
    }

    /// Asks for a checkpoint; `false` if the thread has ended.
    fn ask(&self, seal: &[u8]) -> bool {
        !matches!(self.seals.try_send(seal.into()), Err(TrySendError::Disconnected(_)))
    }

    fn finish(self) -> io::Result<()> {
        drop(self.seals);
        self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

/// Writes a checkpoint: first the digests that it vouches for, then the seal itself.
fn make_safe(file: &File, seal: &[u8], turn: usize) -> io::Result<()> {
    file.sync_data()?;
    write_at(file, seal, SEALS[turn % SEALS.len()])?;
    file.sync_data()
}
