//! SHA-256 of one message, with a schedule that is computed in vectors: see SHA-1's, which has it for the same reason.

use super::Sha256;
use crate::{
    hash::sha2::{Constants, Schedule, add, round},
    kernel::{Block, Kernel, lanes_state},
    lane::Lane,
};
use core::{arch::wasm32::*, mem::MaybeUninit};

/// SHA-256 of one message.
pub(crate) struct Scheduled;

/// The words of a state.
type L = u32;

#[inline(always)]
fn rotr<const BITS: u32>(words: v128) -> v128 {
    v128_or(u32x4_shr(words, BITS), u32x4_shl(words, 32 - BITS))
}

/// σ1 of the words in the lower halves of both lanes of 64 bits. Each word is in the upper half too, so that a shift rotates it.
#[inline(always)]
fn sigma1(twice: v128) -> v128 {
    v128_xor(v128_xor(u64x2_shr(twice, 17), u64x2_shr(twice, 19)), u32x4_shr(twice, 10))
}

/// The four words of the schedule after the 16 in `w` (FIPS 180-4, 6.2.2).
#[inline(always)]
fn next([w0, w1, w2, w3]: [v128; 4]) -> v128 {
    let fifteenth = u32x4_shuffle::<1, 2, 3, 4>(w0, w1);
    let sigma0 = v128_xor(v128_xor(rotr::<7>(fifteenth), rotr::<18>(fifteenth)), u32x4_shr(fifteenth, 3));
    let sum = u32x4_add(u32x4_add(w0, sigma0), u32x4_shuffle::<1, 2, 3, 4>(w2, w3));
    // The last two words depend on the first two.
    let zero = u32x4_splat(0);
    let early = sigma1(u32x4_shuffle::<2, 2, 3, 3>(w3, w3));
    let sum = u32x4_add(sum, u32x4_shuffle::<0, 2, 4, 4>(early, zero));
    let late = sigma1(u32x4_shuffle::<0, 0, 1, 1>(sum, sum));
    u32x4_add(sum, u32x4_shuffle::<4, 4, 0, 2>(late, zero))
}

/// FIPS 180-4, 6.2.2.
///
/// # Safety
/// As for [`Block::vectors`].
#[inline(always)]
unsafe fn compress(state: &mut [u32; 8], block: Block) {
    let mut s = *state;
    // SAFETY: the same promise.
    let mut w = unsafe { block.vectors::<4, 4>() };
    let mut sums = MaybeUninit::<[v128; 16]>::uninit();
    let sums: *mut v128 = sums.as_mut_ptr().cast();
    let constants: *const v128 = Sha256::K.as_ptr().cast();
    // To the compiler, memory is volatile: it would take the words out of the vectors one by one instead.
    macro_rules! put {
        ($t:expr, $($i:literal)*) => { $(
            // SAFETY: there are 16 vectors of constants, four of which begin at `$t`; `$i` is less than 4.
            unsafe { sums.add($t + $i).write_volatile(u32x4_add(w[$i], v128_load(constants.add($t + $i)))) };
        )* };
    }
    macro_rules! rounds {
        ($t:expr, $($i:literal)*) => { $(
            // SAFETY: the 16 words from `4 * $t` on were written.
            let scheduled = unsafe { sums.add($t).cast_const().cast::<u32>().add($i).read_volatile() };
            round::<Sha256, u32, $i>(&mut s, scheduled);
        )* };
    }
    put!(0, 0 1 2 3);
    let mut t = 0;
    loop {
        rounds!(t, 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
        t += 4;
        if t == 16 {
            break;
        }
        w[0] = next(w);
        w[1] = next([w[1], w[2], w[3], w[0]]);
        w[2] = next([w[2], w[3], w[0], w[1]]);
        w[3] = next([w[3], w[0], w[1], w[2]]);
        put!(t, 0 1 2 3);
    }
    add(state, s);
}

impl Kernel for Scheduled {
    type State = [u32; 8];
    type Context = Schedule;
    const LANES: usize = 1;
    const DIGEST: usize = 32;
    const SAME: bool = false;
    lanes_state!(8);

    #[inline(always)]
    unsafe fn fold(state: &mut [u32; 8], block: Block, _: &Schedule) {
        // SAFETY: the block is promised.
        unsafe { compress(state, block) }
    }

    #[inline(always)]
    unsafe fn digests(state: &[u32; 8], out: *mut u8, stride: usize) {
        // SAFETY: 32 bytes, which are 8 words, can be written, as promised.
        unsafe { L::write8::<true>(state, out, stride) }
    }
}
