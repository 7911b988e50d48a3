//! A lock that a panic does not poison: what it guards here is right after each step.

#[cfg(feature = "std")]
use std::sync::{Mutex, MutexGuard, PoisonError};

#[cfg(not(feature = "std"))]
use spin::{Mutex, MutexGuard};

/// A value that one thread has at a time.
#[derive(Debug, Default)]
pub struct Lock<T>(Mutex<T>);

impl<T> Lock<T> {
    pub fn new(value: T) -> Self {
        Lock(Mutex::new(value))
    }

    #[cfg(feature = "std")]
    pub fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(not(feature = "std"))]
    pub fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock()
    }

    #[cfg(feature = "std")]
    pub fn into_inner(self) -> T {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(not(feature = "std"))]
    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }
}
