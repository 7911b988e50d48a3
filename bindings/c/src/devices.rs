//! The list of devices, and buffers on an open one.

use crate::failure::{Failure, Status, status};
use crate::inputs;
use crate::trees::{Device, failed, hash_named};
use mksum::node_tree::{Merklize, NodeTree};
use mksum_lanes::Hash;
use std::ffi::c_char;
use std::ptr;

/// `mksum_device_info`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct DeviceInfo {
    name: [u8; 128],
    api: [u8; 16],
    memory: u64,
}

/// A text of at most `N` - 1 bytes, with zero bytes at the end; a longer one is cut between two characters.
#[cfg(feature = "gpu")]
fn fixed<const N: usize>(text: &str) -> [u8; N] {
    let mut bytes = [0; N];
    let text = &text[..text.floor_char_boundary(N - 1)];
    bytes[..text.len()].copy_from_slice(text.as_bytes());
    bytes
}

/// `mksum_devices`.
///
/// # Safety
/// The contract in `mksum.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mksum_devices(devices: *mut DeviceInfo, room: usize, count: *mut usize) -> Status {
    status(|| {
        // SAFETY: `mksum.h` requires a valid pointer of the caller.
        let count = unsafe { inputs::exclusive(count, "count")? };
        *count = 0;
        if room > 0 {
            inputs::given(ptr::NonNull::new(devices), "devices")?;
        }
        let found = listed()?;
        for (at, info) in found.iter().enumerate().take(room) {
            // SAFETY: `mksum.h` requires room for as many of the caller.
            unsafe { devices.add(at).write(*info) };
        }
        *count = found.len();
        Ok(())
    })
}

#[cfg(feature = "gpu")]
fn listed() -> Result<Vec<DeviceInfo>, Failure> {
    use mksum_gpu::{Error, Interface};
    let found = match mksum_gpu::list() {
        Err(Error::NoRuntime(_)) => Vec::new(),
        found => found.map_err(|error| Failure::new(Status::NoDevice, error))?,
    };
    let info = |info: mksum_gpu::Info| {
        let api = match info.interface {
            Interface::OpenCl => "OpenCL",
            Interface::Cuda => "CUDA",
        };
        DeviceInfo { name: fixed(&info.name), api: fixed(api), memory: info.memory }
    };
    Ok(found.into_iter().map(info).collect())
}

#[cfg(not(feature = "gpu"))]
fn listed() -> Result<Vec<DeviceInfo>, Failure> {
    Ok(Vec::new())
}

/// `mksum_device_buffer`: the CPU's are memory of the host.
pub enum DeviceBuffer {
    Cpu(Vec<u8>),
    #[cfg(feature = "gpu")]
    Gpu(mksum_gpu::DeviceBuffer),
}

#[cfg(feature = "gpu")]
fn failed_there(error: mksum_gpu::Error) -> Failure {
    let status = match error {
        mksum_gpu::Error::Range { .. } => Status::BadLength,
        mksum_gpu::Error::OtherDevice => Status::BadArgument,
        _ => Status::DeviceFailed,
    };
    Failure::new(status, error)
}

/// The range of a CPU's buffer.
fn range(at: usize, len: usize, size: usize) -> Result<std::ops::Range<usize>, Failure> {
    match at.checked_add(len).filter(|&end| end <= size) {
        Some(end) => Ok(at..end),
        None => Err(Failure::new(
            Status::BadLength,
            format_args!("{len} bytes at byte {at} of a device's buffer: expected bytes within its {size}"),
        )),
    }
}

impl DeviceBuffer {
    fn new(device: &Device, len: usize) -> Result<Self, Failure> {
        match device {
            Device::Cpu(_) => {
                let mut bytes = Vec::new();
                let reserved = bytes.try_reserve_exact(len);
                reserved.map_err(|_| Failure::new(Status::DeviceFailed, format_args!("no memory for {len} bytes")))?;
                bytes.resize(len, 0);
                Ok(DeviceBuffer::Cpu(bytes))
            }
            #[cfg(feature = "gpu")]
            Device::Gpu(device) => device.buffer(len).map(DeviceBuffer::Gpu).map_err(failed_there),
        }
    }

    fn write(&mut self, at: usize, bytes: &[u8]) -> Result<(), Failure> {
        match self {
            DeviceBuffer::Cpu(memory) => {
                let range = range(at, bytes.len(), memory.len())?;
                memory[range].copy_from_slice(bytes);
                Ok(())
            }
            #[cfg(feature = "gpu")]
            DeviceBuffer::Gpu(buffer) => buffer.write(at, bytes).map_err(failed_there),
        }
    }

    fn read(&self, at: usize, bytes: &mut [u8]) -> Result<(), Failure> {
        match self {
            DeviceBuffer::Cpu(memory) => {
                bytes.copy_from_slice(&memory[range(at, bytes.len(), memory.len())?]);
                Ok(())
            }
            #[cfg(feature = "gpu")]
            DeviceBuffer::Gpu(buffer) => buffer.read(at, bytes).map_err(failed_there),
        }
    }
}

fn merklize(device: &Device, hash: Hash, leaves: &DeviceBuffer, nodes: &mut DeviceBuffer) -> Result<(), Failure> {
    match (device, leaves, nodes) {
        (Device::Cpu(cpu), DeviceBuffer::Cpu(leaves), DeviceBuffer::Cpu(nodes)) => {
            NodeTree::between(hash, leaves, nodes).map_err(failed)?;
            cpu.merklize(hash, leaves, nodes).map_err(failed).map(drop)
        }
        #[cfg(feature = "gpu")]
        (Device::Gpu(device), DeviceBuffer::Gpu(leaves), DeviceBuffer::Gpu(nodes)) => {
            match device.merklize_buffer(hash, leaves, nodes) {
                Err(mksum::node_tree::NodeTreeError::Device(error)) => {
                    Err(match error.downcast::<mksum_gpu::Error>() {
                        Ok(error) => failed_there(*error),
                        Err(error) => Failure::new(Status::DeviceFailed, error),
                    })
                }
                done => done.map_err(failed).map(drop),
            }
        }
        #[cfg(feature = "gpu")]
        _ => Err(failed_there(mksum_gpu::Error::OtherDevice)),
    }
}

/// `mksum_device_buffer_new`.
///
/// # Safety
/// The contract in `mksum.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mksum_device_buffer_new(
    device: *mut Device,
    len: usize,
    buffer: *mut *mut DeviceBuffer,
) -> Status {
    // SAFETY: `mksum.h` requires an open device; other threads have no more than shared references to it either.
    let new = || DeviceBuffer::new(unsafe { inputs::shared(device, "device")? }, len);
    // SAFETY: `mksum.h` requires a valid pointer of the caller.
    status(|| unsafe { inputs::give(buffer, "buffer", new) })
}

/// `mksum_device_buffer_write`.
///
/// # Safety
/// The contract in `mksum.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mksum_device_buffer_write(
    buffer: *mut DeviceBuffer,
    at: usize,
    bytes: *const u8,
    len: usize,
) -> Status {
    status(|| {
        // SAFETY: `mksum.h` requires a buffer that no other thread uses.
        let buffer = unsafe { inputs::exclusive(buffer, "buffer")? };
        // SAFETY: `mksum.h` requires a valid pointer of the caller.
        buffer.write(at, unsafe { inputs::bytes(bytes, len, "bytes")? })
    })
}

/// `mksum_device_buffer_read`.
///
/// # Safety
/// The contract in `mksum.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mksum_device_buffer_read(
    buffer: *const DeviceBuffer,
    at: usize,
    bytes: *mut u8,
    len: usize,
) -> Status {
    status(|| {
        // SAFETY: `mksum.h` requires a buffer that no other thread changes.
        let buffer = unsafe { inputs::shared(buffer, "buffer")? };
        // SAFETY: `mksum.h` requires a valid pointer of the caller.
        buffer.read(at, unsafe { inputs::room(bytes, len, &[], "bytes")? })
    })
}

/// `mksum_device_buffer_merklize`.
///
/// # Safety
/// The contract in `mksum.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mksum_device_buffer_merklize(
    device: *mut Device,
    hash: *const c_char,
    leaves: *const DeviceBuffer,
    nodes: *mut DeviceBuffer,
) -> Status {
    status(|| {
        // SAFETY: `mksum.h` requires an open device; other threads have no more than shared references to it either.
        let device = unsafe { inputs::shared(device, "device")? };
        // SAFETY: `mksum.h` requires a valid pointer of the caller.
        let hash = hash_named(unsafe { inputs::string(hash, "hash")? })?;
        if leaves == nodes.cast_const() && !nodes.is_null() {
            return Err(Failure::new(Status::BadArgument, "nodes: the buffer of the leaves"));
        }
        // SAFETY: `mksum.h` requires a buffer that no other thread changes.
        let leaves = unsafe { inputs::shared(leaves, "leaves")? };
        // SAFETY: `mksum.h` requires a buffer that no other thread uses; it is not that of the leaves.
        let nodes = unsafe { inputs::exclusive(nodes, "nodes")? };
        merklize(device, hash, leaves, nodes)
    })
}

/// `mksum_device_buffer_free`.
///
/// # Safety
/// The contract in `mksum.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mksum_device_buffer_free(buffer: *mut DeviceBuffer) {
    // SAFETY: `mksum.h` requires a buffer that nobody uses any more.
    unsafe { inputs::free(buffer) }
}
