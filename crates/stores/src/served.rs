//! Stores without a network, whose servers answer what a test or a fuzz target says.

use crate::client::{Client, Connector, Service};
use crate::failure::Fault;
use crate::listing::{Named, list};
pub use crate::netrc::Netrc;
use crate::object::Source;
use crate::redirects::Rule;
use async_trait::async_trait;
use bytes::Bytes;
use http::{HeaderName, HeaderValue};
use object_store::RetryConfig;
use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::client::{HttpClient, HttpError, HttpRequest, HttpResponse, HttpService};
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::path::Path;
use std::fmt;
use std::sync::Arc;
use tokio::runtime::{Builder, Runtime};

/// A kind of store.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// Amazon S3 and compatible stores: listings in version 2, signed requests.
    S3,
    /// Google Cloud Storage: listings of its XML interface.
    Google,
    /// Azure blob storage.
    Azure,
}

impl Kind {
    /// Every kind of store.
    pub const ALL: [Kind; 3] = [Kind::S3, Kind::Google, Kind::Azure];
}

type Answer = Box<dyn Fn(&HttpRequest) -> HttpResponse + Send + Sync>;

struct Server(Answer);

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Server")
    }
}

#[async_trait]
impl HttpService for Server {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        Ok((self.0)(&request))
    }
}

/// A store with a server.
pub struct Served {
    client: Client,
    runtime: Runtime,
}

impl Served {
    /// A store of this kind, whose requests are never repeated.
    pub fn new(kind: Kind, answer: impl Fn(&HttpRequest) -> HttpResponse + Send + Sync + 'static) -> Served {
        let client = HttpClient::new(Server(Box::new(answer)));
        let connector = Connector(Service { client, traffic: Arc::default(), exact: None, rule: Rule::Any });
        let retries = RetryConfig { max_retries: 0, ..RetryConfig::default() };
        let client = match kind {
            Kind::S3 => {
                let builder =
                    AmazonS3Builder::new().with_bucket_name("b").with_access_key_id("a").with_secret_access_key("s");
                Client::paged(
                    builder.with_retry(retries).with_http_connector(connector).build().expect("these settings"),
                )
            }
            Kind::Google => {
                let builder = GoogleCloudStorageBuilder::new().with_bucket_name("b").with_skip_signature(true);
                Client::paged(
                    builder.with_retry(retries).with_http_connector(connector).build().expect("these settings"),
                )
            }
            Kind::Azure => {
                let builder =
                    MicrosoftAzureBuilder::new().with_account("a").with_container_name("b").with_skip_signature(true);
                Client::paged(
                    builder.with_retry(retries).with_http_connector(connector).build().expect("these settings"),
                )
            }
        };
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime without threads");
        Served { client, runtime }
    }

    /// All that is listed below a prefix.
    pub fn list(&self, prefix: &str) -> Vec<Result<Named, Fault>> {
        let mut receiver = list(self.client.clone(), Path::parse(prefix).expect("a prefix"), self.runtime.handle());
        let mut found = Vec::new();
        self.run(async {
            while let Some(one) = receiver.recv().await {
                found.push(one);
            }
        });
        found
    }

    /// Opens an object.
    pub fn open(&self) -> Result<(), Fault> {
        self.run(self.source().open(0..1024)).map(drop)
    }

    /// An object.
    pub fn source(&self) -> Source {
        let (store, location) = (self.client.store.clone(), Path::from("key"));
        Source { store, location, version: None, traffic: Arc::default(), blocks: None }
    }

    /// Runs to the end.
    pub fn run<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.block_on(future)
    }
}

/// A response; headers that no client can read are left out.
pub fn response(status: u16, headers: &[(&str, Vec<u8>)], body: impl Into<Bytes>) -> HttpResponse {
    let mut response = HttpResponse::new(body.into().into());
    *response.status_mut() = status.try_into().unwrap_or_default();
    for (name, value) in headers {
        if let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), HeaderValue::from_bytes(value)) {
            response.headers_mut().append(name, value);
        }
    }
    response
}
