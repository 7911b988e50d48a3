//! What lies at a path: a file that is read at any offset, a stream, or nothing that can be hashed.

use crate::platform::{Kind, kind, read_at};
use crate::{Error, File, Options};
use std::fs;
use std::io::{self, ErrorKind, Seek, SeekFrom};
use std::path::Path;

/// What lies at a path.
pub(crate) enum Opened {
    /// A regular file or a block device.
    File(Box<File>),
    /// A pipe, a terminal, or a file that does not tell its length.
    Stream(fs::File),
}

/// The path that stands for the standard input.
pub(crate) const STDIN: &str = "-";

/// Opens `path` for reading.
pub(crate) fn open(path: &Path, options: &Options) -> Result<Opened, Error> {
    opened(fs::File::open(path).map_err(|error| Error::Open { path: path.into(), error })?, path, options)
}

/// What `file` is, which was opened as `path`.
pub(crate) fn opened(mut file: fs::File, path: &Path, options: &Options) -> Result<Opened, Error> {
    let fail = |error| Error::Open { path: path.into(), error };
    let refuse = |reason: &str| Err(fail(io::Error::other(reason)));
    let metadata = file.metadata().map_err(fail)?;
    let mut len = metadata.len();
    match kind(&file, &metadata) {
        Kind::Directory => return Err(fail(io::Error::from(ErrorKind::IsADirectory))),
        Kind::Endless => {
            return refuse("it is a device without an end; hash a part of it: head -c SIZE DEVICE | mksum");
        }
        Kind::Stream => return Ok(Opened::Stream(file)),
        Kind::Device => len = file.seek(SeekFrom::End(0)).map_err(fail)?,
        Kind::Regular => {
            // Files of /proc and the like say they are empty and are not; a shared one may have been read from before.
            let whole = path != Path::new(STDIN) || file.stream_position().map_err(fail)? == 0;
            let read = |byte: &mut [u8]| read_at(&file, byte, 0);
            let told =
                len > 0 || read(&mut [0]).map_err(|error| Error::Read { path: path.into(), offset: 0, error })? == 0;
            if !whole || !told {
                return Ok(Opened::Stream(file));
            }
        }
    }
    if len > mksum::MAX_LEN {
        return refuse("it is longer than 2^63 bytes");
    }
    Ok(Opened::File(Box::new(File::new(path.into(), file, &metadata, len, options))))
}
