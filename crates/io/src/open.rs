//! Opens a path: a file that is read at any offset, a stream, or nothing that can be hashed.

use crate::file::{Ending, STDIN};
use crate::objects::{Ahead, no_objects};
use crate::platform::{self, Kind, is_unstored, kind, open_at_once, read_at};
use crate::{Error, Facts, File, Options, Refusal, Window, is_url};
use std::fs;
use std::io::{self, ErrorKind, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;

/// An open input.
pub(crate) enum Opened {
    /// A regular file or a block device.
    File(Box<File>),
    /// A pipe, a terminal, or a file whose length is not known.
    Stream(fs::File),
}

/// Files of up to this many bytes are read in one go: every question to the system takes as long as hashing some of that.
pub(crate) const SHORT: u64 = 32 << 10;

/// Whether to wait until a process opens a named pipe for writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waiting {
    ForWriter,
    Never,
}

impl File {
    /// Opens a file for reading.
    ///
    /// # Errors
    /// If it cannot be opened, or has no fixed length: see [`crate::hash`] for streams.
    pub fn open(path: &Path, options: &Options) -> Result<File, Error> {
        match open_with(path, None, Waiting::Never, options)? {
            Opened::File(file) => Ok(*file),
            Opened::Stream(_) => Err(Error::refused(path, Refusal::NoLength)),
        }
    }

    /// Opens a file or object of which only the bytes `part` will be read: of an object, no others are fetched. Offsets are those of
    /// the whole file.
    ///
    /// # Errors
    /// As [`File::open`].
    pub fn open_part(path: &Path, part: Range<u64>, options: &Options) -> Result<File, Error> {
        let Some(objects) = options.objects.as_deref().filter(|_| is_url(path)) else {
            return File::open(path, options);
        };
        options.meter.begin(path);
        let object = objects.open(path, part, Ahead::Yes)?;
        let len = object.len();
        Ok(File::of_object(path.into(), object, (0, len), options))
    }
}

/// Opens a part of what `path` leads to, or all of it, for reading.
pub(crate) fn open_with(
    path: &Path,
    window: Option<Window>,
    waiting: Waiting,
    options: &Options,
) -> Result<Opened, Error> {
    if is_url(path) {
        options.meter.begin(path);
        let objects = options.objects.as_deref().ok_or_else(|| no_objects(path))?;
        let wanted = window.map_or(0..u64::MAX, |window| window.start..window.end.unwrap_or(u64::MAX));
        let object = objects.open(path, wanted, Ahead::Yes)?;
        let part = part(path, window, object.len())?;
        return Ok(Opened::File(Box::new(File::of_object(path.into(), object, part, options))));
    }
    let opened_file = match waiting {
        Waiting::ForWriter => fs::File::open(path),
        Waiting::Never => open_at_once(path),
    };
    opened(opened_file.map_err(|error| refusal(path, error))?, path, window, options)
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
    let file = fs::File::open(path).map_err(|error| refusal(path, error))?;
    described(file, metadata, path, window, Ending::OpenFile, options)
}

/// Opens a short entry of a directory, which is not followed if it is a link, with what the system says about it.
///
/// Waits while a change could still have its time.
///
/// # Errors
/// If it cannot be opened, or is not a short regular file.
pub(crate) fn open_entry(path: &Path, options: &Options) -> Result<(Opened, Facts), Error> {
    let fail = |error| refusal(path, error);
    let file = platform::open_entry(path).map_err(fail)?;
    let metadata = file.metadata().map_err(fail)?;
    if !metadata.is_file() || metadata.len() > SHORT {
        let how = "it was a short file when its directory was listed".into();
        return Err(Error::Changed { path: path.into(), how });
    }
    let facts = Facts::from(&metadata);
    facts.wait_until_past();
    Ok((described(file, &metadata, path, None, Ending::OpenFile, options)?, facts))
}

/// Why a path was not opened.
fn refusal(path: &Path, error: io::Error) -> Error {
    // Windows says of a directory that access is denied.
    let is_folder = cfg!(windows) && path.is_dir();
    let error = if is_folder { ErrorKind::IsADirectory.into() } else { error };
    Error::Open { path: path.into(), error }
}

/// A part of the input `file`, or all of it, which was opened as `path`.
pub(crate) fn opened(file: fs::File, path: &Path, window: Option<Window>, options: &Options) -> Result<Opened, Error> {
    match file.metadata() {
        Ok(metadata) => described(file, &metadata, path, window, Ending::Path, options),
        // Windows has none of pipes and devices such as NUL.
        Err(_) if cfg!(windows) => {
            options.meter.begin(path);
            Ok(Opened::Stream(file))
        }
        Err(error) => Err(Error::Open { path: path.into(), error }),
    }
}

/// The same of a file with this `metadata`.
pub(crate) fn described(
    mut file: fs::File,
    metadata: &fs::Metadata,
    path: &Path,
    window: Option<Window>,
    ending: Ending,
    options: &Options,
) -> Result<Opened, Error> {
    options.meter.begin(path);
    let fail = |error| Error::Open { path: path.into(), error };
    let mut len = metadata.len();
    match kind(&file, metadata) {
        Kind::Directory => return Err(fail(io::Error::from(ErrorKind::IsADirectory))),
        // A part of a device that never ends does.
        Kind::Endless if window.is_none_or(|window| window.end.is_none()) => {
            return Err(Error::refused(path, Refusal::Endless));
        }
        Kind::Stream | Kind::Endless => return Ok(Opened::Stream(file)),
        Kind::Device => len = file.seek(SeekFrom::End(0)).map_err(fail)?,
        Kind::Regular => {
            // Another process may have read from a standard input before.
            let whole = path != Path::new(STDIN) || file.stream_position().map_err(fail)? == 0;
            let unstored = is_generated(&file, metadata).map_err(|(offset, error)| Error::Read {
                path: path.into(),
                offset,
                error,
            })?;
            if !whole || unstored {
                return Ok(Opened::Stream(file));
            }
        }
    }
    let part = part(path, window, len)?;
    Ok(Opened::File(Box::new(File::new(path.into(), file, metadata, part, ending, options))))
}

/// The offset and length of a part, or of all, of an input of `len` bytes.
fn part(path: &Path, window: Option<Window>, len: u64) -> Result<(u64, u64), Error> {
    if len > mksum::MAX_LEN {
        return Err(Error::refused(path, Refusal::TooLong));
    }
    let Some(window) = window else { return Ok((0, len)) };
    let end = window.end.unwrap_or(len);
    if window.start > end || end > len {
        return Err(Error::refused(path, Refusal::Range { window, len }));
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
