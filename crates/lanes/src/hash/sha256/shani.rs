//! SHA-256 by the SHA extensions of x86.

use crate::{
    hash::{
        sha2::{Constants, Schedule, Shared},
        sha256::constants::Sha256,
        shani::op,
    },
    in_step::{self, Chain},
    kernel::Block,
};
use core::arch::x86_64::*;

/// SHA-256 of `N` messages in step.
pub(crate) type InStep<const N: usize> = in_step::InStep<State, 8, N>;

/// The state in the order that the instructions take: `a b e f` and `c d g h`, the first word highest.
#[derive(Clone, Copy)]
pub(crate) struct State {
    abef: __m128i,
    cdgh: __m128i,
}

/// Reverses the bytes of each word.
///
/// # Safety
/// The machine has SSSE3.
#[inline(always)]
unsafe fn reversed(words: __m128i) -> __m128i {
    op!(_mm_shuffle_epi8(words, _mm_setr_epi8(3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12)))
}

impl State {
    /// The words in their own order.
    #[inline(always)]
    fn ordered(self) -> [__m128i; 2] {
        op! {
            let (dcba, hgfe) = (_mm_unpackhi_epi64(self.cdgh, self.abef), _mm_unpacklo_epi64(self.cdgh, self.abef));
            [_mm_shuffle_epi32::<0b00_01_10_11>(dcba), _mm_shuffle_epi32::<0b00_01_10_11>(hgfe)]
        }
    }
}

/// Four rounds of every message, with the schedule's next four words and their constants.
#[inline(always)]
fn four<const N: usize>(state: &mut [State; N], scheduled: [__m128i; N]) {
    let mut n = 0;
    while n < N {
        let (s, words) = (&mut state[n], scheduled[n]);
        op! {
            s.cdgh = _mm_sha256rnds2_epu32(s.cdgh, s.abef, words);
            s.abef = _mm_sha256rnds2_epu32(s.abef, s.cdgh, _mm_shuffle_epi32::<0b00_00_11_10>(words));
        }
        n += 1;
    }
}

/// The rounds with a schedule that all messages share and that has the constants added.
///
/// # Safety
/// 64 words can be read at `schedule`.
#[inline(always)]
unsafe fn rounds_scheduled<const N: usize>(state: &mut [State; N], schedule: *const u32) {
    let mut t = 0;
    while t < 64 {
        // SAFETY: the state proves the instructions; 64 words are promised, and `t + 4 <= 64`.
        four(state, [unsafe { _mm_loadu_si128(schedule.add(t).cast()) }; N]);
        t += 4;
    }
}

/// The rounds of a block of each message, with a schedule that grows as it is used.
///
/// # Safety
/// 64 bytes can be read at each address.
#[inline(always)]
unsafe fn rounds<const N: usize>(state: &mut [State; N], blocks: [*const u8; N]) {
    let mut words = [state[0].abef; N];
    // The schedule's last 16 words.
    let mut w = [[words[0]; 4]; N];
    macro_rules! next {
        ($($t:literal)*) => { $({
            // SAFETY: the state proves the instructions, and there are 64 constants.
            let k = unsafe { _mm_loadu_si128(Sha256::K.as_ptr().add(4 * $t).cast()) };
            let mut n = 0;
            while n < N {
                let w = &mut w[n];
                // SAFETY: the state proves the instructions. 64 bytes of each block are promised: `$t < 4` where 16 are read.
                unsafe {
                    w[$t % 4] = if $t < 4 {
                        reversed(_mm_loadu_si128(blocks[n].wrapping_add(16 * $t).cast()))
                    } else {
                        let seventh = _mm_alignr_epi8::<4>(w[($t + 3) % 4], w[($t + 2) % 4]);
                        let sum = _mm_add_epi32(_mm_sha256msg1_epu32(w[$t % 4], w[($t + 1) % 4]), seventh);
                        _mm_sha256msg2_epu32(sum, w[($t + 3) % 4])
                    };
                    words[n] = _mm_add_epi32(w[$t % 4], k);
                }
                n += 1;
            }
            four(state, words);
        })* };
    }
    next!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
}

impl Chain<8> for State {
    type Context = Schedule;

    #[inline(always)]
    unsafe fn new(words: &[u32; 8]) -> Self {
        // SAFETY: the instructions are promised, and `words` are twice the 16 bytes that are loaded.
        unsafe {
            let abcd = _mm_loadu_si128(words.as_ptr().cast());
            let efgh = _mm_loadu_si128(words.as_ptr().add(4).cast());
            let (dcba, hgfe) = (_mm_shuffle_epi32::<0b00_01_10_11>(abcd), _mm_shuffle_epi32::<0b00_01_10_11>(efgh));
            State { abef: _mm_unpackhi_epi64(hgfe, dcba), cdgh: _mm_unpacklo_epi64(hgfe, dcba) }
        }
    }

    #[inline(always)]
    fn words(self) -> [u32; 8] {
        let mut words = [0; 8];
        let [abcd, efgh] = self.ordered();
        // SAFETY: `self` proves the instructions, and `words` are twice the 16 bytes that are stored.
        unsafe {
            _mm_storeu_si128(words.as_mut_ptr().cast(), abcd);
            _mm_storeu_si128(words.as_mut_ptr().add(4).cast(), efgh);
        }
        words
    }

    #[inline(always)]
    unsafe fn digest(self, out: *mut u8) {
        let [abcd, efgh] = self.ordered();
        // SAFETY: `self` proves the instructions, and 32 bytes are promised.
        unsafe {
            _mm_storeu_si128(out.cast(), reversed(abcd));
            _mm_storeu_si128(out.add(16).cast(), reversed(efgh));
        }
    }

    #[inline(always)]
    unsafe fn fold<const N: usize>(state: &mut [State; N], block: Block, context: &Schedule) {
        let before = *state;
        // SAFETY: a whole schedule has 64 words. Otherwise a block of each message is promised, with as many pointers as lanes.
        unsafe {
            match context.shared {
                Shared::Whole(schedule) => rounds_scheduled(state, schedule.cast()),
                _ => rounds(state, block.addresses()),
            }
        }
        let mut n = 0;
        while n < N {
            op! {
                state[n].abef = _mm_add_epi32(state[n].abef, before[n].abef);
                state[n].cdgh = _mm_add_epi32(state[n].cdgh, before[n].cdgh);
            }
            n += 1;
        }
    }
}
