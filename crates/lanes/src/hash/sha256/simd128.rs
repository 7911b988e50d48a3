//! The schedule of SHA-256 in vectors.

use super::Sha256;
use crate::hash::sha2::Vectors;
use core::arch::wasm32::*;

#[inline(always)]
fn rotr<const BITS: u32>(words: v128) -> v128 {
    v128_or(u32x4_shr(words, BITS), u32x4_shl(words, 32 - BITS))
}

/// σ1 of the words in the lower halves of both lanes of 64 bits. Each word is in the upper half too, so that a shift rotates it.
#[inline(always)]
fn sigma1(twice: v128) -> v128 {
    v128_xor(v128_xor(u64x2_shr(twice, 17), u64x2_shr(twice, 19)), u32x4_shr(twice, 10))
}

impl Vectors<4> for Sha256 {
    #[inline(always)]
    fn sum(one: v128, other: v128) -> v128 {
        u32x4_add(one, other)
    }

    /// FIPS 180-4, 6.2.2.
    #[inline(always)]
    fn next(w: &[v128; 4], at: usize) -> v128 {
        let after = |vectors: usize| w[(at + vectors) % 4];
        let fifteenth = u32x4_shuffle::<1, 2, 3, 4>(after(0), after(1));
        let sigma0 = v128_xor(v128_xor(rotr::<7>(fifteenth), rotr::<18>(fifteenth)), u32x4_shr(fifteenth, 3));
        let sum = u32x4_add(u32x4_add(after(0), sigma0), u32x4_shuffle::<1, 2, 3, 4>(after(2), after(3)));
        // The last two words depend on the first two.
        let zero = u32x4_splat(0);
        let early = sigma1(u32x4_shuffle::<2, 2, 3, 3>(after(3), after(3)));
        let sum = u32x4_add(sum, u32x4_shuffle::<0, 2, 4, 4>(early, zero));
        let late = sigma1(u32x4_shuffle::<0, 0, 1, 1>(sum, sum));
        u32x4_add(sum, u32x4_shuffle::<4, 4, 0, 2>(late, zero))
    }
}
