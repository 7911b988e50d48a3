//! The body of a response, read piece by piece as the client takes it.

use crate::ahead::Ahead;
use crate::content::Content;
use crate::event::{Event, Log};
use hyper::body::{Body as HttpBody, Bytes, Frame, SizeHint};
use mksum_io::Error;
use std::io;
use std::ops::Range;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::task::{JoinHandle, spawn_blocking};

/// The body of a response, which reports about the request when it ends.
pub struct Body {
    /// The bytes that are sent next, if they are there.
    next: Option<Bytes>,
    reading: Option<JoinHandle<Result<Bytes, Error>>>,
    /// What the others are read from, and the memory for reading ahead.
    content: Option<(Arc<Content>, Ahead)>,
    /// The bytes of it that are not read yet.
    rest: Range<u64>,
    /// The bytes that are not sent yet.
    left: u64,
    event: Event,
    log: Log,
}

impl Body {
    /// A body of bytes that are there.
    pub fn of_bytes(bytes: impl Into<Bytes>, event: Event, log: Log) -> Body {
        let bytes = bytes.into();
        let left = bytes.len() as u64;
        Body { next: Some(bytes), reading: None, content: None, rest: 0..0, left, event, log }
    }

    /// A body of these bytes of a file, of which the first are there already: `first`.
    pub fn of_file(content: (Content, Ahead), first: Vec<u8>, range: Range<u64>, event: Event, log: Log) -> Body {
        let (left, rest) = (range.end - range.start, range.start + first.len() as u64..range.end);
        let content = Some((Arc::new(content.0), content.1));
        Body { next: Some(first.into()), reading: None, content, rest, left, event, log }
    }

    /// Begins to read what follows, if nothing is being read: after `sent` bytes twice as many, if there is memory for them; with `sent`
    /// zero, the least in any case.
    fn read_on(&mut self, sent: usize) {
        let Some((content, ahead)) = self.content.as_ref().filter(|_| self.reading.is_none() && !self.rest.is_empty())
        else {
            return;
        };
        let piece = (2 * sent as u64).clamp(Content::PIECE, Content::LONG_PIECE);
        let range = content.first_of(&self.rest, piece);
        let memory = match ahead.take(range.end - range.start) {
            None if sent > 0 => return,
            memory => memory,
        };
        self.rest.start = range.end;
        let content = Arc::clone(content);
        self.reading = Some(spawn_blocking(move || content.bytes(range).map(|bytes| Ahead::held(bytes, memory))));
    }

    /// Notes why the response ends before its end; the client sees that bytes are missing.
    fn end(&mut self, why: &str) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        self.event.reason = Some(format!("ended early after {} bytes: {why}", self.event.sent));
        self.event.is_failure = true;
        Poll::Ready(Some(Err(io::Error::other("the response ended early"))))
    }
}

impl HttpBody for Body {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        if self.left == 0 {
            return Poll::Ready(None);
        }
        let bytes = match self.next.take() {
            Some(bytes) => bytes,
            None => {
                self.read_on(0);
                let Some(reading) = &mut self.reading else { return Poll::Ready(None) };
                let read = ready!(Pin::new(reading).poll(context));
                self.reading = None;
                match read {
                    Ok(Ok(bytes)) => bytes,
                    Ok(Err(error)) => return self.end(&error.to_string()),
                    Err(error) => return self.end(&error.to_string()),
                }
            }
        };
        self.left -= bytes.len() as u64;
        self.event.sent += bytes.len() as u64;
        // While these are sent.
        self.read_on(bytes.len());
        Poll::Ready(Some(Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}

impl Drop for Body {
    fn drop(&mut self) {
        if self.left > 0 && self.event.reason.is_none() {
            self.event.reason = Some(format!("the client went away after {} bytes", self.event.sent));
        }
        (self.log)(&self.event);
    }
}
