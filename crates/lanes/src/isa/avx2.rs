//! AVX2: 8 lanes of 32 bits, 4 of 64.

use crate::lane::Lane;
use core::arch::x86_64::*;

/// 8 words of 32 bits.
#[derive(Clone, Copy)]
pub(crate) struct Y32(__m256i);

/// 4 words of 64 bits.
#[derive(Clone, Copy)]
pub(crate) struct Y64(__m256i);

/// Evaluates intrinsics that touch no memory.
macro_rules! op {
    ($($body:tt)*) => {
        // SAFETY: AVX2 is there: a value of this file's types is at hand, which proves it, or the function that makes the
        // first one has its caller promise it. Nothing else is asked of these intrinsics.
        unsafe { $($body)* }
    };
}

/// The same vector, of which the compiler knows nothing: it would replace some shuffles of known order by two others.
#[inline]
#[target_feature(enable = "avx2")]
fn unknown(mut order: __m256i) -> __m256i {
    // SAFETY: there is no instruction, only the claim that `order` may have changed. AVX2 has the register class.
    unsafe { core::arch::asm!("/* {0} */", inout(ymm_reg) order, options(pure, nomem, nostack, preserves_flags)) };
    order
}

/// Rotates each word of `BYTES` bytes right by whole bytes: one shuffle, where other rotations are three operations.
#[inline(always)]
fn turned<const BYTES: usize>(vector: __m256i, bytes: u32) -> __m256i {
    let mut order = [0u8; 16];
    let mut at = 0;
    while at < 16 {
        order[at] = (at / BYTES * BYTES + (at % BYTES + bytes as usize) % BYTES) as u8;
        at += 1;
    }
    // SAFETY: `vector` proves AVX2, and `order` has the 16 bytes that are loaded.
    unsafe {
        let order = _mm256_broadcastsi128_si256(_mm_loadu_si128(order.as_ptr().cast()));
        // Not of words of 8 bytes: the compiler does not unroll Keccak's rotations if each of them may be such an instruction.
        _mm256_shuffle_epi8(vector, if BYTES == 4 { unknown(order) } else { order })
    }
}

/// Reverses the bytes of each word of `BYTES` bytes.
#[inline(always)]
pub(super) fn reversed<const BYTES: usize>(vector: __m256i) -> __m256i {
    op! {
        let order = match BYTES {
            4 => _mm_setr_epi8(3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12),
            _ => _mm_setr_epi8(7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8),
        };
        _mm256_shuffle_epi8(vector, _mm256_broadcastsi128_si256(order))
    }
}

impl Lane for Y32 {
    words!(
        __m256i, u32 as i32: _mm256_set1_epi32 _mm256_loadu_si256 _mm256_storeu_si256,
        add _mm256_add_epi32, sub _mm256_sub_epi32, xor _mm256_xor_si256, and _mm256_and_si256, not_and _mm256_andnot_si256
    );
    reads!(_mm256_loadu_si256 reversed::<4>, transpose32);
    writes!(_mm256_storeu_si256 reversed::<4>, transpose32);
    rotations!(_mm256_or_si256 _mm256_sll_epi32 _mm256_srl_epi32);
}

impl Lane for Y64 {
    words!(
        __m256i, u64 as i64: _mm256_set1_epi64x _mm256_loadu_si256 _mm256_storeu_si256,
        add _mm256_add_epi64, sub _mm256_sub_epi64, xor _mm256_xor_si256, and _mm256_and_si256, not_and _mm256_andnot_si256
    );
    reads!(_mm256_loadu_si256 reversed::<8>, transpose64);
    writes!(_mm256_storeu_si256 reversed::<8>, transpose64);
    rotations!(_mm256_or_si256 _mm256_sll_epi64 _mm256_srl_epi64);
}

/// Transposes a square of 8 by 8 words, given row by row.
#[inline(always)]
pub(super) fn transpose32(row: [__m256i; 8]) -> [__m256i; 8] {
    let low = transpose4([row[0], row[1], row[2], row[3]]);
    let high = transpose4([row[4], row[5], row[6], row[7]]);
    let mut words = row;
    let mut k = 0;
    while k < 4 {
        op! {
            words[k] = _mm256_permute2x128_si256::<0x20>(low[k], high[k]);
            words[k + 4] = _mm256_permute2x128_si256::<0x31>(low[k], high[k]);
        }
        k += 1;
    }
    words
}

/// Transposes a square of 4 by 4 words, given row by row.
#[inline(always)]
pub(super) fn transpose64([a, b, c, d]: [__m256i; 4]) -> [__m256i; 4] {
    op! {
        let (ab, ab_high) = (_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b));
        let (cd, cd_high) = (_mm256_unpacklo_epi64(c, d), _mm256_unpackhi_epi64(c, d));
        [
            _mm256_permute2x128_si256::<0x20>(ab, cd),
            _mm256_permute2x128_si256::<0x20>(ab_high, cd_high),
            _mm256_permute2x128_si256::<0x31>(ab, cd),
            _mm256_permute2x128_si256::<0x31>(ab_high, cd_high),
        ]
    }
}

/// Transposes the squares of 4 by 4 words that 4 rows make: one square a block of 128 bits.
#[inline(always)]
fn transpose4([a, b, c, d]: [__m256i; 4]) -> [__m256i; 4] {
    op! {
        let (ab, ab_high) = (_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
        let (cd, cd_high) = (_mm256_unpacklo_epi32(c, d), _mm256_unpackhi_epi32(c, d));
        [
            _mm256_unpacklo_epi64(ab, cd),
            _mm256_unpackhi_epi64(ab, cd),
            _mm256_unpacklo_epi64(ab_high, cd_high),
            _mm256_unpackhi_epi64(ab_high, cd_high),
        ]
    }
}
