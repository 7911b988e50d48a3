//! SHA-256 by the SHA instructions of Armv8.

use crate::{
    hash::{
        armsha::{read, write},
        sha2::{Constants, Schedule, Shared},
        sha256::constants::Sha256,
    },
    in_step::{self, Chain},
    kernel::Block,
};
use core::arch::aarch64::*;

/// SHA-256 of `N` messages in step.
pub(crate) type InStep<const N: usize> = in_step::InStep<State, 8, N>;

/// The words `a b c d` and `e f g h`.
#[derive(Clone, Copy)]
pub(crate) struct State([uint32x4_t; 2]);

/// Four rounds of every message, with the schedule's next four words and their constants.
#[inline]
#[target_feature(enable = "neon,sha2")]
fn four<const N: usize>(state: &mut [State; N], scheduled: [uint32x4_t; N]) {
    let mut n = 0;
    while n < N {
        let [abcd, efgh] = state[n].0;
        state[n] = State([vsha256hq_u32(abcd, efgh, scheduled[n]), vsha256h2q_u32(efgh, abcd, scheduled[n])]);
        n += 1;
    }
}

/// The rounds with a schedule that all messages share and that has the constants added.
///
/// # Safety
/// 64 words can be read at `schedule`.
#[inline]
#[target_feature(enable = "neon,sha2")]
unsafe fn rounds_scheduled<const N: usize>(state: &mut [State; N], schedule: *const u32) {
    let mut t = 0;
    while t < 64 {
        // SAFETY: 64 words are promised, and `t + 4 <= 64`.
        four(state, [unsafe { vld1q_u32(schedule.add(t)) }; N]);
        t += 4;
    }
}

/// The rounds of a block of each message, with a schedule that grows as it is used.
///
/// # Safety
/// 64 bytes can be read at each address.
#[inline]
#[target_feature(enable = "neon,sha2")]
unsafe fn rounds<const N: usize>(state: &mut [State; N], blocks: [*const u8; N]) {
    let mut scheduled = [state[0].0[0]; N];
    // The schedule's last 16 words.
    let mut w = [[scheduled[0]; 4]; N];
    macro_rules! next {
        ($($t:literal)*) => { $({
            // SAFETY: there are 64 constants.
            let k = unsafe { vld1q_u32(Sha256::K.as_ptr().add(4 * $t)) };
            let mut n = 0;
            while n < N {
                let w = &mut w[n];
                w[$t % 4] = if $t < 4 {
                    // SAFETY: 64 bytes of each block are promised, of which these are the 16 from `16 * $t` on.
                    unsafe { read(blocks[n].wrapping_add(16 * $t)) }
                } else {
                    let sum = vsha256su0q_u32(w[$t % 4], w[($t + 1) % 4]);
                    vsha256su1q_u32(sum, w[($t + 2) % 4], w[($t + 3) % 4])
                };
                scheduled[n] = vaddq_u32(w[$t % 4], k);
                n += 1;
            }
            four(state, scheduled);
        })* };
    }
    next!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
}

/// One block of every message. The instructions' functions are only inlined into functions that name the feature.
///
/// # Safety
/// As for [`Chain::fold`].
#[inline]
#[target_feature(enable = "neon,sha2")]
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
        let (State([abcd, efgh]), State(before)) = (state[n], before[n]);
        state[n] = State([vaddq_u32(abcd, before[0]), vaddq_u32(efgh, before[1])]);
        n += 1;
    }
}

impl Chain<8> for State {
    type Context = Schedule;

    #[inline(always)]
    unsafe fn new(words: &[u32; 8]) -> Self {
        // SAFETY: the instructions are promised, and `words` are twice the four that are loaded.
        unsafe { State([vld1q_u32(words.as_ptr()), vld1q_u32(words.as_ptr().add(4))]) }
    }

    #[inline(always)]
    fn words(self) -> [u32; 8] {
        let mut words = [0; 8];
        // SAFETY: `self` proves the instructions, and `words` are twice the four that are stored.
        unsafe {
            vst1q_u32(words.as_mut_ptr(), self.0[0]);
            vst1q_u32(words.as_mut_ptr().add(4), self.0[1]);
        }
        words
    }

    #[inline(always)]
    unsafe fn digest(self, out: *mut u8) {
        // SAFETY: `self` proves the instructions, and 32 bytes are promised.
        unsafe {
            write(self.0[0], out);
            write(self.0[1], out.add(16));
        }
    }

    #[inline(always)]
    unsafe fn fold<const N: usize>(state: &mut [State; N], block: Block, context: &Schedule) {
        // SAFETY: the same promises; the state proves the instructions.
        unsafe { fold(state, block, context) }
    }
}
