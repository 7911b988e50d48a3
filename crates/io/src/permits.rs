//! How many may hash at once, where more threads than that wait for a device.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

#[derive(Debug)]
pub(crate) struct Permits {
    state: Mutex<State>,
    returned: Condvar,
}

#[derive(Debug)]
struct State {
    free: usize,
    waiting: usize,
}

impl Permits {
    pub fn new(permits: usize) -> Self {
        Permits { state: Mutex::new(State { free: permits.max(1), waiting: 0 }), returned: Condvar::new() }
    }

    /// Runs `work` when fewer than the permits are in use.
    pub fn with<R>(&self, work: impl FnOnce() -> R) -> R {
        let mut state = self.lock();
        while state.free == 0 {
            state.waiting += 1;
            state = self.returned.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.waiting -= 1;
        }
        state.free -= 1;
        drop(state);
        // Given back also where the work panics.
        struct Back<'a>(&'a Permits);
        impl Drop for Back<'_> {
            fn drop(&mut self) {
                let mut state = self.0.lock();
                state.free += 1;
                // Waking nobody is a system call all the same.
                if state.waiting > 0 {
                    self.0.returned.notify_one();
                }
            }
        }
        let _back = Back(self);
        work()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
