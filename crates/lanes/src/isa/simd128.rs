//! WebAssembly's simd128: 4 lanes of 32 bits, 2 of 64.

use crate::lane::Lane;
use core::arch::wasm32::*;

/// 4 words of 32 bits.
#[derive(Clone, Copy)]
pub(crate) struct W32(v128);

/// Evaluates intrinsics that touch no memory: they are safe, because this module is compiled only where simd128 is.
macro_rules! op {
    ($($body:tt)*) => { $($body)* };
}

/// Reverses the bytes of each word of `BYTES` bytes.
#[inline(always)]
pub(crate) fn reversed<const BYTES: usize>(vector: v128) -> v128 {
    match BYTES {
        4 => u8x16_shuffle::<3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12>(vector, vector),
        _ => u8x16_shuffle::<7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8>(vector, vector),
    }
}

/// Rotations, shifts, and functions that choose bits.
macro_rules! shifts {
    ($left:ident $right:ident) => {
        #[inline(always)]
        fn not_and(self, other: Self) -> Self {
            Self(v128_andnot(other.0, self.0))
        }

        #[inline(always)]
        fn choose(self, yes: Self, no: Self) -> Self {
            Self(v128_bitselect(yes.0, no.0, self.0))
        }

        #[inline(always)]
        fn shr(self, bits: u32) -> Self {
            Self($right(self.0, bits))
        }

        #[inline(always)]
        fn rotr(self, bits: u32) -> Self {
            Self(v128_or($right(self.0, bits), $left(self.0, 8 * size_of::<Self::Word>() as u32 - bits)))
        }
    };
}

impl Lane for W32 {
    words!(
        v128, u32 as u32: u32x4_splat v128_load v128_store,
        add u32x4_add, sub u32x4_sub, xor v128_xor, and v128_and
    );
    reads!(v128_load reversed::<4>, transpose32);
    writes!(v128_store reversed::<4>, transpose32);
    shifts!(u32x4_shl u32x4_shr);
}

/// Transposes a square of 4 by 4 words, given row by row.
#[inline(always)]
fn transpose32([a, b, c, d]: [v128; 4]) -> [v128; 4] {
    let (ab, ab_high) = (u32x4_shuffle::<0, 4, 1, 5>(a, b), u32x4_shuffle::<2, 6, 3, 7>(a, b));
    let (cd, cd_high) = (u32x4_shuffle::<0, 4, 1, 5>(c, d), u32x4_shuffle::<2, 6, 3, 7>(c, d));
    [
        u64x2_shuffle::<0, 2>(ab, cd),
        u64x2_shuffle::<1, 3>(ab, cd),
        u64x2_shuffle::<0, 2>(ab_high, cd_high),
        u64x2_shuffle::<1, 3>(ab_high, cd_high),
    ]
}
