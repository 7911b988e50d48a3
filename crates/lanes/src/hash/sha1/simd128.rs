//! SHA-1 of one message, with a schedule that is computed in vectors.
//!
//! The rounds of one message are a chain, and cannot be. But a scalar processor executes more instructions for the schedule than for
//! the additions and rotations of the chain, so that it is the number of instructions that limits SHA-1. In vectors, four words of the
//! schedule take nine of them.

use super::constants::{K, write};
use crate::{
    kernel::{Block, Kernel, lanes_state},
    lane::Lane,
};
use core::{arch::wasm32::*, mem::MaybeUninit};

/// SHA-1 of one message.
pub(crate) struct Scheduled;

/// The words of a state.
type L = u32;

/// The schedule's words, with the constants added: four in each vector.
type Sums = [v128; 20];

#[inline(always)]
fn rotl<const BITS: u32>(words: v128) -> v128 {
    v128_or(u32x4_shl(words, BITS), u32x4_shr(words, 32 - BITS))
}

/// The schedule's words `4 * G` to `4 * G + 3`, from the 32 words before, of which group `g` is at `g % 8` (FIPS 180-4, 6.1.2).
#[inline(always)]
fn next<const G: usize>(w: &[v128; 8]) -> v128 {
    let before = |groups: usize| w[(G + 8 - groups) % 8];
    if G >= 8 {
        // The recurrence, put into itself once: w(t) = rotl2(w(t - 6) ^ w(t - 16) ^ w(t - 28) ^ w(t - 32)), which no word of
        // its own group is needed for.
        let sixth = u32x4_shuffle::<2, 3, 4, 5>(before(2), before(1));
        return rotl::<2>(v128_xor(v128_xor(before(4), before(7)), v128_xor(before(8), sixth)));
    }
    // The last of the four words depends on the first one, which is added to it afterwards.
    let zero = u32x4_splat(0);
    let third = u32x4_shuffle::<1, 2, 3, 4>(before(1), zero);
    let fourteenth = u32x4_shuffle::<2, 3, 4, 5>(before(4), before(3));
    let sum = rotl::<1>(v128_xor(v128_xor(before(2), before(4)), v128_xor(fourteenth, third)));
    v128_xor(sum, rotl::<1>(u32x4_shuffle::<1, 2, 3, 4>(zero, sum)))
}

/// One of 80 steps, as in `Sha1`, in an order that the compiler keeps. It sorts the terms of a sum by how many operations they are made
/// of. `a` has to come last, so that the majority is a sum too: its two parts have no bit in common.
#[inline(always)]
fn step<const ROUND: usize>([a, b, c, d, e]: [u32; 5], sum: u32) -> [u32; 5] {
    let early = e.wrapping_add(sum);
    let sum = match ROUND {
        0 => early.wrapping_add(b.choose(c, d)),
        2 => early.wrapping_add(c & d).wrapping_add(b & (c ^ d)),
        _ => early.wrapping_add(c ^ d ^ b),
    };
    [sum.wrapping_add(a.rotate_left(5)), a, b.rotate_left(30), c, d]
}

/// FIPS 180-4, 6.1.2.
///
/// # Safety
/// As for [`Block::vectors`].
#[inline(always)]
unsafe fn compress(state: &mut [u32; 5], block: Block) {
    let mut s = *state;
    // SAFETY: the same promise.
    let [w0, w1, w2, w3] = unsafe { block.vectors::<4, true>() };
    let mut w = [w0, w1, w2, w3, w0, w1, w2, w3];
    let mut sums = MaybeUninit::<Sums>::uninit();
    let sums: *mut v128 = sums.as_mut_ptr().cast();
    // To the compiler, memory is volatile: it would take the words out of the vectors one by one instead, and add them to the
    // chain's newest word.
    macro_rules! put {
        ($($g:literal)*) => { $(
            // SAFETY: `$g` is less than 20.
            unsafe { sums.add($g).write_volatile(u32x4_add(w[$g % 8], u32x4_splat(K[$g / 5]))) };
        )* };
    }
    macro_rules! grow {
        ($($g:literal)*) => { $(
            w[$g % 8] = next::<$g>(&w);
            put!($g);
        )* };
    }
    // The schedule of the next 20 steps comes before 20 steps, so that the processor does both at once. Groups between every four steps
    // are faster in V8, but a third slower in SpiderMonkey.
    macro_rules! twenty {
        ($round:literal, $($i:literal)*) => {
            // Ten steps bring each variable back to its place.
            let mut t = 20 * $round;
            while t < 20 * $round + 20 {
                let from = sums.cast_const().cast::<u32>().wrapping_add(t);
                // SAFETY: these ten words were written.
                let words = unsafe { [$(from.add($i).read_volatile()),*] };
                $( s = step::<$round>(s, words[$i]); )*
                t += 10;
            }
        };
    }
    put!(0 1 2 3);
    grow!(4 5 6 7 8 9);
    twenty!(0, 0 1 2 3 4 5 6 7 8 9);
    grow!(10 11 12 13 14);
    twenty!(1, 0 1 2 3 4 5 6 7 8 9);
    grow!(15 16 17 18 19);
    twenty!(2, 0 1 2 3 4 5 6 7 8 9);
    twenty!(3, 0 1 2 3 4 5 6 7 8 9);
    let mut at = 0;
    while at < 5 {
        state[at] = state[at].wrapping_add(s[at]);
        at += 1;
    }
}

impl Kernel for Scheduled {
    type State = [u32; 5];
    type Context = ();
    const LANES: usize = 1;
    const DIGEST: usize = 32;
    const SAME: bool = false;
    lanes_state!(5);

    #[inline(always)]
    unsafe fn fold(state: &mut [u32; 5], block: Block, (): &()) {
        // SAFETY: the block is promised.
        unsafe { compress(state, block) }
    }

    #[inline(always)]
    unsafe fn digests(state: &[u32; 5], out: *mut u8, stride: usize) {
        // SAFETY: as for `Sha1`.
        unsafe { write(state, out, stride) }
    }
}
