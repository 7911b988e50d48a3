//! NEON: 4 lanes of 32 bits, 2 of 64.

use crate::lane::Lane;
use core::arch::aarch64::*;

/// 4 words of 32 bits.
#[derive(Clone, Copy)]
pub(crate) struct N32(uint32x4_t);

/// 2 words of 64 bits.
#[derive(Clone, Copy)]
pub(crate) struct N64(uint64x2_t);

/// Evaluates an expression of intrinsics.
macro_rules! op {
    ($($body:tt)*) => {
        // SAFETY: a value of this file's types is at hand, or the caller promised: NEON is there.
        unsafe { $($body)* }
    };
}

macro_rules! operations {
    (
        $word:ty, $duplicate:ident, $load:ident, $store:ident, $reverse:ident,
        $from_bytes:ident, $to_bytes:ident, $add:ident, $sub:ident, $xor:ident, $and:ident, $clear:ident, $select:ident,
        $left:ident, $duplicate_signed:ident, $signed:ty
    ) => {
        type Word = $word;
        const LANES: usize = 16 / size_of::<$word>();

        #[inline(always)]
        unsafe fn broadcast(word: $word) -> Self {
            op!(Self($duplicate(word)))
        }

        #[inline(always)]
        unsafe fn load(from: *const $word) -> Self {
            op!(Self($load(from)))
        }

        #[inline(always)]
        unsafe fn store(self, to: *mut $word) {
            op!($store(to, self.0))
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
                let mut words = [Self($duplicate(0)); 16];
                let mut part = 0;
                while part < 16 {
                    let mut row = [words[0].0; Self::LANES];
                    let mut lane = 0;
                    while lane < Self::LANES {
                        let at = (*rows.add(lane)).wrapping_offset(offset + (part * size_of::<$word>()) as isize);
                        let bytes = vld1q_u8(at);
                        row[lane] = $from_bytes(if BIG { $reverse(bytes) } else { bytes });
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
                        let bytes = $to_bytes(row[lane]);
                        let bytes = if BIG { $reverse(bytes) } else { bytes };
                        vst1q_u8(out.add(lane * stride + part * size_of::<$word>()), bytes);
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
            op!(Self($xor(self.0, other.0)))
        }

        #[inline(always)]
        fn and(self, other: Self) -> Self {
            op!(Self($and(self.0, other.0)))
        }

        #[inline(always)]
        fn not_and(self, other: Self) -> Self {
            op!(Self($clear(other.0, self.0)))
        }

        #[inline(always)]
        fn choose(self, yes: Self, no: Self) -> Self {
            op!(Self($select(self.0, yes.0, no.0)))
        }

        #[inline(always)]
        fn majority(self, b: Self, c: Self) -> Self {
            self.xor(b).choose(c, b)
        }

        #[inline(always)]
        fn shr(self, bits: u32) -> Self {
            // A shift left by less than nothing: the compiler makes a shift by a constant of it.
            op!(Self($left(self.0, $duplicate_signed(-(bits as $signed)))))
        }

        #[inline(always)]
        fn rotr(self, bits: u32) -> Self {
            let left = 8 * size_of::<$word>() as u32 - bits;
            op!(Self($xor(self.shr(bits).0, $left(self.0, $duplicate_signed(left as $signed)))))
        }
    };
}

impl Lane for N32 {
    operations!(
        u32,
        vdupq_n_u32,
        vld1q_u32,
        vst1q_u32,
        vrev32q_u8,
        vreinterpretq_u32_u8,
        vreinterpretq_u8_u32,
        vaddq_u32,
        vsubq_u32,
        veorq_u32,
        vandq_u32,
        vbicq_u32,
        vbslq_u32,
        vshlq_u32,
        vdupq_n_s32,
        i32
    );
}

impl Lane for N64 {
    operations!(
        u64,
        vdupq_n_u64,
        vld1q_u64,
        vst1q_u64,
        vrev64q_u8,
        vreinterpretq_u64_u8,
        vreinterpretq_u8_u64,
        vaddq_u64,
        vsubq_u64,
        veorq_u64,
        vandq_u64,
        vbicq_u64,
        vbslq_u64,
        vshlq_u64,
        vdupq_n_s64,
        i64
    );
}

impl N32 {
    /// Transposes 4 rows of 4 words.
    #[inline(always)]
    fn transpose([a, b, c, d]: [uint32x4_t; 4]) -> [uint32x4_t; 4] {
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
}

impl N64 {
    /// Transposes 2 rows of 2 words.
    #[inline(always)]
    fn transpose([a, b]: [uint64x2_t; 2]) -> [uint64x2_t; 2] {
        op!([vtrn1q_u64(a, b), vtrn2q_u64(a, b)])
    }
}
