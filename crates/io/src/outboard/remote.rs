//! Outboards in stores: written on this machine first.

use super::Stored;
use crate::{Error, Input, Objects, Options, Scratch, Url, objects};
use std::fs::File;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::Arc;
use tempfile::TempDir;

/// The outboard at a URL, and its copy in a folder of its own, which is removed when this value is dropped.
#[derive(Debug)]
pub struct Remote {
    url: Url,
    folder: Scratch,
    objects: Arc<dyn Objects>,
}

impl Remote {
    /// Returns the outboard at `target`, with a copy of it if it is there; `None` if that is no URL.
    ///
    /// # Errors
    /// If another object is there, it cannot be fetched, or the copy cannot be written.
    pub fn of(target: &Input, options: &Options) -> Result<Option<Remote>, Error> {
        let Input::Url(url) = target else { return Ok(None) };
        let objects = options.objects.clone().ok_or_else(|| objects::no_objects(url))?;
        let write = |error| Error::Write { path: target.clone(), error };
        let (folder, ()) = Scratch::new(|| Ok((TempDir::new()?.keep(), ()))).map_err(write)?;
        let remote = Remote { url: url.clone(), folder, objects };
        match Stored::open_with(target, options) {
            Ok(stored) => stored.copy_whole(&remote.copy())?,
            Err(Error::Open { error, .. }) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        Ok(Some(remote))
    }

    /// The URL of the outboard.
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
    pub fn put(&self) -> Result<(), Error> {
        let unread = |error| Error::Open { path: self.copy().into(), error };
        let mut copy = File::open(self.copy()).map_err(unread)?;
        let len = copy.metadata().map_err(unread)?.len();
        self.objects.put(&self.url, &mut copy, len)
    }
}
