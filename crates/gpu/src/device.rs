//! The devices that OpenCL has here, and the choice of one.

use crate::call::{self, Id};
use crate::{Error, Lanes};
use cl3::{device, platform};
use std::sync::{Mutex, PoisonError};

/// What a device says of itself.
#[derive(Clone, Debug)]
pub struct Info {
    /// Its place in the list: what `--device` takes.
    pub index: usize,
    /// Its name.
    pub name: String,
    /// Its driver's version.
    pub driver: String,
    /// The runtime that it belongs to: the name and version of its platform.
    pub runtime: String,
    /// What it is.
    pub class: Class,
    /// Its memory, in bytes.
    pub memory: u64,
    /// The most that one allocation may have, in bytes.
    pub allocation: u64,
    /// The memory that a work-group shares, in bytes.
    pub local: u64,
    /// The most work-items of a group.
    pub items: u64,
    /// The parts that run work-groups side by side.
    pub units: u64,
    /// Whether its memory is the host's.
    pub unified: bool,
    /// Whether it takes SPIR-V.
    pub spirv: bool,
    pub(crate) lanes: Lanes,
    pub(crate) id: Id,
}

/// What a device is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// A processor as the host's.
    Cpu,
    /// A GPU.
    Gpu,
    /// Something else.
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
        // A work-item of a CPU is a thread, whose vector registers hold many messages; one of a GPU is a lane itself.
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
            // Runtimes before OpenCL 2.1 do not know the question.
            spirv: id.text(device::CL_DEVICE_IL_VERSION).contains("SPIR-V"),
            lanes,
            id,
        })
    }
}

/// Every device of every runtime, in the loader's order; none where no runtime has one.
///
/// # Errors
/// If OpenCL's loader is not installed, or a device does not answer.
pub fn list() -> Result<Vec<Info>, Error> {
    // PoCL 3.1 crashes when it is asked for a device that another thread has just begun to list.
    static LISTING: Mutex<()> = Mutex::new(());
    let _listing = LISTING.lock().unwrap_or_else(PoisonError::into_inner);
    call::devices()?.into_iter().enumerate().map(|(index, id)| Info::of(index, id)).collect()
}

/// The device with this index, or whose name or runtime holds this text, whatever its case; `auto` is the first GPU,
/// else the first device.
///
/// # Errors
/// If there is none, or OpenCL is not installed.
pub fn find(wanted: &str) -> Result<Info, Error> {
    let devices = list()?;
    if devices.is_empty() {
        return Err(Error::NoDevices);
    }
    let lower = wanted.to_lowercase();
    let holds =
        |info: &&Info| info.name.to_lowercase().contains(&lower) || info.runtime.to_lowercase().contains(&lower);
    let found = match wanted.parse::<usize>() {
        Ok(index) => devices.get(index),
        Err(_) if wanted == "auto" => devices.iter().find(|info| info.class == Class::Gpu).or(devices.first()),
        Err(_) => devices.iter().find(holds).filter(|_| !wanted.is_empty()),
    };
    found.cloned().ok_or_else(|| Error::NoSuchDevice {
        wanted: wanted.into(),
        known: devices.iter().map(|info| info.name.clone()).collect(),
    })
}
