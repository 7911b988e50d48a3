//! A range of an object, as it comes.

use crate::failure::Fault;
use bytes::Bytes;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The bytes `start..start + len` of an object, of which some have come.
#[derive(Debug)]
pub struct Part {
    pub start: u64,
    pub len: u64,
    arrived: Mutex<Arrived>,
    more: Condvar,
}

#[derive(Debug, Default)]
struct Arrived {
    chunks: Vec<Bytes>,
    /// The end of each chunk, in bytes from the part's start.
    ends: Vec<u64>,
    failure: Option<Fault>,
    /// The number of bytes that the first waiting reader needs; none if no reader waits.
    wanted: Option<u64>,
}

impl Arrived {
    fn have(&self) -> u64 {
        self.ends.last().copied().unwrap_or(0)
    }
}

impl Part {
    /// The bytes that [`Part::take`] waits for at once.
    const PIECE: usize = 256 << 10;

    pub fn new(start: u64, len: u64) -> Part {
        Part { start, len, arrived: Mutex::default(), more: Condvar::new() }
    }

    /// The offset after its last byte.
    pub fn end(&self) -> u64 {
        self.start + self.len
    }

    /// The number of bytes that have come.
    pub fn have(&self) -> u64 {
        self.lock().have()
    }

    /// Appends bytes; those after its end are dropped.
    pub fn push(&self, mut chunk: Bytes) {
        let mut arrived = self.lock();
        chunk.truncate(usize::try_from(self.len - arrived.have()).unwrap_or(usize::MAX));
        if chunk.is_empty() {
            return;
        }
        let end = arrived.have() + chunk.len() as u64;
        arrived.ends.push(end);
        arrived.chunks.push(chunk);
        if arrived.wanted.is_some_and(|wanted| end >= wanted) {
            arrived.wanted = None;
            self.more.notify_all();
        }
    }

    /// Notes that no more bytes will come.
    pub fn fail(&self, fault: Fault) {
        let mut arrived = self.lock();
        arrived.failure.get_or_insert(fault);
        arrived.wanted = None;
        self.more.notify_all();
    }

    /// Fills `out` with the bytes from offset `start` of the object on; waits for them.
    ///
    /// # Errors
    /// If they will not come; and the offset at which that was.
    pub fn read(&self, start: u64, out: &mut [u8]) -> Result<(), (u64, Fault)> {
        let from = start - self.start;
        let to = from + out.len() as u64;
        let arrived = self.wait(to)?;
        let first = arrived.ends.partition_point(|&end| end <= from);
        let last = arrived.ends.partition_point(|&end| end < to);
        // They are shared, not copied: whoever brings more need not wait.
        let chunks =
            arrived.chunks.get(first..=last.min(arrived.chunks.len().saturating_sub(1))).unwrap_or_default().to_vec();
        let mut skipped = match first {
            0 => from,
            _ => from - arrived.ends[first - 1],
        } as usize;
        drop(arrived);
        let mut out = out;
        for chunk in chunks {
            let len = out.len().min(chunk.len() - skipped);
            let (now, later) = out.split_at_mut(len);
            now.copy_from_slice(&chunk[skipped..][..len]);
            (out, skipped) = (later, 0);
        }
        Ok(())
    }

    /// Fills `out` with all of its bytes, and drops them: a part that has one reader is never held twice. It has none to be read afterwards.
    ///
    /// # Errors
    /// As [`Part::read`].
    pub fn take(&self, out: &mut [u8]) -> Result<(), (u64, Fault)> {
        let mut done = 0;
        while done < out.len() {
            let wanted = out.len().min(done + Self::PIECE) as u64;
            let chunks = std::mem::take(&mut self.wait(wanted)?.chunks);
            for chunk in chunks {
                out[done..][..chunk.len()].copy_from_slice(&chunk);
                done += chunk.len();
            }
        }
        Ok(())
    }

    /// Waits until it has `count` bytes.
    fn wait(&self, count: u64) -> Result<MutexGuard<'_, Arrived>, (u64, Fault)> {
        let mut arrived = self.lock();
        while arrived.have() < count {
            if let Some(fault) = &arrived.failure {
                return Err((self.start + arrived.have(), fault.clone()));
            }
            arrived.wanted = Some(arrived.wanted.map_or(count, |wanted| wanted.min(count)));
            arrived = self.more.wait(arrived).unwrap_or_else(PoisonError::into_inner);
        }
        Ok(arrived)
    }

    fn lock(&self) -> MutexGuard<'_, Arrived> {
        self.arrived.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::thread;

    #[test]
    fn bytes_are_read_across_chunks_when_they_have_come() {
        let part = Arc::new(Part::new(100, 10));
        part.push(Bytes::from_static(b"abc"));
        let read = |start: u64, len: usize| {
            let part = part.clone();
            thread::spawn(move || {
                let mut out = vec![0; len];
                part.read(start, &mut out).map(|()| out)
            })
        };
        assert_eq!(read(101, 2).join().unwrap().unwrap(), b"bc");
        let (whole, end) = (read(100, 8), read(107, 1));
        part.push(Bytes::from_static(b"def"));
        part.push(Bytes::from_static(b"gh"));
        assert_eq!(whole.join().unwrap().unwrap(), b"abcdefgh");
        assert_eq!(end.join().unwrap().unwrap(), b"h");
        let rest = read(100, 10);
        part.fail(Fault::Missing);
        assert_eq!(rest.join().unwrap(), Err((108, Fault::Missing)));
        // What has come can still be read.
        assert_eq!(read(104, 3).join().unwrap().unwrap(), b"efg");
        part.push(Bytes::from_static(b"ijk"));
        assert_eq!(part.have(), 10);
    }

    #[test]
    fn a_part_that_is_taken_keeps_no_bytes() {
        let (part, bytes) = (Arc::new(Part::new(100, 700_000)), vec![7; 700_000]);
        part.push(Bytes::from_static(b"abc"));
        let taken = thread::spawn({
            let part = part.clone();
            move || {
                let mut out = vec![0; 700_000];
                part.take(&mut out).map(|()| out)
            }
        });
        bytes[3..].chunks(300_000).for_each(|chunk| part.push(Bytes::copy_from_slice(chunk)));
        assert_eq!(taken.join().unwrap().unwrap(), [&b"abc"[..], &bytes[3..]].concat());
        assert_eq!((part.have(), part.lock().chunks.len()), (700_000, 0));
        let part = Part::new(100, 10);
        part.push(Bytes::from_static(b"abc"));
        part.fail(Fault::Missing);
        assert_eq!(part.take(&mut [0; 10]), Err((103, Fault::Missing)));
    }
}
