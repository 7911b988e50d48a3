//! SHA-256 and SHA-224 (FIPS 180-4).

use crate::{
    dispatch::family,
    hash::{
        roots::ROOTS32,
        sha2::{Sha2, prepare},
    },
    kernel::SMALL,
    plan::{Framing, Padding},
    scheme::{Prepare, Scheme},
    words::Words,
};

#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
mod armsha;
mod constants;
mod pairs;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod shani;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod simd128;

pub(crate) use constants::Sha256;
pub use pairs::{sha256_pairs, sha256_pairs_on};

const fn scheme(start: [u32; 8]) -> Scheme {
    let framing = Framing { block: 64, padding: Padding::Length { bytes: 8, big: true } };
    // Small kernels of one lane take no schedule.
    let prepare = if SMALL && !cfg!(target_feature = "simd128") { None } else { Some(prepare::<Sha256> as Prepare) };
    Scheme { prepare, ..Scheme::new(framing, Words::of32(&start), &KERNELS) }
}

/// FIPS 180-4, 5.3.2.
pub(crate) static SHA224: Scheme =
    scheme([0xc1059ed8, 0x367cd507, 0x3070dd17, 0xf70e5939, 0xffc00b31, 0x68581511, 0x64f98fa7, 0xbefa4fa4]);

/// FIPS 180-4, 5.3.3.
pub(crate) static SHA256: Scheme = scheme(ROOTS32);

family! {
    KERNELS: [u32; 8];
    x86 {
        "AVX-512 × 2" AVX512 Sha2<Sha256, Two<avx512::Z32>>, 641;
        "AVX-512" AVX512 Sha2<Sha256, avx512::Z32>, 326;
        "AVX-512, 256 bits" AVX512 Sha2<Sha256, avx512::Y32>, 207;
        "AVX2" AVX2 Sha2<Sha256, avx2::Y32>, 401;
        // Three messages or more: for Zen 3 and 4, the ratios to two messages that Zen 5 has (`lab/lanes`, "The SHA unit"). For the others, the
        // same cost a message as two, since Intel's chips are bound by the rate of the instructions; of equal costs, the first is taken.
        "SHA-NI × 6, Zen" ZEN shani::InStep<6>, 108;
        "SHA-NI × 4, Zen" ZEN shani::InStep<4>, 77;
        "SHA-NI × 2, Zen" ZEN shani::InStep<2>, 46;
        "SHA-NI × 6" SHANI shani::InStep<6>, 231;
        "SHA-NI × 4" SHANI shani::InStep<4>, 154;
        "SHA-NI × 3" SHANI shani::InStep<3>, 116;
        "SHA-NI × 2" SHANI shani::InStep<2>, 77;
        "SHA-NI" SHANI shani::InStep<1>, 43;
        "SSE4.1" SSE41 Sha2<Sha256, sse41::X32>, 403;
        "BMI2" BMI Sha2<Sha256, u32>, 197;
    }
    arm {
        "Armv8 SHA × 2" ARMSHA armsha::InStep<2>, 73;
        "Armv8 SHA" ARMSHA armsha::InStep<1>, 44;
        "NEON" NEON Sha2<Sha256, neon::N32>, 402;
    }
    wasm {
        "simd128" SIMD128 Sha2<Sha256, simd128::W32>, 402;
    }
    any {
        "portable" NONE Single, 239;
    }
    zen5 {
        "AVX-512 × 2", 248 259;
        "AVX-512", 150 159;
        "AVX-512, 256 bits", 149 151;
        "AVX2", 257 258;
        "SHA-NI × 6", 92 92;
        "SHA-NI × 4", 68 68;
        "SHA-NI × 3", 55 55;
        "SHA-NI × 2", 39 38;
        "SHA-NI", 31 31;
        "SSE4.1", 268 268;
        "BMI2", 124 121;
        "portable", 122 120;
    }
}

/// SHA-256 of one message where no processor's own instructions for it are known.
#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
pub(crate) type Single = Sha2<Sha256, u32>;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
pub(crate) type Single = crate::hash::sha2::Scheduled<Sha256, u32, 4>;
