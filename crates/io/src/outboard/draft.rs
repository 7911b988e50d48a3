//! An outboard while it is written: under another name or none until it is whole.

use super::{PART, Stored, begins_with, with_extension};
use crate::paths::folder;
use crate::platform::{Stamp, sync_file_system, sync_folder, write_at};
use crate::replacement::{Replacement, is_at};
use crate::scratch::{self, Scratch};
use crate::{Error, Refusal};
use mksum::outboard::{HEADER, Header, KeptLayout, MAGIC, Outboard, OutboardError, PartialOutboard, SEALS};
use mksum::{Digest, Subtree};
use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, SyncSender, TrySendError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The file that a draft is written to.
#[derive(Debug)]
enum Paper {
    /// A file with a name under which another run can resume it.
    Part {
        /// The path of the finished outboard, and the one until then.
        target: PathBuf,
        path: PathBuf,
        file: File,
        /// The file's removal, until it has something to resume.
        scratch: Option<Scratch>,
    },
    /// A file that no other run resumes.
    Fresh(Replacement),
}

impl Paper {
    /// The file at this name, which may hold a part already: no other process writes to it.
    fn part(target: &Path) -> Result<Paper, Error> {
        let path = with_extension(target, PART);
        let fail = |error| Error::Write { path: path.clone().into(), error };
        loop {
            let mut all = scratch::hold();
            let file =
                OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path).map_err(fail)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Err(Error::refused(&path, Refusal::Busy)),
                // A file system without locks: then another writer is not known.
                Err(TryLockError::Error(_)) => {}
            }
            // Another process may have finished it, and given it its final name, before it was locked.
            if is_at(&file, &path) {
                // A crash right after it was created leaves it empty.
                let is_empty = file.metadata().map_err(fail)?.len() == 0;
                if !is_empty && !begins_with(&file, &MAGIC) {
                    return Err(Error::refused(&path, Refusal::NotOutboard));
                }
                let scratch = is_empty.then(|| all.add(path.clone()));
                return Ok(Paper::Part { target: target.into(), path, file, scratch });
            }
        }
    }

    fn file(&self) -> &File {
        match self {
            Paper::Part { file, .. } => file,
            Paper::Fresh(replacement) => replacement.file(),
        }
    }

    /// The path that errors name.
    fn path(&self) -> &Path {
        match self {
            Paper::Part { path, .. } => path,
            Paper::Fresh(replacement) => replacement.target(),
        }
    }

    fn target(&self) -> &Path {
        match self {
            Paper::Part { target, .. } => target,
            Paper::Fresh(replacement) => replacement.target(),
        }
    }

    /// Gives the file its final name.
    fn place(self) -> Result<(), Error> {
        match self {
            Paper::Part { target, path, scratch, .. } => {
                let placed = scratch.map_or_else(|| fs::rename(&path, &target), |scratch| scratch.place(&target));
                placed.map_err(|error| Error::Write { path: target.into(), error })
            }
            Paper::Fresh(replacement) => replacement.place(),
        }
    }

    /// Removes it.
    fn discard(self) {
        if let Paper::Part { path, .. } = self {
            scratch::keep(&path);
            // If it stays, it is not resumed: its header is that of another file, or it is checked again.
            let _ = fs::remove_file(path);
        }
    }
}

/// An outboard being written from its first digest to its last, from time to time made safe against a crash.
#[derive(Debug)]
pub(crate) struct Draft {
    paper: Paper,
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
        let mut draft = Draft::create(Paper::part(target)?, header)?;
        let begun = draft.stored().map(|stored| PartialOutboard::open(&stored));
        // Without an identity it may be of another file, so it is begun anew.
        let same = |begun: &PartialOutboard| *begun.header() == draft.header && draft.header.identity.is_some();
        match begun?.ok().filter(|begun| same(begun) && begun.done() > 0) {
            Some(begun) => {
                draft.turn = begun.next_seal();
                draft.done = begun.done();
                draft.frontier = begun.into_frontier();
                let end = draft.end();
                draft.paper.file().set_len(end).map_err(|error| draft.fail(error))?;
            }
            None => draft.begin()?,
        }
        Ok(draft)
    }

    /// Begins with the first `done` digests of another outboard, whose frontier is still to be [trusted](Draft::trust).
    pub fn copy(target: &Path, header: Header, old: &Outboard<Stored>, done: u64) -> Result<Draft, Error> {
        let mut draft = Draft::fresh(target, header)?;
        draft.done = done;
        let bytes = done * draft.header.spec.hash().size() as u64;
        let copied = old.bytes().copy_to(HEADER, bytes, draft.paper.file()).map_err(|error| draft.fail(error))?;
        if copied != bytes {
            let how = format!("it ended after {copied} of {bytes} bytes of digests");
            return Err(Error::Changed { path: old.bytes().place().clone(), how });
        }
        Ok(draft)
    }

    /// Begins a new one, to be resumed by no other run: digests that were not read of the file must not pass for those of one that was
    /// interrupted.
    pub fn fresh(target: &Path, header: Header) -> Result<Draft, Error> {
        let mut draft = Draft::create(Paper::Fresh(Replacement::create(target)?), header)?;
        draft.begin()?;
        Ok(draft)
    }

    fn create(paper: Paper, header: Header) -> Result<Draft, Error> {
        let layout = header.layout().map_err(|error| Error::from_outboard(error, paper.path()))?;
        Ok(Draft {
            paper,
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
        if let Paper::Part { path, scratch, .. } = &mut self.paper {
            scratch.get_or_insert_with(|| scratch::hold().add(path.clone()));
        }
        let header = self.header.encode().map_err(|error| self.refuse(error))?;
        let write = || {
            self.paper.file().set_len(0)?;
            write_at(self.paper.file(), &header, 0)
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
        write_at(self.paper.file(), digest.as_bytes(), at).map_err(|error| self.fail(error))
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
        write_at(self.paper.file(), &self.buffer, at).map_err(|error| self.fail(error))?;
        self.buffer.clear();
        Ok(())
    }

    /// Makes what is done so far safe against a crash, on another thread; later, if that is still busy with the last time.
    fn checkpoint(&mut self) -> Result<(), Error> {
        self.write()?;
        let frontier = self.frontier.iter().map(|(_, digest)| *digest);
        let seal = self.header.checkpoint(self.done, frontier);
        let seal = seal.map_err(|error| self.refuse(error))?;
        self.last = Instant::now();
        if self.syncer.is_none() {
            sync_folder(self.paper.path()).map_err(|error| self.fail(error))?;
            self.syncer = Syncer::start(self.paper.path(), self.paper.file(), self.turn).ok();
        }
        match &self.syncer {
            // The thread has ended, and its error says why.
            Some(syncer) if !syncer.ask(&seal) => self.join(),
            Some(_) => Ok(()),
            // The system has no thread for it.
            None => {
                self.turn += 1;
                make_safe(self.paper.path(), self.paper.file(), &seal, self.turn - 1).map_err(|error| self.fail(error))
            }
        }
    }

    fn join(&mut self) -> Result<(), Error> {
        let ended = self.syncer.take().map_or(Ok(()), Syncer::finish);
        ended.map_err(|error| self.fail(error))
    }

    fn fail(&self, error: io::Error) -> Error {
        Error::Write { path: self.paper.path().into(), error }
    }

    fn refuse(&self, error: OutboardError) -> Error {
        Error::from_outboard(error, self.paper.path())
    }

    /// The bytes so far, to be read.
    fn stored(&self) -> Result<Stored, Error> {
        Stored::of(self.paper.path(), self.paper.file())
    }

    /// Ends the writing; all digests must be there, and `root` is made of them.
    pub fn finish(mut self, root: Digest) -> Result<Finished, Error> {
        assert_eq!(self.done, self.layout.count(), "every kept node was pushed");
        self.write()?;
        let checkpoints = self.syncer.is_some() || self.turn > 0;
        self.join()?;
        let seal = self.header.finished(root).map_err(|error| self.refuse(error))?;
        let end = || {
            if checkpoints {
                // The last checkpoint is overwritten only when the digests after it are safe too.
                self.paper.file().sync_data()?;
            }
            SEALS.iter().try_for_each(|&place| write_at(self.paper.file(), &seal, place))
        };
        end().map_err(|error| self.fail(error))?;
        Ok(Finished { paper: self.paper })
    }

    /// Removes it: the file has changed.
    pub fn discard(self) {
        self.paper.discard();
    }
}

/// An outboard that is whole, but not safe against a crash yet, and without its final name.
#[derive(Debug)]
pub(crate) struct Finished {
    paper: Paper,
}

impl Finished {
    /// The outboard, to be read.
    pub fn outboard(&self) -> Result<Outboard<Stored>, Error> {
        let stored = Stored::of(self.paper.path(), self.paper.file())?;
        Outboard::open(stored).map_err(|error| Error::from_outboard(error, self.paper.path()))
    }

    /// Returns a reader of the digests, from the first on.
    pub fn digests(&self) -> Result<impl Read, Error> {
        let fail = |error| Error::Read { path: self.paper.path().into(), offset: 0, error };
        let mut file = self.paper.file().try_clone().map_err(fail)?;
        file.seek(SeekFrom::Start(HEADER)).map_err(fail)?;
        Ok(BufReader::with_capacity(1 << 20, file))
    }

    /// Removes it.
    pub fn discard(self) {
        self.paper.discard();
    }

    /// Makes outboards safe against a crash, then gives them their final names: an outcome for each, in their order.
    pub fn commit(all: Vec<Finished>) -> Vec<Result<(), Error>> {
        /// The number of files from which one request for a whole file system costs less than one for each file: it waits for
        /// the disk once.
        const MANY: usize = 4;
        let fail = |paper: &Paper| {
            let path = paper.path().to_path_buf();
            move |error| Error::Write { path: path.into(), error }
        };
        // One file of each file system stands for all on it.
        let systems: BTreeSet<u64> = all.iter().filter_map(|one| device(one.paper.file())).collect();
        let together = cfg!(target_os = "linux") && all.len() >= MANY && systems.len() == 1;
        let synced = if together { sync_file_system(all[0].paper.file()).is_ok() } else { false };
        let place = |Finished { paper }: Finished| {
            if !synced {
                // Also where the request for all failed: which file it was, only its own request shows.
                paper.file().sync_all().map_err(fail(&paper))?;
            }
            let target = paper.target().to_path_buf();
            paper.place()?;
            Ok(target)
        };
        let placed: Vec<Result<PathBuf, Error>> = all.into_iter().map(place).collect();
        let mut safe = BTreeSet::new();
        let mut keep_name = |target: PathBuf| match safe.contains(folder(&target)) {
            true => Ok(()),
            false => {
                sync_folder(&target).map_err(|error| Error::Write { path: target.clone().into(), error })?;
                safe.insert(folder(&target).to_path_buf());
                Ok(())
            }
        };
        placed.into_iter().map(|placed| placed.and_then(&mut keep_name)).collect()
    }
}

/// The device that a file is on.
fn device(file: &File) -> Option<u64> {
    file.metadata().ok().map(|metadata| Stamp::of(&metadata).id.0)
}

/// A thread that makes checkpoints, so that no hashing thread waits for the disk.
#[derive(Debug)]
struct Syncer {
    seals: SyncSender<Vec<u8>>,
    thread: JoinHandle<io::Result<()>>,
}

impl Syncer {
    fn start(path: &Path, file: &File, turn: usize) -> io::Result<Syncer> {
        let (path, file) = (path.to_path_buf(), file.try_clone()?);
        let (seals, asked) = mpsc::sync_channel::<Vec<u8>>(1);
        let work = move || (turn..).zip(asked).try_for_each(|(turn, seal)| make_safe(&path, &file, &seal, turn));
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

/// Writes a checkpoint: first the digests that it vouches for, then the seal itself. From then on there is something to resume.
fn make_safe(path: &Path, file: &File, seal: &[u8], turn: usize) -> io::Result<()> {
    file.sync_data()?;
    scratch::keep(path);
    write_at(file, seal, SEALS[turn % SEALS.len()])?;
    file.sync_data()
}
