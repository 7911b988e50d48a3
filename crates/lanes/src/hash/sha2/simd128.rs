//! SHA-2 of one message, with a schedule that is computed in vectors: see SHA-1's, which has it for the same reason.

use super::{Constants, Schedule, add, round};
use crate::{
    kernel::{Block, Kernel, lanes_state},
    lane::Lane,
};
use core::{arch::wasm32::v128, marker::PhantomData, mem::MaybeUninit};

/// A schedule in vectors, `N` of which have 16 words.
pub(crate) trait Vectors<const N: usize>: Constants {
    /// The sum of two vectors, word by word.
    fn sum(one: v128, other: v128) -> v128;

    /// The vector of the schedule after the 16 words in `w`, the oldest of which begin at `at`.
    fn next(w: &[v128; N], at: usize) -> v128;
}

/// SHA-2 of one message with constants `C`, whose words are the lane `L`.
pub(crate) struct Scheduled<C, L, const N: usize>(PhantomData<(C, L)>);

/// The words of all rounds, with the constants added: of 16 rounds each, and at most 80.
type Sums<const N: usize> = [[v128; N]; 5];

/// FIPS 180-4, 6.2.2 and 6.4.2.
///
/// # Safety
/// As for [`Block::vectors`].
#[inline(always)]
unsafe fn compress<C: Vectors<N>, L: Lane<Word = C::Word>, const N: usize>(state: &mut [L; 8], block: Block) {
    const { assert!(C::ROUNDS <= 80 && L::LANES == 1) };
    let mut s = *state;
    // SAFETY: the same promise.
    let mut w = unsafe { block.vectors::<N, true>() };
    let mut sums = MaybeUninit::<Sums<N>>::uninit();
    let sums: *mut v128 = sums.as_mut_ptr().cast();
    let constants: *const v128 = C::K.as_ptr().cast();
    // To the compiler, memory is volatile: it would take the words out of the vectors one by one instead.
    macro_rules! put {
        ($t:expr, $($i:literal)*) => { $(
            if $i < N {
                // SAFETY: the constants are as many vectors as the schedule, and `sums` has room for as many; `read_unaligned` takes them
                // where they lie.
                unsafe { sums.add($t + $i).write_volatile(C::sum(w[$i % N], constants.add($t + $i).read_unaligned())) };
            }
        )* };
    }
    macro_rules! grow {
        ($($i:literal)*) => { $(
            if $i < N {
                w[$i % N] = C::next(&w, $i % N);
            }
        )* };
    }
    macro_rules! rounds {
        ($t:expr, $($i:literal)*) => { $(
            // SAFETY: the 16 words in `N` vectors from `$t` on were written.
            let scheduled = unsafe { sums.add($t).cast_const().cast::<C::Word>().add($i).read_volatile() };
            round::<C, L, $i>(&mut s, state[0].splat(scheduled));
        )* };
    }
    put!(0, 0 1 2 3 4 5 6 7);
    let mut t = 0;
    loop {
        // Before the rounds that do not need it, so that they do not wait for it.
        if 16 * (t + N) < C::ROUNDS * N {
            grow!(0 1 2 3 4 5 6 7);
            put!(t + N, 0 1 2 3 4 5 6 7);
        }
        rounds!(t, 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
        t += N;
        if 16 * t == C::ROUNDS * N {
            break;
        }
    }
    add(state, s);
}

impl<C: Vectors<N>, L: Lane<Word = C::Word>, const N: usize> Kernel for Scheduled<C, L, N> {
    type State = [L; 8];
    type Context = Schedule;
    const LANES: usize = 1;
    const DIGEST: usize = 8 * size_of::<C::Word>();
    const SAME: bool = false;
    lanes_state!(8);

    #[inline(always)]
    unsafe fn fold(state: &mut [L; 8], block: Block, _: &Schedule) {
        // SAFETY: the block is promised.
        unsafe { compress::<C, L, N>(state, block) }
    }

    #[inline(always)]
    unsafe fn digests(state: &[L; 8], out: *mut u8, stride: usize) {
        // SAFETY: `DIGEST` bytes, which are 8 words, can be written, as promised.
        unsafe { L::write8::<true>(state, out, stride) }
    }
}
