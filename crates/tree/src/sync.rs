//! Threads and locks, as far as the parallel map needs them: its tests put a model checker's in their place.

pub use std::sync::{Condvar, Mutex, MutexGuard};
pub use std::thread::scope;

use std::io;
use std::thread::{Builder, Scope};

/// Starts a thread.
///
/// # Errors
/// If the system has no more threads for this process.
pub fn spawn<'scope>(scope: &'scope Scope<'scope, '_>, work: impl FnOnce() + Send + 'scope) -> io::Result<()> {
    Builder::new().name("mksum".into()).spawn_scoped(scope, work).map(|_| ())
}
