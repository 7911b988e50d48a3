//! How many may hash at once, where more threads than that wait for a device.

use std::sync::{Condvar, Mutex, PoisonError};

#[derive(Debug)]
pub(crate) struct Permits {
    free: Mutex<usize>,
    returned: Condvar,
}

impl Permits {
    pub fn new(permits: usize) -> Self {
        Permits { free: Mutex::new(permits.max(1)), returned: Condvar::new() }
    }

    /// Runs `work` when fewer than the permits are in use.
    pub fn with<R>(&self, work: impl FnOnce() -> R) -> R {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        while *free == 0 {
            free = self.returned.wait(free).unwrap_or_else(PoisonError::into_inner);
        }
        *free -= 1;
        drop(free);
        // Given back also where the work panics.
        struct Back<'a>(&'a Permits);
        impl Drop for Back<'_> {
            fn drop(&mut self) {
                *self.0.free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
                self.0.returned.notify_one();
            }
        }
        let _back = Back(self);
        work()
    }
}
