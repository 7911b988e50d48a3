//! An object whose bytes are fetched ahead of its readers.

use crate::failure::Fault;
use crate::object::{Source, Version};
use crate::part::Part;
use mksum::outboard::Identity;
use mksum_io::{Ahead, Error, Object, Url};
use std::io::IoSliceMut;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::runtime::Handle;
use tokio::task::AbortHandle;

/// The bytes of a request where the reading goes on in order; the first ones are shorter, since it may not go on.
pub const RANGE: u64 = 16 << 20;
const SHORT: u64 = 1 << 20;

/// The bytes that all objects may hold ahead of their readers, together.
#[derive(Debug)]
pub struct Budget(AtomicU64);

impl Budget {
    pub fn new(bytes: u64) -> Budget {
        Budget(AtomicU64::new(bytes))
    }

    fn take(&self, bytes: u64) -> bool {
        let less = |left: u64| left.checked_sub(bytes);
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok()
    }
}

/// A part that is being fetched, or was.
#[derive(Debug)]
struct Entry {
    part: Arc<Part>,
    /// The task that fetches it, if that had not ended before this was made.
    task: Option<AbortHandle>,
    /// The bytes of it that were read: at its length, it is not needed again.
    served: u64,
    /// The bytes of the budget that it holds.
    held: u64,
    budget: Arc<Budget>,
}

impl Drop for Entry {
    fn drop(&mut self) {
        // The task has the part too. Whoever else has it waits for its bytes.
        if let Some(task) = self.task.take_if(|_| Arc::strong_count(&self.part) <= 2) {
            task.abort();
        }
        self.budget.0.fetch_add(self.held, Ordering::Relaxed);
    }
}

/// An open object.
#[derive(Debug)]
pub struct Window {
    url: Url,
    source: Arc<Source>,
    version: Arc<Version>,
    named: String,
    ahead: Ahead,
    /// The offset before which all that is wanted ends.
    end: u64,
    /// The requests that run at once, at most.
    requests: usize,
    runtime: Handle,
    budget: Arc<Budget>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// The parts that are not read yet, or only in part.
    entries: Vec<Entry>,
    /// The offset after the last part.
    next: u64,
    /// The length of the next part.
    size: u64,
    /// The offset at which the last read ended that no part was fetched ahead for.
    last: u64,
}

impl Window {
    /// The object of this version, whose first part is coming.
    pub fn new(
        url: Url,
        (source, version): (Arc<Source>, Version),
        first: Option<(Arc<Part>, Option<AbortHandle>)>,
        (ahead, requests, end): (Ahead, usize, u64),
        (runtime, budget): (Handle, Arc<Budget>),
    ) -> Window {
        let next = first.as_ref().map_or(0, |(part, _)| part.end());
        let entries = first.map(|(part, task)| Entry { part, task, served: 0, held: 0, budget: budget.clone() });
        let state = State { entries: entries.into_iter().collect(), next, size: SHORT, last: u64::MAX };
        let (named, end) = (version.text(), end.min(version.len));
        let (version, state) = (Arc::new(version), Mutex::new(state));
        Window { url, source, version, named, ahead, end, requests, runtime, budget, state }
    }

    fn begin(&self, start: u64, len: u64, held: u64) -> Entry {
        let part = Arc::new(Part::new(start, len));
        let (source, version, filled) = (self.source.clone(), self.version.clone(), part.clone());
        let task = self.runtime.spawn(async move { source.fill(&filled, &version, None).await }).abort_handle();
        Entry { part, task: Some(task), served: 0, held, budget: self.budget.clone() }
    }

    /// The part with the byte at `start`, of which the bytes up to `end` will be read now; and those ahead of it are begun.
    ///
    /// Bytes that nothing else is likely to be read after are a part of their own, which is not kept.
    fn part(&self, start: u64, end: u64) -> (Arc<Part>, Option<Entry>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let reach = self.requests as u64 * RANGE;
        let covers = |entry: &Entry| entry.part.start <= start && start < entry.part.end();
        let found = state.entries.iter().position(covers);
        if found.is_none() {
            let goes_on =
                state.next <= start && start - state.next <= reach && !state.entries.is_empty() || start == state.next;
            if self.ahead == Ahead::No || !(goes_on || start == state.last) {
                state.last = end;
                drop(state);
                let entry = self.begin(start, end - start, 0);
                return (entry.part.clone(), Some(entry));
            }
            if !goes_on {
                state.entries.clear();
                (state.next, state.size) = (start, SHORT);
            }
            while state.next <= start {
                self.extend(&mut state, 0);
            }
        }
        if self.ahead == Ahead::Yes {
            while state.entries.len() < self.requests && state.next < self.end && state.next < end + reach {
                let held = self.size(&state);
                if !self.budget.take(held) {
                    break;
                }
                self.extend(&mut state, held);
            }
        }
        // Parts that nobody has read all of are not kept for ever.
        while state.entries.len() > 2 * self.requests {
            state.entries.remove(0);
        }
        let at = state.entries.iter().position(covers).unwrap_or(0);
        let part = state.entries[at].part.clone();
        state.entries[at].served += end.min(part.end()) - start;
        if state.entries[at].served >= part.len {
            let done = state.entries.remove(at);
            return (part, Some(done));
        }
        (part, None)
    }

    /// The length of the next part: what is not wanted is only read where somebody asks for it.
    fn size(&self, state: &State) -> u64 {
        let end = if state.next < self.end { self.end } else { self.version.len };
        state.size.min(end - state.next)
    }

    /// Begins the next part.
    fn extend(&self, state: &mut State, held: u64) {
        let len = self.size(state);
        let entry = self.begin(state.next, len, held);
        state.entries.push(entry);
        state.next += len;
        state.size = (state.size * 2).min(RANGE);
    }

    fn fill(&self, mut start: u64, mut out: &mut [u8]) -> Result<(), Error> {
        while !out.is_empty() {
            let end = start + out.len() as u64;
            if end > self.version.len {
                let fault = Fault::Changed(format!("it has {} bytes", self.version.len));
                return Err(fault.at(&self.url, start));
            }
            // A part that is not kept lives as long as it is read.
            let (part, entry) = self.part(start, end);
            let len = end.min(part.end()) - start;
            let (now, later) = out.split_at_mut(len as usize);
            let read = match entry {
                // Begun for this read alone.
                Some(Entry { served: 0, .. }) => part.take(now),
                _ => part.read(start, now),
            };
            read.map_err(|(offset, fault)| fault.at(&self.url, offset))?;
            (start, out) = (start + len, later);
        }
        Ok(())
    }
}

impl Object for Window {
    fn len(&self) -> u64 {
        self.version.len
    }

    fn version(&self) -> &str {
        &self.named
    }

    fn identity(&self) -> Option<Identity> {
        self.version.identity()
    }

    fn read(&self, mut start: u64, slices: &mut [IoSliceMut<'_>]) -> Result<(), Error> {
        for slice in slices {
            self.fill(start, slice)?;
            start += slice.len() as u64;
        }
        Ok(())
    }
}
