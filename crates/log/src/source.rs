//! Where the files of a log are read from: a folder here, or what a caller has, such as a web server.

use crate::error::Error;
use crate::tile::LONGEST_TILE;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

/// A source of a log's files by their names, such as `checkpoint` and `tile/0/x001/234`.
pub trait Source: Send + Sync {
    /// The bytes of a file; `None` if there is none of this name. A file of more than `at_most` bytes is an error.
    ///
    /// # Errors
    /// If it cannot be read, or is too long.
    fn read(&self, name: &str, at_most: usize) -> Result<Option<Vec<u8>>, Error>;
}

impl<S: Source + ?Sized> Source for &S {
    fn read(&self, name: &str, at_most: usize) -> Result<Option<Vec<u8>>, Error> {
        (**self).read(name, at_most)
    }
}

impl<S: Source + ?Sized> Source for Box<S> {
    fn read(&self, name: &str, at_most: usize) -> Result<Option<Vec<u8>>, Error> {
        (**self).read(name, at_most)
    }
}

/// A log in a folder of this machine.
#[derive(Clone, Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// The log in the folder at `path`.
    pub fn new(path: impl Into<PathBuf>) -> Folder {
        Folder(path.into())
    }
}

impl Source for Folder {
    fn read(&self, name: &str, at_most: usize) -> Result<Option<Vec<u8>>, Error> {
        read_file(&self.0.join(name), at_most)
    }
}

/// The bytes of a file; `None` if there is none.
pub(crate) fn read_file(path: &Path, at_most: usize) -> Result<Option<Vec<u8>>, Error> {
    let file = match File::open(path) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(None),
        opened => opened.map_err(Error::io(path))?,
    };
    // Room for a tile, and for the read that finds its end.
    let mut bytes = Vec::with_capacity(at_most.min(LONGEST_TILE) + 1);
    file.take(at_most as u64 + 1).read_to_end(&mut bytes).map_err(Error::io(path))?;
    match bytes.len() > at_most {
        true => Err(Error::Damaged {
            name: path.display().to_string(),
            why: format!("the file is longer than {at_most} bytes"),
        }),
        false => Ok(Some(bytes)),
    }
}
