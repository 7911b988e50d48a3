//! The costs of kernels and the stores of node trees: as measured on this machine, and kept in the user's cache.
//!
//! `MKSUM_CALIBRATION` chooses: without it, work that turns out to be long takes what is in the cache, or measures; `table` never does; the
//! path of a file has what `mksum devices --verbose` prints of another run. None of it changes a root.

use mksum::Hash;
use mksum::node_tree::{CpuLanes, Limits, Merklize, NodeTreeError, StoreTimes, Timeline};
use mksum_cache::{Cache, Cached};
use mksum_io::Meter;
use mksum_lanes::calibration::{Calibration, set_source};
use mksum_lanes::cpu::{Chip, Cpu};
use mksum_lanes::{Stores, set_stores};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use std::{env, fs};

/// The environment variable.
pub const VARIABLE: &str = "MKSUM_CALIBRATION";

/// The bytes after which work is known to be long: hashing them takes some 20 times as long as measuring a hash.
const LONG: u64 = 256 << 20;

/// The begin of the line that says which stores are used.
const STORES: &str = "stores\t";

/// What the environment variable asks for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// Measured costs, once work is long.
    Measured,
    /// The costs that mksum was built with.
    Table,
    /// Those in a file, which are in use.
    File,
}

impl Wanted {
    /// The name in output.
    pub fn name(self) -> &'static str {
        match self {
            Wanted::Measured => "measured",
            Wanted::Table => "table",
            Wanted::File => "file",
        }
    }
}

/// What is wanted, as [`prepare`] found it.
static WANTED: OnceLock<Wanted> = OnceLock::new();

/// Follows the environment variable: once `meter` has counted enough bytes, kernels are measured or taken from the cache.
///
/// # Errors
/// If the variable names a file that cannot be read or has other lines.
pub fn prepare(meter: &Meter) -> Result<(), String> {
    let wanted = match env::var_os(VARIABLE).filter(|value| !value.is_empty()) {
        None => Wanted::Measured,
        Some(value) if value == "table" => Wanted::Table,
        Some(path) => {
            let wrong = |reason: String| format!("{VARIABLE}: {}: {reason}", path.display());
            let text = fs::read_to_string(&path).map_err(|error| wrong(mksum_io::reason(&error)))?;
            let (calibrations, stores) = parse(&text).map_err(wrong)?;
            calibrations.iter().for_each(Calibration::install);
            set_stores(stores);
            Wanted::File
        }
    };
    if wanted == Wanted::Measured {
        meter.call_at(LONG, measure_from_now_on);
    }
    let _ = WANTED.set(wanted);
    Ok(())
}

/// What is wanted: see [`Wanted`].
pub fn wanted() -> Wanted {
    WANTED.get().copied().unwrap_or(Wanted::Table)
}

/// Reads a file of calibrations, which may have a line about stores.
fn parse(text: &str) -> Result<(Vec<Calibration>, Option<Stores>), String> {
    let (mut stores, mut others) = (None, String::new());
    for (line, number) in text.lines().zip(1..) {
        match line.strip_prefix(STORES) {
            Some(name) => {
                let name = name.split('\t').next().unwrap_or(name);
                stores = Some(Stores::from_name(name).ok_or(format!("line {number}: no stores have the name {name}"))?);
            }
            None => others += line,
        }
        others += "\n";
    }
    Ok((Calibration::parse(&others).map_err(|error| error.to_string())?, stores))
}

/// Has each hash that is used from now on calibrated.
fn measure_from_now_on() {
    set_source(Box::new(|hash| Some(cached_or_measured(hash))));
}

/// The costs of a hash from the cache; or else as measured now, and kept there.
pub fn cached_or_measured(hash: Hash) -> Calibration {
    // Hashes that have the same kernels share a file.
    let hash = Calibration::first_alike(hash);
    let cached = load(hash.name()).and_then(|text| Calibration::parse(&text).ok());
    let own = cached.and_then(|all| all.into_iter().find(|one| one.hash() == hash));
    own.unwrap_or_else(|| {
        let measured = Calibration::measure(hash);
        store(hash.name(), &measured.to_string());
        measured
    })
}

/// The times of both kinds of stores from the cache; or else those of a tree of this size.
pub fn cached_or_measured_stores() -> Option<StoreTimes> {
    cached_stores().or_else(|| {
        let leaves = vec![1; 2 * CpuLanes::COMPARED];
        let mut nodes = vec![1; leaves.len()];
        let (_, times) = CpuLanes { threads: 1 }.compare_stores(Hash::Blake3, &leaves, &mut nodes).ok()?;
        keep_stores(times?);
        times
    })
}

fn cached_stores() -> Option<StoreTimes> {
    let text = load("stores")?;
    let (plain, streaming) = text.trim_end().split_once('\t')?;
    let time = |text: &str| text.parse().ok().map(Duration::from_nanos);
    Some(StoreTimes { plain: time(plain)?, streaming: time(streaming)? })
}

fn keep_stores(times: StoreTimes) {
    store("stores", &format!("{}\t{}\n", times.plain.as_nanos(), times.streaming.as_nanos()));
}

/// Everything that measured times depend on: this program, the chip and its instruction sets.
fn key() -> [String; 3] {
    let chip = Chip::of_this_machine().map_or(env::consts::ARCH.to_string(), |chip| chip.to_string());
    let sets: Vec<_> = Cpu::available().map(Cpu::name).collect();
    [env!("CARGO_PKG_VERSION").into(), chip, sets.join(" ")]
}

/// The content of the cache. A damaged file, or one that another user may have written, is none: it is written again, or not used.
fn load(name: &str) -> Option<String> {
    let [version, chip, sets] = key();
    match Cache::of_user("calibration")?.load(&[&version, &chip, &sets, name].map(str::as_bytes)) {
        Cached::Content(bytes) => String::from_utf8(bytes).ok(),
        Cached::Nothing | Cached::Damaged(..) | Cached::Refused(..) => None,
    }
}

/// Keeps a measurement. Failures cost only time later.
fn store(name: &str, content: &str) {
    let [version, chip, sets] = key();
    let name = [&version, &chip, &sets, name].map(str::as_bytes);
    let _ = Cache::of_user("calibration").map(|cache| cache.store(&name, content.as_bytes()));
}

/// The CPU, whose first large tree shows which stores are faster.
#[derive(Debug)]
pub struct Calibrated {
    lanes: CpuLanes,
    /// Whether the faster stores are in use already, or none are wanted.
    settled: AtomicBool,
}

impl Calibrated {
    /// So many threads.
    pub fn new(threads: usize) -> Self {
        Calibrated { lanes: CpuLanes { threads }, settled: AtomicBool::new(wanted() != Wanted::Measured) }
    }
}

impl Merklize for Calibrated {
    fn name(&self) -> String {
        self.lanes.name()
    }

    fn merklize_timed(&self, hash: Hash, leaves: &[u8], nodes: &mut [u8]) -> Result<Timeline, NodeTreeError> {
        if leaves.len() < CpuLanes::COMPARED || self.settled.swap(true, Ordering::Relaxed) {
            return self.lanes.merklize_timed(hash, leaves, nodes);
        }
        if leaves.len() as u64 >= LONG {
            measure_from_now_on();
        }
        if let Some(times) = cached_stores() {
            set_stores(Some(times.faster()));
            return self.lanes.merklize_timed(hash, leaves, nodes);
        }
        let (timeline, times) = self.lanes.compare_stores(hash, leaves, nodes)?;
        if let Some(times) = times {
            set_stores(Some(times.faster()));
            keep_stores(times);
        }
        Ok(timeline)
    }

    fn limits(&self, hash: Hash) -> Result<Limits, NodeTreeError> {
        self.lanes.limits(hash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_calibrations() {
        let all = Calibration::in_use(Hash::Sha256);
        let (read, stores) = parse(&format!("# costs\nstores\tplain\n{all}")).unwrap();
        assert_eq!((read, stores), (vec![all.clone()], Some(Stores::Plain)));
        assert_eq!(parse(""), Ok((vec![], None)));
        // A wrong line is found in its place, after others that are about stores.
        assert!(parse("\nstores\tfast\n").unwrap_err().starts_with("line 2: no stores"));
        assert!(parse(&format!("stores\tplain\t9\n{all}sha256\tno kernel\t1\t1\n")).unwrap_err().starts_with("line "));
    }
}
