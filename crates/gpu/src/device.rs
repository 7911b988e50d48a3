//! The devices of this system, by OpenCL and by CUDA, and the search for one.

use crate::call::Calls;
#[cfg(feature = "cuda")]
use crate::cuda;
use crate::opencl::{self, OpenCl};
use crate::{Error, Lanes};
use cl3::{device, platform};
#[cfg(feature = "cuda")]
use cudarc::driver::sys::CUdevice_attribute as attribute;
use std::sync::Arc;
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
    /// The device's runtime: the name and version of its platform, or CUDA and the device's compute capability.
    pub runtime: String,
    /// The interface of its driver.
    pub interface: Interface,
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
    /// The largest number of work-items in the second dimension.
    pub(crate) rows: usize,
    /// The compute capability of a CUDA device, ten times: 90 is 9.0.
    pub(crate) architecture: Option<u32>,
    pub(crate) id: Id,
    pub(crate) card: Card,
}

/// The interface of a driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interface {
    /// OpenCL.
    OpenCl,
    /// CUDA.
    Cuda,
}

/// A device as its driver knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Id {
    /// OpenCL's.
    OpenCl(opencl::Id),
    /// CUDA's.
    #[cfg(feature = "cuda")]
    Cuda(cuda::Id),
}

impl Id {
    /// Opens the device.
    pub fn open(self) -> Result<Arc<dyn Calls>, Error> {
        Ok(match self {
            Id::OpenCl(id) => Arc::new(OpenCl::open(id)?),
            #[cfg(feature = "cuda")]
            Id::Cuda(id) => Arc::new(cuda::Cuda::open(id)?),
        })
    }
}

/// What identifies the card of a device, as far as its driver tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Card {
    /// The device's number in the maker's own format.
    uuid: Option<[u8; 16]>,
    /// The PCI domain, the bus, and the device on it.
    pci: Option<[u32; 3]>,
}

impl Card {
    /// Whether both are certainly the same card.
    fn is(&self, other: &Card) -> bool {
        // Parts of one card have different numbers in the same place.
        match (self.uuid, other.uuid) {
            (Some(one), Some(other)) => one == other,
            _ => self.pci.is_some() && self.pci == other.pci,
        }
    }
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

/// The local memory that kernels leave to an OpenCL driver, in bytes: NVIDIA's refuses a group that takes all of it.
const KEPT_LOCAL: u64 = 1 << 10;

/// Properties of extensions that the bindings do not name: cl_khr_device_uuid, cl_khr_pci_bus_info and cl_nv_device_attribute_query.
const UUID: u32 = 0x106a;
const PCI: u32 = 0x410f;
const NVIDIA_PCI: [u32; 3] = [0x400a, 0x4008, 0x4009];

/// Returns the card of an OpenCL device.
fn card(id: opencl::Id) -> Card {
    let pci = id.bytes(PCI).first_chunk::<12>().map(|place| {
        let [domain, bus, device] =
            [0, 4, 8].map(|at| u32::from_le_bytes([place[at], place[at + 1], place[at + 2], place[at + 3]]));
        [domain, bus, device]
    });
    let nvidia = || {
        let [domain, bus, slot] = NVIDIA_PCI.map(|property| id.number(property).ok().map(|number| number as u32));
        // A slot is a device and, in its last three bits, a function.
        Some([domain.unwrap_or(0), bus?, slot? >> 3])
    };
    Card { uuid: id.bytes(UUID).first_chunk().copied(), pci: pci.or_else(nvidia) }
}

impl Info {
    fn of_opencl(index: usize, id: opencl::Id) -> Result<Self, Error> {
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
            interface: Interface::OpenCl,
            class,
            memory: id.number(device::CL_DEVICE_GLOBAL_MEM_SIZE)?,
            allocation: id.number(device::CL_DEVICE_MAX_MEM_ALLOC_SIZE)?,
            local: id.number(device::CL_DEVICE_LOCAL_MEM_SIZE)?.saturating_sub(KEPT_LOCAL),
            items: id.number(device::CL_DEVICE_MAX_WORK_GROUP_SIZE)?,
            units: id.number(device::CL_DEVICE_MAX_COMPUTE_UNITS)?.max(1),
            unified: id.number(device::CL_DEVICE_HOST_UNIFIED_MEMORY).unwrap_or(0) != 0,
            // Runtimes before OpenCL 2.1 do not have this property.
            spirv: id.text(device::CL_DEVICE_IL_VERSION).contains("SPIR-V"),
            lanes,
            rows: usize::MAX,
            architecture: None,
            card: card(id),
            id: Id::OpenCl(id),
        })
    }

    #[cfg(feature = "cuda")]
    fn of_cuda(index: usize, id: cuda::Id) -> Result<Self, Error> {
        let (memory, architecture) = (id.memory()?, id.architecture()?);
        let place = [
            attribute::CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID,
            attribute::CU_DEVICE_ATTRIBUTE_PCI_BUS_ID,
            attribute::CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID,
        ];
        let [domain, bus, device] = place.map(|part| id.number(part).ok().map(|number| number as u32));
        let pci = domain.zip(bus).zip(device).map(|((domain, bus), device)| [domain, bus, device]);
        Ok(Info {
            index,
            name: id.name()?,
            driver: id.driver()?,
            runtime: format!("CUDA, compute capability {}.{}", architecture / 10, architecture % 10),
            interface: Interface::Cuda,
            class: Class::Gpu,
            memory,
            allocation: memory,
            local: id.number(attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK)?,
            items: id.number(attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
            units: id.number(attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?.max(1),
            unified: id.number(attribute::CU_DEVICE_ATTRIBUTE_INTEGRATED).unwrap_or(0) != 0,
            spirv: false,
            lanes: Lanes(1),
            rows: id.number(attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y)? as usize,
            card: Card { uuid: id.uuid(), pci },
            architecture: Some(architecture),
            id: Id::Cuda(id),
        })
    }
}

/// Returns every device of every runtime: CUDA's, then OpenCL's in its loader's order; empty if there is none.
///
/// A card that CUDA and OpenCL both have is listed once: by CUDA if its compiler is installed, else by OpenCL.
///
/// # Errors
/// If there is no CUDA device and the OpenCL loader is not installed, or a device does not report its properties.
pub fn list() -> Result<Vec<Info>, Error> {
    // A driver of CUDA that cannot be used is not reported here, but when a device of CUDA is asked for.
    let cuda = of_cuda().unwrap_or_default();
    let opencl = match of_opencl() {
        Err(Error::NoRuntime(_)) if !cuda.is_empty() => Vec::new(),
        devices => devices?,
    };
    Ok(merged(cuda, opencl, compiles()))
}

/// Whether CUDA's programs can be compiled here.
fn compiles() -> bool {
    #[cfg(feature = "cuda")]
    return cuda::has_compiler();
    #[cfg(not(feature = "cuda"))]
    return false;
}

/// Joins two lists, in which a card may be twice.
fn merged(mut cuda: Vec<Info>, mut opencl: Vec<Info>, prefer_cuda: bool) -> Vec<Info> {
    match prefer_cuda {
        true => opencl.retain(|info| !cuda.iter().any(|other| other.card.is(&info.card))),
        false => cuda.retain(|info| !opencl.iter().any(|other| other.card.is(&info.card))),
    }
    cuda.append(&mut opencl);
    numbered(cuda)
}

fn numbered(mut devices: Vec<Info>) -> Vec<Info> {
    devices.iter_mut().enumerate().for_each(|(index, info)| info.index = index);
    devices
}

fn of_opencl() -> Result<Vec<Info>, Error> {
    // PoCL 3.1 crashes if two threads list its devices at the same time.
    static LISTING: Mutex<()> = Mutex::new(());
    let _listing = LISTING.lock().unwrap_or_else(PoisonError::into_inner);
    opencl::devices()?.into_iter().enumerate().map(|(index, id)| Info::of_opencl(index, id)).collect()
}

#[cfg(feature = "cuda")]
fn of_cuda() -> Result<Vec<Info>, Error> {
    cuda::devices()?.into_iter().enumerate().map(|(index, id)| Info::of_cuda(index, id)).collect()
}

#[cfg(not(feature = "cuda"))]
fn of_cuda() -> Result<Vec<Info>, Error> {
    Ok(Vec::new())
}

/// Returns the device with this index, or the first whose name or runtime contains this text, ignoring case; `auto` is
/// the first GPU, else the first device.
///
/// `cuda` and `opencl` name the first device of that interface, `cuda:1` and `opencl:TEXT` one among the devices of that interface
/// alone: so each interface of a card can be chosen.
///
/// # Errors
/// If there is no such device, or no driver is installed.
pub fn find(wanted: &str) -> Result<Info, Error> {
    let lower = wanted.to_lowercase();
    let (devices, text) = match lower.split_once(':').unwrap_or((&lower, "0")) {
        ("cuda", text) => match numbered(of_cuda()?) {
            devices if devices.is_empty() => return Err(Error::NoCuda("there is no driver, or no device".into())),
            devices => (devices, text),
        },
        ("opencl", text) => (of_opencl()?, text),
        _ => (list()?, lower.as_str()),
    };
    if devices.is_empty() {
        return Err(Error::NoDevices);
    }
    let matches = |info: &&Info| info.name.to_lowercase().contains(text) || info.runtime.to_lowercase().contains(text);
    let found = match text.parse::<usize>() {
        Ok(index) => devices.get(index),
        Err(_) if text == "auto" => devices.iter().find(|info| info.class == Class::Gpu).or(devices.first()),
        Err(_) => devices.iter().find(matches).filter(|_| !text.is_empty()),
    };
    found.cloned().ok_or_else(|| Error::NoSuchDevice {
        wanted: wanted.into(),
        known: devices.iter().map(|info| info.name.clone()).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(name: &str, interface: Interface, card: Card) -> Info {
        Info {
            index: 0,
            name: name.into(),
            driver: String::new(),
            runtime: String::new(),
            interface,
            class: Class::Gpu,
            memory: 1 << 30,
            allocation: 1 << 30,
            local: 48 << 10,
            items: 256,
            units: 2,
            unified: false,
            spirv: false,
            lanes: crate::Lanes(1),
            rows: 65_535,
            architecture: None,
            id: Id::OpenCl(opencl::Id::none()),
            card,
        }
    }

    #[test]
    fn a_card_with_two_interfaces_is_listed_once() {
        let (uuid, pci) = (Some([7; 16]), Some([0, 3, 0]));
        let names = |cuda: &[Card], opencl: &[Card], prefer_cuda| {
            let of = |cards: &[Card], interface, letter| {
                cards.iter().enumerate().map(|(at, &card)| info(&format!("{letter}{at}"), interface, card)).collect()
            };
            let merged = merged(of(cuda, Interface::Cuda, "c"), of(opencl, Interface::OpenCl, "o"), prefer_cuda);
            for (index, info) in merged.iter().enumerate() {
                assert_eq!(info.index, index);
            }
            merged.into_iter().map(|info| info.name).collect::<Vec<_>>().join(" ")
        };
        let unknown = Card::default();
        assert_eq!(names(&[unknown], &[unknown], true), "c0 o0", "nothing shows that they are the same");
        for same in [Card { uuid, pci: None }, Card { uuid: None, pci }, Card { uuid, pci }] {
            assert_eq!(names(&[same], &[same, unknown], true), "c0 o1");
            assert_eq!(names(&[same], &[unknown, same], false), "o0 o1");
        }
        let parts = [Card { uuid, pci }, Card { uuid: Some([8; 16]), pci }];
        assert_eq!(names(&parts, &parts[1..], true), "c0 c1", "a part of a card");
        assert_eq!(names(&parts[..1], &parts[1..], true), "c0 o0", "two parts of a card");
        assert_eq!(names(&[], &[unknown], true), "o0");
    }
}
