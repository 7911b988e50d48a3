//! SHA-1 by the SHA extensions of x86.

use crate::{
    hash::shani::op,
    in_step::{self, Chain},
    kernel::Block,
};
use core::arch::x86_64::*;

/// SHA-1 of `N` messages in step.
pub(crate) type InStep<const N: usize> = in_step::InStep<State, 5, N>;

/// The state in the order that the instructions take: `a b c d`, the first word highest, and `e` in the highest word.
#[derive(Clone, Copy)]
pub(crate) struct State {
    abcd: __m128i,
    e: __m128i,
}

/// Reverses the bytes of a vector, so that the first word is the highest one, and each word's first byte its highest.
///
/// # Safety
/// The machine has SSSE3.
#[inline(always)]
unsafe fn reversed(bytes: __m128i) -> __m128i {
    op!(_mm_shuffle_epi8(bytes, _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)))
}

impl Chain<5> for State {
    type Context = ();

    #[inline(always)]
    unsafe fn new(words: &[u32; 5]) -> Self {
        // SAFETY: the instructions are promised, and `words` have the 16 bytes that are loaded.
        unsafe {
            let abcd = _mm_loadu_si128(words.as_ptr().cast());
            State { abcd: _mm_shuffle_epi32::<0b00_01_10_11>(abcd), e: _mm_set_epi32(words[4] as i32, 0, 0, 0) }
        }
    }

    #[inline(always)]
    fn words(self) -> [u32; 5] {
        let mut words = [0; 4];
        // SAFETY: `self` proves the instructions, and `words` have the 16 bytes that are stored.
        unsafe { _mm_storeu_si128(words.as_mut_ptr().cast(), _mm_shuffle_epi32::<0b00_01_10_11>(self.abcd)) };
        [words[0], words[1], words[2], words[3], op!(_mm_extract_epi32::<3>(self.e) as u32)]
    }

    #[inline(always)]
    unsafe fn digest(self, out: *mut u8) {
        // SAFETY: `self` proves the instructions, and 32 bytes are promised, of which the digest are the first 20.
        unsafe {
            _mm_storeu_si128(out.cast(), reversed(self.abcd));
            _mm_storeu_si128(out.add(16).cast(), reversed(self.e));
        }
    }

    #[inline(always)]
    unsafe fn fold<const N: usize>(state: &mut [State; N], block: Block, (): &()) {
        // SAFETY: if the block is one of each message, there are as many pointers as lanes, as promised.
        let (before, blocks) = (*state, unsafe { block.addresses::<N>() });
        let mut w = [[before[0].e; 4]; N];
        // Four steps at a time; `e` four steps later is `a` of four steps before, rotated.
        macro_rules! next {
            ($($t:literal)*) => { $({
                let mut n = 0;
                while n < N {
                    let (w, s) = (&mut w[n], &mut state[n]);
                    // SAFETY: the state proves the instructions. 64 bytes of each block are promised: `$t < 4` where 16 are read.
                    unsafe {
                        w[$t % 4] = if $t < 4 {
                            reversed(_mm_loadu_si128(blocks[n].wrapping_add(16 * $t).cast()))
                        } else {
                            let sum = _mm_xor_si128(_mm_sha1msg1_epu32(w[$t % 4], w[($t + 1) % 4]), w[($t + 2) % 4]);
                            _mm_sha1msg2_epu32(sum, w[($t + 3) % 4])
                        };
                        let e = if $t == 0 { _mm_add_epi32(s.e, w[0]) } else { _mm_sha1nexte_epu32(s.e, w[$t % 4]) };
                        s.e = s.abcd;
                        s.abcd = _mm_sha1rnds4_epu32::<{ $t / 5 }>(s.abcd, e);
                    }
                    n += 1;
                }
            })* };
        }
        next!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19);
        let mut n = 0;
        while n < N {
            op! {
                state[n].e = _mm_sha1nexte_epu32(state[n].e, before[n].e);
                state[n].abcd = _mm_add_epi32(state[n].abcd, before[n].abcd);
            }
            n += 1;
        }
    }
}
