//! Requests that send a few bytes to a web server.

use crate::client::Clients;
use crate::failure::Fault;
use std::sync::atomic::Ordering;

/// The longest answer that is read, in bytes.
const LONGEST: usize = 64 << 10;

/// A web server's answer to [`Stores::post`](crate::Stores::post).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The status of HTTP.
    pub status: u16,
    /// The bytes of the answer.
    pub body: Vec<u8>,
}

/// Sends `body` to a web server, once.
pub async fn post(clients: &Clients, url: &str, body: Vec<u8>) -> Result<Answer, Fault> {
    if !url.starts_with("http://") && !url.starts_with("https://") {
        return Err(Fault::Refused("expected the URL of a web server: http:// or https://".into()));
    }
    let failed = |error: reqwest::Error| Fault::Fetch(Fault::words(&error));
    clients.traffic.requests.fetch_add(1, Ordering::Relaxed);
    let mut response = clients.client.post(url).body(body).send().await.map_err(failed)?;
    let mut answer = Answer { status: response.status().as_u16(), body: Vec::new() };
    while let Some(chunk) = response.chunk().await.map_err(failed)? {
        clients.traffic.bytes.fetch_add(chunk.len() as u64, Ordering::Relaxed);
        if answer.body.len() + chunk.len() > LONGEST {
            return Err(Fault::Fetch(format!("the server answers with more than {LONGEST} bytes")));
        }
        answer.body.extend(chunk);
    }
    Ok(answer)
}
