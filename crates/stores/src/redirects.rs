//! Redirects: followed without what only the first server may know, and not into networks that it cannot reach itself.

use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, Uri, header};
use object_store::client::{HttpRequest, HttpRequestBody};
use std::ffi::OsStr;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use url::{Host, Url};

/// The redirects of one request that are followed.
pub const MOST: usize = 10;

/// The header that asks for digests of a file (RFC 9530, 4).
pub const WANT: HeaderName = HeaderName::from_static("want-repr-digest");

/// The headers that another server gets too.
const OPEN: [HeaderName; 9] = [
    header::ACCEPT,
    header::ACCEPT_ENCODING,
    header::IF_MATCH,
    header::IF_MODIFIED_SINCE,
    header::IF_NONE_MATCH,
    header::IF_UNMODIFIED_SINCE,
    header::RANGE,
    header::USER_AGENT,
    WANT,
];

/// The redirects that are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Redirects to the same scheme, and to addresses that are as public as the server's own.
    Alike,
    /// All redirects.
    Any,
}

/// The rule that `MKSUM_REDIRECTS` asks for.
///
/// # Errors
/// If it is none, as words.
pub fn rule() -> Result<Rule, String> {
    rule_of(std::env::var_os("MKSUM_REDIRECTS").as_deref())
}

fn rule_of(given: Option<&OsStr>) -> Result<Rule, String> {
    match given.map(OsStr::to_string_lossy).as_deref() {
        None | Some("") => Ok(Rule::Alike),
        Some("any") => Ok(Rule::Any),
        Some(text) => Err(format!("MKSUM_REDIRECTS is '{text}': expected any")),
    }
}

/// A request without a body, which can be made again.
#[derive(Clone, Debug)]
pub struct Asked {
    method: Method,
    url: Uri,
    headers: HeaderMap,
}

impl Asked {
    /// Copies a request without its body; `None` if it writes.
    pub fn of(request: &HttpRequest) -> Option<Asked> {
        let reads = [Method::GET, Method::HEAD].contains(request.method());
        let (method, url, headers) = (request.method().clone(), request.uri().clone(), request.headers().clone());
        reads.then_some(Asked { method, url, headers })
    }

    /// The request that a response asks for instead; `None` if it asks for none.
    ///
    /// # Errors
    /// If it may not be followed, as words.
    pub async fn redirected<B>(self, response: &Response<B>, rule: Rule) -> Result<Option<HttpRequest>, String> {
        const MOVED: [StatusCode; 5] = [
            StatusCode::MOVED_PERMANENTLY,
            StatusCode::FOUND,
            StatusCode::SEE_OTHER,
            StatusCode::TEMPORARY_REDIRECT,
            StatusCode::PERMANENT_REDIRECT,
        ];
        let Some(location) = response.headers().get(header::LOCATION).filter(|_| MOVED.contains(&response.status()))
        else {
            return Ok(None);
        };
        let unusable = || "the server redirects to a place that is no URL".to_string();
        let from = Url::parse(&self.url.to_string()).map_err(|_| unusable())?;
        let location = HeaderValue::to_str(location).map_err(|_| unusable())?;
        let mut to = from.join(location).map_err(|_| unusable())?;
        if !matches!(to.scheme(), "http" | "https") || !to.has_host() {
            return Err(unusable());
        }
        to.set_fragment(None);
        // Neither is the user that it names, if it does, the one whom this request is from.
        to.set_username("").and_then(|()| to.set_password(None)).map_err(|()| unusable())?;
        let mut headers = self.headers;
        if from.origin() != to.origin() {
            if rule == Rule::Alike {
                check(&from, &to).await?;
            }
            let private: Vec<_> = headers.keys().filter(|name| !OPEN.contains(name)).cloned().collect();
            private.into_iter().for_each(|name| drop(headers.remove(name)));
        }
        let mut request = Request::new(HttpRequestBody::empty());
        *request.uri_mut() = to.as_str().parse().map_err(|_| unusable())?;
        *request.method_mut() = self.method;
        *request.headers_mut() = headers;
        Ok(Some(request))
    }
}

/// Refuses a redirect to another scheme, or to where the first server may not be able to go itself.
async fn check(from: &Url, to: &Url) -> Result<(), String> {
    let refuse = |why: &str| {
        let to = to.origin().ascii_serialization();
        Err(format!("the server redirects to {to}, {why}: ask for the object there, or set MKSUM_REDIRECTS=any"))
    };
    if from.scheme() != to.scheme() {
        return refuse("which has another scheme");
    }
    let nearest = reaches(to).await.into_iter().max();
    let farthest = reaches(from).await.into_iter().min().unwrap_or(Reach::Public);
    if nearest.is_some_and(|nearest| nearest > farthest) {
        return refuse("an address of this machine or of a private network");
    }
    Ok(())
}

/// The networks from which an address can be reached; the last is the most private.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Reach {
    Public,
    Private,
    /// This machine and its own link, where services that trust it are.
    Machine,
}

/// The reach of each address of a URL's host; none where this machine does not know it, but perhaps a proxy.
async fn reaches(url: &Url) -> Vec<Reach> {
    match url.host() {
        Some(Host::Ipv4(address)) => vec![reach_of_v4(address)],
        Some(Host::Ipv6(address)) => vec![reach_of(address.into())],
        Some(Host::Domain(name)) => {
            let found = tokio::net::lookup_host((name, url.port_or_known_default().unwrap_or(80))).await;
            found.into_iter().flatten().map(|address| reach_of(address.ip())).collect()
        }
        None => Vec::new(),
    }
}

fn reach_of(address: IpAddr) -> Reach {
    let address = match address {
        IpAddr::V4(address) => return reach_of_v4(address),
        IpAddr::V6(address) => address,
    };
    // An address of IPv4 in one of IPv6: as it is (RFC 4291, 2.5.5), or translated (RFC 6052, 2.1).
    let [.., a, b] = address.segments();
    let inner = Ipv4Addr::from((u32::from(a) << 16) | u32::from(b));
    let is_translated = address.segments()[..6] == [0x64, 0xff9b, 0, 0, 0, 0];
    let is_compatible = address.segments()[..6] == [0; 6] && address != Ipv6Addr::LOCALHOST;
    if address.to_ipv4_mapped().is_some() || is_translated || is_compatible {
        return reach_of_v4(inner);
    }
    match address {
        address if address.is_loopback() || address.is_unicast_link_local() => Reach::Machine,
        address if address.is_unique_local() || address.is_multicast() => Reach::Private,
        _ => Reach::Public,
    }
}

fn reach_of_v4(address: Ipv4Addr) -> Reach {
    match address.octets() {
        // This host, loopback, link-local (RFC 6890, 2.2.2).
        [0 | 127, ..] | [169, 254, ..] => Reach::Machine,
        // Shared by a provider's customers (RFC 6598).
        [100, 64..=127, ..] => Reach::Private,
        _ if address.is_private() || address.is_multicast() || address.is_broadcast() => Reach::Private,
        _ => Reach::Public,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_their_reach() {
        for (address, reach) in [
            ("93.184.215.14", Reach::Public),
            ("2606:2800:21f::1", Reach::Public),
            ("::ffff:93.184.215.14", Reach::Public),
            ("10.1.2.3", Reach::Private),
            ("172.31.0.1", Reach::Private),
            ("192.168.0.1", Reach::Private),
            ("100.64.0.1", Reach::Private),
            ("fd00::1", Reach::Private),
            ("::ffff:10.0.0.1", Reach::Private),
            ("64:ff9b::10.0.0.1", Reach::Private),
            ("127.0.0.2", Reach::Machine),
            ("0.0.0.0", Reach::Machine),
            ("::", Reach::Machine),
            ("169.254.169.254", Reach::Machine),
            ("::1", Reach::Machine),
            ("fe80::1", Reach::Machine),
            ("::ffff:127.0.0.1", Reach::Machine),
        ] {
            assert_eq!(reach_of(address.parse().unwrap()), reach, "{address}");
        }
    }

    #[test]
    fn the_rule_is_one_word() {
        let of = |text: &str| rule_of(Some(OsStr::new(text)));
        assert_eq!((rule_of(None), of(""), of("any")), (Ok(Rule::Alike), Ok(Rule::Alike), Ok(Rule::Any)));
        assert!(of("all").is_err());
    }

    /// Returns the headers of the request after a redirect, or the reason why there is none.
    fn follow(from: &str, to: &str, rule: Rule) -> Result<(String, Vec<String>), String> {
        let mut request = Request::new(HttpRequestBody::empty());
        *request.uri_mut() = from.parse().unwrap();
        for name in
            ["authorization", "cookie", "range", "referer", "x-amz-security-token", "x-ms-version", "user-agent"]
        {
            request.headers_mut().insert(name, HeaderValue::from_static("x"));
        }
        let response = Response::builder().status(302).header("location", to).body(()).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let next = runtime.block_on(Asked::of(&request).unwrap().redirected(&response, rule))?.unwrap();
        let mut names: Vec<_> = next.headers().keys().map(|name| name.to_string()).collect();
        names.sort();
        Ok((next.uri().to_string(), names))
    }

    #[test]
    fn another_host_gets_no_credentials() {
        let (url, headers) = follow("http://127.0.0.1:1/a?X-Amz-Signature=x", "/b#c", Rule::Alike).unwrap();
        assert_eq!((&*url, headers.len()), ("http://127.0.0.1:1/b", 7));
        for to in ["http://127.0.0.1:2/b", "http://127.0.0.2:1/b", "http://me:secret@localhost:1/b"] {
            let (url, headers) = follow("http://127.0.0.1:1/a?X-Amz-Signature=x", to, Rule::Alike).unwrap();
            assert_eq!(url, to.replace("me:secret@", ""));
            assert_eq!(headers, ["range", "user-agent"], "{to}");
        }
    }

    #[test]
    fn redirects_inwards_and_to_another_scheme_are_refused() {
        for (from, to) in [
            ("http://93.184.215.14/", "http://127.0.0.1/"),
            ("http://93.184.215.14/", "http://localhost/"),
            ("http://93.184.215.14/", "http://169.254.169.254/latest/meta-data/"),
            ("http://93.184.215.14/", "http://[::ffff:10.0.0.1]/"),
            ("http://93.184.215.14/", "http://2130706433/"),
            ("http://10.0.0.1/", "http://127.0.0.1/"),
            ("https://93.184.215.14/", "http://93.184.215.14/"),
            ("http://93.184.215.14/", "https://93.184.215.14/"),
        ] {
            let why = follow(from, to, Rule::Alike).unwrap_err();
            assert!(why.starts_with("the server redirects to http"), "{from} {to}: {why}");
            assert_eq!(follow(from, to, Rule::Any).unwrap().1, ["range", "user-agent"], "{from} {to}");
        }
        for to in ["ftp://93.184.215.14/", "file:///etc/passwd", "data:,x"] {
            assert!(follow("http://93.184.215.14/", to, Rule::Any).is_err(), "{to}");
        }
        assert!(follow("http://10.0.0.1/", "http://93.184.215.14/", Rule::Alike).is_ok());
    }

    #[test]
    fn only_what_reads_is_redirected() {
        let mut request = Request::new(HttpRequestBody::empty());
        *request.method_mut() = Method::PUT;
        assert!(Asked::of(&request).is_none());
    }
}
