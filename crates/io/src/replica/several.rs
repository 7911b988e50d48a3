//! Several replicas, tried in order.

use super::contract::Replica;
use crate::{Error, Input};

/// A replica, and those that are asked after it.
pub(super) struct Chain {
    pub first: Box<dyn Replica>,
    pub next: Option<Box<Chain>>,
}

impl Replica for Chain {
    fn place(&self) -> &Input {
        self.first.place()
    }

    fn read(&mut self, start: u64, buffer: &mut [u8]) -> Result<(), Error> {
        self.first.read(start, buffer)
    }

    fn fetched(&self) -> u64 {
        self.first.fetched() + self.next.as_ref().map_or(0, |next| next.fetched())
    }

    fn next(&mut self) -> Option<&mut dyn Replica> {
        Some(&mut **self.next.as_mut()?)
    }
}

/// A replica that could not be opened, although others could.
pub(super) struct Unopened {
    pub place: Input,
    pub why: String,
}

impl Replica for Unopened {
    fn place(&self) -> &Input {
        &self.place
    }

    fn read(&mut self, start: u64, _: &mut [u8]) -> Result<(), Error> {
        Err(Error::Fetch { path: self.place.clone(), offset: start, why: self.why.clone() })
    }

    fn fetched(&self) -> u64 {
        0
    }
}
