//! `--device`: who hashes.

use crate::console::Console;
use std::sync::Arc;

/// The device that was asked for, which tells the console what is no error; `None` is the CPU.
///
/// `auto` is a GPU where there is one, and the CPU does what it fails at.
///
/// # Errors
/// If there is no such device, or OpenCL is not installed.
#[cfg(feature = "gpu")]
pub fn open(wanted: &str, console: &Arc<Console>) -> Result<Option<Arc<mksum_gpu::Device>>, String> {
    use mksum_gpu::{Class, Device, Fallback, Options};
    let tell = |error: mksum_gpu::Error| error.to_string();
    let auto = wanted == "auto";
    let info = match (wanted, mksum_gpu::find(wanted)) {
        ("cpu", _) => return Ok(None),
        // Where nobody asked for a certain device, having none is no error; nor is a CPU faster for going through OpenCL.
        ("auto", Ok(info)) if info.class == Class::Cpu => return Ok(None),
        ("auto", Err(_)) => return Ok(None),
        (_, info) => info.map_err(tell)?,
    };
    let notice = {
        let console = console.clone();
        Arc::new(move |text: &str| console.tell(&text))
    };
    let fallback = if auto { Fallback::Cpu } else { Fallback::Never };
    let spirv = std::env::var_os("MKSUM_SPIRV").map(Into::into);
    let device = Device::open(&info, Options { fallback, notice, spirv, ..Options::default() }).map_err(tell)?;
    Ok(Some(Arc::new(device)))
}

/// This build knows the CPU only.
///
/// # Errors
/// If another device was asked for.
#[cfg(not(feature = "gpu"))]
pub fn open(wanted: &str, _: &Arc<Console>) -> Result<Option<Arc<dyn mksum::Accelerator>>, String> {
    match wanted {
        "cpu" | "auto" => Ok(None),
        _ => Err(format!("no device '{wanted}': this mksum was built without OpenCL")),
    }
}
