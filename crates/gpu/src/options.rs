//! Options for the use of a device.

use crate::LaunchShape;
use mksum_cache::Cache;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// Options for the use of a device.
#[derive(Clone)]
pub struct Options {
    /// The cache of built programs and measured shapes; `None` to build and measure again each time.
    pub cache: Option<Cache>,
    /// A directory of SPIR-V programs from `make spirv`, used instead of the source if the device supports SPIR-V.
    pub spirv: Option<PathBuf>,
    /// A directory of CUDA programs from `make cubins`, used instead of the source by CUDA devices.
    pub cubins: Option<PathBuf>,
    /// The division of a tree's levels among work-groups; `None` to measure which is the fastest. It must fit the device.
    pub shape: Option<LaunchShape>,
    /// The number of messages that a work-item hashes at once, 1, 4, 8 or 16; `None` for what suits the device.
    pub lanes: Option<u32>,
    /// How leaves and nodes of a node tree reach the device; `None` for what suits it.
    pub transfer: Option<Transfer>,
    /// The limit of device memory, in bytes; the memory that the device reports is a limit too.
    pub memory: u64,
    /// The shortest subtree of a file that the device computes, in bytes: for shorter ones, transfers cost more than hashing.
    pub shortest: u64,
    /// Whether the CPU takes over if the device fails.
    pub fallback: Fallback,
    /// Receives warnings: a damaged cache, a fallback to the CPU.
    pub notice: Notice,
}

/// How leaves and nodes reach a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transfer {
    /// Through memory of the host that the device reads directly.
    Pinned,
    /// By the driver, from and to where they lie.
    Copied,
    /// Not at all: kernels use them where they lie. They are copied if they are not [`Aligned`](mksum::node_tree::Aligned), are longer than the
    /// device's memory allows, or if the driver cannot use memory of the host.
    InPlace,
}

/// Whether the CPU takes over if a device fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fallback {
    /// The failure is an error.
    Never,
    /// The CPU takes over, with a warning.
    Cpu,
}

/// A function that receives warnings.
pub type Notice = Arc<dyn Fn(&str) + Send + Sync>;

impl Default for Options {
    fn default() -> Self {
        Options {
            cache: Cache::of_user("gpu"),
            spirv: None,
            cubins: None,
            shape: None,
            lanes: None,
            transfer: None,
            memory: u64::MAX,
            shortest: 1 << 20,
            fallback: Fallback::Never,
            notice: Arc::new(|_| {}),
        }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("cache", &self.cache)
            .field("spirv", &self.spirv)
            .field("cubins", &self.cubins)
            .field("shape", &self.shape)
            .field("lanes", &self.lanes)
            .field("transfer", &self.transfer)
            .field("memory", &self.memory)
            .field("shortest", &self.shortest)
            .field("fallback", &self.fallback)
            .finish_non_exhaustive()
    }
}
