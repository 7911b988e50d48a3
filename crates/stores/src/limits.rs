//! Limits of what a server sends: bodies that come too slowly or are too long.

use bytes::Bytes;
use http::{Method, Uri};
use http_body::{Body, Frame, SizeHint};
use object_store::client::{HttpError, HttpErrorKind, HttpResponse, HttpResponseBody};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

/// The time without any byte after which a request has failed, and over which its speed is measured.
pub const PATIENCE: Duration = Duration::from_secs(60);
/// The slowest that a body may come, in bytes a second.
const SLOWEST: u64 = 1 << 10;
/// The longest page of a listing, error or credential, in bytes: a page has at most 5000 names.
const LONGEST: u64 = 64 << 20;

/// An error that is the same at the next try.
pub fn refused(why: String) -> HttpError {
    HttpError::new(HttpErrorKind::Unknown, io::Error::other(why))
}

/// Whether a request asks for a page of a listing: of S3 and Google, or of Azure.
pub fn is_page(url: &Uri) -> bool {
    url.query().is_some_and(|query| query.split('&').any(|part| part == "list-type=2" || part == "comp=list"))
}

/// A response with limits: of its speed, and of its length unless it is an object.
///
/// # Errors
/// If it is announced to be too long.
pub fn limited(response: HttpResponse, (method, url): (&Method, &Uri)) -> Result<HttpResponse, HttpError> {
    let is_object = method == Method::GET && response.status().is_success() && !is_page(url);
    let left = if is_object { u64::MAX } else { LONGEST };
    // The answer to HEAD has the length of what GET would bring.
    if method != Method::HEAD && response.body().size_hint().lower() > left {
        return Err(too_long());
    }
    let (parts, body) = response.into_parts();
    let body = Limited { body, left, waiting: None, pace: Pace::default() };
    Ok(HttpResponse::from_parts(parts, HttpResponseBody::new(body)))
}

fn too_long() -> HttpError {
    refused(format!("the server sends more than {LONGEST} bytes where no object was asked for"))
}

struct Limited {
    body: HttpResponseBody,
    /// The bytes that may still come.
    left: u64,
    /// Since when bytes are waited for.
    waiting: Option<Instant>,
    pace: Pace,
}

impl Body for Limited {
    type Data = Bytes;
    type Error = HttpError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, HttpError>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        let Poll::Ready(frame) = polled else {
            self.waiting.get_or_insert_with(Instant::now);
            return Poll::Pending;
        };
        // Time counts only while the server is waited for, not while nobody asks for more.
        let waited = self.waiting.take().map_or(Duration::ZERO, |since| since.elapsed());
        let came = match &frame {
            Some(Ok(frame)) => frame.data_ref().map_or(0, |data| data.len() as u64),
            _ => return Poll::Ready(frame),
        };
        let Some(left) = self.left.checked_sub(came) else { return Poll::Ready(Some(Err(too_long()))) };
        self.left = left;
        match self.pace.add(waited, came) {
            Ok(()) => Poll::Ready(frame),
            Err(why) => Poll::Ready(Some(Err(refused(why)))),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// The speed of a body, measured each time that it was waited for for [`PATIENCE`].
#[derive(Debug, Default)]
struct Pace {
    waited: Duration,
    came: u64,
}

impl Pace {
    /// Adds bytes and the time that was waited for them.
    ///
    /// # Errors
    /// If it is too slow, as words.
    fn add(&mut self, waited: Duration, came: u64) -> Result<(), String> {
        self.waited += waited;
        self.came += came;
        if self.waited < PATIENCE {
            return Ok(());
        }
        let Pace { waited, came } = std::mem::take(self);
        let seconds = waited.as_secs();
        match came < SLOWEST * PATIENCE.as_secs() {
            true => {
                Err(format!("{came} bytes came in {seconds} s: the server is slower than {SLOWEST} bytes a second"))
            }
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn response(status: u16, body: &[u8]) -> HttpResponse {
        http::Response::builder().status(status).body(body.to_vec().into()).unwrap()
    }

    #[test]
    fn a_body_has_a_least_speed() {
        let mut trickle = Pace::default();
        assert!((0..29).all(|_| trickle.add(Duration::from_secs(2), 1).is_ok()));
        let why = trickle.add(Duration::from_secs(2), 1).unwrap_err();
        assert_eq!(why, "30 bytes came in 60 s: the server is slower than 1024 bytes a second");
        let mut slow = Pace::default();
        assert!((0..600).all(|_| slow.add(Duration::from_secs(2), 2 * SLOWEST).is_ok()));
        // A reader that does not ask waits for nothing.
        let mut idle = Pace::default();
        assert!((0..600).all(|_| idle.add(Duration::ZERO, 1).is_ok()));
    }

    #[test]
    fn a_page_has_a_greatest_length() {
        let get = Method::GET;
        let long = vec![b' '; LONGEST as usize + 1];
        let page: Uri = "http://h/b?list-type=2".parse().unwrap();
        assert!(limited(response(200, &long), (&get, &page)).is_err(), "announced");
        let object: Uri = "http://h/b/object".parse().unwrap();
        assert!(limited(response(200, &long), (&get, &object)).is_ok());
        let (parts, body) = response(200, &long).into_parts();
        let body = Limited { body, left: LONGEST, waiting: None, pace: Pace::default() };
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let read = runtime.block_on(HttpResponse::from_parts(parts, HttpResponseBody::new(body)).into_body().bytes());
        assert!(read.unwrap_err().to_string().contains("more than"), "not announced");
    }
}
