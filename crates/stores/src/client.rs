//! Connections to stores: one client for all, which counts.

use crate::account;
use crate::blocks::Blocks;
use crate::failure::{Fault, Unreachable};
use crate::given::{Adapter, given};
#[cfg(feature = "hdfs")]
use crate::hdfs;
use crate::limits::{PATIENCE, is_page, limited, refused};
use crate::names::marked;
use crate::netrc::Netrc;
use crate::place::Store;
use crate::profile;
use crate::redirects::{self, Asked, Rule, WANT};
use crate::retries::{LONGEST_PAUSE, retries};
use crate::settings;
use crate::traffic::{LastStatus, Traffic};
use async_trait::async_trait;
#[cfg(feature = "hdfs")]
use hdfs_native_object_store::HdfsObjectStore;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri, header};
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpService,
};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::http::HttpBuilder;
use object_store::list::PaginatedListStore;
use object_store::path::Path;
use object_store::{ClientOptions, ObjectStore};
use std::error::Error;
use std::fmt;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::runtime::Handle;

/// The headers of a response, as it came.
#[derive(Clone, Debug)]
pub struct Headers(pub HeaderMap);

/// Makes clients of stores over the same connections.
#[derive(Clone, Debug)]
pub struct Clients {
    pub client: reqwest::Client,
    pub traffic: Arc<Traffic>,
    /// The logins of web servers; read once, when the first is asked.
    netrc: OnceLock<Result<Netrc, String>>,
    #[cfg_attr(not(feature = "hdfs"), expect(dead_code))]
    runtime: Handle,
}

/// A client of a store.
#[derive(Clone)]
pub struct Client {
    pub store: Arc<dyn ObjectStore>,
    /// The client of listings page by page, for a store that has them.
    pub pages: Option<Arc<dyn PaginatedListStore>>,
    /// The client of the bytes of files, in HDFS.
    #[cfg(feature = "hdfs")]
    hdfs: Option<hdfs_native::Client>,
}

impl Client {
    /// The bytes of an object, where the store cannot bind a response to a version.
    pub fn blocks(&self, location: &Path) -> Option<Arc<dyn Blocks>> {
        #[cfg(feature = "hdfs")]
        return Some(Arc::new(hdfs::File::new(self.hdfs.clone()?, location)));
        #[cfg(not(feature = "hdfs"))]
        {
            let _ = location;
            None
        }
    }
}

impl<S: ObjectStore> From<S> for Client {
    fn from(store: S) -> Client {
        Client {
            store: Arc::new(store),
            pages: None,
            #[cfg(feature = "hdfs")]
            hdfs: None,
        }
    }
}

impl Client {
    /// A client of a store that lists its objects page by page.
    pub fn paged(store: impl ObjectStore + PaginatedListStore + Clone) -> Client {
        Client { pages: Some(Arc::new(store.clone())), ..store.into() }
    }
}

impl Clients {
    /// # Errors
    /// If there can be no TLS.
    pub fn new(traffic: &Arc<Traffic>, runtime: &Handle) -> Result<Clients, Fault> {
        let failed = |error: &dyn Error| Fault::Fetch(format!("no connection is possible: {error}"));
        let mut roots = rustls::RootCertStore::empty();
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        let tls = rustls::ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| failed(&error))?
            .with_root_certificates(roots)
            .with_no_client_auth();
        let client = reqwest::Client::builder()
            .tls_backend_preconfigured(tls)
            // Many connections are faster than many streams in one.
            .http1_only()
            .connect_timeout(PATIENCE)
            .read_timeout(PATIENCE)
            // They are followed here, where it is known which headers are secrets.
            .redirect(reqwest::redirect::Policy::none())
            .referer(false)
            .user_agent(concat!("mksum/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| failed(&error))?;
        Ok(Clients { client, traffic: Arc::clone(traffic), netrc: OnceLock::new(), runtime: runtime.clone() })
    }

    /// A client of this store; with `sums`, S3 is asked for the checksums that it has, and a web server for digests.
    ///
    /// # Errors
    /// If its configuration in the environment or in a profile makes no sense.
    pub fn of(&self, store: &Store, sums: bool) -> Result<Client, Fault> {
        let rule = redirects::rule().map_err(Fault::Refused)?;
        let connector = |exact| {
            let (client, traffic) = (HttpClient::new(self.client.clone()), Arc::clone(&self.traffic));
            Connector(Service { client, traffic, exact, rule })
        };
        let environment = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        settings::check(&environment).map_err(Fault::Refused)?;
        let refused = |error: object_store::Error| Fault::Refused(settings::refusal(&error, std::env::vars_os()));
        let retries = retries().map_err(Fault::Refused)?;
        Ok(match store {
            Store::S3(bucket) => {
                let builder = profile::apply(AmazonS3Builder::from_env(), &environment)?;
                for key in [AmazonS3ConfigKey::Endpoint, AmazonS3ConfigKey::S3Endpoint] {
                    settings::endpoint(
                        "AWS_ENDPOINT_URL, or endpoint_url of a profile",
                        builder.get_config_value(&key),
                    )?;
                }
                settings::credential("AWS_ACCESS_KEY_ID", builder.get_config_value(&AmazonS3ConfigKey::AccessKeyId))?;
                settings::credential("AWS_SESSION_TOKEN", builder.get_config_value(&AmazonS3ConfigKey::Token))?;
                let mut builder = builder.with_bucket_name(bucket).with_retry(retries);
                if sums {
                    let mode = (HeaderName::from_static("x-amz-checksum-mode"), HeaderValue::from_static("ENABLED"));
                    let options = ClientOptions::new().with_default_headers(HeaderMap::from_iter([mode]));
                    builder = builder.with_client_options(options);
                }
                Client::paged(builder.with_http_connector(connector(None)).build().map_err(refused)?)
            }
            Store::Google(bucket) => {
                let builder = GoogleCloudStorageBuilder::from_env().with_bucket_name(bucket).with_retry(retries);
                settings::endpoint("GOOGLE_BASE_URL", builder.get_config_value(&GoogleConfigKey::BaseUrl))?;
                let place = account::check(&builder, &environment)?;
                let refused = |error| {
                    account::refusal(place, &settings::words(&error)).map_or_else(|| refused(error), Fault::Refused)
                };
                Client::paged(builder.with_http_connector(connector(None)).build().map_err(refused)?)
            }
            Store::Azure(url) => {
                let builder = MicrosoftAzureBuilder::from_env().with_url(url).with_retry(retries);
                settings::endpoint("AZURE_STORAGE_ENDPOINT", builder.get_config_value(&AzureConfigKey::Endpoint))?;
                Client::paged(builder.with_http_connector(connector(None)).build().map_err(refused)?)
            }
            Store::Given(number) => {
                let (store, traffic) = (given(number).map_err(Fault::Refused)?, self.traffic.clone());
                Adapter { store, traffic }.into()
            }
            Store::Web(url) => {
                let unusable = |_| Fault::Refused("not a URL".into());
                // This client knows how the user and password of a URL are sent: apart from it.
                let mut request = self.client.get(url).build().map_err(unusable)?;
                if !request.headers().contains_key(header::AUTHORIZATION) {
                    let netrc = self.netrc.get_or_init(|| Netrc::read(&environment));
                    let netrc = netrc.as_ref().map_err(|why| Fault::Refused(why.clone()))?;
                    // An address of IPv6 has no brackets there.
                    let host = request.url().host_str().map(|host| host.trim_matches(['[', ']']));
                    if let Some((user, password)) = host.and_then(|host| netrc.login(host)) {
                        request = self.client.get(url).basic_auth(user, password).build().map_err(unusable)?;
                    }
                }
                let authorization = request.headers().get(header::AUTHORIZATION).cloned();
                let exact = request.url().as_str().parse::<Uri>();
                let exact = exact.map_err(|error| Fault::Refused(format!("not a URL: {error}")))?;
                let origin = format!(
                    "{}://{}",
                    exact.scheme_str().unwrap_or("http"),
                    exact.authority().map_or("", |host| host.as_str())
                );
                let builder = HttpBuilder::new().with_url(origin).with_retry(retries);
                builder
                    .with_http_connector(connector(Some(Exact { url: exact, authorization, sums })))
                    .build()
                    .map_err(refused)?
                    .into()
            }
            #[cfg(feature = "hdfs")]
            Store::Hdfs(url) => {
                let client = hdfs::client(url, &self.runtime)?;
                Client { hdfs: Some(client.clone()), ..HdfsObjectStore::new(client).into() }
            }
            #[cfg(not(feature = "hdfs"))]
            Store::Hdfs(_) => {
                let what = "this mksum was built without HDFS: cargo install mksum-cli --features hdfs, or the Python package, has it";
                return Err(Fault::Refused(what.into()));
            }
        })
    }
}

/// Gives the clients of stores their connections.
#[derive(Debug)]
pub struct Connector(pub Service);

impl HttpConnector for Connector {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(self.0.clone()))
    }
}

/// Sends requests, within limits, and follows redirects.
#[derive(Clone, Debug)]
pub struct Service {
    pub client: HttpClient,
    pub traffic: Arc<Traffic>,
    /// The URL of every request, where the client cannot express its path: one with empty parts or a query.
    pub exact: Option<Exact>,
    pub rule: Rule,
}

impl Service {
    /// Sends a request, and those that its responses ask for instead.
    async fn send(&self, mut request: HttpRequest) -> Result<HttpResponse, HttpError> {
        for _ in 0..=redirects::MOST {
            self.traffic.requests.fetch_add(1, Ordering::Relaxed);
            let (asked, method, url) = (Asked::of(&request), request.method().clone(), request.uri().clone());
            let response = self.client.execute(request).await.map_err(lasting).map_err(|error| match error.kind() {
                // The URL of a file on a web server has the server's name.
                HttpErrorKind::Connect if self.exact.is_none() => {
                    HttpError::new(HttpErrorKind::Connect, Unreachable::new(&url, error))
                }
                _ => error,
            })?;
            let next = match asked {
                Some(asked) => asked.redirected(&response, self.rule).await.map_err(refused)?,
                None => None,
            };
            match next {
                Some(next) => request = next,
                None => return limited(response, (&method, &url)),
            }
        }
        Err(refused(format!("the server redirects more than {} times", redirects::MOST)))
    }
}

/// A file on a web server.
#[derive(Clone, Debug)]
pub struct Exact {
    url: Uri,
    /// The user and password of its URL.
    authorization: Option<HeaderValue>,
    /// Whether it is asked for the digests that it has of the file.
    sums: bool,
}

#[async_trait]
impl HttpService for Service {
    async fn call(&self, mut request: HttpRequest) -> Result<HttpResponse, HttpError> {
        if let Some(Exact { url, authorization, sums }) = &self.exact {
            *request.uri_mut() = url.clone();
            authorization.clone().map(|value| request.headers_mut().insert(header::AUTHORIZATION, value));
            request.headers_mut().insert(header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
            if *sums {
                // Some servers compute a digest only where one is wanted.
                request.headers_mut().insert(WANT, HeaderValue::from_static("sha-256=10, sha-512=5"));
            }
        }
        let last = request.extensions().get::<LastStatus>().cloned();
        let is_page = is_page(request.uri());
        let mut response = self.send(request).await?;
        if is_page && response.status().is_success() {
            let (parts, body) = response.into_parts();
            response = HttpResponse::from_parts(parts, marked(body.bytes().await?).into());
        }
        if let Some(last) = last {
            last.set(response.status());
        }
        match (response.status(), pause(response.headers())) {
            // The next request would fail, too.
            (status @ StatusCode::INTERNAL_SERVER_ERROR, Some(pause)) if pause > LONGEST_PAUSE => {
                return Err(HttpError::new(HttpErrorKind::Unknown, Failing { status, pause }));
            }
            // The retries know only pauses of their own.
            (StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE, Some(pause))
                if pause <= LONGEST_PAUSE =>
            {
                tokio::time::sleep(pause).await;
            }
            _ => {}
        }
        let headers = Headers(response.headers().clone());
        response.extensions_mut().insert(headers);
        Ok(response)
    }
}

/// The pause that a server asks for (RFC 9110, section 10.2.3), if it is one in seconds.
fn pause(headers: &HeaderMap) -> Option<Duration> {
    headers.get(header::RETRY_AFTER)?.to_str().ok()?.parse().ok().map(Duration::from_secs)
}

/// A server that fails, and is not asked again.
#[derive(Debug)]
struct Failing {
    status: StatusCode,
    pause: Duration,
}

impl fmt::Display for Failing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the server answered {}, and wants to be asked again after {} s", self.status, self.pause.as_secs())
    }
}

impl Error for Failing {}

/// A server that is not trusted is not trusted at the next try either.
fn lasting(error: HttpError) -> HttpError {
    let mut source = error.source();
    while let Some(inner) = source {
        if inner.is::<rustls::Error>() {
            return HttpError::new(HttpErrorKind::Unknown, error);
        }
        let wrapped = inner.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        if wrapped.is_some_and(|wrapped| wrapped.is::<rustls::Error>()) {
            return HttpError::new(HttpErrorKind::Unknown, error);
        }
        source = inner.source();
    }
    error
}

#[cfg(test)]
mod tests {
    use crate::Stores;
    use mksum_io::{Ahead, Objects};
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::thread;

    #[test]
    fn the_user_and_password_of_a_url_are_sent_as_a_header() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = thread::spawn(move || {
            let (mut connection, _) = listener.accept().unwrap();
            let mut request = Vec::new();
            while !request.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                connection.read_exact(&mut byte).unwrap();
                request.push(byte[0]);
            }
            connection.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n").unwrap();
            String::from_utf8(request).unwrap()
        });
        let url = format!("http://me:a%20secret@{address}/x");
        assert!(Stores::new().open(&mksum_io::Url::parse(&url).unwrap(), 0..u64::MAX, Ahead::Yes).is_err());
        let request = server.join().unwrap();
        assert!(request.starts_with("GET /x HTTP/1.1\r\n"), "{request}");
        // base64("me:a secret")
        assert!(request.to_ascii_lowercase().contains("\r\nauthorization: basic bwu6ysbzzwnyzxq=\r\n"), "{request}");
    }
}
