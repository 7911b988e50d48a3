//! All stores, by the URLs of their objects.

use crate::client::{Client, Clients};
use crate::failure::Fault;
use crate::given::given;
use crate::links;
use crate::listing;
use crate::object::{Body, First, Source, Version};
use crate::part::Part;
use crate::place::{Place, Store};
use crate::post::{Answer, post};
use crate::traffic::Traffic;
use crate::upload::{hand_over, upload};
use crate::whole::Whole;
use crate::window::{Budget, RANGE, Window};
use futures_util::FutureExt;
use mksum_io::{Ahead, Error, Listed, Listing, Object, Objects, StoredSums, Url, available_threads};
use object_store::path::Path as Location;
use std::collections::HashMap;
use std::fmt;
use std::hint;
use std::io::{self, Read};
use std::ops::Range;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, Once, OnceLock, PoisonError};
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio::task::{AbortHandle, JoinHandle};
use tokio::time::timeout;

/// The headers with sums of objects.
const SUMS: [&str; 16] = [
    "repr-digest",
    "content-digest",
    "digest",
    "content-md5",
    "x-amz-checksum-crc32",
    "x-amz-checksum-crc32c",
    "x-amz-checksum-crc64nvme",
    "x-amz-checksum-md5",
    "x-amz-checksum-sha1",
    "x-amz-checksum-sha256",
    "x-amz-checksum-sha512",
    "x-amz-checksum-type",
    "x-amz-checksum-xxhash128",
    "x-amz-checksum-xxhash3",
    "x-amz-checksum-xxhash64",
    "x-goog-hash",
];

/// Clients of all stores, over the same connections.
///
/// The first use of it starts threads that wait for the network; they end with it.
pub struct Stores {
    network: Arc<Network>,
    expected: Mutex<HashMap<Url, Opening>>,
}

/// What calls share: threads, connections, and the memory for what is fetched ahead.
struct Network {
    runtime: OnceLock<Result<Runtime, Fault>>,
    clients: OnceLock<Result<Clients, Fault>>,
    known: Mutex<HashMap<Store, Client>>,
    budget: Arc<Budget>,
    traffic: Arc<Traffic>,
    requests: usize,
}

/// An object that was opened: its version, and its first bytes, which are still coming.
type Opened = Result<(Arc<Source>, Version, Coming), Fault>;

/// An object that is expected.
enum Opening {
    /// The threads of the runtime open it.
    Begun(JoinHandle<Opened>),
    Done(Opened),
}

/// The first bytes of an object, which are still coming.
enum Coming {
    /// A part, if there is one, and the task that fetches it, if that has not ended.
    Part(Option<(Arc<Part>, Option<AbortHandle>)>),
    /// All of them, in order.
    Whole(Body),
}

impl Stores {
    /// The bytes that are held ahead of readers, at most.
    const AHEAD: u64 = 512 << 20;
    /// The objects that are opened before they are asked for, at most, and the bytes that are fetched of each then.
    const EXPECTED: usize = 64;
    const EXPECTED_BYTES: u64 = 1 << 20;
    /// The first part of an object, in bytes, that whoever opens it waits for.
    const SHORT: u64 = 256 << 10;

    /// Clients with the configuration of the environment.
    pub fn new() -> Stores {
        Stores::counting(Arc::default())
    }

    /// Returns clients with the configuration of the environment as it is now, over connections of their own. Their traffic is
    /// counted with that of these.
    #[must_use]
    pub fn renewed(&self) -> Stores {
        Stores::counting(self.network.traffic.clone())
    }

    fn counting(traffic: Arc<Traffic>) -> Stores {
        let threads = available_threads();
        let network = Network {
            runtime: OnceLock::new(),
            clients: OnceLock::new(),
            known: Mutex::default(),
            budget: Arc::new(Budget::new(Self::AHEAD)),
            traffic,
            requests: (2 * threads).clamp(8, 32),
        };
        Stores { network: Arc::new(network), expected: Mutex::default() }
    }

    /// Returns clients for another call, over the same connections: what one call expects, no other gets.
    #[must_use]
    pub fn another(&self) -> Stores {
        Stores { network: self.network.clone(), expected: Mutex::default() }
    }

    /// Sends `body` to the web server at `url` (HTTP POST), once, and returns its answer, whatever its status. Redirects are not followed.
    ///
    /// # Errors
    /// If the URL is not one of a web server, no answer comes, or it is longer than 64 KiB.
    pub fn post(&self, url: &Url, body: Vec<u8>) -> Result<Answer, Error> {
        let posted = || self.runtime()?.block_on(post(self.clients()?, url.as_str(), body));
        posted().map_err(|fault| fault.opening(url))
    }

    fn runtime(&self) -> Result<&Runtime, Fault> {
        let begin = || {
            let threads = available_threads().clamp(1, 4);
            Builder::new_multi_thread()
                .worker_threads(threads)
                .thread_name("stores")
                .enable_all()
                .build()
                .map_err(|error| Fault::Fetch(format!("no threads for connections: {error}")))
        };
        self.network.runtime.get_or_init(begin).as_ref().map_err(Clone::clone)
    }

    fn clients(&self) -> Result<&Clients, Fault> {
        let begin = || Clients::new(&self.network.traffic, self.runtime()?.handle());
        self.network.clients.get_or_init(begin).as_ref().map_err(Clone::clone)
    }

    fn client(&self, store: &Store) -> Result<Client, Fault> {
        let clients = self.clients()?;
        // Each object of a web server has a client of its own, which is a few words. A given store may be gone.
        if let Store::Web(_) | Store::Given(_) = store {
            return clients.of(store, false);
        }
        let mut known = lock(&self.network.known);
        if let Some(client) = known.get(store) {
            return Ok(client.clone());
        }
        let client = clients.of(store, false)?;
        known.insert(store.clone(), client.clone());
        Ok(client)
    }

    fn source(&self, url: &Url) -> Result<Arc<Source>, Fault> {
        let place = Place::read(url).map_err(Fault::Refused)?;
        let location = Location::parse(place.object().map_err(Fault::Refused)?);
        let location = location.map_err(|error| Fault::Refused(error.to_string()))?;
        let client = self.client(&place.store)?;
        let (blocks, traffic) = (client.blocks(&location), self.network.traffic.clone());
        Ok(Arc::new(Source { store: client.store, location, version: place.version, traffic, blocks }))
    }

    /// Opens an object. The bytes that follow a short first part, the threads of the runtime fetch.
    fn opening(&self, url: &Url, first: Range<u64>) -> Result<impl Future<Output = Opened> + Send + use<>, Fault> {
        let source = self.source(url)?;
        let runtime = self.runtime()?.handle().clone();
        let opening = async move {
            let (version, first) = source.open(first).await?;
            let (range, response) = match first {
                First::None => return Ok((source, version, Coming::Part(None))),
                First::Part(range, response) => (range, response),
                First::Whole(body) => return Ok((source, version, Coming::Whole(body))),
            };
            let part = Arc::new(Part::new(range.start, range.end - range.start));
            if part.len <= Self::SHORT {
                // To hand it to another thread and to wait for that takes longer than such a body.
                source.fill(&part, &version, response).await;
                return Ok((source, version, Coming::Part(Some((part, None)))));
            }
            let (filling, filled, wanted) = (source.clone(), part.clone(), version.clone());
            let task = runtime.spawn(async move { filling.fill(&filled, &wanted, response).await });
            Ok((source, version, Coming::Part(Some((part, Some(task.abort_handle()))))))
        };
        // A client may panic.
        let gave_up = || Err(Fault::Fetch("the client of the store gave up".into()));
        Ok(AssertUnwindSafe(opening).catch_unwind().map(move |opened| opened.unwrap_or_else(|_| gave_up())))
    }

    fn opened(&self, url: &Url, wanted: Range<u64>, ahead: Ahead) -> Result<Arc<dyn Object>, Fault> {
        // A small object takes one request.
        let first = wanted.start..wanted.end.min(wanted.start.saturating_add(RANGE));
        let expected = match first.start {
            0 if ahead == Ahead::Yes => lock(&self.expected).remove(url),
            _ => None,
        };
        let runtime = self.runtime()?;
        let opened = match expected {
            // The calling thread waits in any case.
            None => runtime.block_on(self.opening(url, first)?),
            Some(Opening::Begun(opening)) => {
                runtime.block_on(opening).map_err(|error| Fault::Fetch(error.to_string()))?
            }
            Some(Opening::Done(opened)) => opened,
        };
        if ahead == Ahead::Yes {
            static ONCE: Once = Once::new();
            ONCE.call_once(keep_freed_memory);
        }
        let (source, version, first) = opened?;
        let (of, runtime) = ((source, version), runtime.handle().clone());
        Ok(match first {
            Coming::Whole(body) => Arc::new(Whole::new(url.clone(), of, body, ahead, runtime)),
            Coming::Part(part) => {
                let (how, place) = ((ahead, self.network.requests, wanted.end), (runtime, self.network.budget.clone()));
                Arc::new(Window::new(url.clone(), of, part, how, place))
            }
        })
    }
}

fn put_failed(url: &Url, why: &str) -> Error {
    Error::Write { path: url.into(), error: io::Error::other(why.to_string()) }
}

impl Drop for Stores {
    fn drop(&mut self) {
        // What was expected in vain.
        lock(&self.expected).drain().for_each(|(_, opening)| {
            if let Opening::Begun(task) = opening {
                task.abort();
            }
        });
    }
}

impl Default for Stores {
    fn default() -> Self {
        Stores::new()
    }
}

impl fmt::Debug for Stores {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stores").field("traffic", &self.network.traffic).finish_non_exhaustive()
    }
}

impl Objects for Stores {
    fn open(&self, url: &Url, part: Range<u64>, ahead: Ahead) -> Result<Arc<dyn Object>, Error> {
        self.opened(url, part, ahead).map_err(|fault| fault.opening(url))
    }

    fn expect(&self, url: &Url) {
        let mut expected = lock(&self.expected);
        if expected.len() < Self::EXPECTED
            && !expected.contains_key(url)
            && let (Ok(opening), Ok(runtime)) = (self.opening(url, 0..Self::EXPECTED_BYTES), self.runtime())
        {
            expected.insert(url.clone(), Opening::Begun(runtime.spawn(opening)));
        }
    }

    fn fetched(&self, url: &Url, patience: Duration) -> bool {
        let (Ok(opening), Ok(runtime)) = (self.opening(url, 0..RANGE), self.runtime()) else { return false };
        let mut opening = Box::pin(opening);
        let opened = runtime.block_on(async { timeout(patience, &mut opening).await });
        let (opening, fetched) = match opened {
            Ok(opened) => {
                let fetched = match &opened {
                    Ok((_, version, Coming::Part(part))) => {
                        part.as_ref().map_or(0, |(part, _)| part.len) == version.len && version.len <= Self::SHORT
                    }
                    Ok((.., Coming::Whole(_))) => false,
                    // Opening it fails at once.
                    Err(_) => true,
                };
                (Opening::Done(opened), fetched)
            }
            Err(_) => (Opening::Begun(runtime.spawn(opening)), false),
        };
        lock(&self.expected).insert(url.clone(), opening);
        fetched
    }

    fn list(&self, url: &Url) -> Result<Listing, Error> {
        let begun = || -> Result<_, Fault> {
            let place = Place::read(url).map_err(Fault::Refused)?;
            if let Store::Web(_) = place.store {
                return Err(Fault::Refused("a web server has no listing of its files: name them".into()));
            }
            let prefix = Location::parse(&place.key).map_err(|error| Fault::Refused(error.to_string()))?;
            Ok(listing::list(self.client(&place.store)?, prefix, self.runtime()?.handle()))
        };
        let mut found = begun().map_err(|fault| fault.opening(url))?;
        let url = url.clone();
        Ok(Box::new(std::iter::from_fn(move || {
            Some(match found.blocking_recv()? {
                Ok((key, len, version)) => Ok(Listed { url: url.with_key(&key), len, version }),
                Err(fault) => Err(fault.opening(&url)),
            })
        })))
    }

    fn stored(&self, url: &Url) -> Result<StoredSums, Error> {
        let asked = || {
            let place = Place::read(url).map_err(Fault::Refused)?;
            // S3 is asked for the checksums that it has, by a header that is signed.
            let source =
                Source { store: self.clients()?.of(&place.store, true)?.store, ..(*self.source(url)?).clone() };
            let (version, headers) = self.runtime()?.block_on(source.headers())?;
            Ok((place.store, version, headers))
        };
        let (store, version, headers) = asked().map_err(|fault: Fault| fault.opening(url))?;
        let text = |name: &str| {
            let values: Vec<_> = headers.get_all(name).iter().filter_map(|value| value.to_str().ok()).collect();
            (!values.is_empty()).then(|| values.join(","))
        };
        // An ETag is an MD5 only where the store says so, and of objects that are not encrypted with a key of one's own.
        let encrypted = text("x-amz-server-side-encryption").is_some_and(|how| how.starts_with("aws:kms"))
            || text("x-amz-server-side-encryption-customer-algorithm").is_some();
        let etag = version.etag.as_deref().filter(|_| matches!(store, Store::S3(_) | Store::Google(_)) && !encrypted);
        let mut sums: Vec<_> = etag.map(|etag| ("etag".into(), etag.trim_matches('"').into())).into_iter().collect();
        sums.extend(SUMS.iter().filter_map(|name| Some((name.to_string(), text(name)?))));
        let links = text("link").filter(|_| matches!(store, Store::Web(_)));
        let links = links.map_or_else(Vec::new, |text| links::links(url, &text));
        Ok(StoredSums { len: version.len, version: version.text(), sums, links })
    }

    fn put(&self, url: &Url, content: &mut dyn Read, len: u64) -> Result<(), Error> {
        let mut uploaded = || {
            let source = self.source(url)?;
            if source.version.is_some() || matches!(Place::read(url), Ok(Place { store: Store::Web(_), .. })) {
                return Err(Fault::Refused(
                    "only objects in S3, Google Cloud Storage, Azure and HDFS are written".into(),
                ));
            }
            match Place::read(url).map(|place| place.store) {
                Ok(Store::Given(number)) => {
                    hand_over(&*given(&number).map_err(Fault::Refused)?, source.location.as_ref(), content, len)
                }
                _ => self.runtime()?.block_on(upload(&source, content, len)),
            }
        };
        uploaded().map_err(|fault| match fault {
            Fault::Refused(_) => fault.opening(url),
            Fault::Missing => put_failed(url, "there is no such bucket"),
            Fault::Fetch(why) | Fault::Changed(why) => put_failed(url, &why),
            Fault::Empty | Fault::NotPartial => put_failed(url, "the store gave an answer that makes no sense"),
        })
    }

    fn traffic(&self) -> (u64, u64) {
        (self.network.traffic.requests.load(Ordering::Relaxed), self.network.traffic.bytes.load(Ordering::Relaxed))
    }
}

/// Has the allocator keep the memory of parts that were read for those that come.
///
/// glibc maps what is longer than a threshold anew each time, and the system zeroes each page of it: a sixth of the time of reading a
/// long object. When a mapped allocation is freed, the threshold rises to its length, up to 32 MiB (mallopt(3), M_MMAP_THRESHOLD). No page
/// of this one is touched; other allocators do nothing with it.
fn keep_freed_memory() {
    drop(hint::black_box(Vec::<u8>::with_capacity(2 * RANGE as usize - (64 << 10))));
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
