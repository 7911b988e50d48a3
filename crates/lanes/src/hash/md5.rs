//! MD5 (RFC 1321).

use crate::{
    dispatch::family,
    kernel::{Kernel, words_kernel},
    lane::Lane,
    plan::{Framing, Padding},
    scheme::Scheme,
    words::Words,
};
use core::marker::PhantomData;

mod constants;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod simd128;

use constants::{K, write};

/// RFC 1321, 3.1 to 3.3.
pub(crate) static MD5: Scheme = Scheme::new(
    Framing { block: 64, padding: Padding::Length { bytes: 8, big: false } },
    Words::of32(&[0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476]),
    &KERNELS,
);

family! {
    KERNELS: [u32; 4];
    x86 {
        "AVX-512 × 3" AVX512 Md5<Three<avx512::Z32>>, 285;
        "AVX-512 × 2" AVX512 Md5<Two<avx512::Z32>>, 191;
        "AVX-512" AVX512 Md5<avx512::Z32>, 122;
        "AVX-512, 256 bits" AVX512 Md5<avx512::Y32>, 105;
        "AVX2 × 2" AVX2 Md5<Two<avx2::Y32>>, 218;
        "AVX2" AVX2 Md5<avx2::Y32>, 150;
        "SSE4.1 × 2" SSE41 Md5<Two<sse41::X32>>, 205;
        "SSE4.1" SSE41 Md5<sse41::X32>, 146;
        "BMI2" BMI Md5<u32>, 116;
    }
    arm {
        "NEON × 2" NEON Md5<Two<neon::N32>>, 205;
        "NEON" NEON Md5<neon::N32>, 146;
    }
    wasm {
        "simd128 × 2" SIMD128 Md5<Two<simd128::W32>>, 205;
    }
    any {
        "portable" NONE Single, 117;
    }
    zen5 {
        "AVX-512 × 3", 165 186;
        "AVX-512 × 2", 139 158;
        "AVX-512", 133 140;
        "AVX-512, 256 bits", 130 134;
        "AVX2 × 2", 200 208;
        "AVX2", 187 190;
        "SSE4.1 × 2", 194 200;
        "SSE4.1", 213 213;
        "BMI2", 70 69;
        "portable", 73 73;
    }
}

/// MD5 of one message.
#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
type Single = Md5<u32>;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
type Single = simd128::Added;

/// MD5 over the lanes `L`.
pub(crate) struct Md5<L>(PhantomData<L>);

/// One step: `a = b + rotl(a + f(b, c, d) + word + constant)`.
#[inline(always)]
fn step<L: Lane<Word = u32>, const ROUND: usize>([a, b, c, d]: [L; 4], word: L, k: u32, turn: u32) -> L {
    // The operations that do not depend on the step before, which made `b`, go first; pinned where that is fastest.
    let early = a.add(word);
    let sum = match ROUND {
        0 => early.add(a.splat(k)).pin().add(b.choose(c, d)),
        1 => d.choose_added(b, c, early.add(a.splat(k)).pin()),
        2 => early.add(a.splat(k)).pin().add(c.xor3(d, b)),
        // c ^ (b | !d) is !(c ^ (!b & d)), and + !x is - x - 1: one operation less where there is no three-input one.
        _ => early.add(a.splat(k.wrapping_sub(1))).pin().sub(c.xor_not_and(b, d)),
    };
    sum.rotl(turn).add(b).pin()
}

/// RFC 1321, 3.4.
#[inline(always)]
fn compress<L: Lane<Word = u32>>(state: &mut [L; 4], w: [L; 16]) {
    let [mut a, mut b, mut c, mut d] = *state;
    // A round takes the words at `first + i * by`.
    macro_rules! round {
        ($round:literal, $first:literal, $by:literal, $turns:expr) => {
            let mut i = 0;
            while i < 16 {
                let at = $first + i * $by;
                a = step::<L, $round>([a, b, c, d], w[at % 16], K[16 * $round + i], $turns[0]);
                d = step::<L, $round>([d, a, b, c], w[(at + $by) % 16], K[16 * $round + i + 1], $turns[1]);
                c = step::<L, $round>([c, d, a, b], w[(at + 2 * $by) % 16], K[16 * $round + i + 2], $turns[2]);
                b = step::<L, $round>([b, c, d, a], w[(at + 3 * $by) % 16], K[16 * $round + i + 3], $turns[3]);
                i += 4;
            }
        };
    }
    round!(0, 0, 1, [7, 12, 17, 22]);
    round!(1, 1, 5, [5, 9, 14, 20]);
    round!(2, 5, 3, [4, 11, 16, 23]);
    round!(3, 0, 7, [6, 10, 15, 21]);
    *state = [state[0].add(a), state[1].add(b), state[2].add(c), state[3].add(d)];
}

impl<L: Lane<Word = u32>> Kernel for Md5<L> {
    const DIGEST: usize = 32;
    words_kernel!(4, false);

    #[inline(always)]
    unsafe fn digests(state: &[L; 4], out: *mut u8, stride: usize) {
        // SAFETY: the same promise.
        unsafe { write(state, out, stride) }
    }
}
