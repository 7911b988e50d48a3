//! SSE4.1 (and SSSE3, which it implies): 4 lanes of 32 bits, 2 of 64.

use crate::lane::Lane;
use core::arch::x86_64::*;

/// 4 words of 32 bits.
#[derive(Clone, Copy)]
pub(crate) struct X32(__m128i);

/// 2 words of 64 bits.
#[derive(Clone, Copy)]
pub(crate) struct X64(__m128i);

/// Evaluates an expression of intrinsics.
macro_rules! op {
    ($($body:tt)*) => {
        // SAFETY: a value of this file's types is at hand, or the caller promised: SSE4.1 is there.
        unsafe { $($body)* }
    };
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
    op!(_mm_shuffle_epi8(vector, _mm_loadu_si128(order.as_ptr().cast())))
}

/// Reverses the bytes of each word of `BYTES` bytes.
#[inline(always)]
fn reversed<const BYTES: usize>(vector: __m128i) -> __m128i {
    op! {
        let order = match BYTES {
            4 => _mm_setr_epi8(3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12),
            _ => _mm_setr_epi8(7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8),
        };
        _mm_shuffle_epi8(vector, order)
    }
}

macro_rules! operations {
    ($word:ty, $int:ty, $set:ident, $add:ident, $sub:ident, $left:ident, $right:ident) => {
        type Word = $word;
        const LANES: usize = 16 / size_of::<$word>();

        #[inline(always)]
        unsafe fn broadcast(word: $word) -> Self {
            op!(Self($set(word as $int)))
        }

        #[inline(always)]
        unsafe fn load(from: *const $word) -> Self {
            op!(Self(_mm_loadu_si128(from.cast())))
        }

        #[inline(always)]
        unsafe fn store(self, to: *mut $word) {
            op!(_mm_storeu_si128(to.cast(), self.0))
        }

        #[inline(always)]
        unsafe fn rows1<const BIG: bool>(rows: *const *const u8, offset: isize) -> Self {
            let mut words = [0; Self::LANES];
            let mut lane = 0;
            while lane < Self::LANES {
                // SAFETY: the caller's promise: a word at each row.
                words[lane] = unsafe { <$word as Lane>::rows1::<BIG>(rows.add(lane), offset) };
                lane += 1;
            }
            op!(Self::load(words.as_ptr()))
        }

        #[inline(always)]
        unsafe fn rows16<const BIG: bool>(rows: *const *const u8, offset: isize) -> [Self; 16] {
            op! {
                let mut words = [Self(_mm_setzero_si128()); 16];
                let mut part = 0;
                while part < 16 {
                    let mut row = [words[0].0; Self::LANES];
                    let mut lane = 0;
                    while lane < Self::LANES {
                        let at = (*rows.add(lane)).wrapping_offset(offset + (part * size_of::<$word>()) as isize);
                        row[lane] = _mm_loadu_si128(at.cast());
                        if BIG {
                            row[lane] = reversed::<{ size_of::<$word>() }>(row[lane]);
                        }
                        lane += 1;
                    }
                    let column = Self::transpose(row);
                    let mut word = 0;
                    while word < Self::LANES {
                        words[part + word] = Self(column[word]);
                        word += 1;
                    }
                    part += Self::LANES;
                }
                words
            }
        }

        #[inline(always)]
        unsafe fn store8<const BIG: bool>(words: &[Self; 8], out: *mut u8, stride: usize) {
            op! {
                let mut part = 0;
                while part < 8 {
                    let mut column = [words[0].0; Self::LANES];
                    let mut word = 0;
                    while word < Self::LANES {
                        column[word] = words[part + word].0;
                        word += 1;
                    }
                    let row = Self::transpose(column);
                    let mut lane = 0;
                    while lane < Self::LANES {
                        let bytes = if BIG { reversed::<{ size_of::<$word>() }>(row[lane]) } else { row[lane] };
                        _mm_storeu_si128(out.add(lane * stride + part * size_of::<$word>()).cast(), bytes);
                        lane += 1;
                    }
                    part += Self::LANES;
                }
            }
        }

        #[inline(always)]
        fn add(self, other: Self) -> Self {
            op!(Self($add(self.0, other.0)))
        }

        #[inline(always)]
        fn sub(self, other: Self) -> Self {
            op!(Self($sub(self.0, other.0)))
        }

        #[inline(always)]
        fn xor(self, other: Self) -> Self {
            op!(Self(_mm_xor_si128(self.0, other.0)))
        }

        #[inline(always)]
        fn and(self, other: Self) -> Self {
            op!(Self(_mm_and_si128(self.0, other.0)))
        }

        #[inline(always)]
        fn not_and(self, other: Self) -> Self {
            op!(Self(_mm_andnot_si128(self.0, other.0)))
        }

        #[inline(always)]
        fn shr(self, bits: u32) -> Self {
            op!(Self($right(self.0, _mm_cvtsi32_si128(bits as i32))))
        }

        #[inline(always)]
        fn rotr(self, bits: u32) -> Self {
            if bits % 8 == 0 {
                return Self(turned::<{ size_of::<$word>() }>(self.0, bits / 8));
            }
            let left = 8 * size_of::<$word>() as i32 - bits as i32;
            op!(Self(_mm_or_si128(self.shr(bits).0, $left(self.0, _mm_cvtsi32_si128(left)))))
        }
    };
}

impl Lane for X32 {
    operations!(u32, i32, _mm_set1_epi32, _mm_add_epi32, _mm_sub_epi32, _mm_sll_epi32, _mm_srl_epi32);
}

impl Lane for X64 {
    operations!(u64, i64, _mm_set1_epi64x, _mm_add_epi64, _mm_sub_epi64, _mm_sll_epi64, _mm_srl_epi64);
}

impl X64 {
    /// Transposes 2 rows of 2 words.
    #[inline(always)]
    fn transpose([a, b]: [__m128i; 2]) -> [__m128i; 2] {
        op!([_mm_unpacklo_epi64(a, b), _mm_unpackhi_epi64(a, b)])
    }
}

impl X32 {
    /// Transposes 4 rows of 4 words.
    #[inline(always)]
    fn transpose([a, b, c, d]: [__m128i; 4]) -> [__m128i; 4] {
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
}
