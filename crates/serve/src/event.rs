//! Reports about requests.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

/// Takes the report about each request.
pub type Log = Arc<dyn Fn(&Event) + Send + Sync>;

/// A request that was answered, or failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The client's address.
    pub peer: IpAddr,
    /// The method and the target as the client sent them; empty if the request could not be read.
    pub request: String,
    /// The status of the response; `None` if the request could not be read.
    pub status: Option<u16>,
    /// The bytes of the body that were sent.
    pub sent: u64,
    /// The reason why the request failed, or why the response ended early.
    pub reason: Option<String>,
    /// Whether it failed: a status from 400 on, or a response that the server ended early. A client that goes away is no failure.
    pub is_failure: bool,
}

impl fmt::Display for Event {
    /// Writes a line: the client, the request, the status and the reason, or the bytes that were sent. It has what the client sent, so
    /// escape it for a terminal.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.peer)?;
        if !self.request.is_empty() {
            write!(f, "{}: ", self.request)?;
        }
        match (self.status, &self.reason) {
            (Some(status), Some(reason)) => write!(f, "{status}: {reason}"),
            (Some(status), None) => write!(f, "{status}, {} bytes sent", self.sent),
            (None, reason) => f.write_str(reason.as_deref().unwrap_or_default()),
        }
    }
}
