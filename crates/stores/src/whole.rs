//! A whole object, as one response brings it.

use crate::failure::Fault;
use crate::object::Source;
use bytes::{Buf, Bytes};
use futures_util::StreamExt;
use mksum_io::Url;
use std::io::{self, Read};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tokio::runtime::Handle;
use tokio::sync::mpsc::{Receiver, channel};

/// The chunks that wait for their reader, at most.
const WAITING: usize = 64;

/// A reader of the bytes of an object, in order.
#[derive(Debug)]
pub struct Whole {
    url: Url,
    chunks: Receiver<Result<Bytes, Fault>>,
    chunk: Bytes,
    done: u64,
}

impl Whole {
    /// Begins to fetch an object.
    pub fn begin(source: Arc<Source>, url: Url, runtime: &Handle) -> Whole {
        let (send, chunks) = channel(WAITING);
        runtime.spawn(async move {
            let mut stream = match source.whole().await {
                Ok(stream) => pin!(stream),
                // A reader that is gone wants no error either.
                Err(fault) => return drop(send.send(Err(fault)).await),
            };
            // An empty object has an answer, too.
            let mut chunk = Some(Ok(Bytes::new()));
            while let Some(next) = chunk {
                source.traffic.bytes.fetch_add(next.as_ref().map_or(0, Bytes::len) as u64, Ordering::Relaxed);
                let is_last = next.is_err();
                if send.send(next).await.is_err() || is_last {
                    return;
                }
                chunk = stream.next().await;
            }
        });
        Whole { url, chunks, chunk: Bytes::new(), done: 0 }
    }

    /// Waits for the server's answer.
    ///
    /// # Errors
    /// If it has no such object, or does not answer.
    pub fn wait(&mut self) -> Result<(), Fault> {
        self.chunk = self.chunks.blocking_recv().unwrap_or_else(|| Err(gave_up()))?;
        Ok(())
    }
}

fn gave_up() -> Fault {
    Fault::Fetch("the client of the store gave up".into())
}

impl Read for Whole {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.chunk.is_empty() {
            match self.chunks.blocking_recv() {
                Some(Ok(chunk)) => self.chunk = chunk,
                Some(Err(fault)) => return Err(io::Error::other(fault.at(&self.url, self.done))),
                None => return Ok(0),
            }
        }
        let len = buffer.len().min(self.chunk.len());
        self.chunk.copy_to_slice(&mut buffer[..len]);
        self.done += len as u64;
        Ok(len)
    }
}
