//! AVX-512: 16 lanes of 32 bits, 8 of 64, with rotations and any function of three inputs as one instruction.

use crate::lane::Lane;
use core::arch::x86_64::*;

/// 16 words of 32 bits.
#[derive(Clone, Copy)]
pub(crate) struct Z32(__m512i);

/// 8 words of 64 bits.
#[derive(Clone, Copy)]
pub(crate) struct Z64(__m512i);

/// Evaluates an expression of intrinsics.
macro_rules! op {
    ($($body:tt)*) => {
        // SAFETY: a value of this file's types is at hand, or the caller promised: AVX-512 F, BW and VL are there.
        unsafe { $($body)* }
    };
}

/// The empty instruction that [`Lane::pin`] is.
#[inline]
#[target_feature(enable = "avx512f")]
fn pin(mut vector: __m512i) -> __m512i {
    // SAFETY: no instruction: it only says that `vector` may have changed.
    unsafe { core::arch::asm!("/* {0} */", inout(zmm_reg) vector, options(pure, nomem, nostack, preserves_flags)) };
    vector
}

/// A mask of 64 bytes from `at` on: those below `edge`.
#[inline(always)]
fn below(edge: usize, at: usize) -> u64 {
    let bytes = edge.saturating_sub(at);
    if bytes < 64 { (1 << bytes) - 1 } else { !0 }
}

/// Reverses the bytes of each word of `bytes` bytes.
#[inline(always)]
fn reversed<const BYTES: usize>(vector: __m512i) -> __m512i {
    op! {
        let order = match BYTES {
            4 => _mm_setr_epi8(3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12),
            _ => _mm_setr_epi8(7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8),
        };
        _mm512_shuffle_epi8(vector, _mm512_broadcast_i32x4(order))
    }
}

macro_rules! operations {
    ($word:ty, $int:ty, $set:ident, $add:ident, $sub:ident, $rotate:ident, $shift:ident, $ternary:ident) => {
        type Word = $word;
        const LANES: usize = 64 / size_of::<$word>();

        #[inline(always)]
        unsafe fn broadcast(word: $word) -> Self {
            op!(Self($set(word as $int)))
        }

        #[inline(always)]
        unsafe fn load(from: *const $word) -> Self {
            op!(Self(_mm512_loadu_si512(from.cast())))
        }

        #[inline(always)]
        unsafe fn store(self, to: *mut $word) {
            op!(_mm512_storeu_si512(to.cast(), self.0))
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
        unsafe fn overlay(template: *const u8, row: *const u8, from: usize, end: usize, to: *mut u8, len: usize) {
            let mut at = 0;
            while at < len {
                let (mine, whole) = (below(end, at) & !below(from, at), below(len, at));
                op! {
                    let bytes = _mm512_maskz_loadu_epi8(whole, template.wrapping_add(at).cast());
                    // Bytes outside the mask are not touched: they may lie outside the message's memory.
                    let bytes = _mm512_mask_loadu_epi8(bytes, mine, row.wrapping_add(at).cast());
                    _mm512_mask_storeu_epi8(to.wrapping_add(at).cast(), whole, bytes);
                }
                at += 64;
            }
        }

        #[inline(always)]
        fn pin(self) -> Self {
            op!(Self(pin(self.0)))
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
            op!(Self(_mm512_xor_si512(self.0, other.0)))
        }

        #[inline(always)]
        fn and(self, other: Self) -> Self {
            op!(Self(_mm512_and_si512(self.0, other.0)))
        }

        #[inline(always)]
        fn not_and(self, other: Self) -> Self {
            op!(Self(_mm512_andnot_si512(self.0, other.0)))
        }

        #[inline(always)]
        fn rotr(self, bits: u32) -> Self {
            op!(Self($rotate(self.0, $set(bits as $int))))
        }

        #[inline(always)]
        fn shr(self, bits: u32) -> Self {
            op!(Self($shift(self.0, $set(bits as $int))))
        }

        // The constants are the truth tables: bit `4a + 2b + c` is the result.
        #[inline(always)]
        fn xor3(self, b: Self, c: Self) -> Self {
            op!(Self($ternary::<0b1001_0110>(self.0, b.0, c.0)))
        }

        #[inline(always)]
        fn choose(self, yes: Self, no: Self) -> Self {
            op!(Self($ternary::<0b1100_1010>(self.0, yes.0, no.0)))
        }

        #[inline(always)]
        fn majority(self, b: Self, c: Self) -> Self {
            op!(Self($ternary::<0b1110_1000>(self.0, b.0, c.0)))
        }

        #[inline(always)]
        fn xor_not_and(self, b: Self, c: Self) -> Self {
            op!(Self($ternary::<0b1101_0010>(self.0, b.0, c.0)))
        }
    };
}

impl Lane for Z32 {
    operations!(
        u32,
        i32,
        _mm512_set1_epi32,
        _mm512_add_epi32,
        _mm512_sub_epi32,
        _mm512_rorv_epi32,
        _mm512_srlv_epi32,
        _mm512_ternarylogic_epi32
    );

    #[inline(always)]
    unsafe fn rows16<const BIG: bool>(rows: *const *const u8, offset: isize) -> [Self; 16] {
        op! {
            let mut row = [_mm512_setzero_si512(); 16];
            let mut lane = 0;
            while lane < 16 {
                row[lane] = _mm512_loadu_si512((*rows.add(lane)).wrapping_offset(offset).cast());
                if BIG {
                    row[lane] = reversed::<4>(row[lane]);
                }
                lane += 1;
            }
            // Squares of 4 by 4 words first: `squares[g][k]`, block b, is word 4b + k of the rows 4g..4g + 4.
            let mut squares = [[row[0]; 4]; 4];
            let mut group = 0;
            while group < 4 {
                squares[group] = transpose4([row[4 * group], row[4 * group + 1], row[4 * group + 2], row[4 * group + 3]]);
                group += 1;
            }
            // Then the squares themselves, as blocks of 128 bits.
            let mut words = [Z32(row[0]); 16];
            let mut k = 0;
            while k < 4 {
                let even01 = _mm512_shuffle_i32x4::<0b10_00_10_00>(squares[0][k], squares[1][k]);
                let odd01 = _mm512_shuffle_i32x4::<0b11_01_11_01>(squares[0][k], squares[1][k]);
                let even23 = _mm512_shuffle_i32x4::<0b10_00_10_00>(squares[2][k], squares[3][k]);
                let odd23 = _mm512_shuffle_i32x4::<0b11_01_11_01>(squares[2][k], squares[3][k]);
                words[k] = Z32(_mm512_shuffle_i32x4::<0b10_00_10_00>(even01, even23));
                words[k + 4] = Z32(_mm512_shuffle_i32x4::<0b10_00_10_00>(odd01, odd23));
                words[k + 8] = Z32(_mm512_shuffle_i32x4::<0b11_01_11_01>(even01, even23));
                words[k + 12] = Z32(_mm512_shuffle_i32x4::<0b11_01_11_01>(odd01, odd23));
                k += 1;
            }
            words
        }
    }

    #[inline(always)]
    unsafe fn store8<const BIG: bool>(words: &[Self; 8], out: *mut u8, stride: usize) {
        op! {
            let low = transpose4([words[0].0, words[1].0, words[2].0, words[3].0]);
            let high = transpose4([words[4].0, words[5].0, words[6].0, words[7].0]);
            let mut j = 0;
            while j < 4 {
                let (mut a, mut b) = (low[j], high[j]);
                if BIG {
                    a = reversed::<4>(a);
                    b = reversed::<4>(b);
                }
                // Block i of `a` and of `b` are the halves of message 4i + j.
                let first = _mm512_permutex2var_epi64(a, _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11), b);
                let second = _mm512_permutex2var_epi64(a, _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15), b);
                _mm256_storeu_si256(out.add(j * stride).cast(), _mm512_castsi512_si256(first));
                _mm256_storeu_si256(out.add((j + 4) * stride).cast(), _mm512_extracti64x4_epi64::<1>(first));
                _mm256_storeu_si256(out.add((j + 8) * stride).cast(), _mm512_castsi512_si256(second));
                _mm256_storeu_si256(out.add((j + 12) * stride).cast(), _mm512_extracti64x4_epi64::<1>(second));
                j += 1;
            }
        }
    }
}

impl Lane for Z64 {
    operations!(
        u64,
        i64,
        _mm512_set1_epi64,
        _mm512_add_epi64,
        _mm512_sub_epi64,
        _mm512_rorv_epi64,
        _mm512_srlv_epi64,
        _mm512_ternarylogic_epi64
    );

    #[inline(always)]
    unsafe fn rows16<const BIG: bool>(rows: *const *const u8, offset: isize) -> [Self; 16] {
        op! {
            let mut words = [Z64(_mm512_setzero_si512()); 16];
            let mut half = 0;
            while half < 2 {
                let mut row = [_mm512_setzero_si512(); 8];
                let mut lane = 0;
                while lane < 8 {
                    let at = (*rows.add(lane)).wrapping_offset(offset + 64 * half as isize);
                    row[lane] = _mm512_loadu_si512(at.cast());
                    if BIG {
                        row[lane] = reversed::<8>(row[lane]);
                    }
                    lane += 1;
                }
                let column = transpose8(row);
                let mut word = 0;
                while word < 8 {
                    words[8 * half + word] = Z64(column[word]);
                    word += 1;
                }
                half += 1;
            }
            words
        }
    }

    #[inline(always)]
    unsafe fn store8<const BIG: bool>(words: &[Self; 8], out: *mut u8, stride: usize) {
        op! {
            let [a, b, c, d, e, f, g, h] = *words;
            let row = transpose8([a.0, b.0, c.0, d.0, e.0, f.0, g.0, h.0]);
            let mut lane = 0;
            while lane < 8 {
                let bytes = if BIG { reversed::<8>(row[lane]) } else { row[lane] };
                _mm512_storeu_si512(out.add(lane * stride).cast(), bytes);
                lane += 1;
            }
        }
    }
}

/// Transposes the squares of 4 by 4 words that 4 rows make: one square a block of 128 bits.
#[inline(always)]
fn transpose4([a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
    op! {
        let (ab, ab_high) = (_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
        let (cd, cd_high) = (_mm512_unpacklo_epi32(c, d), _mm512_unpackhi_epi32(c, d));
        [
            _mm512_unpacklo_epi64(ab, cd),
            _mm512_unpackhi_epi64(ab, cd),
            _mm512_unpacklo_epi64(ab_high, cd_high),
            _mm512_unpackhi_epi64(ab_high, cd_high),
        ]
    }
}

/// Transposes 8 rows of 8 words of 64 bits.
#[inline(always)]
fn transpose8(row: [__m512i; 8]) -> [__m512i; 8] {
    op! {
        // `pairs[2g + k]`, block b, is word 2b + k of the rows 2g and 2g + 1.
        let mut pairs = row;
        let mut group = 0;
        while group < 4 {
            pairs[2 * group] = _mm512_unpacklo_epi64(row[2 * group], row[2 * group + 1]);
            pairs[2 * group + 1] = _mm512_unpackhi_epi64(row[2 * group], row[2 * group + 1]);
            group += 1;
        }
        let mut words = row;
        let mut k = 0;
        while k < 2 {
            let even01 = _mm512_shuffle_i64x2::<0b10_00_10_00>(pairs[k], pairs[2 + k]);
            let odd01 = _mm512_shuffle_i64x2::<0b11_01_11_01>(pairs[k], pairs[2 + k]);
            let even23 = _mm512_shuffle_i64x2::<0b10_00_10_00>(pairs[4 + k], pairs[6 + k]);
            let odd23 = _mm512_shuffle_i64x2::<0b11_01_11_01>(pairs[4 + k], pairs[6 + k]);
            words[k] = _mm512_shuffle_i64x2::<0b10_00_10_00>(even01, even23);
            words[k + 2] = _mm512_shuffle_i64x2::<0b10_00_10_00>(odd01, odd23);
            words[k + 4] = _mm512_shuffle_i64x2::<0b11_01_11_01>(even01, even23);
            words[k + 6] = _mm512_shuffle_i64x2::<0b11_01_11_01>(odd01, odd23);
            k += 1;
        }
        words
    }
}
