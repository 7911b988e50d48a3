//! What hashes, by the name that `--device` has for it.

use mksum::{CpuLanes, Merklize};

/// The device with this name or number.
///
/// # Errors
/// If there is none.
pub fn find(name: &str, threads: usize) -> Result<Box<dyn Merklize>, String> {
    match name {
        "cpu" | "auto" => Ok(Box::new(CpuLanes { threads })),
        _ => Err(format!("there is no device '{name}': 'mksum devices' lists them")),
    }
}
