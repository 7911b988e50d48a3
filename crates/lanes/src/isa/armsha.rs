//! The SHA instructions of Armv8: SHA-256 and SHA-1 for one message, or several in step.

use crate::{
    kernel::{Kernel, Place, Source, own_words, put_words},
    sha256,
};
use core::arch::aarch64::*;

/// SHA-256 of `N` messages in step.
pub(crate) struct Sha256<const N: usize>;

/// SHA-1 of `N` messages in step.
pub(crate) struct Sha1<const N: usize>;

/// The words `a b c d` and `e f g h`.
#[derive(Clone, Copy)]
pub(crate) struct Halves([uint32x4_t; 2]);

/// The words `a b c d`, and `e`.
#[derive(Clone, Copy)]
pub(crate) struct Five(uint32x4_t, u32);

/// Evaluates an expression of intrinsics and reads of a caller's memory.
macro_rules! op {
    ($($body:tt)*) => {
        // SAFETY: the kernel's caller promised NEON and the SHA instructions, and the memory.
        unsafe { $($body)* }
    };
}

/// Four words of a message, the first byte of each the most significant.
#[inline(always)]
unsafe fn words(at: *const u8) -> uint32x4_t {
    op!(vreinterpretq_u32_u8(vrev32q_u8(vld1q_u8(at))))
}

/// Writes four words, the first byte of each the most significant.
#[inline(always)]
unsafe fn put(words: uint32x4_t, out: *mut u8) {
    op!(vst1q_u8(out, vrev32q_u8(vreinterpretq_u8_u32(words))))
}

impl Halves {
    #[inline(always)]
    fn new(words: &[u32; 8]) -> Self {
        op!(Halves([vld1q_u32(words.as_ptr()), vld1q_u32(words.as_ptr().add(4))]))
    }

    #[inline(always)]
    fn words(self) -> [u32; 8] {
        let mut words = [0; 8];
        op! {
            vst1q_u32(words.as_mut_ptr(), self.0[0]);
            vst1q_u32(words.as_mut_ptr().add(4), self.0[1]);
        }
        words
    }

    /// # Safety
    /// There is room for 32 bytes.
    #[inline(always)]
    unsafe fn digest(self, out: *mut u8) {
        op! {
            put(self.0[0], out);
            put(self.0[1], out.add(16));
        }
    }
}

impl Five {
    #[inline(always)]
    fn new(words: &[u32; 5]) -> Self {
        op!(Five(vld1q_u32(words.as_ptr()), words[4]))
    }

    #[inline(always)]
    fn words(self) -> [u32; 5] {
        let mut words = [0, 0, 0, 0, self.1];
        op!(vst1q_u32(words.as_mut_ptr(), self.0));
        words
    }

    /// # Safety
    /// There is room for 20 bytes.
    #[inline(always)]
    unsafe fn digest(self, out: *mut u8) {
        op! {
            put(self.0, out);
            out.add(16).cast::<[u8; 4]>().write(self.1.to_be_bytes());
        }
    }
}

/// Four rounds of every message, with the schedule's next four words and their constants.
#[inline]
#[target_feature(enable = "neon,sha2")]
fn four<const N: usize>(state: &mut [Halves; N], scheduled: [uint32x4_t; N]) {
    let mut n = 0;
    while n < N {
        let [abcd, efgh] = state[n].0;
        state[n] = Halves([vsha256hq_u32(abcd, efgh, scheduled[n]), vsha256h2q_u32(efgh, abcd, scheduled[n])]);
        n += 1;
    }
}

/// One block of every message. The instructions' functions are only inlined where their feature is named.
///
/// # Safety
/// The blocks are there.
#[inline]
#[target_feature(enable = "neon,sha2")]
unsafe fn fold256<const N: usize>(state: &mut [Halves; N], source: Source) {
    let before = *state;
    let mut scheduled = [before[0].0[0]; N];
    if let Source::Scheduled(schedule) = source {
        let mut t = 0;
        while t < 64 {
            scheduled = [op!(vld1q_u32(schedule.cast::<u32>().add(t))); N];
            four(state, scheduled);
            t += 4;
        }
    } else {
        let at = op!(source.every_row::<N>());
        // The schedule's last 16 words.
        let mut w = [[scheduled[0]; 4]; N];
        macro_rules! next {
            ($($t:literal)*) => { $({
                let k = op!(vld1q_u32(sha256::K.as_ptr().add(4 * $t)));
                let mut n = 0;
                while n < N {
                    let w = &mut w[n];
                    op! {
                        w[$t % 4] = if $t < 4 {
                            words(at[n].wrapping_add(16 * $t))
                        } else {
                            let sum = vsha256su0q_u32(w[$t % 4], w[($t + 1) % 4]);
                            vsha256su1q_u32(sum, w[($t + 2) % 4], w[($t + 3) % 4])
                        };
                        scheduled[n] = vaddq_u32(w[$t % 4], k);
                    }
                    n += 1;
                }
                four(state, scheduled);
            })* };
        }
        next!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
    }
    let mut n = 0;
    while n < N {
        let (Halves([abcd, efgh]), Halves(before)) = (state[n], before[n]);
        state[n] = Halves([vaddq_u32(abcd, before[0]), vaddq_u32(efgh, before[1])]);
        n += 1;
    }
}

impl<const N: usize> Kernel for Sha256<N> {
    in_step!(Halves: 8);

    #[inline(always)]
    unsafe fn fold(state: &mut [Halves; N], source: Source, _: &Place) {
        op!(fold256(state, source))
    }
}

/// One block of every message. The instructions' functions are only inlined where their feature is named.
///
/// # Safety
/// The blocks are there.
#[inline]
#[target_feature(enable = "neon,sha2")]
unsafe fn fold1<const N: usize>(state: &mut [Five; N], source: Source) {
    let (before, at) = (*state, op!(source.every_row::<N>()));
    let mut w = [[before[0].0; 4]; N];
    // Four steps at a time, with the constant and the function of the round of twenty that they belong to.
    macro_rules! next {
        ($step:ident $k:literal: $($t:literal)*) => { $({
            let mut n = 0;
            while n < N {
                let (w, Five(abcd, e)) = (&mut w[n], state[n]);
                op! {
                    w[$t % 4] = if $t < 4 {
                        words(at[n].wrapping_add(16 * $t))
                    } else {
                        let sum = vsha1su0q_u32(w[$t % 4], w[($t + 1) % 4], w[($t + 2) % 4]);
                        vsha1su1q_u32(sum, w[($t + 3) % 4])
                    };
                    let scheduled = vaddq_u32(w[$t % 4], vdupq_n_u32($k));
                    state[n] = Five($step(abcd, e, scheduled), vsha1h_u32(vgetq_lane_u32::<0>(abcd)));
                }
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
        state[n] = Five(vaddq_u32(state[n].0, before[n].0), state[n].1.wrapping_add(before[n].1));
        n += 1;
    }
}

impl<const N: usize> Kernel for Sha1<N> {
    in_step!(Five: 5);

    #[inline(always)]
    unsafe fn fold(state: &mut [Five; N], source: Source, _: &Place) {
        op!(fold1(state, source))
    }
}
