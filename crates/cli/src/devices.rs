//! `mksum devices`: what hashes here.

use mksum::{FAMILIES, Hash};
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
    let used = |hash: &Hash| FAMILIES.iter().any(|family| family.hashes.contains(hash));
    for hash in Hash::ALL.into_iter().filter(used) {
        if let Some(kernel) = cpu.kernels(hash).next() {
            let lanes = kernel.lanes;
            let plural = if lanes == 1 { "" } else { "s" };
            text += &format!("     {:<10}  {lanes:>2} lane{plural}  {}\n", hash.name(), kernel.name);
        }
    }
    Ok(text)
}
