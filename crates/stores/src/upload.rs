//! Bytes that become objects.

use crate::failure::Fault;
use crate::given::{Failed, GivenStore};
use crate::object::Source;
use object_store::{PutMultipartOptions, PutOptions, PutPayload};
use std::io::{self, Read};
use std::sync::mpsc::sync_channel;
use std::thread;

/// The bytes that are sent at once: an object of at most so many is one request, a longer one an upload in parts.
const SENT: u64 = 32 << 20;
/// The parts that an upload to S3 may have.
const PARTS: u64 = 10_000;

/// Writes the next `len` bytes of `content` to an object.
pub async fn upload(source: &Source, content: &mut dyn Read, len: u64) -> Result<(), Fault> {
    let unread = |error: io::Error| Fault::Fetch(format!("its copy on this machine cannot be read: {error}"));
    let short = || Fault::Fetch("its copy on this machine became shorter".into());
    // The client says the status of a request that fails in its own words.
    let failed = |error: object_store::Error| Fault::of(&error, None);
    let mut next = |wanted: u64| -> Result<PutPayload, Fault> {
        let mut bytes = Vec::new();
        match content.take(wanted).read_to_end(&mut bytes).map_err(unread)? as u64 {
            found if found == wanted => Ok(bytes.into()),
            _ => Err(short()),
        }
    };
    let (store, at) = (&source.store, &source.location);
    if len <= SENT {
        return store.put_opts(at, next(len)?, PutOptions::default()).await.map(drop).map_err(failed);
    }
    let mut upload = store.put_multipart_opts(at, PutMultipartOptions::default()).await.map_err(failed)?;
    let part = SENT.max(len.div_ceil(PARTS));
    let mut sent = Ok(());
    for number in 0..len.div_ceil(part) {
        sent = match next(part.min(len - number * part)) {
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

/// The bytes that a given store takes at once, and the chunks that wait for it.
const CHUNK: u64 = 8 << 20;
const WAITING: usize = 2;

/// Writes the next `len` bytes of `content` to an object of a given store.
pub fn hand_over(store: &dyn GivenStore, key: &str, content: &mut dyn Read, len: u64) -> Result<(), Fault> {
    let (sender, receiver) = sync_channel(WAITING);
    let written = thread::scope(|scope| {
        let writing = scope.spawn(|| store.write(key, receiver));
        let mut left = len;
        while left > 0 {
            let (wanted, mut bytes) = (left.min(CHUNK), Vec::new());
            let chunk = match content.take(wanted).read_to_end(&mut bytes) {
                Ok(found) if found as u64 == wanted => Ok(bytes),
                Ok(_) => Err(io::Error::other("its copy on this machine became shorter")),
                Err(error) => Err(io::Error::other(format!("its copy on this machine cannot be read: {error}"))),
            };
            left = if chunk.is_ok() { left - wanted } else { 0 };
            // It takes no more of them: it has failed.
            if sender.send(chunk).is_err() {
                break;
            }
        }
        drop(sender);
        writing.join()
    });
    match written {
        Ok(Ok(())) => Ok(()),
        Ok(Err(Failed::Other(why))) => Err(Fault::Fetch(why)),
        Ok(Err(Failed::Missing)) => Err(Fault::Missing),
        Ok(Err(Failed::Changed | Failed::Empty)) => Err(Fault::Fetch("the store does not take it".into())),
        Err(_) => Err(Fault::Fetch("the client of the store gave up".into())),
    }
}
