//! RIPEMD-160 (Dobbertin, Bosselaers and Preneel, *RIPEMD-160: A Strengthened Version of RIPEMD*, 1996; ISO/IEC 10118-3:2018, dedicated
//! hash function 1).

use crate::{
    dispatch::family,
    kernel::{Kernel, words_kernel},
    lane::Lane,
    plan::{Framing, Padding},
    scheme::Scheme,
    words::Words,
};
use core::marker::PhantomData;

/// Padded as MD5 is (RFC 1321, 3.1 and 3.2), with the first state of SHA-1.
pub(crate) static RIPEMD160: Scheme = Scheme::new(
    Framing { block: 64, padding: Padding::Length { bytes: 8, big: false } },
    Words::of32(&[0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0]),
    &KERNELS,
);

family! {
    KERNELS: [u32; 5];
    x86 {
        "AVX-512" AVX512 Ripemd160<avx512::Z32>, 240;
        "AVX-512, 256 bits" AVX512 Ripemd160<avx512::Y32>, 190;
        "AVX2" AVX2 Ripemd160<avx2::Y32>, 330;
        "SSE4.1" SSE41 Ripemd160<sse41::X32>, 330;
    }
    arm {
        "NEON" NEON Ripemd160<neon::N32>, 330;
    }
    wasm {}
    any {
        "portable" NONE Ripemd160<u32>, 220;
    }
    zen5 {
        "AVX-512", 240 245;
        "AVX-512, 256 bits", 190 195;
        "AVX2", 330 335;
        "SSE4.1", 330 335;
        "portable", 170 170;
    }
}

/// RIPEMD-160 over the lanes `L`.
pub(crate) struct Ripemd160<L>(PhantomData<L>);

/// A line of five rounds: its constants, and for each of 16 steps of a round the word and the rotation.
struct Line {
    constants: [u32; 5],
    words: [[usize; 16]; 5],
    turns: [[u32; 16]; 5],
}

const LEFT: Line = Line {
    constants: [0, 0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xa953fd4e],
    words: [
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
        [7, 4, 13, 1, 10, 6, 15, 3, 12, 0, 9, 5, 2, 14, 11, 8],
        [3, 10, 14, 4, 9, 15, 8, 1, 2, 7, 0, 6, 13, 11, 5, 12],
        [1, 9, 11, 10, 0, 8, 12, 4, 13, 3, 7, 15, 14, 5, 6, 2],
        [4, 0, 5, 9, 7, 12, 2, 10, 14, 1, 3, 8, 11, 6, 15, 13],
    ],
    turns: [
        [11, 14, 15, 12, 5, 8, 7, 9, 11, 13, 14, 15, 6, 7, 9, 8],
        [7, 6, 8, 13, 11, 9, 7, 15, 7, 12, 15, 9, 11, 7, 13, 12],
        [11, 13, 6, 7, 14, 9, 13, 15, 14, 8, 13, 6, 5, 12, 7, 5],
        [11, 12, 14, 15, 14, 15, 9, 8, 9, 14, 5, 6, 8, 6, 5, 12],
        [9, 15, 5, 11, 6, 8, 13, 12, 5, 12, 13, 14, 11, 8, 5, 6],
    ],
};

const RIGHT: Line = Line {
    constants: [0x50a28be6, 0x5c4dd124, 0x6d703ef3, 0x7a6d76e9, 0],
    words: [
        [5, 14, 7, 0, 9, 2, 11, 4, 13, 6, 15, 8, 1, 10, 3, 12],
        [6, 11, 3, 7, 0, 13, 5, 10, 14, 15, 8, 12, 4, 9, 1, 2],
        [15, 5, 1, 3, 7, 14, 6, 9, 11, 8, 12, 2, 10, 0, 4, 13],
        [8, 6, 4, 1, 3, 11, 15, 0, 5, 12, 2, 13, 9, 7, 10, 14],
        [12, 15, 10, 4, 1, 5, 8, 7, 6, 2, 13, 14, 0, 3, 9, 11],
    ],
    turns: [
        [8, 9, 9, 11, 13, 15, 15, 5, 7, 7, 8, 11, 14, 14, 12, 6],
        [9, 13, 15, 7, 12, 8, 9, 11, 7, 7, 12, 7, 6, 15, 13, 11],
        [9, 7, 15, 11, 8, 6, 6, 14, 12, 13, 5, 14, 13, 13, 7, 5],
        [15, 5, 8, 11, 14, 14, 6, 14, 6, 9, 12, 9, 12, 5, 15, 8],
        [8, 5, 12, 9, 12, 5, 14, 6, 8, 13, 6, 5, 15, 13, 11, 11],
    ],
};

/// One of 80 steps of a line; `FUNCTION` is the round of the left line, and counts backwards on the right one.
#[inline(always)]
fn step<L: Lane<Word = u32>, const FUNCTION: usize>([a, b, c, d, e]: [L; 5], word: L, k: u32, turn: u32) -> [L; 5] {
    let early = a.add(word);
    let sum = match FUNCTION {
        0 => early.add(b.xor3(c, d)).add(a.splat(k)),
        1 => early.add(a.splat(k)).add(b.choose(c, d)),
        // (b | !c) ^ d is !(d ^ (!b & c)), and + !x is - x - 1. The last function is this one of other words.
        2 => early.add(a.splat(k.wrapping_sub(1))).sub(d.xor_not_and(b, c)),
        3 => early.add(a.splat(k)).add(d.choose(b, c)),
        _ => early.add(a.splat(k.wrapping_sub(1))).sub(b.xor_not_and(c, d)),
    };
    [e, sum.rotl(turn).add(e).pin(), b, c.rotl(10), d]
}

#[inline(always)]
fn compress<L: Lane<Word = u32>>(state: &mut [L; 5], w: [L; 16]) {
    let (mut left, mut right) = (*state, *state);
    macro_rules! round {
        ($round:literal) => {
            round!($round, 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
        };
        ($round:literal, $($at:literal)*) => {$(
            let (word, turn) = const { (LEFT.words[$round][$at], LEFT.turns[$round][$at]) };
            left = step::<L, $round>(left, w[word], LEFT.constants[$round], turn);
            let (word, turn) = const { (RIGHT.words[$round][$at], RIGHT.turns[$round][$at]) };
            right = step::<L, { 4 - $round }>(right, w[word], RIGHT.constants[$round], turn);
        )*};
    }
    round!(0);
    round!(1);
    round!(2);
    round!(3);
    round!(4);
    let before = *state;
    let mut at = 0;
    while at < 5 {
        state[at] = before[(at + 1) % 5].add(left[(at + 2) % 5]).add(right[(at + 3) % 5]);
        at += 1;
    }
}

impl<L: Lane<Word = u32>> Kernel for Ripemd160<L> {
    const DIGEST: usize = 32;
    words_kernel!(5, false);

    #[inline(always)]
    unsafe fn digests(&[a, b, c, d, e]: &[L; 5], out: *mut u8, stride: usize) {
        // SAFETY: 32 bytes, which are 8 words, can be written for each lane, as promised. The words after the digest are never read.
        unsafe { L::write8::<false>(&[a, b, c, d, e, a, b, c], out, stride) }
    }
}
