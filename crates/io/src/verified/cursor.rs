//! Verified bytes as a stream that can be sought in.

use super::reading::Verified;
use std::borrow::Borrow;
use std::io::{self, Read, Seek, SeekFrom};

/// Reads a [`Verified`] file from a position on. Reads that follow one another have what comes after them verified ahead, by all threads.
///
/// `V` is a `Verified`, or an `Arc` of one that several readers share. An error leaves the position as it is; its source is
/// an [`Error`](crate::Error).
#[derive(Clone, Debug)]
pub struct VerifiedReader<V> {
    verified: V,
    at: u64,
    /// The bytes read since the last seek to elsewhere: as many more are read ahead.
    run: u64,
}

impl<V: Borrow<Verified>> VerifiedReader<V> {
    /// A reader at the first byte.
    pub fn new(verified: V) -> Self {
        VerifiedReader::at(verified, 0)
    }

    /// A reader at an offset, in bytes.
    pub fn at(verified: V, at: u64) -> Self {
        VerifiedReader { verified, at, run: 0 }
    }

    /// The file.
    pub fn verified(&self) -> &Verified {
        self.verified.borrow()
    }

    /// The offset of the next byte.
    pub fn position(&self) -> u64 {
        self.at
    }

    /// Reads at most `out.len()` bytes, all of them unless the file ends before. Returns their number.
    ///
    /// # Errors
    /// As [`Verified::read_at`].
    pub fn read_next(&mut self, out: &mut [u8]) -> Result<usize, crate::Error> {
        let count = self.verified.borrow().read_on(self.at, out, self.run)?;
        self.advance(count);
        Ok(count)
    }

    /// Fills `out` if all its bytes are in a unit that is kept in memory: without reading or hashing anything.
    pub fn read_kept(&mut self, out: &mut [u8]) -> bool {
        let is_kept = self.verified.borrow().copy_kept(self.at, out);
        self.advance(if is_kept { out.len() } else { 0 });
        is_kept
    }

    fn advance(&mut self, count: usize) {
        (self.at, self.run) = (self.at + count as u64, self.run.saturating_add(count as u64));
    }
}

impl<V: Borrow<Verified>> Read for VerifiedReader<V> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.read_next(out).map_err(io::Error::other)
    }
}

impl<V: Borrow<Verified>> Seek for VerifiedReader<V> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
            SeekFrom::End(by) => self.verified().len().checked_add_signed(by),
        };
        let at = at.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "a seek to before the first byte"))?;
        if at != self.at {
            (self.at, self.run) = (at, 0);
        }
        Ok(at)
    }
}
