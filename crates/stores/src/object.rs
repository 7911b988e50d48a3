//! One version of an object, opened and fetched range by range.

use crate::blocks::Blocks;
use crate::client::Headers;
use crate::failure::Fault;
use crate::part::Part;
use crate::retries::LIMIT;
use crate::traffic::{LastStatus, Traffic};
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use http::{HeaderMap, StatusCode};
use mksum::Spec;
use mksum::outboard::Identity;
use object_store::path::Path;
use object_store::{GetOptions, GetRange, GetResult, ObjectMeta, ObjectStore};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::time::{sleep, timeout};

/// An object in a store, of whatever version.
#[derive(Clone, Debug)]
pub struct Source {
    pub store: Arc<dyn ObjectStore>,
    pub location: Path,
    /// The version that was asked for by its name.
    pub version: Option<String>,
    pub traffic: Arc<Traffic>,
    /// The bytes of the object, in a store that cannot bind a response to a version. There, what is read is compared afterwards.
    pub blocks: Option<Arc<dyn Blocks>>,
}

/// The bytes of a response.
pub type Body = BoxStream<'static, object_store::Result<Bytes>>;

/// The first bytes of an object that was opened.
pub enum First {
    /// No byte that was asked for.
    None,
    /// A range, and the response that has it, if one is there already.
    Part(Range<u64>, Option<GetResult>),
    /// All bytes, of a server without range requests.
    Whole(Body),
}

/// The version that the first response had: each other response must have it too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    pub len: u64,
    pub etag: Option<String>,
    /// The time of the last change, in seconds, where there is no ETag.
    pub time: Option<i64>,
}

impl Version {
    pub fn of(meta: &ObjectMeta) -> Version {
        let time = Some(meta.last_modified.timestamp()).filter(|&time| time != 0);
        Version { len: meta.size, etag: meta.e_tag.clone(), time }
    }

    /// The version as text: the ETag without quotes, or the time.
    pub fn text(&self) -> String {
        match (&self.etag, self.time) {
            (Some(etag), _) => etag.trim_matches('"').into(),
            (None, Some(time)) => format!("time:{time}"),
            (None, None) => String::new(),
        }
    }

    /// The ETag to be matched by the server; a weak one matches nothing (RFC 9110, 13.1.1).
    fn if_match(&self) -> Option<String> {
        self.etag.clone().filter(|etag| !etag.starts_with("W/"))
    }

    /// A number for this version, where there is one.
    pub fn identity(&self) -> Option<Identity> {
        self.etag.as_ref()?;
        let spec: Spec = "sha256".parse().ok()?;
        let digest = spec.root(self.text().as_bytes()).ok()?.digest();
        let inode = u64::from_be_bytes(digest.as_bytes()[..8].try_into().ok()?);
        Some(Identity { seconds: self.time.unwrap_or(0), nanoseconds: 0, inode })
    }

    /// Compares the version of a response.
    pub fn check(&self, found: &Version) -> Result<(), Fault> {
        let shown = |text: &Option<String>| text.as_deref().unwrap_or("none").chars().take(80).collect::<String>();
        if found.etag != self.etag {
            return Err(Fault::Changed(format!(
                "its ETag was {} and is {} now",
                shown(&self.etag),
                shown(&found.etag)
            )));
        }
        if found.len != self.len {
            return Err(Fault::Changed(format!("it had {} bytes and has {} now", self.len, found.len)));
        }
        match (&self.etag, self.time, found.time) {
            (Some(_), ..) => Ok(()),
            (None, Some(then), Some(now)) if then == now => Ok(()),
            (None, Some(_), _) => Err(Fault::Changed("its Last-Modified has changed".into())),
            (None, None, _) => Err(Fault::Fetch(
                "the server sends neither ETag nor Last-Modified, so a change between two requests could not be noticed: download \
                 the object first"
                    .into(),
            )),
        }
    }
}

/// Has readers not wait for a part whose fetching ended, however it did: a client may panic.
struct Ending<'a>(&'a Part);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.fail(Fault::Fetch("the client of the store gave up".into()));
    }
}

/// The tries to read on in a response that ended too soon.
const TRIES: u32 = 4;

impl Source {
    /// Opens the object with a request for the bytes `first`: its version, and those of the bytes that it has, if any.
    pub async fn open(&self, first: Range<u64>) -> Result<(Version, First), Fault> {
        if self.blocks.is_some() {
            let version = Version::of(&self.head().await?);
            let range = first.start..first.end.min(version.len);
            return Ok((version, if range.is_empty() { First::None } else { First::Part(range, None) }));
        }
        match self.get(first, None).await {
            Ok(response) => Ok((Version::of(&response.meta), First::Part(response.range.clone(), Some(response)))),
            // An empty object has no ranges, and one that is shorter than `first` does not reach it.
            Err(Fault::Empty) => Ok((Version::of(&self.head().await?), First::None)),
            Err(Fault::NotPartial) => {
                let (version, body) = self.whole(None).await?;
                Ok(if version.len == 0 { (version, First::None) } else { (version, First::Whole(body)) })
            }
            Err(fault) => Err(fault),
        }
    }

    /// Asks for all bytes in one response, of this version if there was an earlier one.
    pub async fn whole(&self, version: Option<&Version>) -> Result<(Version, Body), Fault> {
        let if_match = version.and_then(Version::if_match);
        let response = self.ask(GetOptions { if_match, ..GetOptions::default() }).await?;
        Ok((Version::of(&response.meta), response.into_stream()))
    }

    /// Asks for all but the bytes.
    pub async fn head(&self) -> Result<ObjectMeta, Fault> {
        let options = GetOptions { head: true, ..GetOptions::default() };
        Ok(self.ask(options).await?.meta)
    }

    /// Asks for all but the bytes; the version, and the headers as they came.
    pub async fn headers(&self) -> Result<(Version, HeaderMap), Fault> {
        let response = self.ask(GetOptions { head: true, ..GetOptions::default() }).await?;
        let headers = response.extensions.get::<Headers>().map(|Headers(headers)| headers.clone());
        Ok((Version::of(&response.meta), headers.unwrap_or_default()))
    }

    async fn ask(&self, options: GetOptions) -> Result<GetResult, Fault> {
        let (last, is_part) = (LastStatus::default(), options.range.is_some());
        let mut options = GetOptions { version: self.version.clone(), ..options };
        options.extensions.insert(last.clone());
        let asked = self.store.get_opts(&self.location, options);
        let response = match self.blocks {
            None => asked.await,
            // Its client does not count, and would wait for an answer for ever.
            Some(_) => {
                self.traffic.requests.fetch_add(1, Ordering::Relaxed);
                timeout(LIMIT, asked).await.map_err(|_| Fault::Fetch("no answer".into()))?
            }
        };
        response.map_err(|error| match last.get() {
            // The client refuses a whole object in the place of a part before it looks at anything else.
            Some(StatusCode::OK) if is_part => Fault::NotPartial,
            status => Fault::of(&error, status),
        })
    }

    async fn get(&self, range: Range<u64>, version: Option<&Version>) -> Result<GetResult, Fault> {
        let options = GetOptions {
            range: Some(GetRange::Bounded(range)),
            if_match: version.and_then(Version::if_match),
            ..GetOptions::default()
        };
        let response = self.ask(options).await?;
        if let Some(version) = version {
            version.check(&Version::of(&response.meta))?;
        }
        Ok(response)
    }

    /// Fetches a part: the rest of a response, or in requests of its own.
    pub async fn fill(&self, part: &Part, version: &Version, mut response: Option<GetResult>) {
        let _ending = Ending(part);
        if let Some(blocks) = &self.blocks {
            return self.fill_compared(&**blocks, part, version).await;
        }
        let mut tries = TRIES;
        loop {
            let rest = part.start + part.have()..part.end();
            if rest.is_empty() {
                return;
            }
            let result = match response.take() {
                Some(response) => Ok(response),
                None => self.get(rest, Some(version)).await,
            };
            let why = match result {
                Err(fault) => return part.fail(fault),
                Ok(response) => {
                    let mut stream = response.into_stream();
                    loop {
                        match stream.next().await {
                            Some(Ok(chunk)) => {
                                self.traffic.bytes.fetch_add(chunk.len() as u64, Ordering::Relaxed);
                                part.push(chunk);
                            }
                            Some(Err(error)) => break Fault::of(&error, None),
                            None if part.have() >= part.len => return,
                            None => break Fault::Fetch("the response ended too soon".into()),
                        }
                    }
                }
            };
            tries -= 1;
            if tries == 0 || matches!(why, Fault::Changed(_) | Fault::Missing) {
                return part.fail(why);
            }
            sleep(Duration::from_millis(250) * (TRIES - tries)).await;
        }
    }

    /// Fetches a part, and compares the version of the object afterwards. No reader sees the bytes before that.
    async fn fill_compared(&self, blocks: &dyn Blocks, part: &Part, version: &Version) {
        for tries in (0..TRIES).rev() {
            self.traffic.requests.fetch_add(1, Ordering::Relaxed);
            let fetched = blocks.fetch(part.start..part.end(), version.len).await;
            let compared = self.head().await.and_then(|meta| version.check(&Version::of(&meta)));
            let why = match (fetched, compared) {
                (Ok(chunks), Ok(())) => {
                    for chunk in chunks {
                        self.traffic.bytes.fetch_add(chunk.len() as u64, Ordering::Relaxed);
                        part.push(chunk);
                    }
                    return;
                }
                // What became of the object says more than a read that failed.
                (_, Err(fault @ (Fault::Changed(_) | Fault::Missing))) => return part.fail(fault),
                (Err(fault), _) | (_, Err(fault)) => fault,
            };
            if tries == 0 {
                return part.fail(why);
            }
            sleep(Duration::from_millis(250) * (TRIES - tries)).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::served::{Kind, Served};

    #[test]
    fn a_client_that_panics_leaves_no_reader_waiting() {
        let part = Arc::new(Part::new(0, 5));
        let served = Served::new(Kind::S3, |_| panic!("as a client might"));
        let (source, filled) = (served.source(), part.clone());
        let version = Version { len: 5, etag: None, time: None };
        let ended =
            served.run(async move { tokio::spawn(async move { source.fill(&filled, &version, None).await }).await });
        assert!(ended.is_err_and(|error| error.is_panic()));
        let why = Fault::Fetch("the client of the store gave up".into());
        assert_eq!(part.read(0, &mut [0; 5]), Err((0, why)));
    }
}
