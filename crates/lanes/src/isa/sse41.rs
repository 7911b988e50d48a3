//! SSE4.1 (and SSSE3, which it implies): 4 lanes of 32 bits, 2 of 64.

use crate::{lane::Lane, quad::Quad};
use core::arch::x86_64::*;

/// 4 words of 32 bits.
#[derive(Clone, Copy)]
pub(crate) struct X32(__m128i);

/// 2 words of 64 bits.
#[derive(Clone, Copy)]
pub(crate) struct X64(__m128i);

/// Evaluates intrinsics that touch no memory.
macro_rules! op {
    ($($body:tt)*) => {
        // SAFETY: SSE4.1 is there: a value of this file's types is at hand, which proves it, or the function that makes the
        // first one has its caller promise it. Nothing else is asked of these intrinsics.
        unsafe { $($body)* }
    };
}

/// The same vector, of which the compiler knows nothing: it would replace some shuffles of known order by two others.
#[inline(always)]
fn unknown(mut order: __m128i) -> __m128i {
    // SAFETY: there is no instruction, only the claim that `order` may have changed. All of x86-64 has the register class.
    unsafe { core::arch::asm!("/* {0} */", inout(xmm_reg) order, options(pure, nomem, nostack, preserves_flags)) };
    order
}

/// Rotates each word of `BYTES` bytes right by whole bytes: one shuffle, where other rotations are three operations.
#[inline(always)]
fn turned<const BYTES: usize>(vector: __m128i, bytes: u32) -> __m128i {
    let mut order = [0u8; 16];
    let mut at = 0;
    while at < 16 {
        order[at] = (at / BYTES * BYTES + (at % BYTES + bytes as usize) % BYTES) as u8;
        at += 1;
    }
    // SAFETY: `vector` proves SSE4.1, and SSSE3 with it; `order` has the 16 bytes that are loaded.
    unsafe {
        let order = _mm_loadu_si128(order.as_ptr().cast());
        // Not of words of 8 bytes: the compiler does not unroll Keccak's rotations if each of them may be such an instruction.
        _mm_shuffle_epi8(vector, if BYTES == 4 { unknown(order) } else { order })
    }
}

/// Reverses the bytes of each word of `BYTES` bytes.
#[inline(always)]
pub(super) fn reversed<const BYTES: usize>(vector: __m128i) -> __m128i {
    op! {
        let order = match BYTES {
            4 => _mm_setr_epi8(3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12),
            _ => _mm_setr_epi8(7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8),
        };
        _mm_shuffle_epi8(vector, order)
    }
}

impl Lane for X32 {
    words!(
        __m128i, u32 as i32: _mm_set1_epi32 _mm_loadu_si128 _mm_storeu_si128,
        add _mm_add_epi32, sub _mm_sub_epi32, xor _mm_xor_si128, and _mm_and_si128, not_and _mm_andnot_si128
    );
    reads!(_mm_loadu_si128 reversed::<4>, transpose32);
    writes!(_mm_storeu_si128 reversed::<4>, transpose32);
    rotations!(_mm_or_si128 _mm_sll_epi32 _mm_srl_epi32);
}

impl Lane for X64 {
    words!(
        __m128i, u64 as i64: _mm_set1_epi64x _mm_loadu_si128 _mm_storeu_si128,
        add _mm_add_epi64, sub _mm_sub_epi64, xor _mm_xor_si128, and _mm_and_si128, not_and _mm_andnot_si128
    );
    reads!(_mm_loadu_si128 reversed::<8>, transpose64);
    writes!(_mm_storeu_si128 reversed::<8>, transpose64);
    rotations!(_mm_or_si128 _mm_sll_epi64 _mm_srl_epi64);
}

impl Quad for X32 {
    type Blocks = [u32; 16];

    #[inline(always)]
    unsafe fn fours([a, b, c, d]: [u32; 4]) -> Self {
        op!(Self(_mm_setr_epi32(a as i32, b as i32, c as i32, d as i32)))
    }

    #[inline(always)]
    unsafe fn blocks(pointers: *const *const u8, offset: isize) -> [u32; 16] {
        // SAFETY: a vector of four words holds one message: its pointer, and 16 words after it, are promised.
        unsafe { u32::read16::<false>(pointers, offset) }
    }

    #[inline(always)]
    fn words(block: &[u32; 16], at: [usize; 4]) -> Self {
        let [a, b, c, d] = [block[at[0]] as i32, block[at[1]] as i32, block[at[2]] as i32, block[at[3]] as i32];
        op!(Self(_mm_setr_epi32(a, b, c, d)))
    }

    #[inline(always)]
    fn turn(self, by: usize) -> Self {
        op!(Self(match by {
            1 => _mm_shuffle_epi32::<0b00_11_10_01>(self.0),
            2 => _mm_shuffle_epi32::<0b01_00_11_10>(self.0),
            _ => _mm_shuffle_epi32::<0b10_01_00_11>(self.0),
        }))
    }
}

/// Transposes a square of 2 by 2 words, given row by row.
#[inline(always)]
fn transpose64([a, b]: [__m128i; 2]) -> [__m128i; 2] {
    op!([_mm_unpacklo_epi64(a, b), _mm_unpackhi_epi64(a, b)])
}

/// Transposes a square of 4 by 4 words, given row by row.
#[inline(always)]
pub(super) fn transpose32([a, b, c, d]: [__m128i; 4]) -> [__m128i; 4] {
    op! {
        let (ab, ab_high) = (_mm_unpacklo_epi32(a, b), _mm_unpackhi_epi32(a, b));
        let (cd, cd_high) = (_mm_unpacklo_epi32(c, d), _mm_unpackhi_epi32(c, d));
        [
            _mm_unpacklo_epi64(ab, cd),
            _mm_unpackhi_epi64(ab, cd),
            _mm_unpacklo_epi64(ab_high, cd_high),
            _mm_unpackhi_epi64(ab_high, cd_high),
        ]
    }
}
