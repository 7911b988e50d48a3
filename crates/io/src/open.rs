//! Opens a path: a file that is read at any offset, a stream, or nothing that can be hashed.

use crate::file::Ending;
use crate::objects::{Ahead, Object, no_objects};
use crate::platform::{self, Kind, is_unstored, kind, open_at_once, read_at};
use crate::{Error, Facts, File, Input, Options, Refusal, Window};
use std::fs;
use std::io::{self, ErrorKind, IoSliceMut, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// An open input.
pub(crate) enum Opened {
    /// A regular file or a block device.
    File(Box<File>),
    /// A pipe, a terminal, or a file whose length is not known.
    Stream(fs::File),
}

impl Opened {
    /// The same, hashed with other options from now on.
    pub fn with_options(self, options: &Options) -> Opened {
        match self {
            Opened::File(file) => Opened::File(Box::new(file.with_options(options))),
            stream => stream,
        }
    }
}

/// Files of up to this many bytes are read in one go: every question to the system takes as long as hashing some of that.
pub(crate) const SHORT: u64 = 32 << 10;

/// Whether to wait until a process opens a named pipe for writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waiting {
    ForWriter,
    Never,
}

/// The bytes of the first request for an object of which nothing is fetched ahead.
const FIRST: u64 = 4 << 20;

/// Opens a file or an object to be read once, from its beginning to its end.
///
/// # Errors
/// If it cannot be opened.
pub fn open_bytes(input: &Input, options: &Options) -> Result<Box<dyn Read + Send>, Error> {
    open_bytes_from(input, 0, Ahead::Yes, options)
}

/// Opens a file or an object to be read once, from the offset `start` to its end. Without bytes ahead, an object takes a request for its first
/// 4 MiB, and one for each read after them.
///
/// # Errors
/// If it cannot be opened, or is shorter.
pub fn open_bytes_from(
    input: &Input,
    start: u64,
    ahead: Ahead,
    options: &Options,
) -> Result<Box<dyn Read + Send>, Error> {
    let fail = |error| Error::Open { path: input.clone(), error };
    match input {
        Input::Url(url) => {
            let objects = options.objects.as_ref().ok_or_else(|| no_objects(url))?;
            // From the byte before: servers refuse ranges that begin at the end.
            let end = if ahead == Ahead::Yes { u64::MAX } else { start.saturating_add(FIRST) };
            let object = objects.open(url, start.saturating_sub(1)..end, ahead)?;
            match object.len() < start {
                true => Err(fail(shorter(start, object.len()))),
                false => Ok(Box::new(InOrder { object, at: start })),
            }
        }
        Input::File(path) => {
            let mut file = open_at_once(path).map_err(fail)?;
            if start > 0 {
                let len = file.seek(SeekFrom::End(0)).map_err(fail)?;
                if len < start {
                    return Err(fail(shorter(start, len)));
                }
                file.seek(SeekFrom::Start(start)).map_err(fail)?;
            }
            Ok(Box::new(file))
        }
        Input::Stdin => Ok(Box::new(io::stdin())),
    }
}

fn shorter(start: u64, len: u64) -> io::Error {
    io::Error::other(format!("it has {len} bytes: there is nothing at {start}"))
}

/// The bytes of an object, in order.
struct InOrder {
    object: Arc<dyn Object>,
    at: u64,
}

impl Read for InOrder {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.object.len() - self.at;
        let len = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        self.object.read(self.at, &mut [IoSliceMut::new(&mut buffer[..len])]).map_err(io::Error::other)?;
        self.at += len as u64;
        Ok(len)
    }
}

/// Opens a regular file for reading, and nothing else: a pipe in its place is not waited for.
///
/// # Errors
/// If it cannot be opened, or is no regular file.
pub fn open_regular(path: &Path) -> io::Result<fs::File> {
    let file = open_at_once(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("not a regular file")),
    }
}

impl File {
    /// Opens a file for reading.
    ///
    /// # Errors
    /// If it cannot be opened, or has no fixed length: see [`crate::hash`] for streams.
    pub fn open(input: impl Into<Input>, options: &Options) -> Result<File, Error> {
        let input = input.into();
        match open_with(&input, None, Waiting::Never, options)? {
            Opened::File(file) => Ok(*file),
            Opened::Stream(_) => Err(Error::refused(input, Refusal::NoLength)),
        }
    }

    /// Opens a file or object of which only the bytes `part` will be read: of an object, no others are fetched. Offsets are those of
    /// the whole file.
    ///
    /// # Errors
    /// As [`File::open`].
    pub fn open_part(input: impl Into<Input>, part: Range<u64>, options: &Options) -> Result<File, Error> {
        File::open_ahead(input.into(), part, Ahead::Yes, options)
    }

    /// Opens a file to be read at any offset, through the page cache: of an object, only the bytes that are asked for are fetched.
    ///
    /// # Errors
    /// As [`File::open`].
    pub(crate) fn open_at_random(input: Input, options: &Options) -> Result<File, Error> {
        File::open_ahead(input, 0..1, Ahead::No, &options.through_cache())
    }

    fn open_ahead(input: Input, part: Range<u64>, ahead: Ahead, options: &Options) -> Result<File, Error> {
        let Input::Url(url) = &input else { return File::open(input, options) };
        options.meter.begin(&input);
        let objects = options.objects.as_deref().ok_or_else(|| no_objects(url))?;
        let object = objects.open(url, part, ahead)?;
        let len = object.len();
        Ok(File::of_object(input, object, (0, len), options))
    }
}

/// Opens a part of an input, or all of it, for reading.
pub(crate) fn open_with(
    input: &Input,
    window: Option<Window>,
    waiting: Waiting,
    options: &Options,
) -> Result<Opened, Error> {
    let file = match (input, waiting) {
        (Input::Url(url), _) => {
            options.meter.begin(input);
            let objects = options.objects.as_deref().ok_or_else(|| no_objects(url))?;
            let wanted = window.map_or(0..u64::MAX, |window| window.start..window.end.unwrap_or(u64::MAX));
            let object = objects.open(url, wanted, Ahead::Yes)?;
            let part = part(input, window, object.len())?;
            return Ok(Opened::File(Box::new(File::of_object(input.clone(), object, part, options))));
        }
        (Input::Stdin, _) => stdin(),
        (Input::File(path), Waiting::ForWriter) => fs::File::open(path),
        (Input::File(path), Waiting::Never) => open_at_once(path),
    };
    let file = file.map_err(|error| refusal(input, error))?;
    match file.metadata() {
        Ok(metadata) => described(file, &metadata, input, window, Ending::Path, options),
        // Windows has none of pipes and devices such as NUL.
        Err(_) if cfg!(windows) => {
            options.meter.begin(input);
            Ok(Opened::Stream(file))
        }
        Err(error) => Err(Error::Open { path: input.clone(), error }),
    }
}

#[cfg(unix)]
fn stdin() -> io::Result<fs::File> {
    std::os::fd::AsFd::as_fd(&io::stdin()).try_clone_to_owned().map(Into::into)
}

#[cfg(windows)]
fn stdin() -> io::Result<fs::File> {
    std::os::windows::io::AsHandle::as_handle(&io::stdin()).try_clone_to_owned().map(Into::into)
}

/// Opens a short regular file that `metadata` was just asked of.
///
/// The system is not asked again: [`File::finish`] compares `metadata` with what the open file is then.
pub(crate) fn open_short(
    path: &Path,
    metadata: &fs::Metadata,
    window: Option<Window>,
    options: &Options,
) -> Result<Opened, Error> {
    let input = Input::from(path);
    // It may have become a pipe.
    let file = open_at_once(path).map_err(|error| refusal(&input, error))?;
    described(file, metadata, &input, window, Ending::OpenFile, options)
}

/// Opens a short entry of a directory, which is not followed if it is a link, with what the system says about it.
///
/// Waits while a change could still have its time.
///
/// # Errors
/// If it cannot be opened, or is not a short regular file.
pub(crate) fn open_entry(path: &Path, options: &Options) -> Result<(Opened, Facts), Error> {
    let input = Input::from(path);
    let fail = |error| refusal(&input, error);
    let file = platform::open_entry(path).map_err(fail)?;
    let metadata = file.metadata().map_err(fail)?;
    if !metadata.is_file() || metadata.len() > SHORT {
        let how = "it was a short file when its directory was listed".into();
        return Err(Error::Changed { path: input, how });
    }
    let facts = Facts::from(&metadata);
    facts.wait_until_past();
    Ok((described(file, &metadata, &input, None, Ending::OpenFile, options)?, facts))
}

/// Why an input was not opened.
fn refusal(input: &Input, error: io::Error) -> Error {
    // Windows says of a directory that access is denied.
    let is_folder = cfg!(windows) && input.file().is_some_and(Path::is_dir);
    let error = if is_folder { ErrorKind::IsADirectory.into() } else { error };
    Error::Open { path: input.clone(), error }
}

/// A part of an open file with this `metadata`, or all of it.
pub(crate) fn described(
    mut file: fs::File,
    metadata: &fs::Metadata,
    input: &Input,
    window: Option<Window>,
    ending: Ending,
    options: &Options,
) -> Result<Opened, Error> {
    options.meter.begin(input);
    let fail = |error| Error::Open { path: input.clone(), error };
    let mut len = metadata.len();
    match kind(&file, metadata) {
        Kind::Directory => return Err(fail(io::Error::from(ErrorKind::IsADirectory))),
        // A part of a device that never ends does.
        Kind::Endless if window.is_none_or(|window| window.end.is_none()) => {
            return Err(Error::refused(input, Refusal::Endless));
        }
        Kind::Stream | Kind::Endless => return Ok(Opened::Stream(file)),
        Kind::Device => len = file.seek(SeekFrom::End(0)).map_err(fail)?,
        Kind::Regular => {
            // Another process may have read from a standard input before.
            let whole = *input != Input::Stdin || file.stream_position().map_err(fail)? == 0;
            let unstored = is_generated(&file, metadata).map_err(|(offset, error)| Error::Read {
                path: input.clone(),
                offset,
                error,
            })?;
            if !whole || unstored {
                return Ok(Opened::Stream(file));
            }
        }
    }
    let part = part(input, window, len)?;
    Ok(Opened::File(Box::new(File::new(input.clone(), file, metadata, part, ending, options))))
}

/// The offset and length of a part, or of all, of an input of `len` bytes.
fn part(input: &Input, window: Option<Window>, len: u64) -> Result<(u64, u64), Error> {
    if len > mksum::MAX_LEN {
        return Err(Error::refused(input, Refusal::TooLong));
    }
    let Some(window) = window else { return Ok((0, len)) };
    let end = window.end.unwrap_or(len);
    if window.start > end || end > len {
        return Err(Error::refused(input, Refusal::Range { window, len }));
    }
    Ok((window.start, end - window.start))
}

/// Whether the system makes the content of a file when it is read, as in `/proc` and `/sys`: then its length is not the one
/// it shows, which is none or a page. Else where a read failed, and why.
fn is_generated(file: &fs::File, metadata: &fs::Metadata) -> Result<bool, (u64, io::Error)> {
    /// The longest file that is looked into, in bytes: generated ones show at most a page.
    const PAGE: usize = 64 << 10;
    let read = |byte: &mut [u8], offset| read_at(file, byte, offset).map_err(|error| (offset, error));
    match metadata.len() {
        0 => Ok(read(&mut [0], 0)? > 0),
        len if len <= PAGE as u64 && is_unstored(metadata) => {
            // Short before the end, or with more after it.
            let (mut bytes, mut done) = (vec![0; len as usize + 1], 0);
            loop {
                match read(&mut bytes[done..], done as u64)? {
                    0 => return Ok(done as u64 != len),
                    more => done += more,
                }
                if done == bytes.len() {
                    return Ok(true);
                }
            }
        }
        _ => Ok(false),
    }
}
