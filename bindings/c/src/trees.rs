//! Node trees.

use crate::failure::{Failure, Status, status};
use crate::inputs;
use mksum::node_tree::{CpuLanes, Merklize, NodeTree, NodeTreeError};
use mksum_lanes::Hash;
use std::ffi::{c_char, c_uint};
use std::ptr;
use std::thread::available_parallelism;

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
    status(|| {
        // SAFETY: `mksum.h` requires valid pointers of the caller.
        let (hash, leaves, nodes) = unsafe { tree(hash, leaves, leaves_len, nodes, nodes_len)? };
        // SAFETY: as above. A device is opened only for a tree that can be.
        let device = unsafe { opened(device, threads)? };
        device.merklizer().merklize(hash, leaves, nodes).map_err(failed).map(drop)
    })
}

/// `mksum_device`.
pub enum Device {
    Cpu(CpuLanes),
    #[cfg(feature = "gpu")]
    Gpu(Box<mksum_gpu::Device>),
}

impl Device {
    fn merklizer(&self) -> &dyn Merklize {
        match self {
            Device::Cpu(cpu) => cpu,
            #[cfg(feature = "gpu")]
            Device::Gpu(device) => &**device,
        }
    }
}

/// `mksum_device_open`.
///
/// # Safety
/// The contract in `mksum.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mksum_device_open(name: *const c_char, threads: c_uint, device: *mut *mut Device) -> Status {
    // SAFETY: `mksum.h` requires valid pointers of the caller.
    let open = || unsafe { opened(name, threads) };
    // SAFETY: as above.
    status(|| unsafe { inputs::give(device, "device", open) })
}

/// `mksum_device_merklize`.
///
/// # Safety
/// The contract in `mksum.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mksum_device_merklize(
    device: *mut Device,
    hash: *const c_char,
    leaves: *const u8,
    leaves_len: usize,
    nodes: *mut u8,
    nodes_len: usize,
) -> Status {
    status(|| {
        // SAFETY: `mksum.h` requires an open device; other threads have no more than shared references to it either.
        let device = unsafe { inputs::shared(device, "device")? };
        // SAFETY: `mksum.h` requires valid pointers of the caller.
        let (hash, leaves, nodes) = unsafe { tree(hash, leaves, leaves_len, nodes, nodes_len)? };
        device.merklizer().merklize(hash, leaves, nodes).map_err(failed).map(drop)
    })
}

/// `mksum_device_close`.
///
/// # Safety
/// The contract in `mksum.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mksum_device_close(device: *mut Device) {
    // SAFETY: `mksum.h` requires an open device, which nobody uses any more.
    unsafe { inputs::free(device) }
}

/// The hash, the leaves and the nodes of a tree that can be.
///
/// # Safety
/// The pointers are NULL or valid, for as long as the slices are used.
unsafe fn tree<'a>(
    hash: *const c_char,
    leaves: *const u8,
    leaves_len: usize,
    nodes: *mut u8,
    nodes_len: usize,
) -> Result<(Hash, &'a [u8], &'a mut [u8]), Failure> {
    // SAFETY: this function has the same contract.
    let (hash, leaves) = unsafe { (inputs::string(hash, "hash")?, inputs::bytes(leaves, leaves_len, "leaves")?) };
    // SAFETY: as above.
    let nodes = unsafe { inputs::room(nodes, nodes_len, leaves, "nodes")? };
    let hash = hash_named(hash)?;
    NodeTree::between(hash, leaves, nodes).map_err(failed)?;
    Ok((hash, leaves, nodes))
}

/// The device of a name; NULL is the CPU.
///
/// # Safety
/// The name is NULL or a string that ends with a zero byte.
unsafe fn opened(name: *const c_char, threads: c_uint) -> Result<Device, Failure> {
    let name = match name.is_null() {
        true => "cpu",
        // SAFETY: this function has the same contract.
        false => unsafe { inputs::string(name, "device")? },
    };
    let threads = match threads {
        0 => available_parallelism().map_or(1, |threads| threads.get()),
        threads => threads as usize,
    };
    device_named(name, threads)
}

/// The hash of this name, if there are node trees of it.
pub fn hash_named(name: &str) -> Result<Hash, Failure> {
    let known = Hash::from_name(name).filter(|hash| NodeTree::HASHES.contains(hash));
    known.ok_or_else(|| Failure::new(Status::BadHash, format_args!("hash '{name}' is not available for node trees")))
}

/// The failure of a node tree.
pub fn failed(error: NodeTreeError) -> Failure {
    let status = match error {
        NodeTreeError::Hash(_) => Status::BadHash,
        NodeTreeError::Leaves { .. } | NodeTreeError::Nodes { .. } => Status::BadLength,
        _ => Status::DeviceFailed,
    };
    Failure::new(status, error)
}

#[cfg(feature = "gpu")]
fn device_named(name: &str, threads: usize) -> Result<Device, Failure> {
    match mksum_gpu::choose(name, mksum_gpu::Options::default()) {
        Ok(Some(device)) => Ok(Device::Gpu(Box::new(device))),
        Ok(None) => Ok(Device::Cpu(CpuLanes { threads })),
        Err(error) => Err(Failure::new(Status::NoDevice, error)),
    }
}

#[cfg(not(feature = "gpu"))]
fn device_named(name: &str, threads: usize) -> Result<Device, Failure> {
    match name {
        "cpu" | "auto" => Ok(Device::Cpu(CpuLanes { threads })),
        _ => Err(Failure::new(
            Status::NoDevice,
            format_args!("no device '{name}': this libmksum was built without OpenCL"),
        )),
    }
}
