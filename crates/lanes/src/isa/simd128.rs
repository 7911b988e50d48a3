//! WebAssembly's simd128: 4 lanes of 32 bits, 2 of 64.

use crate::lane::Lane;
use core::arch::wasm32::*;

/// 4 words of 32 bits.
#[derive(Clone, Copy)]
pub(crate) struct W32(v128);

/// 2 words of 64 bits.
#[derive(Clone, Copy)]
pub(crate) struct W64(v128);

/// Reverses the bytes of each word of `BYTES` bytes.
#[inline(always)]
fn reversed<const BYTES: usize>(vector: v128) -> v128 {
    match BYTES {
        4 => u8x16_shuffle::<3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12>(vector, vector),
        _ => u8x16_shuffle::<7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8>(vector, vector),
    }
}

macro_rules! operations {
    ($word:ty, $splat:ident, $add:ident, $sub:ident, $shl:ident, $shr:ident) => {
        type Word = $word;
        const LANES: usize = 16 / size_of::<$word>();

        #[inline(always)]
        unsafe fn broadcast(word: $word) -> Self {
            Self($splat(word))
        }

        #[inline(always)]
        unsafe fn load(from: *const $word) -> Self {
            // SAFETY: the caller's promise.
            Self(unsafe { v128_load(from.cast()) })
        }

        #[inline(always)]
        unsafe fn store(self, to: *mut $word) {
            // SAFETY: the caller's promise.
            unsafe { v128_store(to.cast(), self.0) }
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
            // SAFETY: as many words as lanes.
            unsafe { Self::load(words.as_ptr()) }
        }

        #[inline(always)]
        unsafe fn rows16<const BIG: bool>(rows: *const *const u8, offset: isize) -> [Self; 16] {
            let mut words = [Self($splat(0)); 16];
            let mut part = 0;
            while part < 16 {
                let mut row = [words[0].0; Self::LANES];
                let mut lane = 0;
                while lane < Self::LANES {
                    let at = offset + (part * size_of::<$word>()) as isize;
                    // SAFETY: the caller's promise: 16 words at each row.
                    row[lane] = unsafe { v128_load((*rows.add(lane)).wrapping_offset(at).cast()) };
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

        #[inline(always)]
        unsafe fn store8<const BIG: bool>(words: &[Self; 8], out: *mut u8, stride: usize) {
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
                    // SAFETY: the caller's promise: 8 words for each lane.
                    unsafe { v128_store(out.add(lane * stride + part * size_of::<$word>()).cast(), bytes) };
                    lane += 1;
                }
                part += Self::LANES;
            }
        }

        #[inline(always)]
        fn add(self, other: Self) -> Self {
            Self($add(self.0, other.0))
        }

        #[inline(always)]
        fn sub(self, other: Self) -> Self {
            Self($sub(self.0, other.0))
        }

        #[inline(always)]
        fn xor(self, other: Self) -> Self {
            Self(v128_xor(self.0, other.0))
        }

        #[inline(always)]
        fn and(self, other: Self) -> Self {
            Self(v128_and(self.0, other.0))
        }

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
            Self($shr(self.0, bits))
        }

        #[inline(always)]
        fn rotr(self, bits: u32) -> Self {
            Self(v128_or($shr(self.0, bits), $shl(self.0, 8 * size_of::<$word>() as u32 - bits)))
        }
    };
}

impl Lane for W32 {
    operations!(u32, u32x4_splat, u32x4_add, u32x4_sub, u32x4_shl, u32x4_shr);
}

impl Lane for W64 {
    operations!(u64, u64x2_splat, u64x2_add, u64x2_sub, u64x2_shl, u64x2_shr);
}

impl W32 {
    /// Transposes 4 rows of 4 words.
    #[inline(always)]
    fn transpose([a, b, c, d]: [v128; 4]) -> [v128; 4] {
        let (ab, ab_high) = (u32x4_shuffle::<0, 4, 1, 5>(a, b), u32x4_shuffle::<2, 6, 3, 7>(a, b));
        let (cd, cd_high) = (u32x4_shuffle::<0, 4, 1, 5>(c, d), u32x4_shuffle::<2, 6, 3, 7>(c, d));
        [
            u64x2_shuffle::<0, 2>(ab, cd),
            u64x2_shuffle::<1, 3>(ab, cd),
            u64x2_shuffle::<0, 2>(ab_high, cd_high),
            u64x2_shuffle::<1, 3>(ab_high, cd_high),
        ]
    }
}

impl W64 {
    /// Transposes 2 rows of 2 words.
    #[inline(always)]
    fn transpose([a, b]: [v128; 2]) -> [v128; 2] {
        [u64x2_shuffle::<0, 2>(a, b), u64x2_shuffle::<1, 3>(a, b)]
    }
}
