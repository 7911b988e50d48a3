//! A replica on this machine.

use super::contract::Replica;
use crate::platform::{open_at_once, read_exact_at};
use crate::{Error, Input};
use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::Path;

pub(super) struct Local {
    place: Input,
    file: File,
    fetched: u64,
}

impl Local {
    pub fn open(path: &Path) -> Result<Local, Error> {
        let fail = |error| Error::Open { path: path.into(), error };
        let file = open_at_once(path).map_err(fail)?;
        if file.metadata().map_err(fail)?.is_dir() {
            return Err(fail(io::Error::from(ErrorKind::IsADirectory)));
        }
        Ok(Local { place: path.into(), file, fetched: 0 })
    }
}

impl Replica for Local {
    fn place(&self) -> &Input {
        &self.place
    }

    fn read(&mut self, start: u64, buffer: &mut [u8]) -> Result<(), Error> {
        let result = read_exact_at(&self.file, buffer, start);
        self.fetched += result.as_ref().map_or_else(|(done, _)| *done, |()| buffer.len()) as u64;
        result.map_err(|(done, error)| Error::Read { path: self.place.clone(), offset: start + done as u64, error })
    }

    fn fetched(&self) -> u64 {
        self.fetched
    }
}
