//! The costs of kernels: as measured on this machine, and kept in the user's cache.
//!
//! `MKSUM_CALIBRATION` chooses: without it, work that turns out to be long takes what is in the cache, or measures; `table` never does; the
//! path of a file has what `mksum devices --verbose` prints of another run. None of it changes a root.

use mksum::Hash;
use mksum_cache::{Cache, Cached};
use mksum_io::Meter;
use mksum_lanes::calibration::{Calibration, set_source};
use mksum_lanes::cpu::{Chip, Cpu};
use std::sync::OnceLock;
use std::{env, fs};

/// The environment variable.
pub const VARIABLE: &str = "MKSUM_CALIBRATION";

/// The bytes after which work is known to be long: hashing them takes some 20 times as long as measuring a hash.
const LONG: u64 = 256 << 20;

/// What the environment variable asks for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// Measured costs, once work is long.
    Measured,
    /// The costs that mksum was built with.
    Table,
    /// The costs in the file that is in use.
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
            let calibrations = Calibration::parse(&text).map_err(|error| wrong(error.to_string()))?;
            calibrations.iter().for_each(Calibration::install);
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
