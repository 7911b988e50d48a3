//! Errors of devices.

use mksum::node_tree::NodeTreeError;

/// Why a device could not be used.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// OpenCL's loader is not installed; why it could not be loaded.
    #[error("OpenCL is not installed ({0}): {INSTALL}", INSTALL = INSTALL)]
    NoRuntime(String),
    /// OpenCL is installed, but has no device, and neither has CUDA.
    #[error("OpenCL and CUDA have no device: {INSTALL}", INSTALL = INSTALL)]
    NoDevices,
    /// No device has this index or name.
    #[error("no device '{wanted}': {}", others(.known))]
    NoSuchDevice {
        /// The index or name that was asked for.
        wanted: String,
        /// The devices' names, in order.
        known: Vec<String>,
    },
    /// CUDA's driver is installed, but cannot be used; why.
    #[error("CUDA cannot be used: {0}")]
    NoCuda(String),
    /// NVRTC, CUDA's compiler, is not installed.
    #[error(
        "NVRTC, CUDA's compiler, is not installed: install it (Debian: libnvrtc12; or the Python package \
         nvidia-cuda-nvrtc-cu12, with its folder in LD_LIBRARY_PATH), or name a directory of programs from \
         'make cubins' in MKSUM_CUBINS"
    )]
    NoCompiler,
    /// A call failed.
    #[error("{call} failed with {status}")]
    Call {
        /// The call's name in the documentation of OpenCL or CUDA.
        call: &'static str,
        /// The name and the number of the status that it returned.
        status: String,
    },
    /// The device's compiler refused a program.
    #[error("{call} failed with {status} and options '{options}':\n{log}")]
    Build {
        /// The compiler's call.
        call: &'static str,
        /// The name and the number of the status that it returned.
        status: String,
        /// The options that it was built with.
        options: String,
        /// The compiler's messages.
        log: String,
    },
    /// The device has less memory than the smallest piece of work needs.
    #[error("the device needs {needed} bytes of memory for one buffer, but offers at most {offered}")]
    Memory {
        /// The memory needed, in bytes.
        needed: u64,
        /// The most that one allocation may have, in bytes.
        offered: u64,
    },
    /// A transfer reaches beyond the end of its buffer.
    #[error("{len} bytes at byte {at} of a device's buffer: expected bytes within its {size}")]
    Range {
        /// The first byte of the buffer that it reads or writes.
        at: usize,
        /// The number of bytes.
        len: usize,
        /// The length of the buffer, in bytes.
        size: usize,
    },
    /// A buffer is of another device, or of the same device opened another time.
    #[error(
        "the buffer belongs to another device, or to the same device opened another time: use the device that \
         allocated it"
    )]
    OtherDevice,
    /// A program that was compiled ahead of time cannot be read.
    #[error("{0}")]
    Prebuilt(String),
}

impl Error {
    /// Whether the device, its driver or its memory failed, so that the same work may succeed elsewhere.
    pub fn is_of_device(&self) -> bool {
        !matches!(self, Error::NoSuchDevice { .. } | Error::Range { .. } | Error::OtherDevice | Error::Prebuilt(_))
    }
}

/// The packages to install where there is no device.
const INSTALL: &str = "install your GPU's driver with its OpenCL runtime and the loader (Debian: ocl-icd-libopencl1 and \
                       one of nvidia-opencl-icd, mesa-opencl-icd, intel-opencl-icd; pocl-opencl-icd runs on the CPU)";

/// The devices that there are instead of the one that was asked for.
fn others(known: &[String]) -> String {
    if known.is_empty() {
        return format!("there is none; {INSTALL}");
    }
    let names: Vec<_> = known.iter().map(|name| format!("'{name}'")).collect();
    format!("expected cpu, auto, a number below {} or one of {}", known.len(), names.join(", "))
}

impl From<Error> for mksum::Error {
    fn from(error: Error) -> Self {
        mksum::Error::source(error)
    }
}

impl From<Error> for NodeTreeError {
    fn from(error: Error) -> Self {
        NodeTreeError::Device(Box::new(error))
    }
}
