//! Files that become objects.

use crate::failure::Fault;
use crate::object::Source;
use object_store::{PutMultipartOptions, PutOptions, PutPayload};
use std::fs::File;
use std::io::{self, Read, Seek};

/// The bytes that are sent at once: a file of at most so many is one request, a longer one an upload in parts.
const SENT: u64 = 32 << 20;
/// The parts that an upload to S3 may have.
const PARTS: u64 = 10_000;

/// Writes all bytes of a file to an object.
pub async fn upload(source: &Source, mut file: &File) -> Result<(), Fault> {
    let unread = |error: io::Error| Fault::Fetch(format!("its copy on this machine cannot be read: {error}"));
    // The client says the status of a request that fails in its own words.
    let failed = |error: object_store::Error| Fault::of(&error, None);
    let len = file.metadata().map_err(unread)?.len();
    file.rewind().map_err(unread)?;
    let next = |most: u64| -> Result<PutPayload, Fault> {
        let mut bytes = Vec::new();
        file.take(most).read_to_end(&mut bytes).map_err(unread)?;
        Ok(bytes.into())
    };
    let (store, at) = (&source.store, &source.location);
    if len <= SENT {
        return store.put_opts(at, next(len)?, PutOptions::default()).await.map(drop).map_err(failed);
    }
    let mut upload = store.put_multipart_opts(at, PutMultipartOptions::default()).await.map_err(failed)?;
    let part = SENT.max(len.div_ceil(PARTS));
    let mut sent = Ok(());
    for _ in 0..len.div_ceil(part) {
        sent = match next(part) {
            Ok(payload) => upload.put_part(payload).await.map_err(failed),
            Err(fault) => Err(fault),
        };
        if sent.is_err() {
            break;
        }
    }
    let ended = match sent {
        Ok(()) => upload.complete().await.map(drop).map_err(failed),
        Err(fault) => Err(fault),
    };
    if ended.is_err() {
        // Parts of an upload that does not end would be kept, and paid for.
        let _ = upload.abort().await;
    }
    ended
}
