//! Outboards in stores: written on this machine first.

use crate::failure::Failure;
use crate::tool::Tool;
use mksum_io::outboard::Stored;
use mksum_io::{Error, Input, Scratch, Url};
use std::io::ErrorKind;
use std::path::PathBuf;
use tempfile::TempDir;

/// The outboard at a URL, and its copy in a folder of its own.
pub struct Remote {
    url: Url,
    folder: Scratch,
}

impl Remote {
    /// The outboard at `target`, with a copy of it if it is there; `None` if that is no URL.
    ///
    /// # Errors
    /// If another object is there, it cannot be fetched, or the copy cannot be written.
    pub fn of(tool: &Tool, target: &Input) -> Result<Option<Remote>, Failure> {
        let Input::Url(url) = target else { return Ok(None) };
        let write = |error| Error::Write { path: target.clone(), error };
        let (folder, ()) = Scratch::new(|| Ok((TempDir::new()?.keep(), ()))).map_err(write)?;
        let remote = Remote { url: url.clone(), folder };
        match Stored::open_with(target, &tool.options) {
            Ok(stored) => stored.copy_whole(&remote.copy())?,
            Err(Error::Open { error, .. }) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error.into()),
        }
        Ok(Some(remote))
    }

    /// Where it is.
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// The path of the copy.
    pub fn copy(&self) -> PathBuf {
        self.folder.path().join("outboard.mkt")
    }

    /// Writes the copy to the store.
    ///
    /// # Errors
    /// If it cannot be read, or the store does not take it.
    pub fn put(&self, tool: &Tool) -> Result<(), Error> {
        let Some(objects) = &tool.options.objects else { return Ok(()) };
        let unread = |error| Error::Open { path: self.copy().into(), error };
        let mut copy = std::fs::File::open(self.copy()).map_err(unread)?;
        let len = copy.metadata().map_err(unread)?.len();
        objects.put(&self.url, &mut copy, len)
    }
}
