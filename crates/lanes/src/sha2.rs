//! The SHA-2 compression function over lanes: SHA-256 and SHA-512 differ only in word size and constants
//! (FIPS 180-4, 6.2.2 and 6.4.2).

use crate::{
    kernel::{Kernel, Place, Source, lanes_state},
    lane::{Lane, Word},
};
use core::marker::PhantomData;

/// What SHA-256 and SHA-512 do not share.
pub(crate) trait Constants {
    type Word: Word;
    /// The number of rounds: 64 or 80.
    const ROUNDS: usize;
    /// One constant a round.
    const K: &'static [Self::Word];
    /// Σ0 and Σ1: three rotations each.
    const SUMS: [[u32; 3]; 2];
    /// σ0 and σ1: two rotations and a shift each.
    const SIGMAS: [[u32; 3]; 2];
}

/// SHA-2 with constants `C` over the lanes `L`.
pub(crate) struct Sha2<C, L>(PhantomData<(C, L)>);

/// Invokes a macro for 0 to 15: indices that are literals keep the state and the schedule in registers.
macro_rules! sixteen {
    ($m:ident) => {
        $m!(0);
        $m!(1);
        $m!(2);
        $m!(3);
        $m!(4);
        $m!(5);
        $m!(6);
        $m!(7);
        $m!(8);
        $m!(9);
        $m!(10);
        $m!(11);
        $m!(12);
        $m!(13);
        $m!(14);
        $m!(15);
    };
}

/// Round `I` modulo 16. Instead of moving `a` to `h` along, the state's names move: `a` is at `-I`.
#[inline(always)]
fn round<C: Constants, L: Lane<Word = C::Word>, const I: usize>(s: &mut [L; 8], scheduled: L) {
    let [a, b, c, d] = [s[at::<I>(0)], s[at::<I>(1)], s[at::<I>(2)], s[at::<I>(3)]];
    let [e, f, g, h] = [s[at::<I>(4)], s[at::<I>(5)], s[at::<I>(6)], s[at::<I>(7)]];
    let [sum0, sum1] = C::SUMS;
    // Pinned where measured best: what does not depend on the round before goes first, and the new `a` goes last.
    let early = h.add(scheduled).pin();
    let t1 = early.add(e.choose(f, g)).add(e.rotr(sum1[0]).xor3(e.rotr(sum1[1]), e.rotr(sum1[2])));
    let t2 = a.rotr(sum0[0]).xor3(a.rotr(sum0[1]), a.rotr(sum0[2])).add(a.majority(b, c));
    s[at::<I>(3)] = d.add(t1);
    s[at::<I>(7)] = t1.add(t2).pin();
}

/// Where the variable that is at `place` in round 0 is in round `I`.
const fn at<const I: usize>(place: usize) -> usize {
    (place + 16 - I) % 8
}

/// The rounds with a message schedule that grows as it is used: 16 words of it are kept.
#[inline(always)]
fn compress<C: Constants, L: Lane<Word = C::Word>>(state: &mut [L; 8], mut w: [L; 16]) {
    let mut s = *state;
    let [sigma0, sigma1] = C::SIGMAS;
    macro_rules! first {
        ($i:literal) => {
            round::<C, L, $i>(&mut s, w[$i].add(w[$i].splat(C::K[$i])))
        };
    }
    sixteen!(first);
    let mut t = 16;
    while t < C::ROUNDS {
        macro_rules! next {
            ($i:literal) => {
                let (x, y) = (w[($i + 1) % 16], w[($i + 14) % 16]);
                let s0 = x.rotr(sigma0[0]).xor3(x.rotr(sigma0[1]), x.shr(sigma0[2]));
                let s1 = y.rotr(sigma1[0]).xor3(y.rotr(sigma1[1]), y.shr(sigma1[2]));
                w[$i] = w[$i].add(s0).add(w[($i + 9) % 16]).add(s1);
                round::<C, L, $i>(&mut s, w[$i].add(w[$i].splat(C::K[t + $i])));
            };
        }
        sixteen!(next);
        t += 16;
    }
    add(state, s);
}

/// The rounds with a schedule that is the same in every message and has the constants in it.
///
/// # Safety
/// `ROUNDS` words can be read.
#[inline(always)]
unsafe fn compress_same<C: Constants, L: Lane<Word = C::Word>>(state: &mut [L; 8], schedule: *const C::Word) {
    let mut s = *state;
    let mut t = 0;
    while t < C::ROUNDS {
        macro_rules! next {
            ($i:literal) => {
                // SAFETY: the caller's promise.
                round::<C, L, $i>(&mut s, state[0].splat(unsafe { *schedule.add(t + $i) }))
            };
        }
        sixteen!(next);
        t += 16;
    }
    add(state, s);
}

#[inline(always)]
fn add<L: Lane>(state: &mut [L; 8], s: [L; 8]) {
    let mut at = 0;
    while at < 8 {
        state[at] = state[at].add(s[at]);
        at += 1;
    }
}

impl<C: Constants, L: Lane<Word = C::Word>> Kernel for Sha2<C, L> {
    type State = [L; 8];
    const LANES: usize = L::LANES;
    const DIGEST: usize = 8 * size_of::<C::Word>();
    const SAME: bool = false;
    lanes_state!(8);

    #[inline(always)]
    unsafe fn fold(state: &mut [L; 8], source: Source, _: &Place<'_>) {
        // SAFETY: the caller's promise.
        unsafe {
            match source {
                Source::Scheduled(schedule) => compress_same::<C, L>(state, schedule.cast()),
                _ => compress::<C, L>(state, source.rows_words::<true, L>()),
            }
        }
    }

    #[inline(always)]
    unsafe fn digests(state: &[L; 8], out: *mut u8, stride: usize) {
        // SAFETY: the caller's promise.
        unsafe { L::store8::<true>(state, out, stride) }
    }
}
