//! One thread's files: each has a row of memory and a slot among the lanes of each of its hashes.

use super::begin::{Answer, Begun, Outcome, begin};
use super::queue::Numbered;
use crate::platform::{advise_done, open_files};
use crate::{Error, File, Mode, Options, Roots};
use mksum::ordered::{Feed, Ticket};
use mksum::{Digest, Hash, LeafHasher, Messages, Piece, Role, Slots};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Small files that a thread hashes before it hands over their results: a wake for each would cost as much as a file does.
pub const CLAIM: usize = 16;

/// The data that the benches of all threads share.
pub struct Shared {
    /// The options for a file that one thread reads.
    options: Options,
    threads: usize,
    /// Whether large files are to leave the page cache as it was.
    spares_cache: bool,
    /// The jobs that wait, as far as they are known.
    pub waiting: AtomicUsize,
    /// The jobs that the benches took and have no answer to.
    under_way: AtomicUsize,
    /// The files that are open on all benches, and how many of them the system allows.
    open: AtomicUsize,
    most: usize,
}

impl Shared {
    pub fn new(options: &Options) -> Self {
        let limit = open_files();
        Shared {
            // Slices of many files are read in turn: the system reads ahead in each, as it does not around its cache.
            options: Options {
                threads: 1,
                mode: if options.mode == Mode::Auto { Mode::Buffered } else { options.mode },
                ..options.clone()
            },
            threads: options.threads,
            spares_cache: options.mode == Mode::Auto,
            waiting: AtomicUsize::new(0),
            under_way: AtomicUsize::new(0),
            open: AtomicUsize::new(0),
            // Some are needed for lists, folders and output.
            most: limit.saturating_sub(8.max(limit / 16)).max(1),
        }
    }
}

impl Shared {
    fn deliver(&self, ticket: Ticket, answer: Answer, feed: &mut Feed<'_, Numbered, Answer>) {
        self.under_way.fetch_sub(1, Ordering::Relaxed);
        feed.deliver(ticket, answer);
    }
}

/// The files that a thread hashes side by side.
pub struct Bench<'a> {
    shared: &'a Shared,
    rows: Vec<Row>,
    /// The slots of each hash that any file had.
    sets: Vec<Slots>,
    /// Jobs that were taken and not begun.
    taken: VecDeque<(Ticket, Numbered)>,
    /// The number of times that the first of them was tried again because too many files were open.
    tries: u32,
    /// The number of rows with a file.
    busy: usize,
}

/// The memory for the bytes of one file at a time.
struct Row {
    memory: Vec<u8>,
    file: Option<Under>,
}

/// A file that is being hashed.
struct Under {
    ticket: Ticket,
    job: Numbered,
    file: Box<File>,
    begin: Instant,
    /// The message's bytes after its prefix: the file's, then zeros.
    len: u64,
    /// The number of bytes that were read, and how many of them lie in the row.
    read: u64,
    filled: usize,
    chains: Vec<Chain>,
    /// Whether the page cache has little of it, so that what was read need not stay there.
    cold: bool,
}

/// A file in one format.
struct Chain {
    state: State,
    /// The bytes of the row that were hashed.
    taken: usize,
    /// Whether all bytes that were read are hashed; of the last ones also their padding.
    used_up: bool,
}

enum State {
    /// The row's slot among these.
    Slot(usize),
    /// The state of a hash without slots.
    Alone(LeafHasher),
}

impl Row {
    /// The bytes that are read of a file at a time: with those of all other rows, they fit into the second cache.
    const LEN: usize = 32 << 10;
    /// Fewer bytes are not worth a read, if there are more.
    const SHORTEST: usize = 4 << 10;
    /// A cache line: the rows of one length would all meet in the same few sets of the caches.
    const SKEW: usize = 64;

    fn new() -> Self {
        Row { memory: vec![0; Self::LEN + Self::SKEW * Bench::ROWS], file: None }
    }
}

impl<'a> Bench<'a> {
    /// The most files at a time.
    const ROWS: usize = 64;
    /// The number of tries to open a file when too many are open, a millisecond apart.
    const TRIES: u32 = 1000;

    pub fn new(shared: &'a Shared) -> Self {
        Bench { shared, rows: Vec::new(), sets: Vec::new(), taken: VecDeque::new(), tries: 0, busy: 0 }
    }

    /// Begins as many files as there is room for, hashes some bytes of all of them, and delivers those that end.
    pub fn turn(&mut self, feed: &mut Feed<'_, Numbered, Answer>) {
        self.fill(feed);
        if self.busy == 0 {
            return;
        }
        self.read(feed);
        self.hash();
        self.finish(feed);
    }

    /// The number of files that this thread should have: as many as the lanes of its hashes, but no more than its share.
    fn width(&self) -> usize {
        let lanes = self.sets.iter().map(|set| set.hash().lanes()).max().unwrap_or(1);
        let known = self.shared.waiting.load(Ordering::Relaxed) + self.shared.under_way.load(Ordering::Relaxed);
        lanes.min(Self::ROWS).min(known.div_ceil(self.shared.threads)).max(1)
    }

    /// Takes jobs until all rows that this thread should have are in use.
    fn fill(&mut self, feed: &mut Feed<'_, Numbered, Answer>) {
        let mut small = 0;
        while small < CLAIM && self.busy < self.width() {
            if self.busy > 0 && self.shared.open.load(Ordering::Relaxed) >= self.shared.most {
                return;
            }
            if self.taken.is_empty() {
                self.take(feed);
            }
            let Some((ticket, mut job)) = self.taken.pop_front() else { return };
            match begin(&mut job.job, &self.shared.options) {
                Begun::Chain(file) => self.place(ticket, job, file),
                Begun::Ended(outcome) => {
                    self.shared.deliver(ticket, Answer { job, outcome }, feed);
                    small += 1;
                }
                Begun::NoRoom(error) if self.busy == 0 && self.tries == Self::TRIES => {
                    self.tries = 0;
                    let outcome = Outcome::Done(Err(error), Duration::ZERO);
                    self.shared.deliver(ticket, Answer { job, outcome }, feed);
                    small += 1;
                }
                Begun::NoRoom(_) => {
                    self.taken.push_front((ticket, job));
                    if self.busy == 0 {
                        // Other threads have them, and will close them; or other programs.
                        self.tries += (self.shared.open.load(Ordering::Relaxed) == 0) as u32;
                        thread::sleep(Duration::from_millis(1));
                    }
                    return;
                }
            }
        }
    }

    /// Takes some jobs at once, since threads wait for each other at every turn: never more than half of this thread's share,
    /// so that the last ones are spread evenly.
    fn take(&mut self, feed: &mut Feed<'_, Numbered, Answer>) {
        let share = self.shared.waiting.load(Ordering::Relaxed) / (2 * self.shared.threads);
        let most = share.min(self.width() - self.busy).clamp(1, CLAIM);
        feed.take_each(most, |ticket, job| self.taken.push_back((ticket, job)));
        self.shared.under_way.fetch_add(self.taken.len(), Ordering::Relaxed);
    }

    /// Gives a file a row.
    fn place(&mut self, ticket: Ticket, job: Numbered, file: Box<File>) {
        let free = self.rows.iter().position(|row| row.file.is_none());
        let row = free.unwrap_or_else(|| {
            self.rows.push(Row::new());
            self.rows.len() - 1
        });
        let (mut len, mut chains) = (file.len(), Vec::<Chain>::with_capacity(job.job.specs.len()));
        for spec in &job.job.specs {
            let message = spec.single_leaf(file.len()).expect("a single leaf");
            let state = match self.set(message.hash, &chains) {
                Some(set) => {
                    len = file.len() + message.zeros;
                    self.sets[set].begin(row, &message.prefix);
                    State::Slot(set)
                }
                None => State::Alone(spec.leaf_hasher(&[spec.shape().root(file.len())])),
            };
            chains.push(Chain { state, taken: 0, used_up: true });
        }
        self.shared.open.fetch_add(1, Ordering::Relaxed);
        self.busy += 1;
        let (begin, cold) = (Instant::now(), self.shared.spares_cache && file.reader.is_large_and_uncached());
        self.rows[row].file = Some(Under { ticket, job, file, begin, len, read: 0, filled: 0, chains, cold });
    }

    /// The slots for a hash, other than those that a file's `chains` have; `None` if the hash has none.
    fn set(&mut self, hash: Hash, chains: &[Chain]) -> Option<usize> {
        let is_free = |set: &usize| self.sets[*set].hash() == hash && !chains.iter().any(|chain| chain.is_in(*set));
        if let Some(set) = (0..self.sets.len()).find(is_free) {
            return Some(set);
        }
        self.sets.push(Slots::new(hash, Self::ROWS)?);
        Some(self.sets.len() - 1)
    }

    /// Reads more of each file whose bytes are all hashed. One that cannot be read is given up; the others go on.
    fn read(&mut self, feed: &mut Feed<'_, Numbered, Answer>) {
        // As many bytes as others still have, so that all rows are used up together: then the lanes are not stopped often.
        let left = self.rows.iter().flat_map(|row| &row.file).map(Under::left).max();
        let len = left.filter(|&left| left >= Row::SHORTEST).unwrap_or(Row::LEN);
        for (number, row) in self.rows.iter_mut().enumerate() {
            let Some(under) = &mut row.file else { continue };
            if !under.chains.iter().all(|chain| chain.used_up) {
                continue;
            }
            let place = &mut row.memory[number * Row::SKEW..][..len];
            if let Err(error) = under.fill(place) {
                let under = row.file.take().expect("the file");
                self.busy -= 1;
                under.deliver(Err(error), self.shared, feed);
            }
        }
    }

    /// Hashes side by side what the files have in common.
    fn hash(&mut self) {
        for (number, set) in self.sets.iter_mut().enumerate() {
            let mut pieces: Vec<Piece<'_>> = Vec::with_capacity(self.rows.len());
            for (slot, row) in self.rows.iter().enumerate() {
                let Some(under) = &row.file else { continue };
                for chain in under.chains.iter().filter(|chain| chain.is_in(number) && !chain.used_up) {
                    let bytes = &row.memory[slot * Row::SKEW..][chain.taken..under.filled];
                    pieces.push(Piece { slot, bytes, last: under.read == under.len });
                }
            }
            set.advance(&mut pieces);
            let progress: Vec<_> =
                pieces.iter().map(|piece| (piece.slot, piece.bytes.len(), set.is_used_up(piece))).collect();
            for (slot, left, used_up) in progress {
                let under = self.rows[slot].file.as_mut().expect("the piece's file");
                let filled = under.filled;
                for chain in under.chains.iter_mut().filter(|chain| chain.is_in(number)) {
                    (chain.taken, chain.used_up) = (filled - left, used_up);
                }
            }
        }
        for (slot, row) in self.rows.iter_mut().enumerate() {
            let Some(under) = &mut row.file else { continue };
            for chain in &mut under.chains {
                if let State::Alone(hasher) = &mut chain.state
                    && !chain.used_up
                {
                    hasher.update(Messages::one(&row.memory[slot * Row::SKEW..][..under.filled]));
                    chain.used_up = true;
                }
            }
        }
    }

    /// Delivers the files whose last bytes are hashed.
    fn finish(&mut self, feed: &mut Feed<'_, Numbered, Answer>) {
        for (slot, row) in self.rows.iter_mut().enumerate() {
            let ends = |under: &mut Under| under.read == under.len && under.chains.iter().all(|chain| chain.used_up);
            let Some(mut under) = row.file.take_if(ends) else { continue };
            self.busy -= 1;
            let (len, chains) = (under.file.len(), std::mem::take(&mut under.chains));
            let roots = under.job.job.specs.iter().zip(chains).map(|(spec, chain)| {
                let top = match chain.state {
                    State::Slot(set) => {
                        let mut digest = [0; Hash::MAX_SIZE];
                        let digest = &mut digest[..spec.hash().size()];
                        self.sets[set].finish(slot, digest);
                        Digest::new(digest)
                    }
                    State::Alone(hasher) => hasher.finish_one(Role::Root),
                };
                Ok(spec.seal(top, len))
            });
            let roots = Ok(roots.collect());
            under.deliver(roots, self.shared, feed);
        }
    }
}

impl Under {
    /// The bytes in the row that some chain has not hashed.
    fn left(&self) -> usize {
        self.chains.iter().filter(|chain| !chain.used_up).map(|chain| self.filled - chain.taken).max().unwrap_or(0)
    }

    /// Reads the next bytes into `place`.
    fn fill(&mut self, place: &mut [u8]) -> Result<(), Error> {
        let most = (self.len - self.read).min(place.len() as u64) as usize;
        let place = &mut place[..most];
        let stored = (self.file.len().saturating_sub(self.read)).min(most as u64) as usize;
        let (bytes, zeros) = place.split_at_mut(stored);
        self.file.reader.read_through(self.read, bytes)?;
        zeros.fill(0);
        self.read += most as u64;
        self.filled = most;
        if self.cold {
            self.forget();
        }
        for chain in &mut self.chains {
            (chain.taken, chain.used_up) = (0, false);
        }
        Ok(())
    }

    /// Tells the system now and then that what was read is not needed again.
    fn forget(&self) {
        const STEP: u64 = 4 << 20;
        if self.read / STEP > (self.read - self.filled as u64) / STEP || self.read == self.len {
            let start = (self.read - 1) / STEP * STEP;
            if let Some(file) = self.file.reader.medium.disk() {
                advise_done(file, self.file.reader.base + start.saturating_sub(STEP), 2 * STEP);
            }
        }
    }

    /// Hands over the roots, if the file is still what it was.
    fn deliver(self, roots: Result<Roots, Error>, shared: &Shared, feed: &mut Feed<'_, Numbered, Answer>) {
        let roots = roots.and_then(|roots| self.file.finish().map(|()| roots));
        shared.open.fetch_sub(1, Ordering::Relaxed);
        let outcome = Outcome::Done(roots, self.begin.elapsed());
        shared.deliver(self.ticket, Answer { job: self.job, outcome }, feed);
    }
}

impl Chain {
    fn is_in(&self, set: usize) -> bool {
        matches!(self.state, State::Slot(own) if own == set)
    }
}
