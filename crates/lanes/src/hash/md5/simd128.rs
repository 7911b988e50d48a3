//! MD5 of one message, with constants that are added in vectors.
//!
//! The steps of one message are a chain, whose latency limits MD5. The compiler moves a constant to the end of a sum, which is on the
//! chain; what it reads from volatile memory stays where it is.

use super::constants::{K, write};
use crate::{
    kernel::{Block, Kernel, lanes_state},
    lane::Lane,
};
use core::{arch::wasm32::*, mem::MaybeUninit};

/// MD5 of one message.
pub(crate) struct Added;

/// The words of a state.
type L = u32;

/// The first word of each round, and the distance of the next ones (RFC 1321, 3.4).
const ORDER: [[usize; 2]; 4] = [[0, 1], [1, 5], [5, 3], [0, 7]];

/// The constants in the order of the block's words.
static CONSTANTS: [[u32; 16]; 4] = {
    let (mut all, mut t) = ([[0; 16]; 4], 0);
    while t < 64 {
        let [first, by] = ORDER[t / 16];
        all[t / 16][(first + t % 16 * by) % 16] = K[t];
        t += 1;
    }
    all
};

/// One step: `a = b + rotl(a + f(b, c, d) + sum)`, of which `f` comes last, because `b` is the step before's.
#[inline(always)]
fn step<const ROUND: usize>([a, b, c, d]: [u32; 4], sum: u32, turn: u32) -> u32 {
    let early = a.wrapping_add(sum);
    let sum = match ROUND {
        0 => early.wrapping_add(b.choose(c, d)),
        // The two halves have no bit in common. So `b` waits for one operation instead of three.
        1 => early.wrapping_add(c & !d).wrapping_add(b & d),
        2 => early.wrapping_add(c ^ d ^ b),
        _ => early.wrapping_add(c ^ (b | !d)),
    };
    sum.rotate_left(turn).wrapping_add(b)
}

/// RFC 1321, 3.4.
///
/// # Safety
/// As for [`Block::vectors`].
#[inline(always)]
unsafe fn compress(state: &mut [u32; 4], block: Block) {
    // SAFETY: the same promise.
    let words = unsafe { block.vectors::<4, false>() };
    let mut sums = MaybeUninit::<[[u32; 16]; 4]>::uninit();
    let (to, constants): (*mut v128, *const v128) = (sums.as_mut_ptr().cast(), CONSTANTS.as_ptr().cast());
    let mut at = 0;
    while at < 16 {
        // SAFETY: `at` is less than the number of vectors in both, and neither needs an alignment.
        unsafe { v128_store(to.add(at), u32x4_add(words[at % 4], constants.add(at).read_unaligned())) };
        at += 1;
    }
    let from: *const u32 = sums.as_ptr().cast();
    let [mut a, mut b, mut c, mut d] = *state;
    macro_rules! steps {
        ($round:literal, $turns:expr, $($i:literal)*) => { $(
            // SAFETY: all sums were written, and their place is less than 64.
            let sum = |i: usize| unsafe { from.add(16 * $round + (ORDER[$round][0] + ($i + i) * ORDER[$round][1]) % 16).read_volatile() };
            a = step::<$round>([a, b, c, d], sum(0), $turns[0]);
            d = step::<$round>([d, a, b, c], sum(1), $turns[1]);
            c = step::<$round>([c, d, a, b], sum(2), $turns[2]);
            b = step::<$round>([b, c, d, a], sum(3), $turns[3]);
        )* };
    }
    steps!(0, [7, 12, 17, 22], 0 4 8 12);
    steps!(1, [5, 9, 14, 20], 0 4 8 12);
    steps!(2, [4, 11, 16, 23], 0 4 8 12);
    steps!(3, [6, 10, 15, 21], 0 4 8 12);
    let all = [a, b, c, d];
    let mut at = 0;
    while at < 4 {
        state[at] = state[at].wrapping_add(all[at]);
        at += 1;
    }
}

impl Kernel for Added {
    type State = [u32; 4];
    type Context = ();
    const LANES: usize = 1;
    const DIGEST: usize = 32;
    const SAME: bool = false;
    lanes_state!(4);

    #[inline(always)]
    unsafe fn fold(state: &mut [u32; 4], block: Block, (): &()) {
        // SAFETY: the block is promised.
        unsafe { compress(state, block) }
    }

    #[inline(always)]
    unsafe fn digests(state: &[u32; 4], out: *mut u8, stride: usize) {
        // SAFETY: as for `Md5`.
        unsafe { write(state, out, stride) }
    }
}
