//! Files that are read through their outboards, opened once for many requests.

use mksum_io::{Error, Facts, Input, Opening, Verified};
use std::fs;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What was opened: another file or outboard is opened anew. Of an object, reads find out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    file: Input,
    facts: Option<Facts>,
    outboard: Option<Facts>,
}

impl Version {
    /// The version of what will be opened: of a file with these facts, and its outboard.
    pub fn of(opening: &Opening, facts: Option<Facts>) -> Version {
        let outboard = opening.outboard.as_ref().and_then(Input::file).and_then(|path| fs::metadata(path).ok());
        Version { file: opening.file.clone(), facts, outboard: outboard.as_ref().map(Facts::from) }
    }
}

/// The files that were read last: requests for one share what was verified of it, and the memory for that.
#[derive(Debug, Default)]
pub struct Opened(Mutex<Vec<(Version, Arc<Verified>)>>);

impl Opened {
    /// The files that are kept open, each with at most [`Verified::KEPT`] bytes of verified units.
    const MOST: usize = 8;

    /// Returns the file of this version, or opens it.
    ///
    /// # Errors
    /// As `open`.
    pub fn get(
        &self,
        version: Version,
        open: impl FnOnce() -> Result<Verified, Error>,
    ) -> Result<Arc<Verified>, Error> {
        let mut found = self.take(|(known, _)| *known == version);
        let verified = match found.pop() {
            Some((_, verified)) => verified,
            None => Arc::new(open()?),
        };
        let mut files = self.lock();
        if files.len() >= Self::MOST {
            files.remove(0);
        }
        files.push((version, Arc::clone(&verified)));
        Ok(verified)
    }

    /// Has the file opened anew by the next request: it may have changed.
    pub fn forget(&self, verified: &Arc<Verified>) {
        drop(self.take(|(_, known)| Arc::ptr_eq(known, verified)));
    }

    /// Takes those out that `wanted` is true for.
    fn take(&self, wanted: impl Fn(&(Version, Arc<Verified>)) -> bool) -> Vec<(Version, Arc<Verified>)> {
        self.lock().extract_if(.., |entry| wanted(entry)).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(Version, Arc<Verified>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
