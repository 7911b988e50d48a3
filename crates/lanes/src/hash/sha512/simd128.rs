//! SHA-512 of one message, with a schedule that is computed in vectors: see SHA-1's, which has it for the same reason.

use super::Sha512;
use crate::{
    hash::sha2::{Constants, Schedule, add, round},
    kernel::{Block, Kernel, lanes_state},
    lane::Lane,
};
use core::{arch::wasm32::*, mem::MaybeUninit};

/// SHA-512 of one message.
pub(crate) struct Scheduled;

/// The words of a state.
type L = u64;

#[inline(always)]
fn rotr<const BITS: u32>(words: v128) -> v128 {
    v128_or(u64x2_shr(words, BITS), u64x2_shl(words, 64 - BITS))
}

/// The two words of the schedule after the 16 in `w`, of which the oldest two are at `I` (FIPS 180-4, 6.4.2).
#[inline(always)]
fn next<const I: usize>(w: &[v128; 8]) -> v128 {
    let after = |place: usize| w[(I + place) % 8];
    let (fifteenth, second) = (u64x2_shuffle::<1, 2>(after(0), after(1)), after(7));
    let sigma0 = v128_xor(v128_xor(rotr::<1>(fifteenth), rotr::<8>(fifteenth)), u64x2_shr(fifteenth, 7));
    let sigma1 = v128_xor(v128_xor(rotr::<19>(second), rotr::<61>(second)), u64x2_shr(second, 6));
    let early = u64x2_add(u64x2_add(after(0), sigma0), u64x2_shuffle::<1, 2>(after(4), after(5)));
    u64x2_add(early, sigma1)
}

/// FIPS 180-4, 6.4.2.
///
/// # Safety
/// As for [`Block::vectors`].
#[inline(always)]
unsafe fn compress(state: &mut [u64; 8], block: Block) {
    let mut s = *state;
    // SAFETY: the same promise.
    let mut w = unsafe { block.vectors::<8, 8>() };
    let mut sums = MaybeUninit::<[v128; 40]>::uninit();
    let sums: *mut v128 = sums.as_mut_ptr().cast();
    let constants: *const v128 = Sha512::K.as_ptr().cast();
    // To the compiler, memory is volatile: it would take the words out of the vectors one by one instead.
    macro_rules! put {
        ($t:expr, $($i:literal)*) => { $(
            // SAFETY: there are 40 vectors of constants, eight of which begin at `$t`; `$i` is less than 8.
            unsafe { sums.add($t + $i).write_volatile(u64x2_add(w[$i], v128_load(constants.add($t + $i)))) };
        )* };
    }
    macro_rules! grow {
        ($($i:literal)*) => { $(
            w[$i] = next::<$i>(&w);
        )* };
    }
    macro_rules! rounds {
        ($t:expr, $($i:literal)*) => { $(
            // SAFETY: the 16 words from `2 * $t` on were written.
            let scheduled = unsafe { sums.add($t).cast_const().cast::<u64>().add($i).read_volatile() };
            round::<Sha512, u64, $i>(&mut s, scheduled);
        )* };
    }
    put!(0, 0 1 2 3 4 5 6 7);
    let mut t = 0;
    loop {
        rounds!(t, 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
        t += 8;
        if t == 40 {
            break;
        }
        grow!(0 1 2 3 4 5 6 7);
        put!(t, 0 1 2 3 4 5 6 7);
    }
    add(state, s);
}

impl Kernel for Scheduled {
    type State = [u64; 8];
    type Context = Schedule;
    const LANES: usize = 1;
    const DIGEST: usize = 64;
    const SAME: bool = false;
    lanes_state!(8);

    #[inline(always)]
    unsafe fn fold(state: &mut [u64; 8], block: Block, _: &Schedule) {
        // SAFETY: the block is promised.
        unsafe { compress(state, block) }
    }

    #[inline(always)]
    unsafe fn digests(state: &[u64; 8], out: *mut u8, stride: usize) {
        // SAFETY: 64 bytes, which are 8 words, can be written, as promised.
        unsafe { L::write8::<true>(state, out, stride) }
    }
}
