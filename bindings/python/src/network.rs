//! The client of stores, one for the process.

use mksum_io::Objects;
use mksum_stores::Stores;
use std::ffi::OsString;
use std::sync::Mutex;
use std::time::{Duration, Instant};
use std::{env, mem, process, thread};

/// A client, and what it was made for.
struct Shared {
    stores: Stores,
    /// A process that was forked has none of the threads of its parent.
    process: u32,
    /// The environment variables that configure the client.
    environment: Vec<(OsString, OsString)>,
    begun: Instant,
}

static SHARED: Mutex<Option<Shared>> = Mutex::new(None);

/// The time after which another client is made, since credentials in files may have been replaced.
const LIFE: Duration = Duration::from_secs(600);

/// Returns clients for a call, over the connections that the calls of this process share.
pub fn stores() -> Stores {
    let (process, environment) = (process::id(), env::vars_os().collect::<Vec<_>>());
    // A lock that another thread held when the process was forked is never released.
    let Ok(mut shared) = SHARED.try_lock() else { return Stores::new() };
    let same = |shared: &&Shared| {
        shared.process == process && shared.environment == environment && shared.begun.elapsed() < LIFE
    };
    if let Some(known) = shared.as_ref().filter(same) {
        return known.stores.another();
    }
    let stores = match &*shared {
        Some(old) if old.process == process => old.stores.renewed(),
        _ => Stores::new(),
    };
    let another = stores.another();
    if let Some(old) = shared.replace(Shared { stores, process, environment, begun: Instant::now() }) {
        match old.process == process {
            // It waits for its threads.
            true => drop(thread::Builder::new().spawn(move || drop(old.stores))),
            false => mem::forget(old),
        }
    }
    another
}

/// The requests that the shared clients of this process have made so far, and the bytes of objects that came.
pub fn traffic() -> (u64, u64) {
    let Ok(shared) = SHARED.try_lock() else { return (0, 0) };
    shared.as_ref().filter(|shared| shared.process == process::id()).map_or((0, 0), |shared| shared.stores.traffic())
}
