//! The end of the interpreter while other threads are in this module.
//!
//! When CPython before 3.14 ends, a daemon thread that comes back from a call without the GIL, or that runs Python code, is ended
//! by `pthread_exit`, which unwinds its stack (`Py_FinalizeEx`, *Bugs and caveats*). Rust's frames must not be unwound so: the
//! process would crash. Here such threads wait for the end of the process instead, and run no Python code while it begins.

use pyo3::prelude::*;
use pyo3::types::PyModule;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

/// The thread that ends the interpreter, once it does.
static ENDING: OnceLock<ThreadId> = OnceLock::new();
/// The threads that are in Python code called from here, or on their way back into the interpreter.
static INSIDE: AtomicUsize = AtomicUsize::new(0);
/// The time that the end of the interpreter waits for those.
const PATIENCE: Duration = Duration::from_secs(1);

/// Has the interpreter call `ended` when it ends.
pub fn watch(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let ended = wrap_pyfunction!(ended, module)?;
    module.py().import("atexit")?.call_method1("register", (ended,)).map(drop)
}

/// Waits until no other thread is in Python code that was called from here.
#[pyfunction]
fn ended(py: Python<'_>) {
    let _ = ENDING.set(thread::current().id());
    let begin = Instant::now();
    while INSIDE.load(Ordering::SeqCst) > 0 && begin.elapsed() < PATIENCE {
        py.detach(|| thread::sleep(Duration::from_millis(1)));
    }
}

/// Waits for the end of the process, if the interpreter ends in another thread.
fn stay_outside() {
    if ENDING.get().is_some_and(|ending| *ending != thread::current().id()) {
        loop {
            thread::park();
        }
    }
}

/// Counts a thread as long as it lives.
struct Inside;

impl Inside {
    fn enter() -> Self {
        INSIDE.fetch_add(1, Ordering::SeqCst);
        Inside
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        INSIDE.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Calls `work` without the GIL.
pub fn detach<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> T {
    let (result, inside) = py.detach(|| {
        let result = work();
        let inside = Inside::enter();
        if ENDING.get().is_some() {
            drop(inside);
            stay_outside();
            return (result, Inside::enter());
        }
        (result, inside)
    });
    drop(inside);
    result
}

/// Calls Python code, which may release the GIL.
pub fn call<T>(py: Python<'_>, code: impl FnOnce() -> T) -> T {
    let inside = Inside::enter();
    let result = code();
    drop(inside);
    if ENDING.get().is_some() {
        detach(py, || ());
    }
    result
}

/// Locks a mutex. Its value is consistent after each step, so a panic elsewhere does not matter.
pub fn lock<'a, T: Send>(py: Python<'_>, mutex: &'a Mutex<T>) -> MutexGuard<'a, T> {
    loop {
        match mutex.try_lock() {
            Ok(guard) => return guard,
            Err(TryLockError::Poisoned(guard)) => return guard.into_inner(),
            // Whoever holds it may need the GIL first.
            Err(TryLockError::WouldBlock) => {
                detach(py, || drop(mutex.lock().unwrap_or_else(PoisonError::into_inner)));
            }
        }
    }
}
