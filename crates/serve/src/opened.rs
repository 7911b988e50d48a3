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
        if let Some(verified) = latest(&mut self.lock(), &version) {
            return Ok(verified);
        }
        let verified = Arc::new(open()?);
        let mut files = self.lock();
        // Requests that have opened it at the same time share one of them, and so what is verified of it.
        if let Some(verified) = latest(&mut files, &version) {
            return Ok(verified);
        }
        if files.len() >= Self::MOST {
            files.remove(0);
        }
        files.push((version, Arc::clone(&verified)));
        Ok(verified)
    }

    /// Has the file opened anew by the next request: it may have changed.
    pub fn forget(&self, verified: &Arc<Verified>) {
        self.lock().retain(|(_, known)| !Arc::ptr_eq(known, verified));
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(Version, Arc<Verified>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The open file of a version, if there is one: it is the last of the list then.
fn latest(files: &mut Vec<(Version, Arc<Verified>)>, version: &Version) -> Option<Arc<Verified>> {
    let index = files.iter().position(|(known, _)| known == version)?;
    let found = files.remove(index);
    files.push(found);
    files.last().map(|(_, verified)| Arc::clone(verified))
}
