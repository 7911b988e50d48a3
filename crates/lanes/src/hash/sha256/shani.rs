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
use core::{
    arch::x86_64::*,
    mem::MaybeUninit,
    sync::atomic::{Ordering, compiler_fence},
};

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

/// Four rounds, with the schedule's next four words and their constants.
#[inline(always)]
fn four(s: &mut State, words: __m128i) {
    op! {
        s.cdgh = _mm_sha256rnds2_epu32(s.cdgh, s.abef, words);
        s.abef = _mm_sha256rnds2_epu32(s.abef, s.cdgh, _mm_shuffle_epi32::<0b00_00_11_10>(words));
    }
}

/// The schedule's next four words, after the 16 in `w`.
#[inline(always)]
fn scheduled(w: [__m128i; 4]) -> __m128i {
    op! {
        let seventh = _mm_alignr_epi8::<4>(w[3], w[2]);
        _mm_sha256msg2_epu32(_mm_add_epi32(_mm_sha256msg1_epu32(w[0], w[1]), seventh), w[3])
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
        let words = unsafe { _mm_loadu_si128(schedule.add(t).cast()) };
        let mut n = 0;
        while n < N {
            four(&mut state[n], words);
            n += 1;
        }
        t += 4;
    }
}

/// The rounds of a block of each message, with a schedule that grows as it is used: for one message or two, whose schedules stay in
/// registers.
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
                w[$t % 4] = if $t < 4 {
                    // SAFETY: the state proves the instructions. 64 bytes of each block are promised, and `16 * $t + 16 <= 64`.
                    unsafe { reversed(_mm_loadu_si128(blocks[n].wrapping_add(16 * $t).cast())) }
                } else {
                    scheduled([w[$t % 4], w[($t + 1) % 4], w[($t + 2) % 4], w[($t + 3) % 4]])
                };
                words[n] = op!(_mm_add_epi32(w[$t % 4], k));
                n += 1;
            }
            let mut n = 0;
            while n < N {
                four(&mut state[n], words[n]);
                n += 1;
            }
        })* };
    }
    next!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
}

/// The same for more messages: the states of up to six fill the registers, so that the schedules are in memory. A loop, where the
/// place of a word is a variable, keeps the compiler from moving them into registers and states out of them.
///
/// # Safety
/// As for [`rounds`].
#[inline(always)]
unsafe fn rounds_from_memory<const N: usize>(state: &mut [State; N], blocks: [*const u8; N]) {
    // The first four words of each message, then the next four.
    let mut schedules = MaybeUninit::<[[__m128i; N]; 16]>::uninit();
    let first: *mut __m128i = schedules.as_mut_ptr().cast();
    let mut t = 0;
    macro_rules! step {
        ($n:ident, $to:ident: $words:expr) => {
            // SAFETY: the state proves the instructions, and there are 64 constants.
            let k = unsafe { _mm_loadu_si128(Sha256::K.as_ptr().add(4 * t).cast()) };
            let mut $n = 0;
            while $n < N {
                let $to = first.wrapping_add(t * N + $n);
                let words = $words;
                // SAFETY: `t < 16` and `n < N`, so this is memory of `schedules`.
                unsafe { $to.write(words) };
                four(&mut state[$n], op!(_mm_add_epi32(words, k)));
                // Otherwise the compiler reads words of other messages early, and has too few registers for the states.
                compiler_fence(Ordering::SeqCst);
                $n += 1;
            }
            t += 1;
        };
    }
    while t < 4 {
        step! { n, to:
            // SAFETY: the state proves the instructions. 64 bytes of each block are promised, and `16 * t + 16 <= 64`.
            unsafe { reversed(_mm_loadu_si128(blocks[n].wrapping_add(16 * t).cast())) }
        }
    }
    while t < 16 {
        step! { n, to: {
            // SAFETY: the words of the four steps before were written, `N` vectors each.
            scheduled(unsafe { [*to.sub(4 * N), *to.sub(3 * N), *to.sub(2 * N), *to.sub(N)] })
        } }
    }
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
                _ if N > 2 => rounds_from_memory(state, block.addresses()),
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
