//! Positioned reads, through the page cache or around it.

use crate::buffer::Buffer;
use crate::platform::{
    DIRECT_ALIGN, advise_random, is_not_direct, next_data, open_direct, read_at, read_cached, read_vectored_at,
    uninterrupted,
};
use crate::{Error, Input, Mode, Object, Options};
use mksum::Messages;
use std::fs::File;
use std::io::{self, IoSliceMut};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// The place of an input's bytes.
#[derive(Debug)]
pub(crate) enum Medium {
    /// A file or device of this machine.
    Disk(File),
    /// An object in a store.
    Object(Arc<dyn Object>),
}

impl Medium {
    /// The file, if it is one of this machine.
    pub fn disk(&self) -> Option<&File> {
        match self {
            Medium::Disk(file) => Some(file),
            Medium::Object(_) => None,
        }
    }
}

/// Reads one file, from many threads at once.
#[derive(Debug)]
pub(crate) struct Reader {
    pub input: Input,
    pub medium: Medium,
    /// The offset in the file of the first byte that is read: offsets in calls count from there, those in errors from the
    /// file's first byte.
    pub base: u64,
    /// The number of bytes from there on, in bytes.
    pub len: u64,
    pub options: Options,
    direct: Option<File>,
    /// The reads that still go around the page cache without asking it.
    passing: AtomicU32,
    /// A read around the page cache was refused: all go through it from then on.
    refused: AtomicBool,
}

/// The bytes of a read: whole messages, then a shorter rest, perhaps none.
pub(crate) type Read<'a> = (Messages<'a>, &'a [u8]);

impl Reader {
    /// Files shorter than this, in bytes, are not worth a way around the page cache.
    const LARGE: u64 = 64 << 20;
    /// Messages of at least this many bytes are kept apart in memory by [`Reader::SKEW`] bytes more.
    const SKEWED: usize = 4 << 10;
    /// A cache line: messages whose length is a power of two would all meet in the same few sets of the caches.
    const SKEW: usize = 64;
    /// The reads after one that the page cache had nothing of, which do not ask it: asking brings a page into it.
    const PASSED: u32 = 15;
    /// The most slices that one system call fills (`IOV_MAX`).
    const SLICES: usize = 1024;

    pub fn new(input: Input, medium: Medium, (base, len): (u64, u64), options: &Options) -> Self {
        let around = match options.mode {
            Mode::Auto => len >= Self::LARGE,
            Mode::Buffered => false,
            Mode::Direct => true,
        };
        let direct = medium.disk().filter(|_| around).and_then(open_direct);
        if let (Some(_), Some(file)) = (&direct, medium.disk()) {
            // Bytes that the cache lacks are not read into it, so nothing is to be read ahead either.
            advise_random(file);
        }
        Reader {
            input,
            medium,
            base,
            len,
            options: options.clone(),
            direct,
            passing: AtomicU32::new(0),
            refused: AtomicBool::new(false),
        }
    }

    /// The first byte at or after offset `start` that was ever written; `None` if there is none, or the system does not say.
    pub fn next_data(&self, start: u64) -> Option<u64> {
        next_data(self.medium.disk()?, self.base + start).map(|data| data - self.base)
    }

    /// Whether most of the file is likely to be read from the device, around the page cache.
    pub fn is_cold(&self) -> bool {
        self.direct.is_some() && self.is_uncached()
    }

    /// Whether the page cache lacks most of a file that would push much else out of it.
    pub fn is_large_and_uncached(&self) -> bool {
        self.len >= Self::LARGE && self.is_uncached()
    }

    fn is_uncached(&self) -> bool {
        const PROBES: u64 = 8;
        let Some(file) = self.medium.disk() else { return false };
        let mut page = [0];
        let mut lacks = |at| matches!(read_cached(file, &mut [IoSliceMut::new(&mut page)], at), Ok(None));
        let at = |part: &u64| self.base + self.len / PROBES * part;
        (0..PROBES).filter(|part| lacks(at(part))).count() > PROBES as usize / 2
    }

    /// Waits until `len` bytes may be read.
    fn begin(&self, len: usize) -> Result<(), Error> {
        self.options.stop.check(&self.input)?;
        if let Some(throttle) = &self.options.throttle {
            throttle.wait(len as u64);
        }
        Ok(())
    }

    /// Fills `out` with the bytes from `start` on, through the page cache.
    pub fn read_through(&self, start: u64, out: &mut [u8]) -> Result<(), Error> {
        self.begin(out.len())?;
        self.fetch(self.base + start, 0, out)?;
        self.options.meter.add(out.len() as u64);
        Ok(())
    }

    /// Fills `out` with the bytes from offset `start` of the file on; of a file of this machine, the first `done` are there.
    fn fetch(&self, start: u64, done: usize, out: &mut [u8]) -> Result<(), Error> {
        match &self.medium {
            Medium::Disk(file) => {
                self.fill(start, done, out.len(), |done| read_at(file, &mut out[done..], start + done as u64))
            }
            Medium::Object(object) => object.read(start, &mut [IoSliceMut::new(out)]),
        }
    }

    /// Reads `len` bytes at `start` as messages of `message` bytes.
    pub fn read<'a>(&self, start: u64, len: usize, message: usize, buffer: &'a mut Buffer) -> Result<Read<'a>, Error> {
        let start = self.base + start;
        self.begin(len)?;
        let count = len / message;
        let stride = match message {
            Self::SKEWED.. if count > 1 && count < Self::SLICES => message + Self::SKEW,
            _ => message,
        };
        let memory = &mut buffer.at_least(count * stride + message)[..count * stride + len % message];
        let cached = self.cached(start, &mut Self::slices(memory, message, stride, 0))?;
        let cached = match cached {
            None if self.read_direct(start, len, buffer)? => {
                self.options.meter.add(len as u64);
                let memory = &buffer.at_least(0)[(start % DIRECT_ALIGN as u64) as usize..][..len];
                let (messages, rest) = memory.split_at(count * message);
                return Ok((Messages::new(messages, message), rest));
            }
            cached => cached.unwrap_or(0),
        };
        let memory = &mut buffer.at_least(count * stride + message)[..count * stride + len % message];
        match &self.medium {
            Medium::Disk(file) => self.fill(start, cached, len, |done| {
                let mut slices = Self::slices(memory, message, stride, done);
                read_vectored_at(file, &mut slices, start + done as u64)
            })?,
            Medium::Object(object) => object.read(start, &mut Self::slices(memory, message, stride, 0))?,
        }
        self.options.meter.add(len as u64);
        let (messages, rest) = memory.split_at(count * stride);
        Ok((Messages::strided(messages, message, stride, count), rest))
    }

    /// Reads `len` bytes at each of `offsets`, as that many messages.
    pub fn gather<'a>(
        &self,
        offsets: impl ExactSizeIterator<Item = u64>,
        len: usize,
        buffer: &'a mut Buffer,
        spare: &mut Buffer,
    ) -> Result<Messages<'a>, Error> {
        let (count, stride) = (offsets.len(), len + Self::SKEW);
        self.begin(count * len)?;
        let memory = &mut buffer.at_least(count * stride)[..count * stride];
        for (offset, place) in offsets.map(|offset| self.base + offset).zip(memory.chunks_exact_mut(stride)) {
            let place = &mut place[..len];
            let cached = match self.cached(offset, &mut [IoSliceMut::new(place)])? {
                None if self.read_direct(offset, len, spare)? => {
                    place.copy_from_slice(&spare.at_least(0)[(offset % DIRECT_ALIGN as u64) as usize..][..len]);
                    len
                }
                cached => cached.unwrap_or(0),
            };
            self.fetch(offset, cached, place)?;
            self.options.meter.add(len as u64);
        }
        Ok(Messages::strided(memory, len, stride, count))
    }

    /// Reads the part of a range that the page cache holds, if reads ask it: the number of bytes, `None` to go around it.
    fn cached(&self, start: u64, slices: &mut [IoSliceMut<'_>]) -> Result<Option<usize>, Error> {
        let (Some(_), Some(file), false) = (&self.direct, self.medium.disk(), self.refused.load(Ordering::Relaxed))
        else {
            return Ok(Some(0));
        };
        let passing = |left: u32| left.checked_sub(1);
        if self.options.mode == Mode::Direct
            || self.passing.fetch_update(Ordering::Relaxed, Ordering::Relaxed, passing).is_ok()
        {
            return Ok(None);
        }
        // The kernel begins to read whatever is asked for and not there, so a byte is asked for first.
        let mut byte = [0];
        if self.retry(start, || read_cached(file, &mut [IoSliceMut::new(&mut byte)], start))?.is_none() {
            self.passing.store(Self::PASSED, Ordering::Relaxed);
            return Ok(None);
        }
        self.retry(start, || read_cached(file, slices, start))
    }

    /// Reads around the page cache; the bytes asked for begin `start % DIRECT_ALIGN` bytes into the buffer.
    ///
    /// `false` if the file system refuses, now and for this file from now on.
    fn read_direct(&self, start: u64, len: usize, buffer: &mut Buffer) -> Result<bool, Error> {
        let Some(file) = &self.direct else { return Ok(false) };
        let lead = (start % DIRECT_ALIGN as u64) as usize;
        let whole = (lead + len).next_multiple_of(DIRECT_ALIGN);
        let memory = &mut buffer.at_least(whole)[..whole];
        let result = self.fill(start - lead as u64, 0, lead + len, |done| match done % DIRECT_ALIGN {
            0 => read_at(file, &mut memory[done..], start - lead as u64 + done as u64),
            // Only the end of the file leaves a page half filled.
            _ => Ok(0),
        });
        match result {
            Err(Error::Read { error, .. }) if is_not_direct(&error) => {
                self.refused.store(true, Ordering::Relaxed);
                Ok(false)
            }
            result => result.map(|()| true),
        }
    }

    /// Calls `read` with the bytes done until there are `len`.
    fn fill(
        &self,
        start: u64,
        mut done: usize,
        len: usize,
        mut read: impl FnMut(usize) -> io::Result<usize>,
    ) -> Result<(), Error> {
        while done < len {
            match self.retry(start + done as u64, || read(done))? {
                0 => {
                    let end = start + done as u64;
                    let now = self.medium.disk().and_then(|file| file.metadata().ok()).map_or(end, |now| now.len());
                    let then = self.base + self.len;
                    let how = format!("nothing to read at byte {end}: it had {then} bytes and has {now} now");
                    return Err(Error::Changed { path: self.input.clone(), how });
                }
                more => done += more,
            }
        }
        Ok(())
    }

    fn retry<R>(&self, offset: u64, read: impl FnMut() -> io::Result<R>) -> Result<R, Error> {
        uninterrupted(read).map_err(|error| Error::Read { path: self.input.clone(), offset, error })
    }

    /// The places of messages `stride` bytes apart, without the first `done` bytes of the messages.
    fn slices(memory: &mut [u8], message: usize, stride: usize, done: usize) -> Vec<IoSliceMut<'_>> {
        if stride == message {
            return vec![IoSliceMut::new(&mut memory[done..])];
        }
        let messages = memory.chunks_mut(stride).map(|chunk| {
            let len = chunk.len().min(message);
            &mut chunk[..len]
        });
        let mut slices: Vec<_> = messages.skip(done / message).map(IoSliceMut::new).collect();
        IoSliceMut::advance_slices(&mut &mut slices[..], done % message);
        slices
    }
}
