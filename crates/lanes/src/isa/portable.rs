//! One message at a time in machine words, on every machine.

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
                // SAFETY: one word, for the only lane, is promised.
                unsafe { from.read_unaligned() }
            }

            #[inline(always)]
            unsafe fn store(self, to: *mut $word) {
                // SAFETY: room for one word, that of the only lane, is promised.
                unsafe { to.write_unaligned(self) }
            }

            #[inline(always)]
            unsafe fn read8<const BIG: bool>(pointers: *const *const u8, offset: isize) -> [Self; 8] {
                let mut words = [0; 8];
                let mut at = 0;
                while at < 8 {
                    // SAFETY: a pointer and 8 words are promised, and `at < 8`.
                    words[at] = unsafe { Self::read1::<BIG>(pointers, offset + (at * size_of::<$word>()) as isize) };
                    at += 1;
                }
                words
            }

            #[inline(always)]
            unsafe fn read1<const BIG: bool>(pointers: *const *const u8, offset: isize) -> Self {
                // SAFETY: a pointer, and a word `offset` bytes after it, are promised.
                let word = unsafe { (*pointers).wrapping_offset(offset).cast::<$word>().read_unaligned() };
                if BIG { <$word>::from_be(word) } else { <$word>::from_le(word) }
            }

            #[inline(always)]
            unsafe fn write8<const BIG: bool>(words: &[Self; 8], out: *mut u8, _stride: usize) {
                let mut at = 0;
                while at < 8 {
                    let word = if BIG { words[at].to_be() } else { words[at].to_le() };
                    // SAFETY: room for the 8 words of the only lane is promised, and `at < 8`.
                    unsafe { out.cast::<$word>().add(at).write_unaligned(word) };
                    at += 1;
                }
            }

            #[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
            #[inline(always)]
            fn pin(self) -> Self {
                let mut word = self;
                #[allow(asm_sub_register)] // No instruction names the register.
                // SAFETY: there is no instruction, only the claim that `word` may have changed.
                unsafe {
                    core::arch::asm!("/* {0} */", inout(reg) word, options(pure, nomem, nostack, preserves_flags));
                }
                word
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
                // The two halves have no bit in common. So `yes`, which is ready last, waits for two operations instead of three.
                sum.wrapping_add(!self & no).pin().wrapping_add(self & yes)
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
