//! The flags of `mksum serve`.

use super::Common;
use super::numbers::number;
use super::paths::{path, place};
use clap::ValueHint;
use mksum::parse_size;
use mksum_cli::time::duration;
use mksum_io::Input;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

/// `mksum serve`.
#[derive(Debug, clap::Args)]
pub struct Serve {
    /// Directories, files, or URLs of objects (s3://BUCKET/KEY, ...); one directory is served at /, else each at /NAME
    ///
    /// A URL that ends in a slash stands for all objects below it, as a directory does, but is not listed: with --verify, a proxy of
    /// another server or a bucket that sends only verified bytes.
    ///
    /// The outboard beside a file is at NAME.mkt. No file outside of a directory is served: not through '..', and not through symbolic
    /// links. Of DIR/.mksum, only the catalogue and its outboards are.
    #[arg(value_name = "DIR", required = true, value_parser = place(), value_hint = ValueHint::AnyPath)]
    pub inputs: Vec<Input>,
    /// Address and port, or a port of 127.0.0.1; port 0 is any that is free
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080", value_parser = address)]
    pub listen: SocketAddr,
    /// Send only bytes that were verified through the outboard of the file
    ///
    /// A damaged leaf is never sent: the status is 500 with the range, or the response ends early. A file without an outboard is
    /// verified as a whole if the catalogue has its root and it has at most 8 MiB; else it is not sent.
    #[arg(long)]
    pub verify: bool,
    /// Trusted root of the one file that is served, which need not be trusted; means --verify
    #[arg(long, value_name = "ROOT")]
    pub root: Option<String>,
    /// Keep verified leaves of URLs in this directory, so that each is fetched once
    ///
    /// What it has is verified again when it is read. It begins empty; one process uses it at a time.
    #[arg(long, value_name = "DIR", value_parser = path(), value_hint = ValueHint::DirPath)]
    pub cache: Option<PathBuf>,
    /// Size of that directory: the leaves that were used least recently are removed
    #[arg(long, value_name = "SIZE", default_value = "10GiB", value_parser = parse_size, requires = "cache")]
    pub cache_size: u64,
    /// Number of connections at a time: others wait
    #[arg(long, value_name = "N", default_value = "256", value_parser = number::<usize>(1..=65536))]
    pub connections: usize,
    /// Close connections whose client sends no whole request, or takes no byte of a response, for this long
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = duration)]
    pub timeout: Duration,
    #[command(flatten)]
    pub common: Common,
}

/// Reads an address with a port, or a port alone.
fn address(text: &str) -> Result<SocketAddr, String> {
    let (host, port) = text.rsplit_once(':').unwrap_or(("", text));
    let local = || {
        let is_local = host.is_empty() || host == "localhost";
        Some(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port.parse().ok().filter(|_| is_local)?))
    };
    text.parse()
        .ok()
        .or_else(local)
        .ok_or_else(|| "expected an address and a port, as 127.0.0.1:8080 or [::1]:8080".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_alone_is_one_of_this_machine() {
        for (text, expected) in [
            ("80", Some("127.0.0.1:80")),
            (":80", Some("127.0.0.1:80")),
            ("localhost:80", Some("127.0.0.1:80")),
            ("0.0.0.0:80", Some("0.0.0.0:80")),
            ("[::1]:80", Some("[::1]:80")),
            ("host:80", None),
            ("::1", None),
            ("127.0.0.1", None),
            ("65536", None),
        ] {
            assert_eq!(address(text).ok().map(|address| address.to_string()).as_deref(), expected, "{text}");
        }
    }
}
