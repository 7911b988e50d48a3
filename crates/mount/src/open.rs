//! Open files: the bytes that were verified are shared by all that have a file open, and those that follow are verified ahead.

use mksum_io::{Error, Verified};
use std::collections::HashMap;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// The files that are open, by their numbers.
#[derive(Debug, Default)]
pub struct OpenFiles(Mutex<HashMap<u64, Shared>>);

/// A file that programs have open.
#[derive(Debug)]
struct Shared {
    verified: Weak<Verified>,
    /// The bytes from replicas that were reported.
    reported: u64,
}

impl OpenFiles {
    /// Returns the open file with this number, or opens it.
    ///
    /// # Errors
    /// As `open`.
    pub fn get(&self, number: u64, open: impl FnOnce() -> Result<Verified, Error>) -> Result<Arc<Verified>, Error> {
        if let Some(verified) = self.lock().get(&number).and_then(|shared| shared.verified.upgrade()) {
            return Ok(verified);
        }
        // Without the lock: a server may need long. Two that open it at once each have their own, of which the later is shared.
        let verified = Arc::new(open()?);
        let mut files = self.lock();
        files.retain(|_, shared| shared.verified.strong_count() > 0);
        files.insert(number, Shared { verified: Arc::downgrade(&verified), reported: 0 });
        Ok(verified)
    }

    /// Has the file opened anew by the next one that opens it: it may have changed.
    pub fn forget(&self, number: u64) {
        self.lock().remove(&number);
    }

    /// The bytes of a file that came from replicas since this was asked last.
    pub fn replaced(&self, number: u64, verified: &Arc<Verified>) -> u64 {
        let all = verified.replaced();
        if all == 0 {
            return 0;
        }
        let mut files = self.lock();
        let shared = files.get_mut(&number).filter(|shared| shared.verified.as_ptr() == Arc::as_ptr(verified));
        shared.map_or(0, |shared| all - mem::replace(&mut shared.reported, all).min(all))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Shared>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A file as one program has it open.
#[derive(Debug)]
pub struct Reader {
    pub verified: Arc<Verified>,
    run: Mutex<Run>,
    /// The end of what was verified ahead; locked while that is done.
    ahead: Mutex<u64>,
}

/// The bytes that were read in order.
#[derive(Clone, Copy, Debug, Default)]
struct Run {
    /// The offset after the last of them.
    end: u64,
    len: u64,
}

impl Run {
    /// The distance in bytes at which a read still follows another one: the kernel sends parts of one read side by side.
    const NEAR: u64 = 1 << 20;

    fn add(&mut self, offset: u64, count: u64) {
        if offset.abs_diff(self.end) > Self::NEAR {
            *self = Run { end: offset, len: 0 };
        }
        *self = Run { end: self.end.max(offset + count), len: self.len.saturating_add(count) };
    }
}

impl Reader {
    /// The bytes that must have been read in order before any are verified ahead.
    const LEAST: u64 = 256 << 10;

    pub fn new(verified: Arc<Verified>) -> Reader {
        Reader { verified, run: Mutex::default(), ahead: Mutex::default() }
    }

    /// Verifies what is probably read next, after a read of `count` bytes: as much as was read in order, and at most [`Verified::AHEAD`]
    /// bytes. One thread does it at a time.
    pub fn read_ahead(&self, offset: u64, count: u64) {
        let run = {
            let mut run = self.run.lock().unwrap_or_else(PoisonError::into_inner);
            run.add(offset, count);
            *run
        };
        let window = run.len.min(Verified::AHEAD);
        let Some(mut ahead) = self.ahead.try_lock().ok().filter(|_| run.len >= Self::LEAST) else { return };
        // Far from there, the reader is elsewhere now.
        let from = if (run.end..=run.end + window).contains(&*ahead) { *ahead } else { run.end };
        let end = (run.end + window).min(self.verified.len());
        // In long steps, which all cores share.
        if from < end && (from - run.end <= window / 2) {
            self.verified.prefetch(from..end);
            *ahead = end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_near_each_other_are_one_run() {
        let mut run = Run::default();
        for offset in [0, 2, 1, 3] {
            run.add(offset << 17, 1 << 17);
        }
        assert_eq!((run.end, run.len), (4 << 17, 4 << 17));
        run.add(1 << 30, 100);
        assert_eq!((run.end, run.len), ((1 << 30) + 100, 100));
        run.add(0, 5);
        assert_eq!((run.end, run.len), (5, 5));
    }
}
