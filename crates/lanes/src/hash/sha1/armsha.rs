//! SHA-1 by the SHA instructions of Armv8.

use crate::{
    hash::armsha::{read, write},
    in_step::{self, Chain},
    kernel::Block,
};
use core::arch::aarch64::*;

/// SHA-1 of `N` messages in step.
pub(crate) type InStep<const N: usize> = in_step::InStep<State, 5, N>;

/// The words `a b c d`, and `e`.
#[derive(Clone, Copy)]
pub(crate) struct State(uint32x4_t, u32);

/// One block of every message. The instructions' functions are only inlined into functions that name the feature.
///
/// # Safety
/// As for [`Chain::fold`].
#[inline]
#[target_feature(enable = "neon,sha2")]
unsafe fn fold<const N: usize>(state: &mut [State; N], block: Block) {
    // SAFETY: if the block is one of each message, there are as many pointers as lanes, as promised.
    let (before, blocks) = (*state, unsafe { block.addresses::<N>() });
    let mut w = [[before[0].0; 4]; N];
    // Four steps at a time, with the constant and the function of the round of twenty that they belong to.
    macro_rules! next {
        ($step:ident $k:literal: $($t:literal)*) => { $({
            let mut n = 0;
            while n < N {
                let (w, State(abcd, e)) = (&mut w[n], state[n]);
                w[$t % 4] = if $t < 4 {
                    // SAFETY: 64 bytes of each block are promised, of which these are the 16 from `16 * $t` on.
                    unsafe { read(blocks[n].wrapping_add(16 * $t)) }
                } else {
                    let sum = vsha1su0q_u32(w[$t % 4], w[($t + 1) % 4], w[($t + 2) % 4]);
                    vsha1su1q_u32(sum, w[($t + 3) % 4])
                };
                let scheduled = vaddq_u32(w[$t % 4], vdupq_n_u32($k));
                state[n] = State($step(abcd, e, scheduled), vsha1h_u32(vgetq_lane_u32::<0>(abcd)));
                n += 1;
            }
        })* };
    }
    next!(vsha1cq_u32 0x5a827999: 0 1 2 3 4);
    next!(vsha1pq_u32 0x6ed9eba1: 5 6 7 8 9);
    next!(vsha1mq_u32 0x8f1bbcdc: 10 11 12 13 14);
    next!(vsha1pq_u32 0xca62c1d6: 15 16 17 18 19);
    let mut n = 0;
    while n < N {
        state[n] = State(vaddq_u32(state[n].0, before[n].0), state[n].1.wrapping_add(before[n].1));
        n += 1;
    }
}

impl Chain<5> for State {
    type Context = ();

    #[inline(always)]
    unsafe fn new(words: &[u32; 5]) -> Self {
        // SAFETY: the instructions are promised, and `words` have the four that are loaded.
        State(unsafe { vld1q_u32(words.as_ptr()) }, words[4])
    }

    #[inline(always)]
    fn words(self) -> [u32; 5] {
        let mut words = [0, 0, 0, 0, self.1];
        // SAFETY: `self` proves the instructions, and `words` have the four that are stored.
        unsafe { vst1q_u32(words.as_mut_ptr(), self.0) };
        words
    }

    #[inline(always)]
    unsafe fn digest(self, out: *mut u8) {
        // SAFETY: `self` proves the instructions, and 32 bytes are promised, of which the digest are the first 20.
        unsafe {
            write(self.0, out);
            out.add(16).cast::<[u8; 4]>().write(self.1.to_be_bytes());
        }
    }

    #[inline(always)]
    unsafe fn fold<const N: usize>(state: &mut [State; N], block: Block, (): &()) {
        // SAFETY: the same promises; the state proves the instructions.
        unsafe { fold(state, block) }
    }
}
