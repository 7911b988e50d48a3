//! Why an object could not be read, and how that is said.

use http::{StatusCode, Uri};
use mksum_io::{Refusal, Url};
use object_store::client::HttpError;
use std::error::Error;
use std::fmt;
use std::io::{self, ErrorKind};

/// The reason why an object could not be opened or read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The URL or the configuration makes no sense.
    Refused(String),
    /// The object does not exist.
    Missing,
    /// Requests fail.
    Fetch(String),
    /// The object is not the one that it was.
    Changed(String),
    /// The object has no bytes at this offset: status 416.
    Empty,
    /// The whole object came where a range was asked for.
    NotPartial,
}

/// A server that cannot be reached: the URL of an object in a store does not say which it is.
#[derive(Debug)]
pub struct Unreachable {
    endpoint: String,
    why: HttpError,
}

impl Unreachable {
    /// The server of a request, without the user and password of its URL.
    pub fn new(request: &Uri, why: HttpError) -> Self {
        let (scheme, host) = (request.scheme_str().unwrap_or_default(), request.host().unwrap_or_default());
        let port = request.port().map(|port| format!(":{port}")).unwrap_or_default();
        Unreachable { endpoint: format!("{scheme}://{host}{port}"), why }
    }
}

impl fmt::Display for Unreachable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot connect to {}", self.endpoint)
    }
}

impl Error for Unreachable {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.why)
    }
}

/// The longest message of a server that is repeated, in letters.
const LONGEST: usize = 200;

impl Fault {
    /// The error of the client while an object is opened, or as part of one that was open.
    /// `status` is that of the last response, if there was one.
    pub fn of(error: &object_store::Error, status: Option<StatusCode>) -> Fault {
        use object_store::Error::{NotFound, Precondition};
        match (status, error) {
            (Some(StatusCode::RANGE_NOT_SATISFIABLE), _) => Fault::Empty,
            (Some(StatusCode::NOT_FOUND), _) | (_, NotFound { .. }) => Fault::Missing,
            (Some(StatusCode::PRECONDITION_FAILED), _) | (_, Precondition { .. }) => {
                Fault::Changed("the store has another version of it now (412 Precondition Failed)".into())
            }
            (Some(StatusCode::MOVED_PERMANENTLY), _) => {
                let why = "301 Moved Permanently: a bucket of S3 is in another region; set AWS_REGION";
                Fault::Fetch(format!("the server answered {why}"))
            }
            _ => Fault::Fetch(Fault::words(error)),
        }
    }

    /// Returns the message of a client's error for users: the innermost one.
    pub fn words(error: &(dyn Error + 'static)) -> String {
        // The client asks this machine's metadata service where nothing else has credentials of S3.
        let metadata = ["/latest/api/token", "/latest/meta-data/"];
        let (words, mut source) = (Fault::innermost(error), Some(error));
        while let Some(inner) = source {
            let said = inner.to_string();
            if metadata.iter().any(|path| said.contains(path)) {
                return format!(
                    "no credentials of S3 were found (this machine's metadata service: {words}): set AWS_ACCESS_KEY_ID and \
                     AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, or AWS_SKIP_SIGNATURE=true for a public bucket"
                );
            }
            source = inner.source();
        }
        words
    }

    fn innermost(error: &(dyn Error + 'static)) -> String {
        let mut source = Some(error);
        let (mut last, mut server) = (String::new(), String::new());
        while let Some(inner) = source {
            last = inner.to_string();
            if inner.is::<Unreachable>() {
                server = format!("{last}: ");
            }
            // The words of the client before those of the server, which stand in a message of their own.
            if let Some((_, said)) = last.split_once("Server returned non-2xx status code: ") {
                return answered(said);
            }
            source = inner.source();
        }
        let hint = if last.contains("certificate") {
            " (the system's certificates are trusted, or those in SSL_CERT_FILE)"
        } else if last.starts_with("Content-Length Header missing") {
            ": the server does not say how long the object is, so its end could not be known; download it first (curl -s URL | mksum)"
        } else {
            ""
        };
        // Servers in Java send the trace of their stack after the first line.
        format!("{server}{}{hint}", shortened(last.lines().next().unwrap_or_default()))
    }

    /// Converts this fault to the error of an input that could not be opened or listed.
    pub fn opening(self, url: &Url) -> mksum_io::Error {
        let open = |error| mksum_io::Error::Open { path: url.into(), error };
        match self {
            Fault::Missing => open(io::Error::new(ErrorKind::NotFound, "there is no such object")),
            Fault::Fetch(why) => open(io::Error::other(why)),
            fault => fault.at(url, 0),
        }
    }

    /// Converts this fault to the error of an input, at the byte `offset`.
    pub fn at(self, url: &Url, offset: u64) -> mksum_io::Error {
        let path = url.into();
        match self {
            Fault::Refused(why) => mksum_io::Error::refused(url, Refusal::Url(why)),
            Fault::Missing => {
                mksum_io::Error::Changed { path, how: format!("it is gone at byte {offset} (404 Not Found)") }
            }
            Fault::Changed(how) => mksum_io::Error::Changed { path, how: format!("at byte {offset}, {how}") },
            Fault::Fetch(why) => mksum_io::Error::Fetch { path, offset, why },
            Fault::Empty => mksum_io::Error::Fetch { path, offset, why: "the object ends before these bytes".into() },
            Fault::NotPartial => {
                let why = "the server does not support range requests, and these bytes are not the next ones of its only response: \
                           download the object first"
                    .into();
                mksum_io::Error::Fetch { path, offset, why }
            }
        }
    }
}

/// The status of a response, with the code in its body where S3 and compatible stores have one.
fn answered(said: &str) -> String {
    let (status, body) = said.split_once(": ").unwrap_or((said, ""));
    // After the first line, Azure repeats the number and the time of the request.
    let within = |open: &str, close: &str| body.split_once(open)?.1.split_once(close)?.0.trim().lines().next();
    let words: Vec<_> =
        [within("<Code>", "</Code>"), within("<Message>", "</Message>")].into_iter().flatten().collect();
    match words.is_empty() {
        true => format!("the server answered {}", shortened(status)),
        false => format!("the server answered {status}: {}", shortened(&words.join(": "))),
    }
}

fn shortened(text: &str) -> String {
    text.chars().take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use object_store::client::HttpErrorKind;

    #[test]
    fn a_metadata_service_without_credentials_is_no_server_of_s3() {
        let said = "Error performing PUT http://169.254.169.254/latest/api/token in 2ms - Server returned non-2xx status code: 403 Forbidden: ";
        let words = Fault::words(&io::Error::other(said));
        assert!(words.starts_with("no credentials of S3 were found (this machine's metadata service: the server answered 403 Forbidden): set"), "{words}");
        let words = Fault::words(&io::Error::other(said.replace("/latest/api/token", "/bucket/key")));
        assert_eq!(words, "the server answered 403 Forbidden");
    }

    #[test]
    fn a_status_is_one_fault() {
        let error = || object_store::Error::Generic { store: "S3", source: "as the client says".into() };
        let url = Url::parse("s3://b/k").unwrap();
        for (status, opening, reading) in [
            (404, "there is no such object", "it is gone at byte 9 (404 Not Found)"),
            (412, "(412 Precondition Failed)", "at byte 9, the store has another version of it now"),
            (416, "the object ends before these bytes", "the object ends before these bytes"),
            (301, "is in another region; set AWS_REGION", "is in another region; set AWS_REGION"),
            (403, "as the client says", "as the client says"),
            (200, "as the client says", "as the client says"),
        ] {
            let fault = Fault::of(&error(), StatusCode::from_u16(status).ok());
            for (found, words) in [(fault.clone().opening(&url), opening), (fault.at(&url, 9), reading)] {
                assert!(found.to_string().contains(words), "{status}: {found}");
            }
        }
        // The client's own kinds, where a status is not known.
        let source = || "x".into();
        let missing = object_store::Error::NotFound { path: "k".into(), source: source() };
        let changed = object_store::Error::Precondition { path: "k".into(), source: source() };
        assert_eq!(Fault::of(&missing, None), Fault::Missing);
        assert!(matches!(Fault::of(&changed, None), Fault::Changed(_)));
    }

    #[test]
    fn a_server_that_cannot_be_reached_is_named() {
        let refused = HttpError::new(HttpErrorKind::Connect, io::Error::from(ErrorKind::ConnectionRefused));
        let request = Uri::from_static("http://me:secret@127.0.0.1:9/bucket/key?secret");
        let error = HttpError::new(HttpErrorKind::Connect, Unreachable::new(&request, refused));
        assert_eq!(Fault::words(&error), "cannot connect to http://127.0.0.1:9: connection refused");
    }

    #[test]
    fn answers_of_stores_are_shortened() {
        let body = "<?xml?><Error><Code>SlowDown</Code><Message>Reduce your rate.</Message></Error>";
        assert_eq!(
            answered(&format!("503 Service Unavailable: {body}")),
            "the server answered 503 Service Unavailable: SlowDown: Reduce your rate."
        );
        assert_eq!(answered("403 Forbidden: <html>no</html>"), "the server answered 403 Forbidden");
        let azure =
            "<Error><Code>ContainerNotFound</Code><Message>No such container.\nRequestId:1\nTime:2</Message></Error>";
        let words = "the server answered 404 Not Found: ContainerNotFound: No such container.";
        assert_eq!(answered(&format!("404 Not Found: {azure}")), words);
    }
}
