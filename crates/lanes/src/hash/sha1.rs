//! SHA-1 (FIPS 180-4).

use crate::{
    dispatch::family,
    kernel::{Kernel, words_kernel},
    lane::Lane,
    plan::{Framing, Padding},
    scheme::Scheme,
    words::Words,
};
use core::marker::PhantomData;

#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
mod armsha;
mod constants;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod shani;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod simd128;

use constants::{K, write};

/// FIPS 180-4, 5.1.1 and 5.3.1.
pub(crate) static SHA1: Scheme = Scheme::new(
    Framing { block: 64, padding: Padding::Length { bytes: 8, big: true } },
    Words::of32(&[0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0]),
    &KERNELS,
);

family! {
    KERNELS: [u32; 5];
    x86 {
        "AVX-512 × 2" AVX512 Sha1<Two<avx512::Z32>>, 327;
        "AVX-512" AVX512 Sha1<avx512::Z32>, 163;
        "AVX-512, 256 bits" AVX512 Sha1<avx512::Y32>, 104;
        "AVX2" AVX2 Sha1<avx2::Y32>, 182;
        "SHA-NI × 2, Zen" ZEN shani::InStep<2>, 47;
        "SHA-NI × 2" SHANI shani::InStep<2>, 74;
        "SHA-NI" SHANI shani::InStep<1>, 41;
        "SSE4.1" SSE41 Sha1<sse41::X32>, 196;
        "BMI2" BMI Sha1<u32>, 92;
    }
    arm {
        "Armv8 SHA × 2" ARMSHA armsha::InStep<2>, 79;
        "Armv8 SHA" ARMSHA armsha::InStep<1>, 45;
        "NEON" NEON Sha1<neon::N32>, 203;
    }
    wasm {
        "simd128" SIMD128 Sha1<simd128::W32>, 203;
    }
    any {
        "portable" NONE Single, 100;
    }
    zen5 {
        "AVX-512 × 2", 126 141;
        "AVX-512", 101 109;
        "AVX-512, 256 bits", 100 102;
        "AVX2", 126 129;
        "SHA-NI × 2", 33 33;
        "SHA-NI", 29 29;
        "SSE4.1", 127 127;
        "BMI2", 69 69;
        "portable", 69 69;
    }
}

/// SHA-1 of one message where no processor's own instructions for it are known.
#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
pub(crate) type Single = Sha1<u32>;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
pub(crate) use simd128::Scheduled as Single;

/// SHA-1 over the lanes `L`.
pub(crate) struct Sha1<L>(PhantomData<L>);

/// One of 80 steps; each `ROUND` has 20 (FIPS 180-4, 4.1.1). The constant is in `sum`, with the word.
#[inline(always)]
fn step<L: Lane<Word = u32>, const ROUND: usize>([a, b, c, d, e]: [L; 5], sum: L) -> [L; 5] {
    let f = match ROUND {
        0 => b.choose(c, d),
        2 => b.majority_once(c, d),
        _ => b.xor3(c, d),
    };
    [e.add(sum).add(f).add(a.rotl(5)).pin(), a, b.rotl(30), c, d]
}

/// FIPS 180-4, 6.1.2.
#[inline(always)]
fn compress<L: Lane<Word = u32>>(state: &mut [L; 5], mut w: [L; 16]) {
    let mut s = *state;
    // Five steps bring each variable back to its place.
    macro_rules! five {
        ($round:literal, $t:expr) => {
            five!(@one $round, $t);
            five!(@one $round, $t + 1);
            five!(@one $round, $t + 2);
            five!(@one $round, $t + 3);
            five!(@one $round, $t + 4);
        };
        (@one $round:literal, $t:expr) => {
            let t: usize = $t;
            if t >= 16 {
                w[t % 16] = w[t % 16].xor3(w[(t + 2) % 16], w[(t + 8) % 16]).xor(w[(t + 13) % 16]).rotl(1);
            }
            s = step::<L, $round>(s, w[t % 16].add(s[0].splat(K[$round])));
        };
    }
    macro_rules! twenty {
        ($round:literal, $t:literal) => {
            five!($round, $t);
            five!($round, $t + 5);
            five!($round, $t + 10);
            five!($round, $t + 15);
        };
    }
    twenty!(0, 0);
    twenty!(1, 20);
    twenty!(2, 40);
    twenty!(3, 60);
    let mut at = 0;
    while at < 5 {
        state[at] = state[at].add(s[at]);
        at += 1;
    }
}

impl<L: Lane<Word = u32>> Kernel for Sha1<L> {
    const DIGEST: usize = 32;
    words_kernel!(5, true);

    #[inline(always)]
    unsafe fn digests(state: &[L; 5], out: *mut u8, stride: usize) {
        // SAFETY: the same promise.
        unsafe { write(state, out, stride) }
    }
}
