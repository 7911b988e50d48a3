//! Connections to stores: one client for all, which counts.

use crate::failure::Fault;
use crate::place::Store;
use crate::profile;
use async_trait::async_trait;
use http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpService,
};
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::http::HttpBuilder;
use object_store::{BackoffConfig, ClientOptions, ObjectStore, RetryConfig};
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, AtomicU64, Ordering};
use std::time::Duration;

/// What went over the network.
#[derive(Debug, Default)]
pub struct Traffic {
    /// Requests of any kind, repeated ones too.
    pub requests: AtomicU64,
    /// Bytes of objects.
    pub bytes: AtomicU64,
}

/// The headers of a response, as it came.
#[derive(Clone, Debug)]
pub struct Headers(pub HeaderMap);

/// The status of the last response to a request, which the errors of the client have only in their words.
#[derive(Clone, Debug, Default)]
pub struct LastStatus(Arc<AtomicU16>);

impl LastStatus {
    pub fn get(&self) -> Option<StatusCode> {
        StatusCode::from_u16(self.0.load(Ordering::Relaxed)).ok()
    }
}

/// The time without any byte after which a request has failed.
const PATIENCE: Duration = Duration::from_secs(60);

/// Makes clients of stores over the same connections.
#[derive(Clone, Debug)]
pub struct Clients {
    client: reqwest::Client,
    traffic: Arc<Traffic>,
}

impl Clients {
    /// # Errors
    /// If there can be no TLS.
    pub fn new(traffic: &Arc<Traffic>) -> Result<Clients, Fault> {
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
            .user_agent(concat!("mksum/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| failed(&error))?;
        Ok(Clients { client, traffic: Arc::clone(traffic) })
    }

    /// A client of this store; with `sums`, S3 is asked for the checksums that it has.
    ///
    /// # Errors
    /// If its configuration in the environment or in a profile makes no sense.
    pub fn of(&self, store: &Store, sums: bool) -> Result<Arc<dyn ObjectStore>, Fault> {
        let connector =
            |exact| Connector(Service { client: self.client.clone(), traffic: Arc::clone(&self.traffic), exact });
        let refused = |error: object_store::Error| Fault::Refused(error.to_string());
        Ok(match store {
            Store::S3(bucket) => {
                let environment = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
                let builder = profile::apply(AmazonS3Builder::from_env(), &environment)?;
                let mut builder = builder.with_bucket_name(bucket).with_retry(retries());
                if sums {
                    let mode =
                        (header::HeaderName::from_static("x-amz-checksum-mode"), HeaderValue::from_static("ENABLED"));
                    let options = ClientOptions::new().with_default_headers(HeaderMap::from_iter([mode]));
                    builder = builder.with_client_options(options);
                }
                Arc::new(builder.with_http_connector(connector(None)).build().map_err(refused)?)
            }
            Store::Google(bucket) => {
                let builder = GoogleCloudStorageBuilder::from_env().with_bucket_name(bucket).with_retry(retries());
                Arc::new(builder.with_http_connector(connector(None)).build().map_err(refused)?)
            }
            Store::Azure(url) => {
                let builder = MicrosoftAzureBuilder::from_env().with_url(url).with_retry(retries());
                Arc::new(builder.with_http_connector(connector(None)).build().map_err(refused)?)
            }
            Store::Web(url) => {
                let exact = url.parse::<Uri>().map_err(|error| Fault::Refused(format!("not a URL: {error}")))?;
                let origin = format!(
                    "{}://{}",
                    exact.scheme_str().unwrap_or("http"),
                    exact.authority().map_or("", |host| host.as_str())
                );
                let builder = HttpBuilder::new().with_url(origin).with_retry(retries());
                Arc::new(builder.with_http_connector(connector(Some(exact))).build().map_err(refused)?)
            }
        })
    }
}

/// How often a request is repeated: as often as AWS_MAX_ATTEMPTS says to the tools of S3.
fn retries() -> RetryConfig {
    let attempts = std::env::var("AWS_MAX_ATTEMPTS").ok().and_then(|text| text.parse::<usize>().ok());
    RetryConfig {
        backoff: BackoffConfig {
            init_backoff: Duration::from_millis(200),
            max_backoff: Duration::from_secs(10),
            base: 2.0,
        },
        max_retries: attempts.unwrap_or(8).clamp(1, 100) - 1,
        retry_timeout: Duration::from_secs(180),
    }
}

#[derive(Debug)]
struct Connector(Service);

impl HttpConnector for Connector {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(self.0.clone()))
    }
}

#[derive(Clone, Debug)]
struct Service {
    client: reqwest::Client,
    traffic: Arc<Traffic>,
    /// The URL of every request, where paths of the client are no URLs: it has names without empty parts and queries.
    exact: Option<Uri>,
}

#[async_trait]
impl HttpService for Service {
    async fn call(&self, mut request: HttpRequest) -> Result<HttpResponse, HttpError> {
        self.traffic.requests.fetch_add(1, Ordering::Relaxed);
        if let Some(exact) = &self.exact {
            *request.uri_mut() = exact.clone();
            request.headers_mut().insert(header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        }
        let last = request.extensions().get::<LastStatus>().cloned();
        let mut response = HttpService::call(&self.client, request).await.map_err(lasting)?;
        if let Some(last) = last {
            last.0.store(response.status().as_u16(), Ordering::Relaxed);
        }
        let headers = Headers(response.headers().clone());
        response.extensions_mut().insert(headers);
        Ok(response)
    }
}

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
