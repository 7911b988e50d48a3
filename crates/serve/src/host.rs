//! The name by which a client calls the server.

use hyper::header;
use hyper::http::request::Parts;
use std::net::IpAddr;

/// Whether a request calls this machine by an address, or as `localhost`.
///
/// A server that only this machine reaches answers no others: a web page could have its own name lead to 127.0.0.1, and then read what a
/// browser here is allowed to ("DNS rebinding").
pub fn is_local(request: &Parts) -> bool {
    let named = request.headers.get(header::HOST).map(|host| host.to_str().unwrap_or("?"));
    [request.uri.authority().map(|authority| authority.as_str()), named].into_iter().flatten().all(is_local_name)
}

fn is_local_name(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(address) => address.split(']').next().unwrap_or_default(),
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    };
    let name = name.to_ascii_lowercase();
    name.parse::<IpAddr>().is_ok() || name == "localhost" || name.ends_with(".localhost")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_and_localhost_are_local() {
        for host in [
            "127.0.0.1",
            "127.0.0.1:8080",
            "[::1]:80",
            "[::1]",
            "localhost",
            "LocalHost:8080",
            "a.localhost:1",
            "192.0.2.1",
        ] {
            assert!(is_local_name(host), "{host}");
        }
        for host in
            ["", "x", "evil.example:8080", "127.0.0.1.evil.example", "localhost.evil.example", "notlocalhost", "?"]
        {
            assert!(!is_local_name(host), "{host}");
        }
    }
}
