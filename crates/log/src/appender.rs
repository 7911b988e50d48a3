//! Appends by many threads, which share checkpoints: a wait for the disk is for all entries that came meanwhile.

use crate::error::Error;
use crate::log::Log;
use crate::longest::LONGEST_ENTRY;
use crate::unique::Known;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// The bytes of waiting entries, with [`OVERHEAD`] each, above which a thread that adds more waits for a checkpoint.
const MOST: usize = 32 << 20;
/// The memory that an entry takes beside its bytes.
const OVERHEAD: usize = 64;

/// A log that many threads append to. One of the threads that wait signs a checkpoint for all of them.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("ledger");
/// use mksum_log::{Appender, Log};
/// use std::time::Duration;
///
/// let appender = Appender::new(Log::create(&path, "example.com/ledger")?).linger(Duration::from_millis(5));
/// std::thread::scope(|scope| {
///     for number in 0..4 {
///         let appender = &appender;
///         scope.spawn(move || appender.append([format!("entry of thread {number}")]).expect("a disk that works"));
///     }
/// });
/// assert_eq!(appender.into_log().size(), 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Appender {
    queue: Mutex<Queue>,
    /// Notified at the end of checkpoints, in turn one and the other: a thread waits at that of the checkpoint that covers its entries, and is
    /// not woken by the one before.
    ended: [Condvar; 2],
    log: Mutex<Log>,
    linger: Duration,
}

#[derive(Debug)]
struct Queue {
    /// The entries that are not in the log yet.
    entries: Vec<Vec<u8>>,
    /// The bytes of the queued entries, with [`OVERHEAD`] each.
    len: usize,
    /// The index of the next entry.
    next: u64,
    /// The entries that a checkpoint covers.
    signed: u64,
    /// The entries that the checkpoint that is being signed will cover.
    taken: u64,
    /// The number of checkpoints for which entries were taken.
    turn: usize,
    /// Whether a thread is about to sign, or signs, a checkpoint.
    has_signer: bool,
    failed: Option<String>,
    known: Option<Known>,
}

impl Appender {
    /// An appender that signs a checkpoint as soon as the last one is on the disk.
    pub fn new(log: Log) -> Appender {
        let queue = Queue {
            entries: Vec::new(),
            len: 0,
            next: log.size(),
            signed: log.signed_size(),
            taken: log.signed_size(),
            turn: 0,
            has_signer: false,
            failed: None,
            known: None,
        };
        Appender { queue: queue.into(), ended: Default::default(), log: log.into(), linger: Duration::ZERO }
    }

    /// Waits for further entries for this long before each checkpoint.
    #[must_use]
    pub fn linger(mut self, linger: Duration) -> Appender {
        self.linger = linger;
        self
    }

    /// Appends no entry that the log has already: its index is the first one that it has.
    #[must_use]
    pub fn unique(mut self, known: Known) -> Appender {
        self.queue.get_mut().unwrap_or_else(PoisonError::into_inner).known = Some(known);
        self
    }

    /// Appends entries of at most 65,535 bytes each, waits until a checkpoint covers them, and returns their indices.
    ///
    /// # Errors
    /// If an entry is too long: then none of them is appended. If a file cannot be written, for this and all later calls.
    pub fn append<E: Into<Vec<u8>>>(&self, entries: impl IntoIterator<Item = E>) -> Result<Vec<u64>, Error> {
        let (queue, indices) = self.enqueue(entries)?;
        if let Some(last) = indices.iter().max() {
            self.wait_until(queue, last + 1)?;
        }
        Ok(indices)
    }

    /// Hands over entries, and returns the indices that they get. They are in the log once [`wait`](Appender::wait) returns.
    ///
    /// # Errors
    /// As [`append`](Appender::append).
    pub fn add<E: Into<Vec<u8>>>(&self, entries: impl IntoIterator<Item = E>) -> Result<Vec<u64>, Error> {
        self.enqueue(entries).map(|(_, indices)| indices)
    }

    fn enqueue<E: Into<Vec<u8>>>(
        &self,
        entries: impl IntoIterator<Item = E>,
    ) -> Result<(MutexGuard<'_, Queue>, Vec<u64>), Error> {
        let entries: Vec<Vec<u8>> = entries.into_iter().map(Into::into).collect();
        for (entry, number) in entries.iter().zip(1..) {
            if entry.len() > LONGEST_ENTRY {
                return Err(Error::TooLong { number, len: entry.len() as u64 });
            }
        }
        let mut queue = self.lock();
        while queue.len > MOST {
            // Whichever checkpoint ends first makes room: this thread would not sign if it were the one that is woken for that.
            let first = if queue.taken > queue.signed { queue.taken } else { queue.next };
            queue = self.proceed(queue, first)?;
        }
        queue.check()?;
        let mut indices = Vec::with_capacity(entries.len());
        for entry in entries {
            let next = queue.next;
            let index = queue.known.as_mut().map_or(next, |known| known.index(&entry, next));
            if index == next {
                queue.next += 1;
                queue.len += entry.len() + OVERHEAD;
                queue.entries.push(entry);
            }
            indices.push(index);
        }
        Ok((queue, indices))
    }

    /// Waits until a signed and published checkpoint covers the first `size` entries.
    ///
    /// # Errors
    /// If a file cannot be written, or so many entries were never added.
    pub fn wait(&self, size: u64) -> Result<(), Error> {
        let queue = self.lock();
        if size > queue.next {
            return Err(Error::Refused(format!("{} entries were added: there is no checkpoint of {size}", queue.next)));
        }
        self.wait_until(queue, size)
    }

    fn wait_until<'a>(&'a self, mut queue: MutexGuard<'a, Queue>, size: u64) -> Result<(), Error> {
        while queue.signed < size {
            queue = self.proceed(queue, size)?;
        }
        Ok(())
    }

    /// The log, with entries that were added and not waited for left out.
    pub fn into_log(self) -> Log {
        self.log.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the end of the checkpoint that covers `size` entries, if another thread signs that one or the one before; if none does,
    /// signs one. A thread that waited for the one before may find that nobody signs.
    fn proceed<'a>(&'a self, mut queue: MutexGuard<'a, Queue>, size: u64) -> Result<MutexGuard<'a, Queue>, Error> {
        queue.check()?;
        if queue.has_signer {
            let turn = queue.turn + usize::from(size > queue.taken);
            return Ok(self.ended[turn % 2].wait(queue).unwrap_or_else(PoisonError::into_inner));
        }
        queue.has_signer = true;
        drop(queue);
        let mut signing = Signing { appender: self, outcome: Err("the thread that signed it panicked".into()) };
        if !self.linger.is_zero() {
            thread::sleep(self.linger);
        }
        let entries = {
            let mut queue = self.lock();
            queue.len = 0;
            queue.taken = queue.next;
            queue.turn += 1;
            std::mem::take(&mut queue.entries)
        };
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        let signed = log.append(entries).and_then(|_| log.checkpoint().map(crate::Checkpoint::size));
        signing.outcome = signed.as_ref().copied().map_err(ToString::to_string);
        drop((log, signing));
        signed.map(|_| self.lock())
    }
}

impl Queue {
    fn check(&self) -> Result<(), Error> {
        match &self.failed {
            None => Ok(()),
            Some(why) => Err(Error::Refused(format!("a checkpoint could not be signed: {why}: open the log again"))),
        }
    }
}

/// A checkpoint that a thread signs: at its end, however it comes, the others go on.
struct Signing<'a> {
    appender: &'a Appender,
    outcome: Result<u64, String>,
}

impl Drop for Signing<'_> {
    fn drop(&mut self) {
        let mut queue = self.appender.lock();
        queue.has_signer = false;
        match &self.outcome {
            Ok(size) => queue.signed = *size,
            Err(why) => queue.failed = Some(why.clone()),
        }
        let (this, next) = (queue.turn % 2, (queue.turn + 1) % 2);
        self.appender.ended[this].notify_all();
        // One of those that came meanwhile signs for all of them.
        match queue.failed {
            None => self.appender.ended[next].notify_one(),
            Some(_) => self.appender.ended[next].notify_all(),
        }
    }
}
