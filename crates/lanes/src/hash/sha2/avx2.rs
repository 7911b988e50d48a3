//! SHA-2 with words of 64 bits of one message, whose schedule is computed in vectors of AVX2 between the rounds.

use super::{Constants, Schedule, Sha2, Shared, add, round};
use crate::{
    kernel::{Block, Kernel, lanes_state},
    lane::Lane,
};
use core::{arch::x86_64::*, marker::PhantomData, mem::MaybeUninit};

/// The lane of the rounds.
type L = u64;

/// A schedule in vectors of two words.
pub(crate) trait Vectors: Constants<Word = u64> {
    /// The vector of the schedule after the 16 words in `w`, the oldest of which begin at `at`.
    ///
    /// # Safety
    /// The machine has AVX2.
    unsafe fn next(w: &[__m128i; 8], at: usize) -> __m128i;
}

/// SHA-2 of one message with constants `C`.
pub(crate) struct Scheduled<C>(PhantomData<C>);

/// The rounds of a block. The vectors of the schedule take the places of the scalar instructions that the rounds leave free, so each is
/// computed between the rounds that it does not wait for.
///
/// # Safety
/// The machine has AVX2. The block is there, as for [`Kernel::fold`], and it is not [`Block::Same`].
#[inline(always)]
unsafe fn compress<C: Vectors>(state: &mut [u64; 8], block: Block) {
    let mut s = *state;
    // The next 16 words, with the constants added.
    let mut sums = MaybeUninit::<[__m128i; 8]>::uninit();
    let sums: *mut __m128i = sums.as_mut_ptr().cast();
    // To the compiler, memory is volatile: it would take the words out of the vectors one by one instead.
    macro_rules! put {
        ($t:expr, $at:expr, $words:expr) => {
            // SAFETY: AVX2 is promised. There are 80 constants, `$t + 2 * $at` is at most 78, and there are 8 pairs of sums.
            unsafe {
                let constants = _mm_loadu_si128(C::K.as_ptr().add($t + 2 * $at).cast());
                sums.add($at).write_volatile(_mm_add_epi64($words, constants));
            }
        };
    }
    // SAFETY: AVX2 and the block are promised: one lane has one pointer, and 128 bytes behind it.
    let mut w = unsafe {
        let from: *const __m128i = block.addresses::<1>()[0].cast();
        let order = _mm_setr_epi8(7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8);
        let mut w = [order; 8];
        let mut at = 0;
        while at < 8 {
            let words = _mm_loadu_si128(from.add(at));
            w[at] = if matches!(block, Block::Lanes(_)) { words } else { _mm_shuffle_epi8(words, order) };
            at += 1;
        }
        w
    };
    let mut at = 0;
    while at < 8 {
        put!(0, at, w[at]);
        at += 1;
    }
    macro_rules! rounds {
        ($t:expr, $grows:literal: $($i:literal)*) => { $(
            if $grows && $i % 2 == 0 {
                // SAFETY: AVX2 is promised.
                w[$i / 2] = unsafe { C::next(&w, $i / 2) };
            }
            // SAFETY: there are 16 sums, all of which were written.
            round::<C, u64, $i>(&mut s, unsafe { sums.cast::<u64>().add($i).read_volatile() });
            if $grows && $i % 2 == 1 {
                put!($t, $i / 2, w[$i / 2]);
            }
        )* };
    }
    let mut t = 16;
    while t < 80 {
        rounds!(t, true: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
        t += 16;
    }
    rounds!(t, false: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
    add(state, s);
}

impl<C: Vectors> Kernel for Scheduled<C> {
    type State = [u64; 8];
    type Context = Schedule;
    const LANES: usize = 1;
    const DIGEST: usize = 64;
    const SAME: bool = false;
    lanes_state!(8);

    #[inline(always)]
    unsafe fn fold(state: &mut [u64; 8], block: Block, context: &Schedule) {
        // SAFETY: the same promises.
        unsafe {
            match context.shared {
                Shared::None => compress::<C>(state, block),
                _ => Sha2::<C, u64>::fold(state, block, context),
            }
        }
    }

    #[inline(always)]
    unsafe fn digests(state: &[u64; 8], out: *mut u8, stride: usize) {
        // SAFETY: `DIGEST` bytes, which are 8 words, can be written, as promised.
        unsafe { u64::write8::<true>(state, out, stride) }
    }
}
