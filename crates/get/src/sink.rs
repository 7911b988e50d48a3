//! The place of verified bytes: nothing else calls it but the judge.

use mksum_io::{Error, Input, Partial};
use std::collections::BTreeMap;
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

/// The place of verified bytes.
pub enum Sink {
    /// A file, written in any order.
    File(Partial),
    /// A writer, which gets them in order.
    Ordered(Ordered),
}

/// A writer, and the verified bytes that wait for those before them.
pub struct Ordered {
    out: Arc<Mutex<dyn Write + Send>>,
    next: u64,
    waiting: BTreeMap<u64, Vec<u8>>,
}

impl Ordered {
    /// The bytes that may wait, at most, but for one request.
    const AHEAD: u64 = 32 << 20;

    pub fn new(out: Arc<Mutex<dyn Write + Send>>) -> Ordered {
        Ordered { out, next: 0, waiting: BTreeMap::new() }
    }

    fn put(&mut self, start: u64, bytes: &[u8]) -> Result<(), Error> {
        if start != self.next {
            self.waiting.insert(start, bytes.to_vec());
            return Ok(());
        }
        self.write(bytes)?;
        while let Some(bytes) = self.waiting.remove(&self.next) {
            self.write(&bytes)?;
        }
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        let written = out.write_all(bytes).and_then(|()| out.flush());
        self.next += bytes.len() as u64;
        written.map_err(|error| Error::Write { path: Input::Stdin, error })
    }
}

impl Sink {
    /// Writes verified bytes to their place.
    ///
    /// # Errors
    /// If the system cannot.
    pub fn put(&mut self, start: u64, bytes: &[u8]) -> Result<(), Error> {
        match self {
            Sink::File(partial) => partial.write_at(bytes, start),
            Sink::Ordered(ordered) => ordered.put(start, bytes),
        }
    }

    /// The offset before which ranges may begin that are fetched now.
    pub fn limit(&self) -> u64 {
        match self {
            Sink::File(_) => u64::MAX,
            Sink::Ordered(ordered) => ordered.next.saturating_add(Ordered::AHEAD),
        }
    }
}
