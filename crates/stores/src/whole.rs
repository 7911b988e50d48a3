//! An object of a server without range requests: its bytes come in order, in one response.

use crate::failure::Fault;
use crate::object::{Body, Source, Version};
use bytes::Bytes;
use futures_util::StreamExt;
use mksum::outboard::Identity;
use mksum_io::{Ahead, Error, Object, Url};
use std::fmt;
use std::io::IoSliceMut;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::runtime::Handle;

/// An open object whose bytes come in order.
pub struct Whole {
    url: Url,
    source: Arc<Source>,
    version: Version,
    named: String,
    ahead: Ahead,
    runtime: Handle,
    state: Mutex<State>,
}

struct State {
    /// The rest of the response.
    body: Body,
    /// The bytes that have come and were not read.
    chunk: Bytes,
    /// The offset of the first of them.
    at: u64,
    /// Whether it was asked for again because no byte came: an object that was opened ahead may have waited too long.
    repeated: bool,
}

impl fmt::Debug for Whole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Whole").field("url", &self.url).field("version", &self.version).finish_non_exhaustive()
    }
}

impl Whole {
    /// The object of this version, whose bytes are in `body`.
    pub fn new(
        url: Url,
        (source, version): (Arc<Source>, Version),
        body: Body,
        ahead: Ahead,
        runtime: Handle,
    ) -> Whole {
        let state = Mutex::new(State { body, chunk: Bytes::new(), at: 0, repeated: false });
        Whole { url, source, named: version.text(), version, ahead, runtime, state }
    }

    /// Asks for the object again, from its beginning.
    fn again(&self, state: &mut State) -> Result<(), Fault> {
        let (version, body) = self.runtime.block_on(self.source.whole(Some(&self.version)))?;
        self.version.check(&version)?;
        (state.body, state.chunk, state.at) = (body, Bytes::new(), 0);
        Ok(())
    }

    /// Has the next bytes in `state.chunk`.
    fn next(&self, state: &mut State) -> Result<(), Fault> {
        match self.runtime.block_on(state.body.next()) {
            Some(Ok(chunk)) => {
                self.source.traffic.bytes.fetch_add(chunk.len() as u64, Ordering::Relaxed);
                state.chunk = chunk;
                Ok(())
            }
            Some(Err(_)) if state.at == 0 && !state.repeated => {
                state.repeated = true;
                self.again(state)
            }
            Some(Err(error)) => Err(match Fault::of(&error, None) {
                Fault::Fetch(why) => Fault::Fetch(format!(
                    "{why}; the server does not support range requests, so nothing goes on from here"
                )),
                fault => fault,
            }),
            None => Err(Fault::Fetch("the response ended too soon".into())),
        }
    }

    fn fill(&self, state: &mut State, start: u64, mut out: &mut [u8]) -> Result<(), Fault> {
        if start + out.len() as u64 > self.version.len {
            return Err(Fault::Changed(format!("it has {} bytes", self.version.len)));
        }
        if start < state.at {
            // What is read in order reads it once. Elsewhere, it would be fetched over and over again.
            if self.ahead == Ahead::Yes {
                return Err(Fault::NotPartial);
            }
            self.again(state)?;
        }
        while !out.is_empty() {
            if state.chunk.is_empty() {
                self.next(state)?;
                continue;
            }
            let skipped = (start.saturating_sub(state.at)).min(state.chunk.len() as u64) as usize;
            state.at += skipped as u64;
            let mut there = state.chunk.split_off(skipped);
            let len = there.len().min(out.len());
            let (now, later) = out.split_at_mut(len);
            now.copy_from_slice(&there.split_to(len));
            (state.chunk, out) = (there, later);
            state.at += len as u64;
        }
        Ok(())
    }
}

impl Object for Whole {
    fn len(&self) -> u64 {
        self.version.len
    }

    fn version(&self) -> &str {
        &self.named
    }

    fn identity(&self) -> Option<Identity> {
        self.version.identity()
    }

    fn is_in_order(&self) -> bool {
        true
    }

    fn read(&self, start: u64, slices: &mut [IoSliceMut<'_>]) -> Result<(), Error> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut at = start;
        for slice in slices {
            self.fill(&mut state, at, slice).map_err(|fault| fault.at(&self.url, state.at.max(at)))?;
            at += slice.len() as u64;
        }
        Ok(())
    }
}
