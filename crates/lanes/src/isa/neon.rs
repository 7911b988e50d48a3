//! NEON: 4 lanes of 32 bits, 2 of 64.

use crate::lane::Lane;
use core::arch::aarch64::*;

/// 4 words of 32 bits.
#[derive(Clone, Copy)]
pub(crate) struct N32(uint32x4_t);

/// 2 words of 64 bits.
#[derive(Clone, Copy)]
pub(crate) struct N64(uint64x2_t);

/// Evaluates intrinsics that touch no memory.
macro_rules! op {
    ($($body:tt)*) => {
        // SAFETY: NEON is there: a value of this file's types is at hand, which proves it, or the function that makes the
        // first one has its caller promise it. Nothing else is asked of these intrinsics.
        unsafe { $($body)* }
    };
}

/// Reverses the bytes of each word of 32 bits.
#[inline(always)]
fn reversed32(words: uint32x4_t) -> uint32x4_t {
    op!(vreinterpretq_u32_u8(vrev32q_u8(vreinterpretq_u8_u32(words))))
}

/// Reverses the bytes of each word of 64 bits.
#[inline(always)]
fn reversed64(words: uint64x2_t) -> uint64x2_t {
    op!(vreinterpretq_u64_u8(vrev64q_u8(vreinterpretq_u8_u64(words))))
}

/// Rotations, shifts, and functions that choose bits.
macro_rules! shifts {
    ($xor:ident $select:ident $clear:ident $left:ident, $duplicate:ident as $signed:ty) => {
        #[inline(always)]
        fn choose(self, yes: Self, no: Self) -> Self {
            op!(Self($select(self.0, yes.0, no.0)))
        }

        #[inline(always)]
        fn majority(self, b: Self, c: Self) -> Self {
            self.xor(b).choose(c, b)
        }

        #[inline(always)]
        fn not_and(self, other: Self) -> Self {
            op!(Self($clear(other.0, self.0)))
        }

        #[inline(always)]
        fn shr(self, bits: u32) -> Self {
            // A shift left by a negative number, which the compiler turns into a shift right by a constant.
            op!(Self($left(self.0, $duplicate(-(bits as $signed)))))
        }

        #[inline(always)]
        fn rotr(self, bits: u32) -> Self {
            let left = 8 * size_of::<Self::Word>() as u32 - bits;
            op!(Self($xor(self.shr(bits).0, $left(self.0, $duplicate(left as $signed)))))
        }
    };
}

impl Lane for N32 {
    words!(
        uint32x4_t, u32 as u32: vdupq_n_u32 vld1q_u32 vst1q_u32,
        add vaddq_u32, sub vsubq_u32, xor veorq_u32, and vandq_u32
    );
    reads!(vld1q_u32 reversed32, transpose32);
    writes!(vst1q_u32 reversed32, transpose32);
    shifts!(veorq_u32 vbslq_u32 vbicq_u32 vshlq_u32, vdupq_n_s32 as i32);
}

impl Lane for N64 {
    words!(
        uint64x2_t, u64 as u64: vdupq_n_u64 vld1q_u64 vst1q_u64,
        add vaddq_u64, sub vsubq_u64, xor veorq_u64, and vandq_u64
    );
    reads!(vld1q_u64 reversed64, transpose64);
    writes!(vst1q_u64 reversed64, transpose64);
    shifts!(veorq_u64 vbslq_u64 vbicq_u64 vshlq_u64, vdupq_n_s64 as i64);
}

/// Transposes a square of 4 by 4 words, given row by row.
#[inline(always)]
fn transpose32([a, b, c, d]: [uint32x4_t; 4]) -> [uint32x4_t; 4] {
    op! {
        let (even_ab, odd_ab) = (vreinterpretq_u64_u32(vtrn1q_u32(a, b)), vreinterpretq_u64_u32(vtrn2q_u32(a, b)));
        let (even_cd, odd_cd) = (vreinterpretq_u64_u32(vtrn1q_u32(c, d)), vreinterpretq_u64_u32(vtrn2q_u32(c, d)));
        [
            vreinterpretq_u32_u64(vtrn1q_u64(even_ab, even_cd)),
            vreinterpretq_u32_u64(vtrn1q_u64(odd_ab, odd_cd)),
            vreinterpretq_u32_u64(vtrn2q_u64(even_ab, even_cd)),
            vreinterpretq_u32_u64(vtrn2q_u64(odd_ab, odd_cd)),
        ]
    }
}

/// Transposes a square of 2 by 2 words, given row by row.
#[inline(always)]
fn transpose64([a, b]: [uint64x2_t; 2]) -> [uint64x2_t; 2] {
    op!([vtrn1q_u64(a, b), vtrn2q_u64(a, b)])
}
