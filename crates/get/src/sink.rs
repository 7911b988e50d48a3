//! The place of verified bytes: nothing else calls it but the judge.

use crate::also::{Also, Sums};
use crate::error;
use mksum_io::{Error, Input, Partial};
use std::collections::BTreeMap;
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

/// The place of verified bytes: a file that is written in any order, or what needs them in order; or both.
#[derive(Default)]
pub struct Sink {
    /// The file.
    pub file: Option<Partial>,
    ordered: Option<Ordered>,
    /// Buffers that are free. A fresh one costs the system's time for each of its pages.
    pub spare: Vec<Vec<u8>>,
}

/// What gets the bytes in order, and the verified bytes that wait for those before them.
#[derive(Default)]
struct Ordered {
    out: Option<Arc<Mutex<dyn Write + Send>>>,
    also: Option<Also>,
    next: u64,
    waiting: BTreeMap<u64, Vec<u8>>,
}

impl Ordered {
    /// The bytes that may wait, at most, but for one request.
    const AHEAD: u64 = 16 << 20;

    /// Takes bytes that are the next ones, and those after them that have waited. The buffers of these are free then.
    fn put(&mut self, bytes: &[u8], spare: &mut Vec<Vec<u8>>) -> Result<(), Error> {
        self.write(bytes)?;
        while let Some(bytes) = self.waiting.remove(&self.next) {
            self.write(&bytes)?;
            spare.push(bytes);
        }
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.next += bytes.len() as u64;
        if let Some(also) = &mut self.also {
            also.put(bytes);
        }
        let Some(out) = &self.out else { return Ok(()) };
        let mut out = out.lock().unwrap_or_else(PoisonError::into_inner);
        let written = out.write_all(bytes).and_then(|()| out.flush());
        written.map_err(|error| Error::Write { path: Input::Stdin, error })
    }
}

impl Sink {
    /// A file.
    pub fn of_file(file: Partial) -> Sink {
        Sink { file: Some(file), ..Sink::default() }
    }

    /// A writer, which gets all bytes in order.
    pub fn of_writer(out: Arc<Mutex<dyn Write + Send>>) -> Sink {
        Sink { ordered: Some(Ordered { out: Some(out), ..Ordered::default() }), ..Sink::default() }
    }

    /// Has other sums get all bytes in order. Nothing was put before.
    pub fn add(&mut self, also: Also) {
        self.ordered.get_or_insert_default().also = Some(also);
    }

    /// Writes verified bytes to their place.
    ///
    /// # Errors
    /// If the system cannot.
    pub fn put(&mut self, start: u64, bytes: &[u8]) -> Result<(), Error> {
        if let Some(file) = &self.file {
            file.write_at(bytes, start)?;
        }
        match &mut self.ordered {
            Some(ordered) if ordered.next == start => ordered.put(bytes, &mut self.spare)?,
            Some(ordered) => drop(ordered.waiting.insert(start, bytes.to_vec())),
            None => {}
        }
        Ok(())
    }

    /// Writes a buffer of verified bytes to their place, without a copy if they wait for those before them.
    ///
    /// # Errors
    /// As [`Sink::put`].
    pub fn put_buffer(&mut self, start: u64, bytes: Vec<u8>) -> Result<(), Error> {
        match &mut self.ordered {
            Some(ordered) if ordered.next != start => {
                if let Some(file) = &self.file {
                    file.write_at(&bytes, start)?;
                }
                ordered.waiting.insert(start, bytes);
                Ok(())
            }
            _ => {
                let put = self.put(start, &bytes);
                self.spare.push(bytes);
                put
            }
        }
    }

    /// The bytes that it holds at most before it has those that come first.
    pub fn room(&self) -> u64 {
        self.ordered.as_ref().map_or(u64::MAX, |_| Ordered::AHEAD)
    }

    /// The offset before which ranges may begin that are fetched now.
    pub fn limit(&self) -> u64 {
        self.ordered.as_ref().map_or(u64::MAX, |ordered| ordered.next.saturating_add(Ordered::AHEAD))
    }

    /// Takes the bytes in any order from now on, if all that needs them in order can be read from the file later. Returns whether it has
    /// given something up.
    pub fn relax(&mut self) -> bool {
        self.file.is_some() && self.ordered.take().is_some()
    }

    /// The other sums, once all bytes were put; `None` if the file has to be read for them.
    ///
    /// # Errors
    /// If the work was stopped.
    pub fn sums(&mut self) -> Result<Option<Sums>, error::Error> {
        self.ordered.take().and_then(|ordered| ordered.also).map(Also::finish).transpose()
    }
}
