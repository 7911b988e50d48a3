//! Opens a path: a file that is read at any offset, a stream, or nothing that can be hashed.

use crate::platform::{Kind, kind, read_at};
use crate::{Error, File, Options, Refusal};
use std::fs;
use std::io::{self, ErrorKind, Seek, SeekFrom};
use std::path::Path;

/// An open input.
pub(crate) enum Opened {
    /// A regular file or a block device.
    File(Box<File>),
    /// A pipe, a terminal, or a file whose length is not known.
    Stream(fs::File),
}

/// The path that stands for the standard input.
pub(crate) const STDIN: &str = "-";

/// Opens `path` for reading.
pub(crate) fn open(path: &Path, options: &Options) -> Result<Opened, Error> {
    opened(fs::File::open(path).map_err(|error| Error::Open { path: path.into(), error })?, path, options)
}

/// The input `file`, which was opened as `path`.
pub(crate) fn opened(mut file: fs::File, path: &Path, options: &Options) -> Result<Opened, Error> {
    let fail = |error| Error::Open { path: path.into(), error };
    let metadata = file.metadata().map_err(fail)?;
    let mut len = metadata.len();
    match kind(&file, &metadata) {
        Kind::Directory => return Err(fail(io::Error::from(ErrorKind::IsADirectory))),
        Kind::Endless => return Err(Error::refused(path, Refusal::Endless)),
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
        return Err(Error::refused(path, Refusal::TooLong));
    }
    Ok(Opened::File(Box::new(File::new(path.into(), file, &metadata, len, options))))
}
