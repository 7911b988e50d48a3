//! The instruction sets of this machine, and the one that is used.

use core::{
    fmt,
    sync::atomic::{AtomicU32, Ordering},
};

/// An instruction set that this machine has, as a choice of kernels.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Cpu {
    level: Level,
    features: Features,
}

/// The choices, from the slowest to the fastest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
enum Level {
    Portable,
    Sse41,
    Avx2,
    ShaNi,
    Avx512,
    Neon,
    Simd128,
}

impl Level {
    const ALL: [Level; 7] =
        [Level::Portable, Level::Sse41, Level::Avx2, Level::ShaNi, Level::Avx512, Level::Neon, Level::Simd128];

    const fn name(self) -> &'static str {
        match self {
            Level::Portable => "portable",
            Level::Sse41 => "sse41",
            Level::Avx2 => "avx2",
            Level::ShaNi => "shani",
            Level::Avx512 => "avx512",
            Level::Neon => "neon",
            Level::Simd128 => "simd128",
        }
    }

    /// The features that a machine must have, and all that are used if it has them.
    const fn features(self) -> (Features, Features) {
        let sse41 = Features::SSE41;
        let avx2 = sse41.with(Features::AVX2);
        match self {
            Level::Portable => (Features::NONE, Features::NONE),
            Level::Sse41 => (sse41, sse41),
            Level::Avx2 => (avx2, avx2),
            Level::ShaNi => (sse41.with(Features::SHANI), avx2.with(Features::SHANI).with(Features::ZEN)),
            Level::Avx512 => {
                let avx512 = avx2.with(Features::AVX512);
                (avx512, avx512.with(Features::SHANI).with(Features::ZEN))
            }
            Level::Neon => (Features::NEON, Features::NEON.with(Features::ARMSHA)),
            Level::Simd128 => (Features::SIMD128, Features::SIMD128),
        }
    }
}

/// A set of the instructions that kernels may need.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Features(u8);

impl Features {
    pub const NONE: Features = Features(0);
    /// SSE4.1 and SSSE3.
    pub const SSE41: Features = Features(1);
    /// AVX2, BMI1 and BMI2.
    pub const AVX2: Features = Features(2);
    /// BMI1 and BMI2, which come with AVX2.
    #[allow(dead_code)] // Other architectures have none.
    pub const BMI: Features = Features::AVX2;
    /// AVX-512 F, BW and VL.
    pub const AVX512: Features = Features(4);
    /// The SHA extensions of x86.
    pub const SHANI: Features = Features(8);
    pub const NEON: Features = Features(16);
    /// The SHA-1 and SHA-256 instructions of Armv8.
    pub const ARMSHA: Features = Features(32);
    pub const SIMD128: Features = Features(64);
    /// The SHA extensions of x86 as Zen 3 and 4 have them: two messages in step take little more time than one.
    pub const ZEN: Features = Features(128);

    const fn with(self, other: Features) -> Features {
        Features(self.0 | other.0)
    }

    /// Whether all of `needed` are in the set.
    pub const fn contain(self, needed: Features) -> bool {
        self.0 & needed.0 == needed.0
    }

    fn detected() -> Self {
        let mut all = Features::NONE;
        #[allow(unused_macros)] // Some architectures have nothing to detect.
        macro_rules! detect {
            ($is_detected:ident: $($feature:ident = $($name:tt)&&*;)*) => {
                $(
                    #[cfg(feature = "std")]
                    let there = $(std::arch::$is_detected!($name))&&*;
                    #[cfg(not(feature = "std"))]
                    let there = $(cfg!(target_feature = $name))&&*;
                    if there {
                        all = all.with(Features::$feature);
                    }
                )*
            };
        }
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2", not(miri)))]
        detect! { is_x86_feature_detected:
            SSE41 = "sse4.1" && "ssse3";
            AVX2 = "avx2" && "bmi1" && "bmi2";
            AVX512 = "avx512f" && "avx512bw" && "avx512vl" && "bmi2";
            SHANI = "sha" && "sse4.1" && "ssse3";
        }
        if all.contain(Features::SHANI) && Chip::of_this_machine().is_some_and(Chip::is_zen) {
            all = all.with(Features::ZEN);
        }
        #[cfg(all(target_arch = "aarch64", target_endian = "little", not(miri)))]
        detect! { is_aarch64_feature_detected:
            NEON = "neon";
            ARMSHA = "sha2";
        }
        if cfg!(all(target_arch = "wasm32", target_feature = "simd128")) {
            all = all.with(Features::SIMD128);
        }
        all
    }
}

/// A chip, as it says what it is: machines with equal chips have equal kernels, of about equal speeds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Chip {
    /// The vendor's name.
    vendor: [u8; 12],
    family: u32,
    model: u32,
    stepping: u32,
}

impl Chip {
    /// The chip of this machine, where it says: on x86, with the feature `std`.
    pub fn of_this_machine() -> Option<Chip> {
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2", feature = "std", not(miri)))]
        {
            // A virtual machine answers each question for tens of microseconds.
            static CHIP: std::sync::OnceLock<Chip> = std::sync::OnceLock::new();
            Some(*CHIP.get_or_init(Chip::asked))
        }
        #[cfg(not(all(target_arch = "x86_64", target_feature = "sse2", feature = "std", not(miri))))]
        None
    }

    #[cfg(all(target_arch = "x86_64", target_feature = "sse2", feature = "std", not(miri)))]
    fn asked() -> Chip {
        use core::arch::x86_64::__cpuid;
        let (name, signature) = (__cpuid(0), __cpuid(1).eax);
        let mut vendor = [0; 12];
        vendor.copy_from_slice([name.ebx, name.edx, name.ecx].map(u32::to_le_bytes).as_flattened());
        let field = |from: u32, bits: u32| signature >> from & ((1 << bits) - 1);
        let (family, model) = (field(8, 4) + field(20, 8), field(16, 4) << 4 | field(4, 4));
        Chip { vendor, family, model, stepping: field(0, 4) }
    }

    /// Whether the chip is of AMD's family 19h: Zen 3 and 4.
    pub(crate) fn is_zen(self) -> bool {
        self.vendor == *b"AuthenticAMD" && self.family == 0x19
    }

    /// Whether the chip is of AMD's family 1Ah: Zen 5.
    #[allow(dead_code)] // Other architectures don't ask.
    pub(crate) fn is_zen5(self) -> bool {
        self.vendor == *b"AuthenticAMD" && self.family == 0x1a
    }
}

impl fmt::Display for Chip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let vendor = core::str::from_utf8(&self.vendor).unwrap_or("unknown vendor");
        write!(f, "{vendor}, family {}, model {}, stepping {}", self.family, self.model, self.stepping)
    }
}

impl fmt::Debug for Chip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The reason why a name gives no instruction set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Error {
    /// No instruction set has this name.
    Unknown,
    /// This machine does not have it.
    Unavailable,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Unknown => write!(f, "no such instruction set; there are")?,
            Error::Unavailable => write!(f, "this machine lacks the instruction set; it has")?,
        }
        for (index, level) in Level::ALL.into_iter().enumerate() {
            if *self == Error::Unknown || Cpu::of(level).is_some() {
                write!(f, "{} {}", if index > 0 { "," } else { "" }, level.name())?;
            }
        }
        Ok(())
    }
}

impl core::error::Error for Error {}

impl Cpu {
    fn of(level: Level) -> Option<Cpu> {
        let (needed, used) = level.features();
        let detected = Features::detected();
        detected.contain(needed).then_some(Cpu { level, features: Features(used.0 & detected.0) })
    }

    /// The instruction sets of this machine, from the slowest to the fastest.
    pub fn available() -> impl Iterator<Item = Cpu> {
        Level::ALL.into_iter().filter_map(Cpu::of)
    }

    /// The fastest instruction set of this machine.
    pub fn detected() -> Cpu {
        Cpu::available().last().expect("portable code runs everywhere")
    }

    /// The instruction set with this name: `portable`, `sse41`, `avx2`, `shani` (with AVX2 where that is, too), `avx512`,
    /// `neon` or `simd128`.
    pub fn from_name(name: &str) -> Result<Cpu, Error> {
        let level = Level::ALL.into_iter().find(|level| level.name() == name).ok_or(Error::Unknown)?;
        Cpu::of(level).ok_or(Error::Unavailable)
    }

    /// The name, as [`from_name`](Cpu::from_name) takes it.
    pub fn name(self) -> &'static str {
        self.level.name()
    }

    pub(crate) fn features(self) -> Features {
        self.features
    }

    /// The number of [`level`](Cpu::level)s.
    pub(crate) const LEVELS: usize = Level::ALL.len();

    /// The instruction set as a number. On one machine it determines the features, too.
    pub(crate) fn level(self) -> usize {
        self.level as usize
    }
}

impl fmt::Debug for Cpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A kernel, described.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Kernel {
    /// The instructions; how much of a register they use, if not all of it; and, after `×`, how many vectors or messages are
    /// interleaved.
    pub name: &'static str,
    /// The number of messages that it hashes side by side.
    pub lanes: usize,
}

/// The environment variable that names the instruction set to use.
pub const VARIABLE: &str = "MKSUM_CPU";

/// The instruction set in use: the one that the environment variable `MKSUM_CPU` names at the first call, or else the fastest
/// one of this machine.
///
/// # Errors
/// If the variable names none of this machine's instruction sets. All calls of this crate then use the fastest one.
pub fn active() -> Result<Cpu, Error> {
    match remembered() {
        (cpu, None) => Ok(cpu),
        (_, Some(error)) => Err(error),
    }
}

/// The instruction set in use, which is the fastest one if the environment names none of this machine's.
pub(crate) fn active_or_detected() -> Cpu {
    remembered().0
}

/// The choice, which is made once: features, level and the error in one number, so that no lock is needed.
fn remembered() -> (Cpu, Option<Error>) {
    static CHOICE: AtomicU32 = AtomicU32::new(0);
    const MADE: u32 = 1 << 31;
    let choice = CHOICE.load(Ordering::Relaxed);
    if choice & MADE != 0 {
        let error = match choice >> 16 & 3 {
            0 => None,
            1 => Some(Error::Unknown),
            _ => Some(Error::Unavailable),
        };
        let level = Level::ALL[(choice >> 8 & 0xff) as usize];
        return (Cpu { level, features: Features(choice as u8) }, error);
    }
    let wanted = wanted();
    let cpu = match wanted {
        Some(Ok(cpu)) => cpu,
        _ => Cpu::detected(),
    };
    let error = wanted.and_then(Result::err);
    let code = match error {
        None => 0,
        Some(Error::Unknown) => 1,
        Some(Error::Unavailable) => 2,
    };
    CHOICE.store(MADE | code << 16 | (cpu.level as u32) << 8 | cpu.features.0 as u32, Ordering::Relaxed);
    (cpu, error)
}

#[cfg(feature = "std")]
fn wanted() -> Option<Result<Cpu, Error>> {
    let name = std::env::var_os(VARIABLE).filter(|name| !name.is_empty())?;
    Some(name.to_str().ok_or(Error::Unknown).and_then(Cpu::from_name))
}

#[cfg(not(feature = "std"))]
fn wanted() -> Option<Result<Cpu, Error>> {
    None
}
