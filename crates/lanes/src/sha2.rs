//! The SHA-2 compression function over lanes: SHA-256 and SHA-512 differ only in word size and constants
//! (FIPS 180-4, 6.2.2 and 6.4.2).

use crate::{
    kernel::{Kernel, Place, SMALL, Source, lanes_state},
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

/// σ: two rotations and a shift.
#[inline(always)]
fn sigma<L: Lane>(x: L, turns: [u32; 3]) -> L {
    x.rotr(turns[0]).xor3(x.rotr(turns[1]), x.shr(turns[2]))
}

/// The rounds with a message schedule that grows as it is used: 16 words of it are kept.
///
/// # Safety
/// As [`Kernel::fold`].
#[inline(always)]
unsafe fn compress<C: Constants, L: Lane<Word = C::Word>>(state: &mut [L; 8], source: Source) {
    let mut s = *state;
    // SAFETY: the caller's promise.
    let w = unsafe { source.words::<true, false, L>() };
    macro_rules! first {
        ($i:literal) => {
            round::<C, L, $i>(&mut s, w[$i].add(w[$i].splat(C::K[$i])))
        };
    }
    sixteen!(first);
    finish::<C, L>(state, s, w, 16);
}

/// The same, and [`compress_same`], as one loop: for several lanes where kernels are [`SMALL`].
///
/// # Safety
/// As [`Kernel::fold`].
#[inline(always)]
unsafe fn compress_small<C: Constants, L: Lane<Word = C::Word>>(state: &mut [L; 8], source: Source) {
    let mut s = *state;
    // A schedule with the constants in it stands in their place, beside words of zero.
    let (mut w, constants, grows) = match source {
        Source::Scheduled(schedule) => ([s[0].splat(C::Word::default()); 16], schedule.cast(), false),
        // SAFETY: the caller's promise.
        _ => (unsafe { source.words::<true, false, L>() }, C::K.as_ptr(), true),
    };
    let mut t = 0;
    loop {
        macro_rules! one {
            ($i:literal) => {
                // SAFETY: there is a constant for each round.
                round::<C, L, $i>(&mut s, w[$i].add(w[$i].splat(unsafe { *constants.add(t + $i) })))
            };
        }
        sixteen!(one);
        t += 16;
        if t == C::ROUNDS {
            break;
        }
        if grows {
            macro_rules! next {
                ($i:literal) => {
                    w[$i] = scheduled::<C, L, $i>(&w)
                };
            }
            sixteen!(next);
        }
    }
    add(state, s);
}

/// The rounds from `t` on, each right after its word of the schedule.
#[inline(always)]
fn finish<C: Constants, L: Lane<Word = C::Word>>(state: &mut [L; 8], mut s: [L; 8], mut w: [L; 16], mut t: usize) {
    while t < C::ROUNDS {
        macro_rules! next {
            ($i:literal) => {
                w[$i] = scheduled::<C, L, $i>(&w);
                round::<C, L, $i>(&mut s, w[$i].add(w[$i].splat(C::K[t + $i])));
            };
        }
        sixteen!(next);
        t += 16;
    }
    add(state, s);
}

/// The schedule's word after the 16 in `w`, of which it replaces the oldest: word `I` modulo 16.
#[inline(always)]
fn scheduled<C: Constants, L: Lane<Word = C::Word>, const I: usize>(w: &[L; 16]) -> L {
    let [sigma0, sigma1] = C::SIGMAS;
    let early = w[I].add(sigma(w[(I + 1) % 16], sigma0));
    early.add(w[(I + 9) % 16]).add(sigma(w[(I + 14) % 16], sigma1))
}

/// The rounds of messages that differ in the block's first word alone: `parts` is what [`nearly`] made.
///
/// # Safety
/// There is a word of each message, and 32 of `parts`.
#[inline(always)]
unsafe fn compress_nearly<C: Constants, L: Lane<Word = C::Word>>(
    state: &mut [L; 8],
    rows: *const *const u8,
    offset: isize,
    parts: *const C::Word,
) {
    let mut s = *state;
    let [sigma0, sigma1] = C::SIGMAS;
    // SAFETY: the caller's promise.
    let mut w = [unsafe { L::rows1::<true>(rows, offset) }; 16];
    macro_rules! same {
        ($at:expr) => {
            // SAFETY: as above.
            w[0].splat(unsafe { *parts.add($at) })
        };
    }
    macro_rules! first {
        (0) => {
            round::<C, L, 0>(&mut s, w[0].add(same!(0)))
        };
        ($i:literal) => {
            round::<C, L, $i>(&mut s, same!($i))
        };
    }
    sixteen!(first);
    macro_rules! second {
        ($i:literal) => {
            let mut word = same!(16 + $i);
            if VARIES[$i] {
                word = word.add(w[$i]);
            }
            if VARIES[$i + 1] {
                word = word.add(sigma(w[($i + 1) % 16], sigma0));
            }
            if VARIES[$i + 9] {
                word = word.add(w[($i + 9) % 16]);
            }
            if VARIES[$i + 14] {
                word = word.add(sigma(w[($i + 14) % 16], sigma1));
            }
            w[$i] = word;
            round::<C, L, $i>(&mut s, word.add(word.splat(C::K[16 + $i])));
        };
    }
    sixteen!(second);
    finish::<C, L>(state, s, w, 32);
}

/// Which of the schedule's first 32 words vary if, of the message's, only the first one does.
const VARIES: [bool; 32] = {
    let mut varies = [false; 32];
    varies[0] = true;
    let mut t = 16;
    while t < 32 {
        varies[t] = varies[t - 16] | varies[t - 15] | varies[t - 7] | varies[t - 2];
        t += 1;
    }
    varies
};

/// What is the same in all messages whose last block differs in its first word alone, as the nodes of RFC 6962 do: the
/// schedule's first 16 words with the constants (of the first, the constant), then of the next 16 the terms that do not
/// vary.
pub(crate) fn nearly<C: Constants>(block: &[u8]) -> [C::Word; 32] {
    let (rows, [sigma0, sigma1]) = ([block.as_ptr()], C::SIGMAS);
    let zero = C::Word::default();
    assert!(block.len() >= 16 * size_of::<C::Word>());
    // SAFETY: a block has 16 words.
    let words = unsafe { C::Word::rows16::<true>(rows.as_ptr(), 0) };
    let (mut w, mut parts) = ([zero; 32], [zero; 32]);
    let term = |w: &[C::Word; 32], t: usize| if VARIES[t] { None } else { Some(w[t]) };
    for t in 0..32 {
        if t < 16 {
            w[t] = words[t];
            parts[t] = if VARIES[t] { C::K[t] } else { w[t].add(C::K[t]) };
        } else {
            let early = term(&w, t - 16).unwrap_or(zero).add(term(&w, t - 7).unwrap_or(zero));
            let sum0 = term(&w, t - 15).map_or(zero, |w| sigma(w, sigma0));
            w[t] = early.add(sum0).add(term(&w, t - 2).map_or(zero, |w| sigma(w, sigma1)));
            parts[t] = w[t];
        }
    }
    parts
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
    unsafe fn fold(state: &mut [L; 8], source: Source, _: &Place) {
        // SAFETY: the caller's promise.
        unsafe {
            match source {
                _ if SMALL && L::LANES > 1 => compress_small::<C, L>(state, source),
                _ if SMALL => compress::<C, L>(state, source),
                Source::Scheduled(schedule) => compress_same::<C, L>(state, schedule.cast()),
                Source::Nearly(rows, offset, parts) => {
                    compress_nearly::<C, L>(state, rows, offset, parts.cast());
                }
                _ => compress::<C, L>(state, source),
            }
        }
    }

    #[inline(always)]
    unsafe fn digests(state: &[L; 8], out: *mut u8, stride: usize) {
        // SAFETY: the caller's promise.
        unsafe { L::store8::<true>(state, out, stride) }
    }
}
