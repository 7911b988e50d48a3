//! A replica on a web server that serves ranges (RFC 9110, section 14).

use super::Replica;
use crate::Error;
use crate::platform::uninterrupted;
use std::io::{ErrorKind, Read};
use std::path::PathBuf;
use std::sync::OnceLock;
use std::thread;
use std::time::Duration;
use ureq::Agent;
use ureq::http::{Response, StatusCode, header};
#[cfg(feature = "tls")]
use ureq::tls::{Certificate, RootCerts, TlsConfig};

/// A file behind a URL.
pub(super) struct Remote {
    /// The name in errors.
    path: PathBuf,
    /// The URL; made anew for each request, since a signed one expires.
    url: Box<dyn Fn() -> String>,
    agent: Agent,
    fetched: u64,
    /// The number of times that the next request is made before it has failed.
    tries: u32,
}

/// Why a request failed.
enum Failure {
    /// Another try may succeed.
    Passing(String),
    /// Another try would fail too.
    Lasting(String),
}

impl Remote {
    /// A request is made this many times before it has failed.
    const TRIES: u32 = 5;
    /// The pause before the second try, doubled before each further one.
    const PAUSE: Duration = Duration::from_millis(250);
    /// A try fails after this time without an answer.
    const PATIENCE: Duration = Duration::from_secs(60);

    pub fn new(path: PathBuf, url: String) -> Remote {
        Remote::signed(path, Box::new(move || url.clone()))
    }

    pub fn signed(path: PathBuf, url: Box<dyn Fn() -> String>) -> Remote {
        /// One for all files, so that connections are used again.
        static AGENT: OnceLock<Agent> = OnceLock::new();
        let agent = AGENT.get_or_init(Self::agent).clone();
        Remote { path, url, agent, fetched: 0, tries: Self::TRIES }
    }

    fn agent() -> Agent {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .timeout_connect(Some(Self::PATIENCE))
            .timeout_recv_response(Some(Self::PATIENCE))
            // A body is a few megabytes at most.
            .timeout_recv_body(Some(10 * Self::PATIENCE))
            .user_agent(concat!("mksum/", env!("CARGO_PKG_VERSION")));
        #[cfg(feature = "tls")]
        let config = config.tls_config(tls());
        config.build().new_agent()
    }

    fn try_once(&mut self, start: u64, buffer: &mut [u8]) -> Result<(), Failure> {
        let last = start + buffer.len() as u64 - 1;
        let request = self.agent.get((self.url)()).header(header::RANGE, format!("bytes={start}-{last}"));
        let response = request.header(header::ACCEPT_ENCODING, "identity").call().map_err(failure)?;
        check(&response, start, last)?;
        let (mut body, mut done) = (response.into_body().into_reader(), 0);
        while done < buffer.len() {
            match uninterrupted(|| body.read(&mut buffer[done..])) {
                Ok(0) => {
                    return Err(Failure::Passing(format!("the response ended after {done} of {} bytes", buffer.len())));
                }
                Ok(more) => {
                    done += more;
                    self.fetched += more as u64;
                }
                Err(error) => return Err(Failure::Passing(error.to_string())),
            }
        }
        Ok(())
    }
}

impl Replica for Remote {
    fn read(&mut self, start: u64, buffer: &mut [u8]) -> Result<(), Error> {
        if buffer.is_empty() {
            return Ok(());
        }
        let mut pause = Self::PAUSE;
        for attempt in 1.. {
            let why = match self.try_once(start, buffer) {
                Ok(()) => {
                    self.tries = Self::TRIES;
                    return Ok(());
                }
                Err(Failure::Passing(_)) if attempt < self.tries => {
                    thread::sleep(pause);
                    pause *= 2;
                    continue;
                }
                Err(Failure::Passing(why) | Failure::Lasting(why)) => why,
            };
            // Of a server that is gone, the other ranges are not waited for.
            self.tries = 1;
            return Err(Error::Fetch { path: self.path.clone(), offset: start, why });
        }
        unreachable!("the last try returns")
    }

    fn fetched(&self) -> u64 {
        self.fetched
    }
}

/// The certificates that the system trusts, or those in SSL_CERT_FILE; Mozilla's where the system has none.
#[cfg(feature = "tls")]
fn tls() -> TlsConfig {
    let own = rustls_native_certs::load_native_certs().certs;
    let roots = match own.is_empty() {
        true => RootCerts::WebPki,
        false => own.iter().map(|certificate| Certificate::from_der(certificate).to_owned()).into(),
    };
    TlsConfig::builder().root_certs(roots).build()
}

fn failure(error: ureq::Error) -> Failure {
    let text = error.to_string();
    match error {
        // TLS reports a server that it does not trust so: another try ends the same way.
        ureq::Error::Io(error) if error.kind() == ErrorKind::InvalidData => {
            Failure::Lasting(format!("{error} (the system's certificates are trusted, or those in SSL_CERT_FILE)"))
        }
        ureq::Error::Io(_) | ureq::Error::Timeout(_) | ureq::Error::HostNotFound | ureq::Error::ConnectionFailed => {
            Failure::Passing(text)
        }
        _ => Failure::Lasting(text),
    }
}

/// Checks that the response has these bytes, before they are read.
fn check<B>(response: &Response<B>, start: u64, last: u64) -> Result<(), Failure> {
    let status = response.status();
    match status {
        StatusCode::PARTIAL_CONTENT => {}
        StatusCode::OK => return Err(Failure::Lasting("the server does not support range requests".into())),
        StatusCode::RANGE_NOT_SATISFIABLE => return Err(Failure::Lasting("the copy ends before these bytes".into())),
        StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT => {
            return Err(Failure::Passing(status.to_string()));
        }
        _ if status.is_server_error() => return Err(Failure::Passing(status.to_string())),
        _ => return Err(Failure::Lasting(format!("the server answered {status}"))),
    }
    let sent = response.headers().get(header::CONTENT_RANGE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let range = sent.strip_prefix("bytes ").and_then(|rest| rest.split('/').next()).unwrap_or_default();
    if range != format!("{start}-{last}") {
        let sent = sent.chars().take(80).collect::<String>();
        return Err(Failure::Lasting(format!("asked for bytes {start}-{last}, but the server sent '{sent}'")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader, Write};
    use std::net::TcpListener;

    /// The result of a request for bytes 5 to 8 from a server that sends these responses, one a connection.
    fn asked(answers: &'static [&'static str]) -> (Result<[u8; 4], String>, u64) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = thread::spawn(move || {
            for answer in answers {
                let (mut stream, _) = listener.accept().unwrap();
                let request = BufReader::new(stream.try_clone().unwrap()).lines().map(Result::unwrap);
                let head: Vec<_> =
                    request.take_while(|line| !line.is_empty()).map(|line| line.to_lowercase()).collect();
                assert!(head.contains(&"range: bytes=5-8".into()), "{head:?}");
                stream.write_all(answer.replace('\n', "\r\n").as_bytes()).unwrap();
            }
        });
        let mut replica = Remote::new("copy".into(), format!("http://{address}/file"));
        let mut bytes = [0; 4];
        let result = replica.read(5, &mut bytes).map(|()| bytes).map_err(|error| error.to_string());
        server.join().unwrap();
        (result, replica.fetched())
    }

    const BUSY: &str = "HTTP/1.1 503 Busy\nContent-Length: 0\nConnection: close\n\n";
    const RIGHT: &str = "HTTP/1.1 206 Part\nContent-Range: bytes 5-8/100\nContent-Length: 4\nConnection: close\n\nfghi";

    #[test]
    fn a_range_is_asked_for_and_comes() {
        assert_eq!(asked(&[RIGHT]), (Ok(*b"fghi"), 4));
    }

    #[test]
    fn a_passing_failure_is_tried_again() {
        const CUT: &str = "HTTP/1.1 206 Part\nContent-Range: bytes 5-8/100\nContent-Length: 4\nConnection: close\n\nfg";
        assert_eq!(asked(&[BUSY, CUT, RIGHT]), (Ok(*b"fghi"), 6));
    }

    #[test]
    fn a_lasting_failure_is_reported_at_once() {
        let error = |answers| asked(answers).0.unwrap_err();
        let failed = "bytes from 5 on could not be fetched: ";
        assert_eq!(
            error(&["HTTP/1.1 200 OK\nContent-Length: 100\nConnection: close\n\nabcde"]),
            format!("{failed}the server does not support range requests")
        );
        assert_eq!(
            error(&["HTTP/1.1 404 Gone\nContent-Length: 0\nConnection: close\n\n"]),
            format!("{failed}the server answered 404 Not Found")
        );
        assert_eq!(
            error(&["HTTP/1.1 416 No\nContent-Length: 0\nConnection: close\n\n"]),
            format!("{failed}the copy ends before these bytes")
        );
        assert_eq!(
            error(&["HTTP/1.1 206 Part\nContent-Range: bytes 0-3/100\nContent-Length: 4\nConnection: close\n\nabcd"]),
            format!("{failed}asked for bytes 5-8, but the server sent 'bytes 0-3/100'")
        );
    }

    #[test]
    fn a_server_that_is_always_busy_is_given_up() {
        assert_eq!(asked(&[BUSY; 5]).0, Err("bytes from 5 on could not be fetched: 503 Service Unavailable".into()));
    }
}
