//! The OpenCL devices of this system, and the search for one.

use crate::call::{self, Id};
use crate::{Error, Lanes};
use cl3::{device, platform};
use std::sync::{Mutex, PoisonError};

/// The properties that a device reports.
#[derive(Clone, Debug)]
pub struct Info {
    /// The index in the list, which `--device` accepts.
    pub index: usize,
    /// The device's name.
    pub name: String,
    /// The driver's version.
    pub driver: String,
    /// The device's runtime: the name and version of its platform.
    pub runtime: String,
    /// The kind of device.
    pub class: Class,
    /// The device memory, in bytes.
    pub memory: u64,
    /// The largest allocation, in bytes.
    pub allocation: u64,
    /// The local memory of a work-group, in bytes.
    pub local: u64,
    /// The largest number of work-items in a group.
    pub items: u64,
    /// The number of compute units, which run work-groups in parallel.
    pub units: u64,
    /// Whether the device shares the host's memory.
    pub unified: bool,
    /// Whether the device accepts SPIR-V.
    pub spirv: bool,
    pub(crate) lanes: Lanes,
    pub(crate) id: Id,
}

/// The kind of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// A CPU.
    Cpu,
    /// A GPU.
    Gpu,
    /// Any other device.
    Other,
}

impl Info {
    fn of(index: usize, id: Id) -> Result<Self, Error> {
        let kind = id.number(device::CL_DEVICE_TYPE)?;
        let class = match kind {
            kind if kind & device::CL_DEVICE_TYPE_GPU != 0 => Class::Gpu,
            kind if kind & device::CL_DEVICE_TYPE_CPU != 0 => Class::Cpu,
            _ => Class::Other,
        };
        // A work-item of a CPU is a thread whose vector registers hold many messages; a work-item of a GPU is one lane.
        let width = id.number(device::CL_DEVICE_NATIVE_VECTOR_WIDTH_INT)? as u32;
        let lanes = match class {
            Class::Cpu => Lanes::at_most(width.max(4)),
            _ => Lanes(1),
        };
        Ok(Info {
            index,
            name: id.text(device::CL_DEVICE_NAME),
            driver: id.text(device::CL_DRIVER_VERSION),
            runtime: format!(
                "{}, {}",
                id.platform_text(platform::CL_PLATFORM_NAME),
                id.platform_text(platform::CL_PLATFORM_VERSION)
            ),
            class,
            memory: id.number(device::CL_DEVICE_GLOBAL_MEM_SIZE)?,
            allocation: id.number(device::CL_DEVICE_MAX_MEM_ALLOC_SIZE)?,
            local: id.number(device::CL_DEVICE_LOCAL_MEM_SIZE)?,
            items: id.number(device::CL_DEVICE_MAX_WORK_GROUP_SIZE)?,
            units: id.number(device::CL_DEVICE_MAX_COMPUTE_UNITS)?.max(1),
            unified: id.number(device::CL_DEVICE_HOST_UNIFIED_MEMORY).unwrap_or(0) != 0,
            // Runtimes before OpenCL 2.1 do not have this property.
            spirv: id.text(device::CL_DEVICE_IL_VERSION).contains("SPIR-V"),
            lanes,
            id,
        })
    }
}

/// Returns every device of every runtime, in the loader's order; empty if there is none.
///
/// # Errors
/// If the OpenCL loader is not installed, or a device does not report its properties.
pub fn list() -> Result<Vec<Info>, Error> {
    // PoCL 3.1 crashes if two threads list its devices at the same time.
    static LISTING: Mutex<()> = Mutex::new(());
    let _listing = LISTING.lock().unwrap_or_else(PoisonError::into_inner);
    call::devices()?.into_iter().enumerate().map(|(index, id)| Info::of(index, id)).collect()
}

/// Returns the device with this index, or the first whose name or runtime contains this text, ignoring case; `auto` is
/// the first GPU, else the first device.
///
/// # Errors
/// If there is no such device, or OpenCL is not installed.
pub fn find(wanted: &str) -> Result<Info, Error> {
    let devices = list()?;
    if devices.is_empty() {
        return Err(Error::NoDevices);
    }
    let lower = wanted.to_lowercase();
    let matches =
        |info: &&Info| info.name.to_lowercase().contains(&lower) || info.runtime.to_lowercase().contains(&lower);
    let found = match wanted.parse::<usize>() {
        Ok(index) => devices.get(index),
        Err(_) if wanted == "auto" => devices.iter().find(|info| info.class == Class::Gpu).or(devices.first()),
        Err(_) => devices.iter().find(matches).filter(|_| !wanted.is_empty()),
    };
    found.cloned().ok_or_else(|| Error::NoSuchDevice {
        wanted: wanted.into(),
        known: devices.iter().map(|info| info.name.clone()).collect(),
    })
}
