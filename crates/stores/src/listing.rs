//! The objects below a name, as the store lists them.

use crate::failure::Fault;
use crate::object::Version;
use crate::place::LONGEST;
use futures_util::StreamExt;
use object_store::path::Path;
use object_store::{Error, ObjectMeta, ObjectStore, ObjectStoreExt};
use std::pin::pin;
use std::sync::Arc;
use tokio::runtime::Handle;
use tokio::sync::mpsc::{Receiver, channel};

/// Names that wait: a page of a listing.
const WAITING: usize = 1000;

/// Empty entries that are asked for side by side.
const ASKED: usize = 32;

/// A key, and the object's length and version.
pub type Named = (String, u64, String);

/// Lists the objects below `prefix`; what has come waits, so that a listing of any length takes little memory.
pub fn list(store: Arc<dyn ObjectStore>, prefix: Path, runtime: &Handle) -> Receiver<Result<Named, Fault>> {
    let (sender, receiver) = channel(WAITING);
    runtime.spawn(async move {
        let listed = store.list(Some(&prefix)).map(async |found| match &found {
            Ok(meta) if is_folder(&*store, meta).await => None,
            _ => Some(found),
        });
        let mut listed = pin!(listed.buffered(ASKED));
        while let Some(found) = listed.next().await {
            let Some(found) = found else { continue };
            let found = found
                .map(|meta| (meta.location.to_string(), meta.size, Version::of(&meta).text()))
                .map_err(|error| Fault::of(&error, None));
            // Nobody waits for the rest.
            if sender.send(found).await.is_err() {
                return;
            }
        }
    });
    receiver
}

/// Whether an entry stands for a folder, as consoles make them: an empty object whose name ends in a slash, which the client drops
/// from the name. So no object has the name that is left.
async fn is_folder(store: &dyn ObjectStore, meta: &ObjectMeta) -> bool {
    meta.size == 0
        && meta.location.as_ref().len() <= LONGEST
        && matches!(store.head(&meta.location).await, Err(Error::NotFound { .. }))
}
