//! SM3 (GB/T 32905-2016, ISO/IEC 10118-3:2018, dedicated hash function 17).

use crate::{
    dispatch::family,
    kernel::{Kernel, words_kernel},
    lane::Lane,
    plan::{Framing, Padding},
    scheme::Scheme,
    words::Words,
};
use core::marker::PhantomData;

/// GB/T 32905, 4.1 and 5.2.
pub(crate) static SM3: Scheme = Scheme::new(
    Framing { block: 64, padding: Padding::Length { bytes: 8, big: true } },
    Words::of32(&[0x7380166f, 0x4914b2b9, 0x172442d7, 0xda8a0600, 0xa96f30bc, 0x163138aa, 0xe38dee4d, 0xb0fb0e4e]),
    &KERNELS,
);

family! {
    KERNELS: [u32; 8];
    x86 {
        "AVX-512" AVX512 Sm3<avx512::Z32>, 266;
        "AVX-512, 256 bits" AVX512 Sm3<avx512::Y32>, 183;
        "AVX2" AVX2 Sm3<avx2::Y32>, 362;
        "SSE4.1" SSE41 Sm3<sse41::X32>, 350;
        "BMI2" BMI Sm3<u32>, 178;
    }
    arm {
        "NEON" NEON Sm3<neon::N32>, 350;
    }
    wasm {
        "simd128" SIMD128 Sm3<simd128::W32>, 350;
    }
    any {
        "portable" NONE Sm3<u32>, 177;
    }
    zen5 {
        "AVX-512", 197 206;
        "AVX-512, 256 bits", 197 201;
        "AVX2", 292 295;
        "SSE4.1", 300 299;
        "BMI2", 122 120;
        "portable", 116 115;
    }
}

/// SM3 over the lanes `L`.
pub(crate) struct Sm3<L>(PhantomData<L>);

/// The constants T, turned by the number of their round (GB/T 32905, 4.2 and 5.3.3).
static T: [u32; 64] = {
    let mut all = [0; 64];
    let mut round = 0;
    while round < 64 {
        let constant: u32 = if round < 16 { 0x79cc4519 } else { 0x7a879d8a };
        all[round] = constant.rotate_left(round as u32 % 32);
        round += 1;
    }
    all
};

/// P0 is `permute(x, 9, 17)`, P1 is `permute(x, 15, 23)` (GB/T 32905, 4.4).
#[inline(always)]
fn permute<L: Lane<Word = u32>>(x: L, first: u32, second: u32) -> L {
    x.xor3(x.rotl(first), x.rotl(second))
}

/// One of 64 rounds; `EARLY` are the first 16, whose functions are sums (GB/T 32905, 4.3 and 5.3.3). `late` is the word four places
/// after `word`.
#[inline(always)]
fn round<L: Lane<Word = u32>, const EARLY: bool>([a, b, c, d, e, f, g, h]: [L; 8], t: u32, word: L, late: L) -> [L; 8] {
    let turned = a.rotl(12);
    let ss1 = turned.add(e).add(a.splat(t)).rotl(7);
    let ss2 = ss1.xor(turned);
    let (ff, gg) = match EARLY {
        true => (a.xor3(b, c), e.xor3(f, g)),
        false => (a.majority_once(b, c), e.choose(f, g)),
    };
    let tt1 = d.add(word.xor(late)).add(ff).add(ss2);
    let tt2 = h.add(word).add(gg).add(ss1);
    [tt1.pin(), a, b.rotl(9), c, permute(tt2, 9, 17).pin(), e, f.rotl(19), g]
}

/// GB/T 32905, 5.3.2 and 5.3.3.
#[inline(always)]
fn compress<L: Lane<Word = u32>>(state: &mut [L; 8], mut w: [L; 16]) {
    let mut s = *state;
    // Each round needs the word four places later, too. The first twelve have it; later ones compute it.
    macro_rules! sixteen {
        ($early:literal, $first:expr) => {
            sixteen!(@each $early, $first, 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
        };
        (@each $early:literal, $first:expr, $($at:literal)*) => {$(
            let (word, late) = (w[$at], ($at + 4) % 16);
            if !$early || $at >= 12 {
                let sum = w[late].xor3(w[(late + 7) % 16], w[(late + 13) % 16].rotl(15));
                w[late] = permute(sum, 15, 23).xor3(w[(late + 3) % 16].rotl(7), w[(late + 10) % 16]);
            }
            s = round::<L, $early>(s, T[$first + $at], word, w[late]);
        )*};
    }
    sixteen!(true, 0);
    // Not written out: a compiler's time grows with the square of a kernel's length.
    let mut first = 16;
    while first < 64 {
        sixteen!(false, first);
        first += 16;
    }
    let mut at = 0;
    while at < 8 {
        state[at] = state[at].xor(s[at]);
        at += 1;
    }
}

impl<L: Lane<Word = u32>> Kernel for Sm3<L> {
    const DIGEST: usize = 32;
    words_kernel!(8, true);

    #[inline(always)]
    unsafe fn digests(state: &[L; 8], out: *mut u8, stride: usize) {
        // SAFETY: 32 bytes, which are 8 words, can be written for each lane, as promised.
        unsafe { L::write8::<true>(state, out, stride) }
    }
}
