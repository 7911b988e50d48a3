//! The schedule of SHA-512 in vectors of AVX2.

use super::Sha512;
use crate::hash::sha2::Vectors;
use core::arch::x86_64::*;

/// Two words rotated right, without those bits that the other shift of the same distance brings: the parts are XORed anyway.
macro_rules! rotr {
    ($words:expr, $right:literal $left:literal) => {
        _mm_xor_si128(_mm_srli_epi64::<$right>($words), _mm_slli_epi64::<$left>($words))
    };
}

impl Vectors for Sha512 {
    /// FIPS 180-4, 6.4.2.
    #[inline(always)]
    unsafe fn next(w: &[__m128i; 8], at: usize) -> __m128i {
        // SAFETY: the instruction set is promised, and these intrinsics touch no memory.
        unsafe {
            let fifteenth = _mm_alignr_epi8::<8>(w[(at + 1) % 8], w[at]);
            let seventh = _mm_alignr_epi8::<8>(w[(at + 5) % 8], w[(at + 4) % 8]);
            let second = w[(at + 7) % 8];
            let turned = _mm_xor_si128(rotr!(fifteenth, 1 63), rotr!(fifteenth, 8 56));
            let sigma0 = _mm_xor_si128(turned, _mm_srli_epi64::<7>(fifteenth));
            let turned = _mm_xor_si128(rotr!(second, 19 45), rotr!(second, 61 3));
            let sigma1 = _mm_xor_si128(turned, _mm_srli_epi64::<6>(second));
            _mm_add_epi64(_mm_add_epi64(_mm_add_epi64(w[at], sigma0), seventh), sigma1)
        }
    }
}
