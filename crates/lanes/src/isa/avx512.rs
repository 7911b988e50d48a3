//! AVX-512: 16 lanes of 32 bits, 8 of 64, with rotations and any function of three inputs as one instruction; and the same
//! instructions on half the lanes and a quarter of them, for few messages.

use super::{avx2, sse41};
use crate::{
    lane::Lane,
    overlay::{Overlay, PITCH},
    quad::{Pick, Quad},
};
use core::arch::x86_64::*;

/// 16 words of 32 bits.
#[derive(Clone, Copy)]
pub(crate) struct Z32(__m512i);

/// 8 words of 64 bits.
#[derive(Clone, Copy)]
pub(crate) struct Z64(__m512i);

/// 8 words of 32 bits.
#[derive(Clone, Copy)]
pub(crate) struct Y32(__m256i);

/// 4 words of 64 bits.
#[derive(Clone, Copy)]
pub(crate) struct Y64(__m256i);

/// 4 words of 32 bits.
#[derive(Clone, Copy)]
pub(crate) struct X32(__m128i);

/// Evaluates intrinsics that touch no memory.
macro_rules! op {
    ($($body:tt)*) => {
        // SAFETY: AVX-512 F, BW and VL are there: a value of this file's types is at hand, which proves it, or the function that
        // makes the first one has its caller promise it. Nothing else is asked of these intrinsics.
        unsafe { $($body)* }
    };
}

/// [`Lane::pin`], or [`Lane::fence`] without `pure`, as an empty instruction.
macro_rules! pin {
    ($name:ident $vector:ty, $feature:literal, $register:ident $($pure:ident)?) => {
        #[inline]
        #[target_feature(enable = $feature)]
        fn $name(mut vector: $vector) -> $vector {
            // SAFETY: there is no instruction, only the claim that `vector` may have changed. The register class is one that the
            // features above have.
            unsafe {
                core::arch::asm!("/* {0} */", inout($register) vector, options($($pure,)? nomem, nostack, preserves_flags));
            }
            vector
        }
    };
}

pin!(pin512 __m512i, "avx512f", zmm_reg pure);
pin!(pin256 __m256i, "avx512f,avx512vl", ymm_reg pure);
pin!(pin128 __m128i, "avx512f,avx512vl", xmm_reg pure);
pin!(fence512 __m512i, "avx512f", zmm_reg);
pin!(fence256 __m256i, "avx512f,avx512vl", ymm_reg);
pin!(fence128 __m128i, "avx512f,avx512vl", xmm_reg);

/// A mask of the 64 bytes from `at` on, with a one for each below `edge`.
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

/// Rotations, shifts and functions of three inputs.
macro_rules! ternary {
    ($set:ident as $int:ty, $rotate:ident $shift:ident $ternary:ident, $pin:ident $fence:ident) => {
        #[inline(always)]
        fn rotr(self, bits: u32) -> Self {
            op!(Self($rotate(self.0, $set(bits as $int))))
        }

        #[inline(always)]
        fn shr(self, bits: u32) -> Self {
            op!(Self($shift(self.0, $set(bits as $int))))
        }

        #[inline(always)]
        fn pin(self) -> Self {
            op!(Self($pin(self.0)))
        }

        #[inline(always)]
        fn fence(self) -> Self {
            op!(Self($fence(self.0)))
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

        #[inline(always)]
        unsafe fn overlay(overlay: Overlay) {
            // SAFETY: the same promises, for as many messages.
            unsafe { overlaid::<{ Self::LANES }>(overlay) }
        }
    };
}

impl Lane for Z32 {
    words!(
        __m512i, u32 as i32: _mm512_set1_epi32 _mm512_loadu_si512 _mm512_storeu_si512,
        add _mm512_add_epi32, sub _mm512_sub_epi32, xor _mm512_xor_si512, and _mm512_and_si512, not_and _mm512_andnot_si512
    );
    read1!();
    ternary!(_mm512_set1_epi32 as i32, _mm512_rorv_epi32 _mm512_srlv_epi32 _mm512_ternarylogic_epi32, pin512 fence512);

    #[inline(always)]
    unsafe fn read8<const BIG: bool>(pointers: *const *const u8, offset: isize) -> [Self; 8] {
        // SAFETY: the instruction set is promised.
        let mut words = [unsafe { Self::broadcast(0) }; 8];
        // The words of messages j and j + 4, and of j + 8 and j + 12: a register is put together while it is loaded, because
        // there is only one unit for shuffles.
        let mut pairs = [words[0].0; 8];
        let mut j = 0;
        while j < 8 {
            let lane = j % 4 + j / 4 * 8;
            // SAFETY: `lane + 4 < 16`, and 16 pointers are promised with 8 words, which are 32 bytes, `offset` bytes after each.
            unsafe {
                let first = (*pointers.add(lane)).wrapping_offset(offset);
                let second = (*pointers.add(lane + 4)).wrapping_offset(offset);
                let low = _mm512_castsi256_si512(_mm256_loadu_si256(first.cast()));
                pairs[j] = _mm512_inserti64x4::<1>(low, _mm256_loadu_si256(second.cast()));
            }
            if BIG {
                pairs[j] = reversed::<4>(pairs[j]);
            }
            j += 1;
        }
        // Squares of 4 by 4 words: `low[k]`, blocks 0 and 2, is word k of the messages 0..4 and 4..8; 1 and 3, word 4 + k.
        let low = transpose4([pairs[0], pairs[1], pairs[2], pairs[3]]);
        let high = transpose4([pairs[4], pairs[5], pairs[6], pairs[7]]);
        let mut k = 0;
        while k < 4 {
            words[k] = op!(Self(_mm512_shuffle_i32x4::<0b10_00_10_00>(low[k], high[k])));
            words[k + 4] = op!(Self(_mm512_shuffle_i32x4::<0b11_01_11_01>(low[k], high[k])));
            k += 1;
        }
        words
    }

    #[inline(always)]
    unsafe fn read_lines(pointers: *const *const u8, offset: isize) -> [Self; 16] {
        // SAFETY: the instruction set is promised.
        let mut words = [unsafe { Self::broadcast(0) }; 16];
        let mut quarters = [[words[0].0; 4]; 4];
        let mut quarter = 0;
        while quarter < 4 {
            let mut rows = quarters[0];
            let mut row = 0;
            while row < 4 {
                // SAFETY: 16 pointers are promised with 16 words, which are 64 bytes, `offset` bytes after each.
                let message = unsafe { (*pointers.add(4 * quarter + row)).wrapping_offset(offset) };
                // SAFETY: the same.
                rows[row] = unsafe { _mm512_loadu_si512(message.cast()) };
                row += 1;
            }
            // Block b of vector k is word 4b + k of four messages.
            quarters[quarter] = transpose4(rows);
            quarter += 1;
        }
        let mut k = 0;
        while k < 4 {
            op! {
                let even01 = _mm512_shuffle_i32x4::<0b10_00_10_00>(quarters[0][k], quarters[1][k]);
                let odd01 = _mm512_shuffle_i32x4::<0b11_01_11_01>(quarters[0][k], quarters[1][k]);
                let even23 = _mm512_shuffle_i32x4::<0b10_00_10_00>(quarters[2][k], quarters[3][k]);
                let odd23 = _mm512_shuffle_i32x4::<0b11_01_11_01>(quarters[2][k], quarters[3][k]);
                words[k] = Self(_mm512_shuffle_i32x4::<0b10_00_10_00>(even01, even23));
                words[k + 4] = Self(_mm512_shuffle_i32x4::<0b10_00_10_00>(odd01, odd23));
                words[k + 8] = Self(_mm512_shuffle_i32x4::<0b11_01_11_01>(even01, even23));
                words[k + 12] = Self(_mm512_shuffle_i32x4::<0b11_01_11_01>(odd01, odd23));
            }
            k += 1;
        }
        words
    }

    #[inline(always)]
    unsafe fn write8<const BIG: bool>(words: &[Self; 8], out: *mut u8, stride: usize) {
        let low = transpose4([words[0].0, words[1].0, words[2].0, words[3].0]);
        let high = transpose4([words[4].0, words[5].0, words[6].0, words[7].0]);
        let mut j = 0;
        while j < 4 {
            let (mut a, mut b) = (low[j], high[j]);
            if BIG {
                a = reversed::<4>(a);
                b = reversed::<4>(b);
            }
            // SAFETY: `words` prove the instruction set. Room for 8 words, which are 32 bytes, at `out + lane * stride` is promised
            // for each of 16 lanes, and `j + 12 < 16`.
            unsafe {
                // Block i of `a` and of `b` are the halves of message 4i + j.
                let first = _mm512_permutex2var_epi64(a, _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11), b);
                let second = _mm512_permutex2var_epi64(a, _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15), b);
                _mm256_storeu_si256(out.add(j * stride).cast(), _mm512_castsi512_si256(first));
                _mm256_storeu_si256(out.add((j + 4) * stride).cast(), _mm512_extracti64x4_epi64::<1>(first));
                _mm256_storeu_si256(out.add((j + 8) * stride).cast(), _mm512_castsi512_si256(second));
                _mm256_storeu_si256(out.add((j + 12) * stride).cast(), _mm512_extracti64x4_epi64::<1>(second));
            }
            j += 1;
        }
    }
}

impl Lane for Z64 {
    words!(
        __m512i, u64 as i64: _mm512_set1_epi64 _mm512_loadu_si512 _mm512_storeu_si512,
        add _mm512_add_epi64, sub _mm512_sub_epi64, xor _mm512_xor_si512, and _mm512_and_si512, not_and _mm512_andnot_si512
    );
    reads!(_mm512_loadu_si512 reversed::<8>, transpose8);
    writes!(_mm512_storeu_si512 reversed::<8>, transpose8);
    ternary!(_mm512_set1_epi64 as i64, _mm512_rorv_epi64 _mm512_srlv_epi64 _mm512_ternarylogic_epi64, pin512 fence512);
}

impl Lane for Y32 {
    words!(
        __m256i, u32 as i32: _mm256_set1_epi32 _mm256_loadu_si256 _mm256_storeu_si256,
        add _mm256_add_epi32, sub _mm256_sub_epi32, xor _mm256_xor_si256, and _mm256_and_si256, not_and _mm256_andnot_si256
    );
    reads!(_mm256_loadu_si256 avx2::reversed::<4>, avx2::transpose32);
    writes!(_mm256_storeu_si256 avx2::reversed::<4>, avx2::transpose32);
    ternary!(_mm256_set1_epi32 as i32, _mm256_rorv_epi32 _mm256_srlv_epi32 _mm256_ternarylogic_epi32, pin256 fence256);
}

impl Lane for Y64 {
    words!(
        __m256i, u64 as i64: _mm256_set1_epi64x _mm256_loadu_si256 _mm256_storeu_si256,
        add _mm256_add_epi64, sub _mm256_sub_epi64, xor _mm256_xor_si256, and _mm256_and_si256, not_and _mm256_andnot_si256
    );
    reads!(_mm256_loadu_si256 avx2::reversed::<8>, avx2::transpose64);
    writes!(_mm256_storeu_si256 avx2::reversed::<8>, avx2::transpose64);
    ternary!(_mm256_set1_epi64x as i64, _mm256_rorv_epi64 _mm256_srlv_epi64 _mm256_ternarylogic_epi64, pin256 fence256);
}

impl Lane for X32 {
    words!(
        __m128i, u32 as i32: _mm_set1_epi32 _mm_loadu_si128 _mm_storeu_si128,
        add _mm_add_epi32, sub _mm_sub_epi32, xor _mm_xor_si128, and _mm_and_si128, not_and _mm_andnot_si128
    );
    reads!(_mm_loadu_si128 sse41::reversed::<4>, sse41::transpose32);
    writes!(_mm_storeu_si128 sse41::reversed::<4>, sse41::transpose32);
    ternary!(_mm_set1_epi32 as i32, _mm_rorv_epi32 _mm_srlv_epi32 _mm_ternarylogic_epi32, pin128 fence128);
}

/// Turns a quad by one intrinsic.
macro_rules! turned {
    ($turn:ident) => {
        #[inline(always)]
        fn turn(self, by: usize) -> Self {
            op!(Self(match by {
                1 => $turn::<0b00_11_10_01>(self.0),
                2 => $turn::<0b01_00_11_10>(self.0),
                _ => $turn::<0b10_01_00_11>(self.0),
            }))
        }
    };
}

/// One message. The words of a block are in two registers of 256 bits, pinned so that the compiler does not make one of them: while
/// an instruction on 512 bits is under way, many chips have one unit less for all the others.
impl Quad for X32 {
    type Blocks = [__m256i; 2];
    turned!(_mm_shuffle_epi32);

    #[inline(always)]
    unsafe fn fours([a, b, c, d]: [u32; 4]) -> Self {
        op!(Self(_mm_setr_epi32(a as i32, b as i32, c as i32, d as i32)))
    }

    #[inline(always)]
    unsafe fn blocks(pointers: *const *const u8, offset: isize) -> [__m256i; 2] {
        // SAFETY: the instruction set and one message's pointer are promised, with 16 words, which are 64 bytes, after it.
        unsafe {
            let at = (*pointers).wrapping_offset(offset);
            [pin256(_mm256_loadu_si256(at.cast())), pin256(_mm256_loadu_si256(at.wrapping_add(32).cast()))]
        }
    }

    #[inline(always)]
    unsafe fn part(pointers: *const *const u8, len: usize) -> [__m256i; 2] {
        // SAFETY: the instruction set and one message's pointer to `len` bytes are promised. Bytes outside the masks, which are
        // those from `len` on, are not touched.
        unsafe {
            let at = *pointers;
            [
                pin256(_mm256_maskz_loadu_epi8(below(len, 0) as u32, at.cast())),
                pin256(_mm256_maskz_loadu_epi8((below(len, 0) >> 32) as u32, at.wrapping_add(32).cast())),
            ]
        }
    }

    #[inline(always)]
    fn words(block: &[__m256i; 2], [a, b, c, d]: [usize; 4]) -> Self {
        op! {
            let order = _mm256_zextsi128_si256(_mm_setr_epi32(a as i32, b as i32, c as i32, d as i32));
            Self(_mm256_castsi256_si128(_mm256_permutex2var_epi32(block[0], order, block[1])))
        }
    }
}

/// Quads of several messages: the same quarter of each block is in one register.
macro_rules! quarters {
    (
        $name:ident $vector:ty: $quarter:ident, $turn:ident, $blend:ident $mask:ty,
        $permute:ident $add:ident $broadcast:ident $fours:expr
    ) => {
        impl Quad for $name {
            type Blocks = [Self; 4];
            turned!($turn);

            #[inline(always)]
            unsafe fn fours([a, b, c, d]: [u32; 4]) -> Self {
                op!(Self($broadcast(_mm_setr_epi32(a as i32, b as i32, c as i32, d as i32))))
            }

            #[inline(always)]
            unsafe fn blocks(pointers: *const *const u8, offset: isize) -> [Self; 4] {
                // SAFETY: the instruction set and a pointer for each message are promised, with 16 words, which are four quarters
                // of 16 bytes, `offset` bytes after it.
                unsafe {
                    [
                        Self($quarter(pointers, offset)),
                        Self($quarter(pointers, offset + 16)),
                        Self($quarter(pointers, offset + 32)),
                        Self($quarter(pointers, offset + 48)),
                    ]
                }
            }

            #[inline(always)]
            fn words([a, b, c, d]: &[Self; 4], at: [usize; 4]) -> Self {
                let late = at[0] / 8 | at[1] / 8 << 1 | at[2] / 8 << 2 | at[3] / 8 << 3;
                let at = [at[0] % 8, at[1] % 8, at[2] % 8, at[3] % 8];
                a.pick(*b, at).blend(late, c.pick(*d, at))
            }
        }

        impl Pick for $name {
            #[inline(always)]
            fn blend(self, places: usize, other: Self) -> Self {
                op!(Self($blend((0x1111 * places) as $mask, self.0, other.0)))
            }

            #[inline(always)]
            fn pick(self, other: Self, at: [usize; 4]) -> Self {
                let mut order = [0; 4];
                let mut place = 0;
                while place < 4 {
                    order[place] = (at[place] % 4 + at[place] / 4 * Self::LANES) as i32;
                    place += 1;
                }
                // SAFETY: `self` proves the instruction set, and `order` has the 16 bytes that are loaded.
                unsafe {
                    let order = $broadcast(_mm_loadu_si128(order.as_ptr().cast()));
                    Self($permute(self.0, $add(order, $fours), other.0))
                }
            }
        }
    };
}
quarters!(
    Y32 __m256i: quarter2, _mm256_shuffle_epi32, _mm256_mask_blend_epi32 u8,
    _mm256_permutex2var_epi32 _mm256_add_epi32 _mm256_broadcastsi128_si256 _mm256_setr_epi32(0, 0, 0, 0, 4, 4, 4, 4)
);
quarters!(
    Z32 __m512i: quarter4, _mm512_shuffle_epi32, _mm512_mask_blend_epi32 u16,
    _mm512_permutex2var_epi32 _mm512_add_epi32 _mm512_broadcast_i32x4
    _mm512_setr_epi32(0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12)
);

/// 16 bytes of a message.
///
/// # Safety
/// The machine has AVX-512; `message` is the index of a pointer, `offset` bytes after which 16 bytes can be read.
#[inline(always)]
unsafe fn quarter1(pointers: *const *const u8, message: usize, offset: isize) -> __m128i {
    // SAFETY: just these promises; the intrinsic takes any alignment.
    unsafe { _mm_loadu_si128((*pointers.add(message)).wrapping_offset(offset).cast()) }
}

/// 16 bytes of each of two messages.
///
/// # Safety
/// As for [`quarter1`], for two messages.
#[inline(always)]
unsafe fn quarter2(pointers: *const *const u8, offset: isize) -> __m256i {
    // SAFETY: the promises of `quarter1` hold for the messages 0 and 1.
    unsafe {
        let first = _mm256_castsi128_si256(quarter1(pointers, 0, offset));
        _mm256_inserti128_si256::<1>(first, quarter1(pointers, 1, offset))
    }
}

/// 16 bytes of each of four messages.
///
/// # Safety
/// As for [`quarter1`], for four messages.
#[inline(always)]
unsafe fn quarter4(pointers: *const *const u8, offset: isize) -> __m512i {
    // SAFETY: the promises of `quarter1` hold for the messages 0 to 3.
    unsafe {
        let mut all = _mm512_castsi128_si512(quarter1(pointers, 0, offset));
        all = _mm512_inserti32x4::<1>(all, quarter1(pointers, 1, offset));
        all = _mm512_inserti32x4::<2>(all, quarter1(pointers, 2, offset));
        _mm512_inserti32x4::<3>(all, quarter1(pointers, 3, offset))
    }
}

/// One message.
impl Quad for Y64 {
    type Blocks = [__m256i; 4];
    turned!(_mm256_permute4x64_epi64);

    #[inline(always)]
    unsafe fn fours([a, b, c, d]: [u64; 4]) -> Self {
        op!(Self(_mm256_setr_epi64x(a as i64, b as i64, c as i64, d as i64)))
    }

    #[inline(always)]
    unsafe fn blocks(pointers: *const *const u8, offset: isize) -> [__m256i; 4] {
        // SAFETY: the instruction set and one message's pointer are promised, with 16 words of 64 bits after it, which are twice
        // 16 of 32 bits.
        let [[a, b], [c, d]] = unsafe { [X32::blocks(pointers, offset), X32::blocks(pointers, offset + 64)] };
        [a, b, c, d]
    }

    #[inline(always)]
    fn words(block: &[__m256i; 4], [a, b, c, d]: [usize; 4]) -> Self {
        let late = |at: usize| if at < 8 { 0 } else { -1 };
        op! {
            let order = _mm256_setr_epi64x(a as i64, b as i64, c as i64, d as i64);
            let low = _mm256_permutex2var_epi64(block[0], order, block[1]);
            let high = _mm256_permutex2var_epi64(block[2], order, block[3]);
            Self(_mm256_blendv_epi8(low, high, _mm256_setr_epi64x(late(a), late(b), late(c), late(d))))
        }
    }
}

/// [`Lane::overlay`] by masks, which are the same for all lanes.
///
/// # Safety
/// The machine has AVX-512; the overlay's promises hold for `LANES` messages.
#[inline(always)]
unsafe fn overlaid<const LANES: usize>(overlay: Overlay) {
    let Overlay { template, len, pointers, offset, from, end, to } = overlay;
    let mut at = 0;
    while at < len {
        let (mine, whole) = (below(end, at) & !below(from, at), below(len, at));
        // SAFETY: the instruction set is promised. Bytes outside a mask are not touched: of the template, those from `len` on; of a
        // message, those outside `from..end`, which may lie outside its memory. The store is a whole one, because a store under a
        // mask would not be forwarded to the load that soon follows; there is room, since `PITCH` is a multiple of 64 and no less
        // than `len`.
        unsafe {
            let common = _mm512_maskz_loadu_epi8(whole, template.wrapping_add(at).cast());
            let mut lane = 0;
            while lane < LANES {
                let block = (*pointers.add(lane)).wrapping_offset(offset + at as isize);
                let bytes = _mm512_mask_loadu_epi8(common, mine, block.cast());
                _mm512_storeu_si512(to.add(lane * PITCH + at).cast(), bytes);
                lane += 1;
            }
        }
        at += 64;
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

/// Transposes a square of 8 by 8 words of 64 bits, given row by row.
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
