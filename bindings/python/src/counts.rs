//! Figures of this process: what its calls have read, and what came from stores.

use mksum_io::Meter;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::atomic::{AtomicU64, Ordering};

/// The bytes of calls that have ended.
static HASHED: AtomicU64 = AtomicU64::new(0);
static SKIPPED: AtomicU64 = AtomicU64::new(0);

/// Adds what a call has read. It has ended.
pub fn add(meter: &Meter) {
    HASHED.fetch_add(meter.bytes(), Ordering::Relaxed);
    SKIPPED.fetch_add(meter.skipped(), Ordering::Relaxed);
}

/// Returns the figures of this process since it began: see `mksum.metrics`.
#[pyfunction]
pub fn counts(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    #[cfg(feature = "stores")]
    let (requests, received) = crate::network::traffic();
    #[cfg(not(feature = "stores"))]
    let (requests, received) = (0_u64, 0_u64);
    let row = PyDict::new(py);
    row.set_item("hashed_bytes", HASHED.load(Ordering::Relaxed))?;
    row.set_item("skipped_bytes", SKIPPED.load(Ordering::Relaxed))?;
    row.set_item("requests", requests)?;
    row.set_item("received_bytes", received)?;
    Ok(row)
}
