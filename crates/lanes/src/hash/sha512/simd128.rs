//! The schedule of SHA-512 in vectors.

use super::Sha512;
use crate::hash::sha2::Vectors;
use core::arch::wasm32::*;

#[inline(always)]
fn rotr<const BITS: u32>(words: v128) -> v128 {
    v128_or(u64x2_shr(words, BITS), u64x2_shl(words, 64 - BITS))
}

impl Vectors<8> for Sha512 {
    #[inline(always)]
    fn sum(one: v128, other: v128) -> v128 {
        u64x2_add(one, other)
    }

    /// FIPS 180-4, 6.4.2.
    #[inline(always)]
    fn next(w: &[v128; 8], at: usize) -> v128 {
        let after = |vectors: usize| w[(at + vectors) % 8];
        let (fifteenth, second) = (u64x2_shuffle::<1, 2>(after(0), after(1)), after(7));
        let sigma0 = v128_xor(v128_xor(rotr::<1>(fifteenth), rotr::<8>(fifteenth)), u64x2_shr(fifteenth, 7));
        let sigma1 = v128_xor(v128_xor(rotr::<19>(second), rotr::<61>(second)), u64x2_shr(second, 6));
        let early = u64x2_add(u64x2_add(after(0), sigma0), u64x2_shuffle::<1, 2>(after(4), after(5)));
        u64x2_add(early, sigma1)
    }
}
