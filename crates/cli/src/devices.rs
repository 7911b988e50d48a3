//! `mksum devices`: what hashes here, the CPU and the devices of OpenCL and CUDA.

use crate::json;
use mksum::Hash;
use mksum::formats::FAMILIES;
use mksum_io::Options;
use mksum_lanes::cpu::{self, Chip, Cpu, Kernel};
use mksum_lanes::stores;
use serde::Serialize;
use serde_json::{Value, json};

/// The numbers of messages whose kernels are shown.
const COUNTS: [usize; 4] = [1, 4, 16, 64];

/// Lists the CPU, its kernels for each hash, and the GPUs: as text, or as JSON, a line each. `verbose` has the kernels
/// chosen for some numbers of messages.
///
/// # Errors
/// If an environment variable asks for what this machine lacks.
pub fn list(verbose: bool, json: bool) -> Result<Vec<u8>, String> {
    let cpu = cpu::active().map_err(|error| format!("{}: {error}", cpu::VARIABLE))?;
    let used = |hash: &Hash| FAMILIES.iter().any(|family| family.hashes.contains(&(*hash).into()));
    let hashes: Vec<Hash> = Hash::ALL.iter().copied().filter(used).collect();
    let host = Host::new(cpu, verbose);
    let kernels = hashes.iter().map(|&hash| Kernels::new(cpu, hash, verbose));
    let gpus = gpus();
    Ok(if json {
        let mut all = json::object(&host);
        kernels.for_each(|kernels| all.extend(json::object(&kernels)));
        all.extend(json::object(&gpus));
        all
    } else {
        (host.text() + &kernels.map(|kernels| kernels.text()).collect::<String>() + &gpus.text()).into_bytes()
    })
}

/// The CPU.
#[derive(Serialize)]
struct Host {
    kind: &'static str,
    threads: usize,
    instruction_set: &'static str,
    instruction_sets: Vec<&'static str>,
    #[serde(flatten)]
    details: Option<Details>,
}

/// What `--verbose` adds about the CPU.
#[derive(Serialize)]
struct Details {
    chip: Option<String>,
    stores: &'static str,
}

impl Host {
    fn new(cpu: Cpu, verbose: bool) -> Self {
        let details = verbose
            .then(|| Details { chip: Chip::of_this_machine().map(|chip| chip.to_string()), stores: stores().name() });
        let instruction_sets = Cpu::available().map(Cpu::name).collect();
        let threads = Options::new().threads;
        Host { kind: "cpu", threads, instruction_set: cpu.name(), instruction_sets, details }
    }

    fn text(&self) -> String {
        let Host { threads, instruction_set, .. } = self;
        let others: Vec<_> = self.instruction_sets.iter().copied().filter(|name| name != instruction_set).collect();
        let mut text = format!("cpu  {threads} thread{}, {instruction_set}", if *threads == 1 { "" } else { "s" });
        if !others.is_empty() {
            text += &format!(" ({}=NAME selects another: {})", cpu::VARIABLE, others.join(", "));
        }
        text += "\n";
        if let Some(Details { chip, stores }) = &self.details {
            let chip = chip.as_deref().unwrap_or("unknown chip");
            text += &format!("     {chip}\n     stores of node trees: {stores}\n");
        }
        text
    }
}

/// The kernels of a hash.
#[derive(Serialize)]
struct Kernels {
    kind: &'static str,
    hash: &'static str,
    lanes: usize,
    kernel: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    chosen: Option<Vec<Value>>,
}

impl Kernels {
    fn new(cpu: Cpu, hash: Hash, verbose: bool) -> Self {
        let widest = cpu.chosen(hash, usize::MAX)[0];
        let chosen = verbose.then(|| COUNTS.map(|count| chosen(count, cpu.chosen(hash, count))).to_vec());
        Kernels { kind: "kernels", hash: hash.name(), lanes: widest.lanes, kernel: widest.name, chosen }
    }

    fn text(&self) -> String {
        let Kernels { hash, lanes, kernel, .. } = self;
        let plural = if *lanes == 1 { "" } else { "s" };
        let mut text = format!("     {hash:<10}  {lanes:>2} lane{plural}  {kernel}\n");
        for chosen in self.chosen.iter().flatten() {
            let field = |name: &str| chosen[name].as_str().unwrap_or_default();
            let (apart, conflicting) = (field("kernel"), field("conflicting"));
            let conflict = if apart == conflicting { String::new() } else { format!(", in conflict {conflicting}") };
            let (count, plural) = (&chosen["messages"], if chosen["messages"] == 1 { "" } else { "s" });
            text += &format!("       {count} message{plural}: {apart}{conflict}\n");
        }
        text
    }
}

fn chosen(messages: usize, [apart, conflicting]: [Kernel; 2]) -> Value {
    json!({"messages": messages, "kernel": apart.name, "conflicting": conflicting.name})
}

/// The devices of OpenCL and CUDA, each with the number that `--device` takes; or why there is none.
#[derive(Serialize)]
struct Gpus {
    kind: &'static str,
    gpus: Vec<Value>,
    reason: Option<String>,
    #[serde(skip)]
    lines: String,
}

impl Gpus {
    fn none(reason: String) -> Self {
        Gpus { kind: "gpus", gpus: Vec::new(), lines: format!("gpu  {reason}\n"), reason: Some(reason) }
    }

    fn text(&self) -> String {
        self.lines.clone()
    }
}

#[cfg(feature = "gpu")]
fn gpus() -> Gpus {
    let devices = match mksum_gpu::list() {
        Ok(devices) if devices.is_empty() => return Gpus::none(mksum_gpu::Error::NoDevices.to_string()),
        Ok(devices) => devices,
        Err(error) => return Gpus::none(error.to_string()),
    };
    let line = |device: &mksum_gpu::Info| {
        let (memory, most) = (crate::figures::size(device.memory), crate::figures::size(device.allocation));
        let unified = if device.unified { ", the host's" } else { "" };
        let spirv = if device.spirv { ", takes SPIR-V" } else { "" };
        format!(
            "{:<3}  {}\n     {memory} of memory{unified}, {most} at once; {} compute units\n     driver {}; {}{spirv}\n",
            device.index, device.name, device.units, device.driver, device.runtime
        )
    };
    let object = |device: &mksum_gpu::Info| {
        json!({
            "index": device.index, "name": device.name, "memory": device.memory, "allocation": device.allocation,
            "unified": device.unified, "units": device.units, "driver": device.driver, "runtime": device.runtime,
            "spirv": device.spirv,
        })
    };
    let (gpus, lines) = (devices.iter().map(object).collect(), devices.iter().map(line).collect());
    Gpus { kind: "gpus", gpus, reason: None, lines }
}

/// This build knows no devices.
#[cfg(not(feature = "gpu"))]
fn gpus() -> Gpus {
    Gpus::none("this mksum was built without OpenCL and CUDA".into())
}
