//! Files in HDFS: their bytes come from the machines that have the blocks.

use crate::blocks::Blocks;
use crate::failure::Fault;
use crate::retries::{LIMIT, PAUSES, attempts};
use async_trait::async_trait;
use bytes::Bytes;
use futures_util::StreamExt;
use hdfs_native::file::FileReader;
use hdfs_native::{Client, ClientBuilder, HdfsError};
use object_store::path::Path;
use std::error::Error;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::runtime::Handle;
use tokio::time::timeout;
use url::Url;

/// A client of a file system, whose tasks run on `runtime`: with the configuration that the environment names.
///
/// # Errors
/// If the configuration makes no sense.
pub fn client(url: &str, runtime: &Handle) -> Result<Client, Fault> {
    let attempts = attempts().map_err(Fault::Refused)?;
    let mut builder = ClientBuilder::new().with_io_runtime(runtime.clone());
    if url != "hdfs://" {
        builder = builder.with_url(url);
        if Url::parse(url).is_ok_and(|url| url.port().is_some()) {
            // A single server is asked as often as one of another store. How several take over from each other is configured.
            let [first, longest] = PAUSES.map(|pause| pause.as_millis());
            let retry = [
                ("dfs.client.failover.max.attempts", attempts as u128 - 1),
                // The client doubles it before the first pause as well.
                ("dfs.client.failover.sleep.base.millis", first / 2),
                ("dfs.client.failover.sleep.max.millis", longest),
            ];
            builder = builder.with_config(retry.map(|(name, number)| (name, number.to_string())));
        }
    }
    builder.build().map_err(|error| {
        Fault::Refused(match error.to_string() {
            words if words.contains("No NameNode hosts found") => {
                format!("{words}: name the port (hdfs://HOST:8020/PATH), or the folder of Hadoop's configuration in HADOOP_CONF_DIR")
            }
            words => words,
        })
    })
}

/// An open file.
pub struct File {
    client: Client,
    path: String,
    /// The locations of the file's blocks: asked for once, and again after a failure.
    reader: Mutex<Option<Arc<FileReader>>>,
}

impl File {
    pub fn new(client: Client, location: &Path) -> File {
        File { client, path: format!("/{location}"), reader: Mutex::default() }
    }

    async fn reader(&self) -> Result<Arc<FileReader>, Fault> {
        let known = self.reader.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(reader) = known {
            return Ok(reader);
        }
        let asked = timeout(LIMIT, self.client.read(&self.path)).await;
        let reader = Arc::new(asked.map_err(|_| Fault::Fetch("no answer about its blocks".into()))?.map_err(failed)?);
        *self.reader.lock().unwrap_or_else(PoisonError::into_inner) = Some(reader.clone());
        Ok(reader)
    }

    async fn read(&self, range: &Range<u64>, len: u64) -> Result<Vec<Bytes>, Fault> {
        let reader = self.reader().await?;
        let now = reader.file_length() as u64;
        if now != len {
            return Err(Fault::Changed(format!("it had {len} bytes and has {now} now")));
        }
        let wanted = range.end - range.start;
        let too_long = |_| Fault::Fetch("this machine cannot address so long a file".into());
        let start = usize::try_from(range.start).map_err(too_long)?;
        let mut chunks = Vec::new();
        let mut stream = reader.read_range_stream(start, usize::try_from(wanted).map_err(too_long)?).boxed();
        while let Some(chunk) = stream.next().await {
            chunks.push(chunk.map_err(failed)?);
        }
        match chunks.iter().map(|chunk| chunk.len() as u64).sum::<u64>() {
            found if found == wanted => Ok(chunks),
            found => Err(Fault::Fetch(format!("{found} of {wanted} bytes came"))),
        }
    }
}

#[async_trait]
impl Blocks for File {
    async fn fetch(&self, range: Range<u64>, len: u64) -> Result<Vec<Bytes>, Fault> {
        let found = self.read(&range, len).await;
        if found.is_err() {
            // Blocks may have moved, and a machine that failed may be there again.
            *self.reader.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
        found
    }
}

impl fmt::Debug for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("File").field("path", &self.path).finish_non_exhaustive()
    }
}

fn failed(error: HdfsError) -> Fault {
    match &error {
        HdfsError::FileNotFound(_) => Fault::Missing,
        HdfsError::RPCError(name, _) if name.ends_with("FileNotFoundException") => Fault::Missing,
        _ => Fault::Fetch(Fault::words(&error as &dyn Error)),
    }
}
