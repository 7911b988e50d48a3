//! The table of kernels: which hash runs on which lanes, and how a number of messages is shared among them.

#[allow(unused_imports)] // Where there are no vectors.
use crate::{
    Hash,
    blake2::{Big, Blake2, Small},
    blake3::Blake3,
    cpu::{Cpu, Features},
    isa,
    keccak::Keccak,
    kernel::{End, Job, run},
    lane::Two,
    md5::Md5,
    sha1::Sha1,
    sha2::Sha2,
    sha256::Sha256,
    sha512::Sha512,
};

/// Hashes that one kernel computes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Family {
    Md5,
    Sha1,
    Sha256,
    Sha512,
    Blake2s,
    Blake2b,
    Blake3,
    Keccak,
}

impl Family {
    /// The size of a word, in bytes.
    pub fn word(self) -> usize {
        match self {
            Family::Sha512 | Family::Blake2b | Family::Keccak => 8,
            _ => 4,
        }
    }

    /// The number of words in a state.
    pub fn words(self) -> usize {
        match self {
            Family::Md5 => 4,
            Family::Sha1 => 5,
            Family::Keccak => 25,
            _ => 8,
        }
    }
}

impl Hash {
    /// The kernels that compute it.
    pub(crate) fn family(self) -> Family {
        match self {
            Hash::Md5 => Family::Md5,
            Hash::Sha1 => Family::Sha1,
            Hash::Sha224 | Hash::Sha256 => Family::Sha256,
            Hash::Sha384 | Hash::Sha512 | Hash::Sha512_224 | Hash::Sha512_256 => Family::Sha512,
            Hash::Blake2s => Family::Blake2s,
            Hash::Blake2b => Family::Blake2b,
            Hash::Blake3 => Family::Blake3,
            Hash::Sha3_224 | Hash::Sha3_256 | Hash::Sha3_384 | Hash::Sha3_512 | Hash::Keccak256 => Family::Keccak,
        }
    }
}

/// One kernel.
pub(crate) struct Entry {
    /// The lanes, for people.
    pub name: &'static str,
    /// The number of messages side by side.
    pub lanes: usize,
    /// What the machine must have.
    pub needs: Features,
    /// The time of a block of all lanes, in nanoseconds, as measured (lab/lanes): only the ratios within a hash count.
    /// What no machine at hand could measure has the cost of SSE4.1.
    pub cost: u32,
    /// Does a job.
    ///
    /// # Safety
    /// As [`run`].
    pub run: unsafe fn(&Job<'_>),
}

/// One table a hash, from the widest kernel down: name, target features, what the machine must have, kernel, cost. Each
/// is a module, so that the compiler takes them as units of their own, side by side.
macro_rules! tables {
    ($($module:ident $family:ident {
        $($(#[$cfg:meta])* $name:literal $features:tt $needs:ident $kernel:ty, $cost:literal;)*
    })*) => {
        $(mod $module {
            use super::*;

            pub(super) static TABLE: &[Entry] = &[$(
                $(#[$cfg])*
                Entry {
                    name: $name,
                    lanes: <$kernel as crate::kernel::Kernel>::LANES,
                    needs: Features::$needs,
                    cost: $cost,
                    run: kernel!($features $kernel),
                },
            )*];
        })*

        fn table(family: Family) -> &'static [Entry] {
            match family {
                $(Family::$family => $module::TABLE,)*
            }
        }
    };
}

/// A function that carries the target features.
macro_rules! kernel {
    ([] $kernel:ty) => {
        run::<$kernel>
    };
    ([$feature:literal] $kernel:ty) => {{
        #[target_feature(enable = $feature)]
        unsafe fn kernel(job: &Job<'_>) {
            // SAFETY: the caller's promise.
            unsafe { run::<$kernel>(job) }
        }
        kernel
    }};
}

tables! {
    md5 Md5 {
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        "AVX-512 × 3" ["avx512f,avx512bw,avx512vl,bmi2"] AVX512 Md5<crate::lane::Three<isa::avx512::Z32>>, 285;
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        "AVX-512 × 2" ["avx512f,avx512bw,avx512vl,bmi2"] AVX512 Md5<Two<isa::avx512::Z32>>, 191;
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        "AVX-512" ["avx512f,avx512bw,avx512vl,bmi2"] AVX512 Md5<isa::avx512::Z32>, 122;
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        "AVX2 × 2" ["avx2,bmi1,bmi2"] AVX2 Md5<Two<isa::avx2::Y32>>, 218;
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        "AVX2" ["avx2,bmi1,bmi2"] AVX2 Md5<isa::avx2::Y32>, 150;
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        "SSE4.1 × 2" ["sse4.1,ssse3"] SSE41 Md5<Two<isa::sse41::X32>>, 205;
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        "SSE4.1" ["sse4.1,ssse3"] SSE41 Md5<isa::sse41::X32>, 146;
        #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
        "NEON × 2" ["neon"] NEON Md5<Two<isa::neon::N32>>, 205;
        #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
        "NEON" ["neon"] NEON Md5<isa::neon::N32>, 146;
        #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
        "simd128 × 2" [] SIMD128 Md5<Two<isa::simd128::W32>>, 205;
        #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
        "simd128" [] SIMD128 Md5<isa::simd128::W32>, 146;
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        "BMI2" ["bmi1,bmi2"] AVX2 Md5<u32>, 116;
        "portable" [] NONE Md5<u32>, 117;
    }
    sha1 Sha1 {
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        "AVX-512 × 2" ["avx512f,avx512bw,avx512vl,bmi2"] AVX512 Sha1<Two<isa::avx512::Z32>>, 372;
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        "AVX-512" ["avx512f,avx512bw,avx512vl,bmi2"] AVX512 Sha1<isa::avx512::Z32>, 205;
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        "AVX2" ["avx2,bmi1,bmi2"] AVX2 Sha1<isa::avx2::Y32>, 186;
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        "SHA-NI × 2" ["sha,sse2,ssse3,sse4.1"] SHANI isa::shani::Sha1<2>, 79;
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        "SHA-NI" ["sha,sse2,ssse3,sse4.1"] SHANI isa::shani::Sha1<1>, 45;
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        "SSE4.1" ["sse4.1,ssse3"] SSE41 Sha1<isa::sse41::X32>, 203;
        #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
        "Armv8 SHA × 2" ["neon,sha2"] ARMSHA isa::armsha::Sha1<2>, 79;
        #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
        "Armv8 SHA" ["neon,sha2"] ARMSHA isa::armsha::Sha1<1>, 45;
        #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
        "NEON" ["neon"] NEON Sha1<isa::neon::N32>, 203;
        #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
        "simd128" [] SIMD128 Sha1<isa::simd128::W32>, 203;
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        "BMI2" ["bmi1,bmi2"] AVX2 Sha1<u32>, 116;
        "portable" [] NONE Sha1<u32>, 117;
    }
    sha256 Sha256 {
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        "AVX-512 × 2" ["avx512f,avx512bw,avx512vl,bmi2"] AVX512 Sha2<Sha256, Two<isa::avx512::Z32>>, 630;
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        "AVX-512" ["avx512f,avx512bw,avx512vl,bmi2"] AVX512 Sha2<Sha256, isa::avx512::Z32>, 320;
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        "AVX2" ["avx2,bmi1,bmi2"] AVX2 Sha2<Sha256, isa::avx2::Y32>, 400;
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        "SHA-NI × 2" ["sha,sse2,ssse3,sse4.1"] SHANI isa::shani::Sha256<2>, 73;
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        "SHA-NI" ["sha,sse2,ssse3,sse4.1"] SHANI isa::shani::Sha256<1>, 44;
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        "SSE4.1" ["sse4.1,ssse3"] SSE41 Sha2<Sha256, isa::sse41::X32>, 402;
        #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
        "Armv8 SHA × 2" ["neon,sha2"] ARMSHA isa::armsha::Sha256<2>, 73;
        #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
        "Armv8 SHA" ["neon,sha2"] ARMSHA isa::armsha::Sha256<1>, 44;
        #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
        "NEON" ["neon"] NEON Sha2<Sha256, isa::neon::N32>, 402;
        #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
        "simd128" [] SIMD128 Sha2<Sha256, isa::simd128::W32>, 402;
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        "BMI2" ["bmi1,bmi2"] AVX2 Sha2<Sha256, u32>, 210;
        "portable" [] NONE Sha2<Sha256, u32>, 237;
    }
    sha512 Sha512 {
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        "AVX-512 × 2" ["avx512f,avx512bw,avx512vl,bmi2"] AVX512 Sha2<Sha512, Two<isa::avx512::Z64>>, 780;
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        "AVX-512" ["avx512f,avx512bw,avx512vl,bmi2"] AVX512 Sha2<Sha512, isa::avx512::Z64>, 394;
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        "AVX2" ["avx2,bmi1,bmi2"] AVX2 Sha2<Sha512, isa::avx2::Y64>, 488;
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        "SSE4.1" ["sse4.1,ssse3"] SSE41 Sha2<Sha512, isa::sse41::X64>, 488;
        #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
        "NEON" ["neon"] NEON Sha2<Sha512, isa::neon::N64>, 488;
        #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
        "simd128" [] SIMD128 Sha2<Sha512, isa::simd128::W64>, 488;
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        "BMI2" ["bmi1,bmi2"] AVX2 Sha2<Sha512, u64>, 256;
        "portable" [] NONE Sha2<Sha512, u64>, 284;
    }
    blake2s Blake2s {
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        "AVX-512 × 2" ["avx512f,avx512bw,avx512vl,bmi2"] AVX512 Blake2<Small, Two<isa::avx512::Z32>>, 487;
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        "AVX-512" ["avx512f,avx512bw,avx512vl,bmi2"] AVX512 Blake2<Small, isa::avx512::Z32>, 250;
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        "AVX2" ["avx2,bmi1,bmi2"] AVX2 Blake2<Small, isa::avx2::Y32>, 244;
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        "SSE4.1" ["sse4.1,ssse3"] SSE41 Blake2<Small, isa::sse41::X32>, 222;
        #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
        "NEON" ["neon"] NEON Blake2<Small, isa::neon::N32>, 222;
        #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
        "simd128" [] SIMD128 Blake2<Small, isa::simd128::W32>, 222;
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        "BMI2" ["bmi1,bmi2"] AVX2 Blake2<Small, u32>, 112;
        "portable" [] NONE Blake2<Small, u32>, 116;
    }
    blake2b Blake2b {
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        "AVX-512 × 2" ["avx512f,avx512bw,avx512vl,bmi2"] AVX512 Blake2<Big, Two<isa::avx512::Z64>>, 518;
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        "AVX-512" ["avx512f,avx512bw,avx512vl,bmi2"] AVX512 Blake2<Big, isa::avx512::Z64>, 277;
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        "AVX2" ["avx2,bmi1,bmi2"] AVX2 Blake2<Big, isa::avx2::Y64>, 239;
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        "SSE4.1" ["sse4.1,ssse3"] SSE41 Blake2<Big, isa::sse41::X64>, 233;
        #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
        "NEON" ["neon"] NEON Blake2<Big, isa::neon::N64>, 233;
        #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
        "simd128" [] SIMD128 Blake2<Big, isa::simd128::W64>, 233;
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        "BMI2" ["bmi1,bmi2"] AVX2 Blake2<Big, u64>, 135;
        "portable" [] NONE Blake2<Big, u64>, 142;
    }
    blake3 Blake3 {
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        "AVX-512 × 2" ["avx512f,avx512bw,avx512vl,bmi2"] AVX512 Blake3<Two<isa::avx512::Z32>>, 330;
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        "AVX-512" ["avx512f,avx512bw,avx512vl,bmi2"] AVX512 Blake3<isa::avx512::Z32>, 176;
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        "AVX2" ["avx2,bmi1,bmi2"] AVX2 Blake3<isa::avx2::Y32>, 165;
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        "SSE4.1" ["sse4.1,ssse3"] SSE41 Blake3<isa::sse41::X32>, 160;
        #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
        "NEON" ["neon"] NEON Blake3<isa::neon::N32>, 160;
        #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
        "simd128" [] SIMD128 Blake3<isa::simd128::W32>, 160;
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        "BMI2" ["bmi1,bmi2"] AVX2 Blake3<u32>, 80;
        "portable" [] NONE Blake3<u32>, 84;
    }
    keccak Keccak {
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        "AVX-512" ["avx512f,avx512bw,avx512vl,bmi2"] AVX512 Keccak<isa::avx512::Z64>, 418;
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        "AVX2" ["avx2,bmi1,bmi2"] AVX2 Keccak<isa::avx2::Y64>, 579;
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        "SSE4.1" ["sse4.1,ssse3"] SSE41 Keccak<isa::sse41::X64>, 527;
        #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
        "NEON" ["neon"] NEON Keccak<isa::neon::N64>, 527;
        #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
        "simd128" [] SIMD128 Keccak<isa::simd128::W64>, 527;
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        "BMI2" ["bmi1,bmi2"] AVX2 Keccak<u64>, 330;
        "portable" [] NONE Keccak<u64>, 350;
    }
}

/// The kernels of a family that a machine has, from the widest to the single message.
pub(crate) fn all(cpu: Cpu, family: Family) -> impl Iterator<Item = &'static Entry> {
    table(family).iter().filter(move |entry| cpu.features().have(entry.needs))
}

/// The kernel that takes the least time for each of `count` messages, if they are the last ones.
pub(crate) fn pick(cpu: Cpu, family: Family, count: usize) -> &'static Entry {
    all(cpu, family)
        .min_by_key(|entry| u64::from(entry.cost) * 65536 / entry.lanes.min(count.max(1)) as u64)
        .expect("portable code runs everywhere")
}

/// The fastest kernel for one message at a time.
pub(crate) fn single(cpu: Cpu, family: Family) -> &'static Entry {
    all(cpu, family)
        .filter(|entry| entry.lanes == 1)
        .min_by_key(|entry| entry.cost)
        .expect("portable code runs everywhere")
}

/// The kernel that is fastest where messages are many.
pub(crate) fn widest(cpu: Cpu, family: Family) -> &'static Entry {
    pick(cpu, family, usize::MAX)
}

/// Does a job that writes digests, with the fastest kernels for so many messages.
///
/// # Safety
/// The job's pointers reach as far as its steps say.
pub(crate) unsafe fn dispatch(cpu: Cpu, family: Family, job: Job<'_>) {
    let End::Digests(out, size) = job.end else { unreachable!("states have a kernel of their own") };
    let mut done = 0;
    while done < job.count {
        let left = job.count - done;
        let entry = pick(cpu, family, left);
        // All full groups now; a group that is not full is the last one.
        let count = if entry.lanes <= left { left - left % entry.lanes } else { left };
        let end = End::Digests(out.wrapping_add(done * size), size);
        // SAFETY: `cpu` has what the kernel needs; the rest is the caller's promise.
        unsafe { (entry.run)(&Job { grid: job.grid.skip(done), count, end, ..job }) };
        done += count;
    }
}
