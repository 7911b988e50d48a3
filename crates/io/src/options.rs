//! Options for reading, and the progress.

use crate::objects::Objects;
use crate::{Error, Input};
use mksum::accelerator::Accelerator;
use std::num::NonZero;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::thread::{self, available_parallelism};
use std::time::{Duration, Instant};

/// Options for reading inputs.
#[derive(Clone, Debug)]
pub struct Options {
    /// The threads that read and hash one input: 1 or more.
    pub threads: usize,
    /// Through the page cache or around it.
    pub mode: Mode,
    /// A limit on the bytes read in a second.
    pub throttle: Option<Arc<Throttle>>,
    /// The progress.
    pub meter: Arc<Meter>,
    /// The device that computes large subtrees of files where a format allows it.
    pub accelerator: Option<Arc<dyn Accelerator>>,
    /// Ends the reading early.
    pub stop: Stop,
    /// The stores whose objects are inputs too, by their URLs; without them, a URL is an error.
    pub objects: Option<Arc<dyn Objects>>,
    /// Whether an input that is a named pipe or a terminal is read, which waits for its writer; else it is an error. The
    /// standard input is always read.
    pub pipes: bool,
}

impl Options {
    /// The default options: as many threads as this process may use.
    pub fn new() -> Self {
        Options {
            threads: available_threads(),
            mode: Mode::Auto,
            throttle: None,
            meter: Arc::default(),
            accelerator: None,
            stop: Stop::default(),
            objects: None,
            pipes: true,
        }
    }

    /// These options, to read files through the page cache, so that the kernel reads them ahead and the next reader finds them there.
    pub fn through_cache(&self) -> Options {
        Options { mode: Mode::Buffered, ..self.clone() }
    }
}

/// The number of threads that this process may use. The system is asked once, since its answer takes as long as a small file.
pub fn available_threads() -> usize {
    static THREADS: LazyLock<usize> = LazyLock::new(|| available_parallelism().map_or(1, NonZero::get));
    *THREADS
}

impl Default for Options {
    fn default() -> Self {
        Options::new()
    }
}

/// Ends work early, from any thread: from then on each read of a file fails with [`Error::Stopped`](crate::Error::Stopped).
///
/// A clone stops the same work.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Ends the work. It cannot be resumed.
    pub fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the work is to end.
    pub fn is_stopped(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// An error about the input if the work is to end.
    pub(crate) fn check(&self, input: &Input) -> Result<(), Error> {
        if self.is_stopped() { Err(Error::Stopped { path: input.clone() }) } else { Ok(()) }
    }
}

/// Through the page cache or around it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Cached pages from the page cache; the rest of a large file around it, so that no other pages are evicted.
    #[default]
    Auto,
    /// Always through the page cache.
    Buffered,
    /// Always around it, where the file system can.
    Direct,
}

/// The progress over all inputs: read it from another thread to show it.
#[derive(Debug, Default)]
pub struct Meter {
    done: AtomicU64,
    skipped: AtomicU64,
    expected: AtomicU64,
    files: AtomicU64,
    listed: AtomicU64,
    name: Mutex<Option<Input>>,
}

impl Meter {
    /// The bytes that were read and hashed so far.
    pub fn bytes(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    /// The bytes that need not be read: they are unchanged, or an earlier run has hashed them.
    pub fn skipped(&self) -> u64 {
        self.skipped.load(Ordering::Relaxed)
    }

    /// The bytes that are expected in all, as far as they are known.
    pub fn expected(&self) -> u64 {
        self.expected.load(Ordering::Relaxed)
    }

    /// The inputs that are done.
    pub fn files(&self) -> u64 {
        self.files.load(Ordering::Relaxed)
    }

    /// The directory entries that were listed to be compared with a catalogue.
    pub fn listed(&self) -> u64 {
        self.listed.load(Ordering::Relaxed)
    }

    /// The input that was opened last.
    pub fn name(&self) -> Option<Input> {
        self.lock().clone()
    }

    /// Notes bytes that were read.
    pub fn add(&self, bytes: u64) {
        self.done.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Notes that of the bytes that were read, so many are read twice.
    pub(crate) fn take_back(&self, bytes: u64) {
        self.done.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Notes bytes that need not be read.
    pub fn skip(&self, bytes: u64) {
        self.skipped.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Notes bytes that will be read.
    pub fn expect(&self, bytes: u64) {
        self.expected.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Notes that an input is done.
    pub fn finish_file(&self) {
        self.files.fetch_add(1, Ordering::Relaxed);
    }

    /// Notes that a directory entry was listed.
    pub fn list(&self) {
        self.listed.fetch_add(1, Ordering::Relaxed);
    }

    /// Notes that an input is begun.
    pub(crate) fn begin(&self, input: &Input) {
        *self.lock() = Some(input.clone());
    }

    fn lock(&self) -> MutexGuard<'_, Option<Input>> {
        self.name.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A limit on the bytes read in a second, shared by all threads.
#[derive(Debug)]
pub struct Throttle {
    /// The limit, in bytes a second.
    rate: u64,
    /// The time at which the bytes read so far are paid for.
    paid: Mutex<Instant>,
}

impl Throttle {
    /// The bytes that may be read at once after a pause, as the time they take.
    const BURST: Duration = Duration::from_millis(100);

    /// A limit of `rate` bytes a second: 1 or more.
    pub fn new(rate: u64) -> Self {
        Throttle { rate: rate.max(1), paid: Mutex::new(Instant::now()) }
    }

    /// Waits until `bytes` more may be read.
    pub fn wait(&self, bytes: u64) {
        let cost = Duration::from_secs_f64(bytes as f64 / self.rate as f64);
        let now = Instant::now();
        let mut paid = self.paid.lock().unwrap_or_else(PoisonError::into_inner);
        let until = (*paid).max(now.checked_sub(Self::BURST).unwrap_or(now)) + cost;
        *paid = until;
        drop(paid);
        thread::sleep(until.saturating_duration_since(now));
    }
}
