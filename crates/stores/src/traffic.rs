//! Counts of requests and bytes, and the status of a response.

use http::StatusCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, AtomicU64, Ordering};

/// The traffic over the network so far.
#[derive(Debug, Default)]
pub struct Traffic {
    /// Requests of any kind, repeated ones too.
    pub requests: AtomicU64,
    /// Bytes of objects.
    pub bytes: AtomicU64,
}

/// The status of the last response to a request, which the errors of the client have only in their words.
#[derive(Clone, Debug, Default)]
pub struct LastStatus(Arc<AtomicU16>);

impl LastStatus {
    pub fn set(&self, status: StatusCode) {
        self.0.store(status.as_u16(), Ordering::Relaxed);
    }

    pub fn get(&self) -> Option<StatusCode> {
        StatusCode::from_u16(self.0.load(Ordering::Relaxed)).ok()
    }
}
