//! `mksum devices`: what hashes here, the CPU and the devices of OpenCL and CUDA.

use mksum::Hash;
use mksum::formats::FAMILIES;
use mksum_io::Options;
use mksum_lanes::cpu::{self, Cpu};

/// The threads and the instruction set, and for each hash its widest kernel: how many messages a thread hashes side by
/// side.
pub fn list() -> Result<String, String> {
    let threads = Options::new().threads;
    let cpu = cpu::active().map_err(|error| format!("{}: {error}", cpu::VARIABLE))?;
    let others: Vec<_> = Cpu::available().map(Cpu::name).filter(|&name| name != cpu.name()).collect();
    let mut text = format!("cpu  {threads} thread{}, {}", if threads == 1 { "" } else { "s" }, cpu.name());
    if !others.is_empty() {
        text += &format!(" ({}=NAME chooses: {})", cpu::VARIABLE, others.join(", "));
    }
    text += "\n";
    let used = |hash: &Hash| FAMILIES.iter().any(|family| family.hashes.contains(&(*hash).into()));
    for hash in Hash::ALL.iter().copied().filter(used) {
        if let Some(kernel) = cpu.kernels(hash).next() {
            let lanes = kernel.lanes;
            let plural = if lanes == 1 { "" } else { "s" };
            text += &format!("     {:<10}  {lanes:>2} lane{plural}  {}\n", hash.name(), kernel.name);
        }
    }
    text += &gpu();
    Ok(text)
}

/// The devices of OpenCL and CUDA, each with the number that `--device` takes; or why there is none.
#[cfg(feature = "gpu")]
fn gpu() -> String {
    let devices = match mksum_gpu::list() {
        Ok(devices) if devices.is_empty() => Err(mksum_gpu::Error::NoDevices),
        devices => devices,
    };
    match devices {
        Err(error) => format!("gpu  {error}\n"),
        Ok(devices) => devices
            .iter()
            .map(|device| {
                let (memory, most) = (device.memory >> 20, device.allocation >> 20);
                let unified = if device.unified { ", the host's" } else { "" };
                let spirv = if device.spirv { ", takes SPIR-V" } else { "" };
                format!(
                    "{:<3}  {}\n     {memory} MiB of memory{unified}, {most} MiB at once; {} compute units\n     driver {}; \
                     {}{spirv}\n",
                    device.index, device.name, device.units, device.driver, device.runtime
                )
            })
            .collect(),
    }
}

/// This build knows no devices.
#[cfg(not(feature = "gpu"))]
fn gpu() -> String {
    "gpu  this mksum was built without OpenCL and CUDA\n".into()
}
