//! Node trees.

use crate::failure::{Failure, Status, status};
use crate::inputs;
use mksum::node_tree::{CpuLanes, Merklize, NodeTree, NodeTreeError};
use mksum_lanes::Hash;
use std::ffi::{c_char, c_uint};
use std::ptr;
use std::thread::available_parallelism;

/// `mksum_digest_size`.
///
/// # Safety
/// The contract in `mksum.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mksum_digest_size(hash: *const c_char) -> usize {
    // SAFETY: `mksum.h` requires a valid pointer of the caller.
    let name = unsafe { inputs::string(hash, "hash") };
    name.ok().and_then(|name| hash_named(name).ok()).map_or(0, Hash::size)
}

/// `mksum_merklize`.
///
/// # Safety
/// The contract in `mksum.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mksum_merklize(
    hash: *const c_char,
    leaves: *const u8,
    leaves_len: usize,
    nodes: *mut u8,
    nodes_len: usize,
) -> Status {
    // SAFETY: both functions have the same contract.
    unsafe { mksum_merklize_on(ptr::null(), 0, hash, leaves, leaves_len, nodes, nodes_len) }
}

/// `mksum_merklize_on`.
///
/// # Safety
/// The contract in `mksum.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mksum_merklize_on(
    device: *const c_char,
    threads: c_uint,
    hash: *const c_char,
    leaves: *const u8,
    leaves_len: usize,
    nodes: *mut u8,
    nodes_len: usize,
) -> Status {
    let merklize = || {
        // SAFETY: `mksum.h` requires valid pointers of the caller.
        let (device, hash, leaves) = unsafe {
            let device = if device.is_null() { "cpu" } else { inputs::string(device, "device")? };
            (device, inputs::string(hash, "hash")?, inputs::bytes(leaves, leaves_len, "leaves")?)
        };
        // SAFETY: `mksum.h` requires valid pointers of the caller.
        let nodes = unsafe { inputs::room(nodes, nodes_len, leaves, "nodes")? };
        let hash = hash_named(hash)?;
        // Checks the lengths before a device is opened.
        NodeTree::between(hash, leaves, nodes).map_err(failed)?;
        let threads = match threads {
            0 => available_parallelism().map_or(1, |threads| threads.get()),
            threads => threads as usize,
        };
        device_named(device, threads)?.merklize(hash, leaves, nodes).map_err(failed)?;
        Ok(())
    };
    status(merklize())
}

fn hash_named(name: &str) -> Result<Hash, Failure> {
    let known = Hash::from_name(name).filter(|hash| NodeTree::HASHES.contains(hash));
    known.ok_or_else(|| Failure::new(Status::BadHash, format_args!("hash '{name}' is not available for node trees")))
}

fn failed(error: NodeTreeError) -> Failure {
    let status = match error {
        NodeTreeError::Hash(_) => Status::BadHash,
        NodeTreeError::Leaves { .. } | NodeTreeError::Nodes { .. } => Status::BadLength,
        _ => Status::DeviceFailed,
    };
    Failure::new(status, error)
}

#[cfg(feature = "gpu")]
fn device_named(name: &str, threads: usize) -> Result<Box<dyn Merklize>, Failure> {
    match mksum_gpu::choose(name, mksum_gpu::Options::default()) {
        Ok(Some(device)) => Ok(Box::new(device)),
        Ok(None) => Ok(Box::new(CpuLanes { threads })),
        Err(error) => Err(Failure::new(Status::NoDevice, error)),
    }
}

#[cfg(not(feature = "gpu"))]
fn device_named(name: &str, threads: usize) -> Result<Box<dyn Merklize>, Failure> {
    match name {
        "cpu" | "auto" => Ok(Box::new(CpuLanes { threads })),
        _ => Err(Failure::new(
            Status::NoDevice,
            format_args!("no device '{name}': this libmksum was built without OpenCL"),
        )),
    }
}
