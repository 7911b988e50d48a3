//! `--device`: the device that hashes.

use crate::console::Console;
use mksum::node_tree::{CpuLanes, Merklize};
use std::sync::Arc;

/// The device that was asked for, whose notices go to the console; `None` is the CPU.
///
/// `auto` is a GPU where there is one, and the CPU does the work that it fails at.
///
/// # Errors
/// If there is no such device, or no driver is installed.
#[cfg(feature = "gpu")]
pub fn open(wanted: &str, console: &Arc<Console>) -> Result<Option<Arc<mksum_gpu::Device>>, String> {
    use mksum_gpu::{Options, choose};
    let notice = {
        let console = console.clone();
        Arc::new(move |text: &str| console.note(&text))
    };
    let folder = |name| std::env::var_os(name).map(Into::into);
    let (spirv, cubins) = (folder("MKSUM_SPIRV"), folder("MKSUM_CUBINS"));
    let device = choose(wanted, Options { notice, spirv, cubins, ..Options::default() });
    device.map(|device| device.map(Arc::new)).map_err(|error| error.to_string())
}

/// The backend for node trees: the device, or the CPU with so many threads.
///
/// # Errors
/// As [`open`].
pub fn merklizer(wanted: &str, threads: usize, console: &Arc<Console>) -> Result<Arc<dyn Merklize>, String> {
    #[cfg(feature = "gpu")]
    if let Some(device) = open(wanted, console)? {
        return Ok(device);
    }
    #[cfg(not(feature = "gpu"))]
    open(wanted, console)?;
    Ok(Arc::new(CpuLanes { threads }))
}

/// The CPU: this build has no other device.
///
/// # Errors
/// If another device was asked for.
#[cfg(not(feature = "gpu"))]
pub fn open(wanted: &str, _: &Arc<Console>) -> Result<Option<Arc<dyn mksum::accelerator::Accelerator>>, String> {
    match wanted {
        "cpu" | "auto" => Ok(None),
        _ => Err(format!("no device '{wanted}': this mksum was built without OpenCL and CUDA")),
    }
}
