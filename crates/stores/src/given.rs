//! Stores that a program gives: their clients are its own, and wait while they read.

use crate::traffic::{LastStatus, Traffic};
use async_trait::async_trait;
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use http::StatusCode;
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetRange, GetResult, GetResultPayload, ListResult, MultipartUpload, ObjectMeta,
    ObjectStore, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};
use std::collections::HashMap;
use std::fmt;
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};
use tokio::sync::mpsc::channel;
use tokio::task::spawn_blocking;

/// The names that a listing has ready.
const WAITING: usize = 1000;

/// A store whose client is the program's. Any number of threads call it at once, and each call may wait.
pub trait GivenStore: fmt::Debug + Send + Sync {
    /// The length and version of an object.
    ///
    /// # Errors
    /// If it cannot be reached or is not there.
    fn facts(&self, key: &str) -> Result<Facts, Failed>;

    /// The bytes `range` of an object, or those of them that it has, and what it is: all of the version `wanted` if one is given.
    ///
    /// # Errors
    /// If it cannot be reached, is not there, has another version, or ends before the range.
    fn read(&self, key: &str, range: Range<u64>, wanted: Option<&str>) -> Result<(Facts, Vec<u8>), Failed>;

    /// The objects whose keys begin with `prefix` and a slash, in any order; all of them if it is empty.
    ///
    /// # Errors
    /// If they cannot be listed.
    fn list(&self, prefix: &str) -> Result<Objects, Failed>;

    /// Writes an object of these bytes, chunk by chunk: all of them, or the object is as it was.
    ///
    /// # Errors
    /// If a chunk is an error, or the store does not take them.
    fn write(&self, key: &str, chunks: Receiver<io::Result<Vec<u8>>>) -> Result<(), Failed>;
}

/// Keys and facts, as a store lists them.
pub type Objects = Box<dyn Iterator<Item = Result<(String, Facts), Failed>> + Send>;

/// What an object is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The object's length, in bytes.
    pub len: u64,
    /// The object's version, such as an ETag without quotes; empty if the store has none.
    pub version: String,
}

/// Why a store does not answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failed {
    /// There is no such object.
    Missing,
    /// The object has another version than was asked for.
    Changed,
    /// The object has no byte of the range.
    Empty,
    /// Anything else, in words.
    Other(String),
}

/// The stores that are given now, by their numbers.
static GIVEN: LazyLock<RwLock<HashMap<u64, Arc<dyn GivenStore>>>> = LazyLock::new(RwLock::default);
static NEXT: AtomicU64 = AtomicU64::new(1);

/// Gives a store to this process: its objects are inputs under [`Given::url`] until the value is dropped.
#[derive(Debug)]
pub struct Given(u64);

impl Given {
    /// Gives a store.
    pub fn new(store: Arc<dyn GivenStore>) -> Given {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        GIVEN.write().unwrap_or_else(PoisonError::into_inner).insert(number, store);
        Given(number)
    }

    /// The URL of all its objects: that of one has a slash and the key behind it.
    pub fn url(&self) -> String {
        format!("store://{}", self.0)
    }
}

impl Drop for Given {
    fn drop(&mut self) {
        let store = GIVEN.write().unwrap_or_else(PoisonError::into_inner).remove(&self.0);
        // Not under the lock: the program's own code ends the client.
        drop(store);
    }
}

/// The store of this number.
///
/// # Errors
/// If none is given, as words.
pub fn given(number: &str) -> Result<Arc<dyn GivenStore>, String> {
    let known = GIVEN.read().unwrap_or_else(PoisonError::into_inner);
    let store = number.parse().ok().and_then(|number: u64| known.get(&number).cloned());
    store.ok_or_else(|| {
        "no store is in use under this URL in this process: it has one only while the store is given to mksum".into()
    })
}

/// A given store in the shape of the others.
#[derive(Debug)]
pub struct Adapter {
    pub store: Arc<dyn GivenStore>,
    pub traffic: Arc<Traffic>,
}

impl fmt::Display for Adapter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("given store")
    }
}

impl Adapter {
    fn meta(location: Path, facts: Facts) -> ObjectMeta {
        let e_tag = Some(facts.version).filter(|version| !version.is_empty());
        ObjectMeta { location, last_modified: Default::default(), size: facts.len, e_tag, version: None }
    }

    /// Runs a call of the program's in a thread that may wait.
    async fn call<T: Send + 'static>(
        &self,
        call: impl FnOnce(&dyn GivenStore) -> Result<T, Failed> + Send + 'static,
    ) -> Result<Result<T, Failed>> {
        let store = self.store.clone();
        self.traffic.requests.fetch_add(1, Ordering::Relaxed);
        Ok(spawn_blocking(move || call(&*store)).await?)
    }
}

fn failed(failed: Failed, location: &Path, last: Option<&LastStatus>) -> Error {
    let status = match &failed {
        Failed::Missing => StatusCode::NOT_FOUND,
        Failed::Changed => StatusCode::PRECONDITION_FAILED,
        Failed::Empty => StatusCode::RANGE_NOT_SATISFIABLE,
        Failed::Other(_) => StatusCode::BAD_GATEWAY,
    };
    if let Some(last) = last {
        last.set(status);
    }
    let (path, words) = (location.to_string(), |words: &str| io::Error::other(words.to_string()).into());
    match failed {
        Failed::Missing => Error::NotFound { path, source: words("there is no such object") },
        Failed::Changed => Error::Precondition { path, source: words("it has another version") },
        Failed::Empty => Error::Generic { store: "given", source: words("it ends before this range") },
        Failed::Other(why) => Error::Generic { store: "given", source: words(&why) },
    }
}

fn unsupported(operation: &str) -> Error {
    Error::NotImplemented { operation: operation.into(), implementer: "a given store".into() }
}

#[async_trait]
impl ObjectStore for Adapter {
    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        let (key, last) = (location.to_string(), options.extensions.get::<LastStatus>());
        let wrong = |why| failed(why, location, last);
        if options.version.is_some() {
            return Err(unsupported("versions by their names"));
        }
        let range = match options.range {
            Some(GetRange::Bounded(range)) => range,
            None => 0..u64::MAX,
            Some(_) => return Err(unsupported("ranges without a start or an end")),
        };
        let (facts, bytes) = if options.head {
            (self.call(move |store| store.facts(&key)).await?.map_err(wrong)?, Vec::new())
        } else {
            let (wanted, range) = (options.if_match, range.clone());
            self.call(move |store| store.read(&key, range, wanted.as_deref())).await?.map_err(wrong)?
        };
        let there = range.end.min(facts.len).saturating_sub(range.start);
        if !options.head && bytes.len() as u64 != there {
            let why = format!("the store has {} bytes where {there} were asked for", bytes.len());
            return Err(wrong(Failed::Other(why)));
        }
        let range = if options.head { 0..facts.len } else { range.start..range.start + there };
        Ok(GetResult {
            payload: GetResultPayload::Stream(stream::iter([Ok(Bytes::from(bytes))]).boxed()),
            meta: Adapter::meta(location.clone(), facts),
            range,
            attributes: Default::default(),
            extensions: Default::default(),
        })
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        let (store, prefix) = (self.store.clone(), prefix.map(ToString::to_string).unwrap_or_default());
        self.traffic.requests.fetch_add(1, Ordering::Relaxed);
        let (sender, receiver) = channel(WAITING);
        spawn_blocking(move || {
            let at = Path::from(&*prefix);
            let found = match store.list(&prefix) {
                Ok(found) => found,
                Err(why) => return drop(sender.blocking_send(Err(failed(why, &at, None)))),
            };
            for one in found {
                let one = one
                    .map_err(|why| failed(why, &at, None))
                    .and_then(|(key, facts)| Ok(Adapter::meta(Path::parse(key)?, facts)));
                // Nobody waits for the rest.
                if sender.blocking_send(one).is_err() {
                    return;
                }
            }
        });
        stream::unfold(receiver, async |mut receiver| Some((receiver.recv().await?, receiver))).boxed()
    }

    async fn put_opts(&self, _: &Path, _: PutPayload, _: PutOptions) -> Result<PutResult> {
        Err(unsupported("put"))
    }

    async fn put_multipart_opts(&self, _: &Path, _: PutMultipartOptions) -> Result<Box<dyn MultipartUpload>> {
        Err(unsupported("put_multipart"))
    }

    fn delete_stream(&self, _: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        stream::iter([Err(unsupported("delete"))]).boxed()
    }

    async fn list_with_delimiter(&self, _: Option<&Path>) -> Result<ListResult> {
        Err(unsupported("list_with_delimiter"))
    }

    async fn copy_opts(&self, _: &Path, _: &Path, _: CopyOptions) -> Result<()> {
        Err(unsupported("copy"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Stores;
    use crate::retries::LIMIT;
    use mksum_io::{Ahead, Objects as _, Url};
    use std::io::IoSliceMut;
    use std::sync::Mutex;
    use std::time::Duration;

    /// Objects in memory, whose version is their number of writes; at most `most` bytes come at once.
    #[derive(Debug, Default)]
    struct Memory {
        objects: Mutex<HashMap<String, (u64, Vec<u8>)>>,
        /// The object that is written to at this read.
        changed_at: Mutex<Option<usize>>,
        short: bool,
    }

    impl Memory {
        fn with(objects: &[(&str, Vec<u8>)]) -> Memory {
            let objects = objects.iter().map(|(key, bytes)| (key.to_string(), (1, bytes.clone()))).collect();
            Memory { objects: Mutex::new(objects), ..Memory::default() }
        }
    }

    impl GivenStore for Memory {
        fn facts(&self, key: &str) -> Result<Facts, Failed> {
            let known = self.objects.lock().unwrap();
            let (version, bytes) = known.get(key).ok_or(Failed::Missing)?;
            Ok(Facts { len: bytes.len() as u64, version: version.to_string() })
        }

        fn read(&self, key: &str, range: Range<u64>, wanted: Option<&str>) -> Result<(Facts, Vec<u8>), Failed> {
            if let Some(left) = &mut *self.changed_at.lock().unwrap() {
                *left = left.wrapping_sub(1);
                if *left == 0 {
                    self.objects.lock().unwrap().get_mut(key).unwrap().0 += 1;
                }
            }
            let facts = self.facts(key)?;
            if wanted.is_some_and(|wanted| wanted != facts.version) {
                return Err(Failed::Changed);
            }
            if range.start >= facts.len {
                return Err(Failed::Empty);
            }
            let end = range.end.min(facts.len) as usize - usize::from(self.short);
            let bytes = self.objects.lock().unwrap()[key].1[range.start as usize..end].to_vec();
            Ok((facts, bytes))
        }

        fn list(&self, prefix: &str) -> Result<Objects, Failed> {
            if prefix == "broken" {
                return Err(Failed::Other("no listing".into()));
            }
            let keys: Vec<_> = self.objects.lock().unwrap().keys().cloned().collect();
            let below = if prefix.is_empty() { String::new() } else { format!("{prefix}/") };
            let found: Vec<_> = keys.into_iter().filter(|key| key.starts_with(&below)).collect();
            let facts: Vec<_> = found.into_iter().map(|key| Ok((key.clone(), self.facts(&key)?))).collect();
            Ok(Box::new(facts.into_iter()))
        }

        fn write(&self, key: &str, chunks: Receiver<io::Result<Vec<u8>>>) -> Result<(), Failed> {
            let chunks: io::Result<Vec<_>> = chunks.iter().collect();
            let bytes = chunks.map_err(|error| Failed::Other(error.to_string()))?.concat();
            let mut known = self.objects.lock().unwrap();
            let version = known.get(key).map_or(0, |(version, _)| *version) + 1;
            known.insert(key.into(), (version, bytes));
            Ok(())
        }
    }

    fn url(given: &Given, key: &str) -> Url {
        Url::parse(&format!("{}/{key}", given.url())).unwrap()
    }

    fn read(stores: &Stores, url: &Url) -> Result<Vec<u8>, mksum_io::Error> {
        let object = stores.open(url, 0..u64::MAX, Ahead::Yes)?;
        let mut bytes = vec![0; object.len() as usize];
        if !bytes.is_empty() {
            object.read(0, &mut [IoSliceMut::new(&mut bytes)])?;
        }
        Ok(bytes)
    }

    #[test]
    fn objects_are_read_listed_and_written() {
        let long: Vec<_> = (0..20_000_003_u32).map(|i| (i % 251) as u8).collect();
        let given =
            Given::new(Arc::new(Memory::with(&[("a/long", long.clone()), ("a/empty", vec![]), ("b", vec![7])])));
        let stores = Stores::new();
        assert_eq!(read(&stores, &url(&given, "a/long")).unwrap(), long);
        assert!(read(&stores, &url(&given, "/a/empty")).unwrap().is_empty());
        let mut listed: Vec<_> = stores.list(&url(&given, "a/")).unwrap().map(Result::unwrap).collect();
        listed.sort_by_key(|one| one.len);
        assert_eq!(
            listed.iter().map(|one| (one.url.as_str(), one.len)).collect::<Vec<_>>(),
            [(&*format!("{}/a/empty", given.url()), 0), (&*format!("{}/a/long", given.url()), 20_000_003),]
        );
        stores.put(&url(&given, "c/d"), &mut &long[..], long.len() as u64).unwrap();
        assert_eq!(read(&stores, &url(&given, "c/d")).unwrap(), long);
        assert_eq!(stores.stored(&url(&given, "b")).unwrap().version, "1");
    }

    #[test]
    fn an_object_that_was_fetched_is_not_asked_for_again() {
        let objects = [("empty", 0), ("small", 5000), ("long", 3 << 20)];
        let objects: Vec<_> = objects.iter().map(|&(key, len)| (key, vec![7; len])).collect();
        let given = Given::new(Arc::new(Memory::with(&objects)));
        for patience in [Duration::ZERO, LIMIT] {
            for (key, bytes) in &objects {
                let (stores, url) = (Stores::new(), url(&given, key));
                let fetched = stores.fetched(&url, patience);
                assert!(patience.is_zero() || fetched == (*key != "long"), "{key}");
                assert_eq!(&read(&stores, &url).unwrap(), bytes);
                // An empty object has no range, and is asked for its version.
                assert_eq!(stores.traffic(), (if bytes.is_empty() { 2 } else { 1 }, bytes.len() as u64), "{key}");
            }
        }
        let (stores, none) = (Stores::new(), url(&given, "none"));
        assert!(stores.fetched(&none, LIMIT));
        let error = read(&stores, &none).unwrap_err().to_string();
        assert!(error.contains("there is no such object") && stores.traffic() == (1, 0), "{error}");
        assert!(!stores.fetched(&Url::parse("store://x/b").unwrap(), LIMIT));
    }

    #[test]
    fn an_upload_that_fails_writes_nothing() {
        let given = Given::new(Arc::new(Memory::with(&[("b", vec![7])])));
        let stores = Stores::new();
        // There are fewer bytes than were promised.
        let error = stores.put(&url(&given, "b"), &mut &[1_u8, 2][..], 3).unwrap_err().to_string();
        assert!(error.contains("became shorter"), "{error}");
        assert_eq!(read(&stores, &url(&given, "b")).unwrap(), [7]);
    }

    #[test]
    fn an_object_that_changes_or_is_gone_is_an_error() {
        let memory = Memory::with(&[("long", vec![1; 40 << 20])]);
        *memory.changed_at.lock().unwrap() = Some(3);
        let given = Given::new(Arc::new(memory));
        let stores = Stores::new();
        let error = read(&stores, &url(&given, "long")).unwrap_err();
        assert!(matches!(error, mksum_io::Error::Changed { .. }), "{error}");
        let error = read(&stores, &url(&given, "none")).unwrap_err().to_string();
        assert!(error.contains("there is no such object"), "{error}");
        let error = stores.list(&url(&given, "broken/")).unwrap().next().unwrap().unwrap_err().to_string();
        assert!(error.contains("no listing"), "{error}");
    }

    #[test]
    fn a_store_that_has_too_few_bytes_is_an_error() {
        let given = Given::new(Arc::new(Memory { short: true, ..Memory::with(&[("b", vec![7; 9])]) }));
        let error = read(&Stores::new(), &url(&given, "b")).unwrap_err().to_string();
        assert!(error.contains("the store has 8 bytes where 9 were asked for"), "{error}");
    }

    #[test]
    fn a_store_is_known_while_it_is_given() {
        let given = Given::new(Arc::new(Memory::with(&[("b", vec![7])])));
        let (stores, url) = (Stores::new(), url(&given, "b"));
        assert!(stores.open(&url, 0..1, Ahead::Yes).is_ok());
        drop(given);
        let error = stores.open(&url, 0..1, Ahead::Yes).unwrap_err().to_string();
        assert!(error.contains("no store is in use under this URL"), "{error}");
        assert!(stores.open(&Url::parse("store://x/b").unwrap(), 0..1, Ahead::Yes).is_err());
    }
}
