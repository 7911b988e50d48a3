//! How inputs are read.

use mksum::accelerator::Accelerator;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How inputs are read, and who is told.
#[derive(Clone, Debug)]
pub struct Options {
    /// The threads that read and hash one input: 1 or more.
    pub threads: usize,
    /// Through the page cache or around it.
    pub mode: Mode,
    /// A bound on reading, shared by all who hold it.
    pub throttle: Option<Arc<Throttle>>,
    /// Is told the bytes done.
    pub meter: Arc<Meter>,
    /// The device that computes large subtrees of files where a format allows it.
    pub accelerator: Option<Arc<dyn Accelerator>>,
}

impl Options {
    /// As many threads as this process may use.
    pub fn new() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
        Options { threads, mode: Mode::Auto, throttle: None, meter: Arc::default(), accelerator: None }
    }
}

impl Default for Options {
    fn default() -> Self {
        Options::new()
    }
}

/// Through the page cache or around it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// What is in the page cache from there; the rest of a large file around it, so that it evicts nobody's pages.
    #[default]
    Auto,
    /// Always through the page cache.
    Buffered,
    /// Always around it, where the file system can.
    Direct,
}

/// The bytes done, over all inputs: read it from another thread to show progress.
#[derive(Debug, Default)]
pub struct Meter(AtomicU64);

impl Meter {
    /// The bytes hashed so far.
    pub fn bytes(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    pub(crate) fn add(&self, bytes: u64) {
        self.0.fetch_add(bytes, Ordering::Relaxed);
    }
}

/// A bound on the bytes read in a second, shared by all who read.
#[derive(Debug)]
pub struct Throttle {
    /// In bytes a second.
    rate: u64,
    /// When what was read so far is paid for.
    paid: Mutex<Instant>,
}

impl Throttle {
    /// What may be read at once after a pause.
    const BURST: Duration = Duration::from_millis(100);

    /// At most `rate` bytes a second: 1 or more.
    pub fn new(rate: u64) -> Self {
        Throttle { rate: rate.max(1), paid: Mutex::new(Instant::now()) }
    }

    /// Waits until `bytes` more may be read.
    pub(crate) fn wait(&self, bytes: u64) {
        let cost = Duration::from_secs_f64(bytes as f64 / self.rate as f64);
        let now = Instant::now();
        let mut paid = self.paid.lock().unwrap_or_else(PoisonError::into_inner);
        let until = (*paid).max(now.checked_sub(Self::BURST).unwrap_or(now)) + cost;
        *paid = until;
        drop(paid);
        thread::sleep(until.saturating_duration_since(now));
    }
}
