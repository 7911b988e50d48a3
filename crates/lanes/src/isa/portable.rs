//! One message at a time in machine words: every machine.

use crate::lane::Lane;

macro_rules! lane {
    ($word:ty) => {
        impl Lane for $word {
            type Word = $word;
            const LANES: usize = 1;
            type Each<T: Copy> = [T; 1];

            #[inline(always)]
            unsafe fn broadcast(word: $word) -> Self {
                word
            }

            #[inline(always)]
            unsafe fn load(from: *const $word) -> Self {
                // SAFETY: the caller's promise.
                unsafe { from.read_unaligned() }
            }

            #[inline(always)]
            unsafe fn store(self, to: *mut $word) {
                // SAFETY: the caller's promise.
                unsafe { to.write_unaligned(self) }
            }

            #[inline(always)]
            unsafe fn rows8<const BIG: bool>(rows: *const *const u8, offset: isize) -> [Self; 8] {
                let mut words = [0; 8];
                let mut at = 0;
                while at < 8 {
                    // SAFETY: the caller's promise: 8 words.
                    words[at] = unsafe { Self::rows1::<BIG>(rows, offset + (at * size_of::<$word>()) as isize) };
                    at += 1;
                }
                words
            }

            #[inline(always)]
            unsafe fn rows1<const BIG: bool>(rows: *const *const u8, offset: isize) -> Self {
                // SAFETY: the caller's promise.
                let word = unsafe { (*rows).wrapping_offset(offset).cast::<$word>().read_unaligned() };
                if BIG { <$word>::from_be(word) } else { <$word>::from_le(word) }
            }

            #[inline(always)]
            unsafe fn store8<const BIG: bool>(words: &[Self; 8], out: *mut u8, _stride: usize) {
                let mut at = 0;
                while at < 8 {
                    let word = if BIG { words[at].to_be() } else { words[at].to_le() };
                    // SAFETY: the caller's promise: 8 words.
                    unsafe { out.cast::<$word>().add(at).write_unaligned(word) };
                    at += 1;
                }
            }

            #[inline(always)]
            fn add(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            #[inline(always)]
            fn sub(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }

            #[inline(always)]
            fn xor(self, other: Self) -> Self {
                self ^ other
            }

            #[inline(always)]
            fn and(self, other: Self) -> Self {
                self & other
            }

            #[inline(always)]
            fn not_and(self, other: Self) -> Self {
                !self & other
            }

            #[inline(always)]
            fn choose_added(self, yes: Self, no: Self, sum: Self) -> Self {
                // The two halves have no bit in common: `yes`, which comes last, waits for two operations and not three.
                sum.wrapping_add(!self & no).wrapping_add(self & yes)
            }

            #[inline(always)]
            fn majority_once(self, b: Self, c: Self) -> Self {
                (self & b) | (c & (self | b))
            }

            #[inline(always)]
            fn rotr(self, bits: u32) -> Self {
                self.rotate_right(bits)
            }

            #[inline(always)]
            fn shr(self, bits: u32) -> Self {
                self >> bits
            }
        }
    };
}

lane!(u32);
lane!(u64);
