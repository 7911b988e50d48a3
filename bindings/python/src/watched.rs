//! Bytes in memory whose hashing a signal can end.

use crate::data::Data;
use crate::ending;
use crate::work::TICK;
use mksum::{
    Digest, Digests, Error, Found, Layout, LeafHasher, Memory, Messages, Part, PartScan, Role, Spec, Subtree, Subtrees,
};
use mksum_io::{Error as IoError, Input, Stop};
use pyo3::prelude::*;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;

/// Bytes of at most this number are hashed before a signal could matter.
pub const SHORT: usize = 16 << 20;
/// The bytes that one thread hashes between two looks at `stop`: 30 ms of the slowest hash.
pub const CHUNK: usize = 4 << 20;

impl Data<'_> {
    /// Calls `work` with the bytes. While it runs with many, the calling thread attends to signals; after one, `stop` is set.
    ///
    /// # Errors
    /// What the handler of a signal raised, when `work` has ended.
    pub fn watched<T: Send>(&self, py: Python<'_>, work: impl FnOnce(&[u8], &Stop) -> T + Send) -> PyResult<T> {
        let (bytes, stop) = (self.bytes(), Stop::default());
        if bytes.len() <= SHORT {
            return Ok(self.with(py, |bytes| work(bytes, &stop)));
        }
        thread::scope(|scope| {
            let (sender, mut results) = mpsc::sync_channel(1);
            let send = {
                let stop = &stop;
                move || drop(sender.send(work(bytes, stop)))
            };
            let worker = thread::Builder::new().name("mksum".into()).spawn_scoped(scope, send)?;
            let mut raised = None;
            loop {
                let received;
                (results, received) = ending::detach(py, move || {
                    let received = results.recv_timeout(TICK);
                    (results, received)
                });
                match received {
                    Ok(result) => return raised.map_or(Ok(result), Err),
                    Err(RecvTimeoutError::Timeout) if raised.is_none() => {
                        raised = ending::call(py, || py.check_signals()).err();
                        if raised.is_some() {
                            stop.stop();
                        }
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                    // It panicked: so does this thread.
                    Err(RecvTimeoutError::Disconnected) => {
                        let panic = ending::detach(py, || worker.join()).err();
                        std::panic::resume_unwind(panic.unwrap_or_else(|| Box::new("no result")));
                    }
                }
            }
        })
    }
}

/// Bytes in memory as a source of digests, until it is stopped.
pub struct Watched<'a> {
    pub start: u64,
    pub bytes: &'a [u8],
    pub stop: &'a Stop,
}

impl<'a> Watched<'a> {
    fn memory(&self) -> Memory<'a> {
        Memory::from(self.start, self.bytes)
    }

    fn of(&self, start: u64, len: u64) -> Option<&'a [u8]> {
        let from = usize::try_from(start.checked_sub(self.start)?).ok()?;
        self.bytes.get(from..)?.get(..usize::try_from(len).ok()?)
    }

    /// The bytes of leaves of one length that follow one another, if these are too many for one look at `stop`.
    fn long(&self, leaves: &[Subtree]) -> Option<&'a [u8]> {
        let first = leaves.first().filter(|leaf| leaf.level == 0)?;
        self.of(first.start, first.len * leaves.len() as u64).filter(|bytes| bytes.len() > CHUNK)
    }

    /// Hashes such leaves side by side, a slice of each at a time.
    fn leaves(&self, spec: &Spec, leaves: &[Subtree], bytes: &[u8]) -> Result<LeafHasher, Error> {
        let (mut hasher, count, len) = (spec.leaf_hasher(leaves), leaves.len(), bytes.len() / leaves.len());
        // Whole blocks of every hash.
        let slice = (CHUNK / count).next_multiple_of(1 << 10);
        for start in (0..len).step_by(slice) {
            go_on(self.stop)?;
            hasher.update(Messages::strided(&bytes[start..], slice.min(len - start), len, count));
        }
        Ok(hasher)
    }
}

/// An error if the hashing is to end. The exception of the signal takes its place.
pub fn go_on(stop: &Stop) -> Result<(), Error> {
    match stop.is_stopped() {
        true => Err(Error::Source(Box::new(IoError::Stopped { path: Input::place("") }))),
        false => Ok(()),
    }
}

impl Subtrees for Watched<'_> {
    fn digest(&self, spec: &Spec, node: Subtree, role: Role) -> Result<Option<Digest>, Error> {
        go_on(self.stop)?;
        let Some(bytes) = self.long(&[node]) else { return self.memory().digest(spec, node, role) };
        Ok(Some(self.leaves(spec, &[node], bytes)?.finish_one(role)))
    }

    fn digests(&self, spec: &Spec, nodes: &[Subtree], out: &mut Digests) -> Result<(), Error> {
        for run in nodes.chunk_by(|a, b| a.level == 0 && b.level == 0 && a.len == b.len) {
            go_on(self.stop)?;
            match self.long(run) {
                Some(bytes) => self.leaves(spec, run, bytes)?.finish(&vec![&[][..]; run.len()], Role::Inner, out),
                None => self.memory().digests(spec, run, out)?,
            }
        }
        Ok(())
    }

    fn scan(&self, spec: &Spec, part: Part) -> Result<Option<Found>, Error> {
        let (Layout::Found(cuts), Some(bytes)) = (spec.layout(), self.of(part.start, part.end - part.start)) else {
            return Ok(None);
        };
        let mut scan = PartScan::new(cuts, part);
        for chunk in bytes.chunks(CHUNK) {
            go_on(self.stop)?;
            scan.update(chunk);
        }
        Ok(Some(scan.finish()))
    }
}
