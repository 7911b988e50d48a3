//! The response to a request.

use crate::ahead::Ahead;
use crate::body::Body;
use crate::conditions::{allows_range, precluded};
use crate::content::Content;
use crate::event::{Event, Log};
use crate::folder::Found;
use crate::host;
use crate::index;
use crate::media;
use crate::names::Names;
use crate::range::{Asked, asked};
use crate::site::Site;
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::http::request::Parts;
use hyper::{HeaderMap, Method, Response, StatusCode};
use mksum_io::Error;
use std::ops::Range;

const REPR_DIGEST: HeaderName = HeaderName::from_static("repr-digest");
const TEXT: &str = "text/plain; charset=utf-8";

/// Answers a request: opens the file, and reads the first bytes that are sent. `is_local` is whether only this machine reaches the server.
pub fn answer(site: &Site, request: &Parts, is_local: bool, event: Event, log: Log) -> Response<Body> {
    let (is_head, ahead) = (request.method == Method::HEAD, site.ahead().clone());
    let reply = Reply { headers: HeaderMap::new(), is_head, ahead, event, log };
    if is_local && !host::is_local(request) {
        let why = "the Host is neither an address nor localhost, by which a server for this machine alone is called";
        return reply.refuse(StatusCode::MISDIRECTED_REQUEST, why);
    }
    if request.method != Method::GET && !reply.is_head {
        return reply
            .with(header::ALLOW, "GET, HEAD")
            .refuse(StatusCode::METHOD_NOT_ALLOWED, "only GET and HEAD are answered");
    }
    let Names { names, is_folder } = match Names::parse(request.uri.path()) {
        Ok(names) => names,
        Err(why) => return reply.refuse(StatusCode::BAD_REQUEST, why),
    };
    let range = request.headers.get(header::RANGE).and_then(|range| range.to_str().ok()).filter(|_| !reply.is_head);
    match site.find(&names, first_asked(range, reply.is_head)) {
        Err((StatusCode::INTERNAL_SERVER_ERROR, why)) => reply.fail(request.uri.path(), &why),
        Err((status, why)) => reply.refuse(status, &why),
        Ok(Found::Index(_)) if !is_folder => {
            let mut place = String::new();
            for name in &names {
                place.push('/');
                mksum_sums::url::percent_encode(name, &mut place);
            }
            reply.with(header::LOCATION, &(place + "/")).send(StatusCode::MOVED_PERMANENTLY, "")
        }
        Ok(Found::Index(items)) => {
            let page = index::page(&names, &items);
            reply.with(header::CONTENT_TYPE, "text/html; charset=utf-8").send(StatusCode::OK, &page)
        }
        Ok(Found::Content(_)) if is_folder => reply.refuse(StatusCode::NOT_FOUND, "a file is not a directory"),
        Ok(Found::Content(content)) => {
            let name = names.last().map(Vec::as_slice).unwrap_or_default();
            file(reply, request, (name, *content), range)
        }
    }
}

/// The bytes of a file of unknown length that a request is for; where its length is needed, the first one.
fn first_asked(range: Option<&str>, is_head: bool) -> Range<u64> {
    match range.map(|range| (asked(range, u64::MAX), range.contains("=-"))) {
        _ if is_head => 0..1,
        Some((Asked::Part(range), false)) => range,
        Some((_, true)) => 0..1,
        _ => 0..u64::MAX,
    }
}

fn file(reply: Reply, request: &Parts, (name, content): (&[u8], Content), range: Option<&str>) -> Response<Body> {
    let headers = &request.headers;
    let len = content.len();
    let mut reply = reply
        .with(header::CONTENT_TYPE, media::of(name))
        .with(header::ETAG, &content.tag.to_string())
        .with(header::ACCEPT_RANGES, "bytes");
    if let Some(modified) = content.modified {
        reply = reply.with(header::LAST_MODIFIED, &httpdate::fmt_http_date(modified));
    }
    if let Some(digest) = &content.digest {
        reply = reply.with(REPR_DIGEST, digest);
    }
    match precluded(headers, &content.tag, content.modified) {
        Some(StatusCode::NOT_MODIFIED) => return reply.send(StatusCode::NOT_MODIFIED, ""),
        Some(status) => return reply.refuse(status, "the file has not the ETag of If-Match"),
        None => {}
    }
    let (status, range) = match range.filter(|_| allows_range(headers, &content.tag)).map(|range| asked(range, len)) {
        None | Some(Asked::Whole) => (StatusCode::OK, 0..len),
        Some(Asked::Nothing) => {
            let all = format!("bytes */{len}");
            return reply.with(header::CONTENT_RANGE, &all).refuse(
                StatusCode::RANGE_NOT_SATISFIABLE,
                &format!("the range has no byte of the file, which has {len}"),
            );
        }
        Some(Asked::Part(range)) => {
            let part = format!("bytes {}-{}/{len}", range.start, range.end - 1);
            reply = reply.with(header::CONTENT_RANGE, &part);
            (StatusCode::PARTIAL_CONTENT, range)
        }
    };
    reply.send_file(status, request.uri.path(), content, range)
}

/// A response that is being made.
struct Reply {
    headers: HeaderMap,
    is_head: bool,
    ahead: Ahead,
    event: Event,
    log: Log,
}

impl Reply {
    /// Adds a header. A value that no header may have is left out.
    fn with(mut self, name: HeaderName, value: &str) -> Reply {
        if let Ok(value) = HeaderValue::from_str(value) {
            self.headers.insert(name, value);
        }
        self
    }

    /// A response without the file: the status as its text, the reason for the log.
    fn refuse(self, status: StatusCode, why: &str) -> Response<Body> {
        self.refuse_as(status, why, &format!("{status}\n"))
    }

    /// The response for a file that cannot be read or verified: the client learns why, since nothing else is right.
    fn fail(self, path: &str, why: &str) -> Response<Body> {
        let status = StatusCode::INTERNAL_SERVER_ERROR;
        self.refuse_as(status, why, &format!("{status}\n{path}: {why}\n"))
    }

    fn refuse_as(mut self, status: StatusCode, why: &str, text: &str) -> Response<Body> {
        self.event.reason = Some(why.into());
        self.event.is_failure = true;
        self.with(header::CONTENT_TYPE, TEXT).send(status, text)
    }

    fn send(mut self, status: StatusCode, text: &str) -> Response<Body> {
        self.event.status = Some(status.as_u16());
        let body = if self.is_head { "" } else { text };
        let body = Body::of_bytes(body.to_owned(), self.event, self.log);
        respond(status, self.headers, (status != StatusCode::NOT_MODIFIED).then_some(text.len() as u64), body)
    }

    fn send_file(mut self, status: StatusCode, path: &str, content: Content, range: Range<u64>) -> Response<Body> {
        self.event.status = Some(status.as_u16());
        let len = range.end - range.start;
        if self.is_head {
            let body = Body::of_bytes("", self.event, self.log);
            return respond(status, self.headers, Some(len), body);
        }
        let first = match range.is_empty() {
            true => Ok(Vec::new()),
            false => content.bytes(content.first_of(&range, Content::PIECE)),
        };
        match first {
            Ok(first) => {
                let body = Body::of_file((content, self.ahead), first, range, self.event, self.log);
                respond(status, self.headers, Some(len), body)
            }
            Err(error) => {
                self.headers = HeaderMap::new();
                match error {
                    // Whose words name a server that clients need not know.
                    Error::Fetch { .. } => self.refuse(StatusCode::BAD_GATEWAY, &error.to_string()),
                    // Another request will not help soon.
                    Error::Unit(_) => self.with(header::RETRY_AFTER, "3600").fail(path, &error.to_string()),
                    _ => self.fail(path, &error.to_string()),
                }
            }
        }
    }
}

fn respond(status: StatusCode, headers: HeaderMap, len: Option<u64>, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    let headers = response.headers_mut();
    // A browser is not to guess that a download is a page.
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if let Some(len) = len {
        headers.insert(header::CONTENT_LENGTH, len.into());
    }
    response
}
