//! Connections to stores: one client for all, which counts.

use crate::blocks::Blocks;
use crate::failure::Fault;
#[cfg(feature = "hdfs")]
use crate::hdfs;
use crate::place::Store;
use crate::profile;
use crate::retries::retries;
use async_trait::async_trait;
#[cfg(feature = "hdfs")]
use hdfs_native_object_store::HdfsObjectStore;
use http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpService,
};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::http::HttpBuilder;
use object_store::path::Path;
use object_store::{ClientOptions, ObjectStore};
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, AtomicU64, Ordering};
use std::time::Duration;
use tokio::runtime::Handle;
use url::Url;

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
    #[cfg_attr(not(feature = "hdfs"), expect(dead_code))]
    runtime: Handle,
}

/// A client of a store.
#[derive(Clone, Debug)]
pub struct Client {
    pub store: Arc<dyn ObjectStore>,
    /// The same for the bytes of files, in HDFS.
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
            #[cfg(feature = "hdfs")]
            hdfs: None,
        }
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
            .user_agent(concat!("mksum/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| failed(&error))?;
        Ok(Clients { client, traffic: Arc::clone(traffic), runtime: runtime.clone() })
    }

    /// A client of this store; with `sums`, S3 is asked for the checksums that it has.
    ///
    /// # Errors
    /// If its configuration in the environment or in a profile makes no sense.
    pub fn of(&self, store: &Store, sums: bool) -> Result<Client, Fault> {
        let connector =
            |exact| Connector(Service { client: self.client.clone(), traffic: Arc::clone(&self.traffic), exact });
        let refused = |error: object_store::Error| Fault::Refused(error.to_string());
        Ok(match store {
            Store::S3(bucket) => {
                let environment = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
                let builder = profile::apply(AmazonS3Builder::from_env(), &environment)?;
                for key in [AmazonS3ConfigKey::Endpoint, AmazonS3ConfigKey::S3Endpoint] {
                    check_endpoint("AWS_ENDPOINT_URL, or endpoint_url of a profile", builder.get_config_value(&key))?;
                }
                check_credential("AWS_ACCESS_KEY_ID", builder.get_config_value(&AmazonS3ConfigKey::AccessKeyId))?;
                check_credential("AWS_SESSION_TOKEN", builder.get_config_value(&AmazonS3ConfigKey::Token))?;
                let mut builder = builder.with_bucket_name(bucket).with_retry(retries());
                if sums {
                    let mode =
                        (header::HeaderName::from_static("x-amz-checksum-mode"), HeaderValue::from_static("ENABLED"));
                    let options = ClientOptions::new().with_default_headers(HeaderMap::from_iter([mode]));
                    builder = builder.with_client_options(options);
                }
                builder.with_http_connector(connector(None)).build().map_err(refused)?.into()
            }
            Store::Google(bucket) => {
                let builder = GoogleCloudStorageBuilder::from_env().with_bucket_name(bucket).with_retry(retries());
                check_endpoint("GOOGLE_BASE_URL", builder.get_config_value(&GoogleConfigKey::BaseUrl))?;
                builder.with_http_connector(connector(None)).build().map_err(refused)?.into()
            }
            Store::Azure(url) => {
                let builder = MicrosoftAzureBuilder::from_env().with_url(url).with_retry(retries());
                check_endpoint("AZURE_STORAGE_ENDPOINT", builder.get_config_value(&AzureConfigKey::Endpoint))?;
                builder.with_http_connector(connector(None)).build().map_err(refused)?.into()
            }
            Store::Web(url) => {
                let exact = url.parse::<Uri>().map_err(|error| Fault::Refused(format!("not a URL: {error}")))?;
                let origin = format!(
                    "{}://{}",
                    exact.scheme_str().unwrap_or("http"),
                    exact.authority().map_or("", |host| host.as_str())
                );
                let builder = HttpBuilder::new().with_url(origin).with_retry(retries());
                builder.with_http_connector(connector(Some(exact))).build().map_err(refused)?.into()
            }
            #[cfg(feature = "hdfs")]
            Store::Hdfs(url) => {
                let client = hdfs::client(url, &self.runtime)?;
                Client { hdfs: Some(client.clone()), ..HdfsObjectStore::new(client).into() }
            }
            #[cfg(not(feature = "hdfs"))]
            Store::Hdfs(_) => {
                return Err(Fault::Refused("this build of mksum has no client of HDFS (feature hdfs)".into()));
            }
        })
    }
}

/// Checks the URL of a server, which `name` sets: the client would panic with another text.
fn check_endpoint(name: &str, url: Option<String>) -> Result<(), Fault> {
    let Some(url) = url else { return Ok(()) };
    // Both of the client's libraries read it.
    let is_url = url.parse::<Uri>().is_ok()
        && url.parse::<Url>().is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    match is_url {
        true => Ok(()),
        false => Err(Fault::Refused(format!(
            "the endpoint '{url}' ({name}) is no URL: expected http://HOST:PORT or https://HOST"
        ))),
    }
}

/// Checks a text that is sent as a header: the client would panic with another one.
fn check_credential(name: &str, text: Option<String>) -> Result<(), Fault> {
    match text.is_none_or(|text| HeaderValue::from_str(&text).is_ok()) {
        true => Ok(()),
        false => Err(Fault::Refused(format!("{name} has a newline or another character that cannot be sent"))),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_is_a_url_with_a_host() {
        let check = |url: &str| check_endpoint("AWS_ENDPOINT_URL", Some(url.into())).is_ok();
        for right in ["http://localhost", "https://s3.example.org", "http://127.0.0.1:9000/", "http://[::1]:80/path"] {
            assert!(check(right), "{right}");
        }
        for wrong in
            ["", "localhost", "127.0.0.1:1", "http://", "http://[", "http://a b", "ftp://h", "http://127.0.0.1:99999"]
        {
            assert!(!check(wrong), "{wrong}");
        }
        assert!(check_endpoint("AWS_ENDPOINT_URL", None).is_ok());
    }

    #[test]
    fn credentials_can_be_sent() {
        for (text, right) in [("AKIA/+=", true), ("a\nb", false), ("\r", false)] {
            assert_eq!(check_credential("AWS_SESSION_TOKEN", Some(text.into())).is_ok(), right, "{text:?}");
        }
    }
}
