//! A good copy on this machine.

use super::Good;
use crate::platform::read_at;
use crate::{Error, reason};
use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

pub(super) struct Local {
    path: PathBuf,
    file: File,
    fetched: u64,
}

impl Local {
    pub fn open(path: &Path) -> Result<Local, Error> {
        let fail = |error| Error::Open { path: path.into(), error };
        let file = File::open(path).map_err(fail)?;
        if file.metadata().map_err(fail)?.is_dir() {
            return Err(fail(io::Error::from(ErrorKind::IsADirectory)));
        }
        Ok(Local { path: path.into(), file, fetched: 0 })
    }
}

impl Good for Local {
    fn read(&mut self, start: u64, buffer: &mut [u8]) -> Result<(), Error> {
        let mut done = 0;
        while done < buffer.len() {
            let offset = start + done as u64;
            let error = match read_at(&self.file, &mut buffer[done..], offset) {
                Ok(0) => io::Error::other("the copy ends here"),
                Ok(more) => {
                    done += more;
                    self.fetched += more as u64;
                    continue;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => io::Error::new(error.kind(), reason(&error)),
            };
            return Err(Error::Read { path: self.path.clone(), offset, error });
        }
        Ok(())
    }

    fn fetched(&self) -> u64 {
        self.fetched
    }
}
