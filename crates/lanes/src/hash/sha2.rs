//! The SHA-2 compression function over lanes: SHA-256 and SHA-512 differ only in word size and constants
//! (FIPS 180-4, 6.2.2 and 6.4.2).

use crate::{
    kernel::{Block, Context, Job, Kernel, SMALL, lanes_state},
    lane::{Lane, Word},
    plan::{Content, Step},
    scheme::Prepared,
};
use core::{marker::PhantomData, mem::MaybeUninit, ptr};

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod avx2;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod simd128;

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(crate) use avx2::{Scheduled, Vectors};

#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
pub(crate) use simd128::{Scheduled, Vectors};

/// The differences between SHA-256 and SHA-512.
pub(crate) trait Constants: 'static {
    type Word: Word;
    /// The number of rounds: 64 or 80.
    const ROUNDS: usize;
    /// One constant a round.
    const K: &'static [Self::Word];
    /// Σ0 and Σ1: three rotations each.
    const SUMS: [[u32; 3]; 2];
    /// σ0 and σ1: two rotations and a shift each.
    const SIGMAS: [[u32; 3]; 2];
    /// The words of a block's schedule.
    type Schedule;
    /// The schedule, with the constants added, of the padding after a message of one block.
    const AFTER_BLOCK: &'static [Self::Word];
    /// The schedule of a block, with the constants added.
    fn schedule(block: &[u8]) -> Self::Schedule;
}

/// Defines the schedule of a block, with the constants added, as a function that the compiler can evaluate: of words of a type, and
/// so many rounds.
macro_rules! schedule {
    ($constants:ty, $word:ty, $rounds:literal) => {
        const fn schedule(block: &[u8]) -> [$word; $rounds] {
            const BYTES: usize = size_of::<$word>();
            const fn sigma(x: $word, turns: [u32; 3]) -> $word {
                x.rotate_right(turns[0]) ^ x.rotate_right(turns[1]) ^ (x >> turns[2])
            }
            let mut w = [0; $rounds];
            let mut at = 0;
            while at < 16 * BYTES {
                w[at / BYTES] = w[at / BYTES] << 8 | block[at] as $word;
                at += 1;
            }
            let mut t = 16;
            while t < $rounds {
                let [sigma0, sigma1] = <$constants>::SIGMAS;
                let early = w[t - 16].wrapping_add(sigma(w[t - 15], sigma0));
                w[t] = early.wrapping_add(w[t - 7]).wrapping_add(sigma(w[t - 2], sigma1));
                t += 1;
            }
            while t > 0 {
                t -= 1;
                w[t] = w[t].wrapping_add(<$constants>::K[t]);
            }
            w
        }
    };
}
pub(crate) use schedule;

/// The part of the last block's schedule that all messages share, computed before the job.
#[derive(Clone, Copy, Default)]
pub(crate) enum Shared {
    /// Nothing is computed before.
    #[default]
    None,
    /// All of it, with the constants added: as many words as rounds.
    Whole(*const ()),
    /// All but what depends on the block's first word: 32 words, see [`nearly`].
    Nearly(*const ()),
}

/// [`Shared`], of the current step.
#[derive(Clone, Copy, Default)]
pub(crate) struct Schedule {
    /// The terms of the job: a pointer to the words, or null.
    words: Option<ptr::NonNull<()>>,
    pub shared: Shared,
}

impl Schedule {
    /// A schedule that all messages share, of as many words as rounds.
    pub fn whole<T>(words: &'static [T]) -> Self {
        Schedule { words: None, shared: Shared::Whole(words.as_ptr().cast()) }
    }
}

impl Context for Schedule {
    type Lanes = ();

    #[inline(always)]
    unsafe fn new(job: &Job<'_>, _: *mut ()) -> Self {
        Schedule { words: ptr::NonNull::new(job.terms.cast_mut()), shared: Shared::None }
    }

    #[inline(always)]
    fn step(&mut self, step: &Step) {
        self.shared = match (self.words, step.content) {
            (Some(words), Content::Template) if step.last => Shared::Whole(words.as_ptr()),
            (Some(words), Content::Overlaid(..)) if step.last => Shared::Nearly(words.as_ptr()),
            _ => Shared::None,
        };
    }
}

/// Computes once what messages share in the schedule of their last block: see [`Scheme::prepare`](crate::scheme::Scheme).
pub(crate) fn prepare<C: Constants>(last: &Step, count: usize, memory: &mut MaybeUninit<Prepared>) -> *const () {
    /// From so many messages on, computing a schedule once costs less than computing it in every group of them.
    const WORTH: usize = 32;
    /// The same of a schedule of which only parts are computed.
    const NEARLY_WORTH: usize = 128;
    let word = size_of::<C::Word>();
    match last.content {
        // The second block of a pair of nodes is padding alone.
        Content::Template if last.counter == 16 * word as u64 => C::AFTER_BLOCK.as_ptr().cast(),
        Content::Template if count >= WORTH => write(memory, C::schedule(&last.template)),
        // In the second block of an RFC 6962 node, only the first byte is not padding.
        Content::Overlaid(0, end) if end <= word && count >= NEARLY_WORTH && !SMALL => {
            write(memory, nearly::<C>(&last.template))
        }
        _ => ptr::null(),
    }
}

/// Writes words into memory for them, and returns where they are.
fn write<T>(memory: &mut MaybeUninit<Prepared>, words: T) -> *const () {
    const { assert!(size_of::<T>() <= size_of::<Prepared>() && align_of::<T>() <= align_of::<Prepared>()) };
    let to: *mut T = memory.as_mut_ptr().cast();
    // SAFETY: the memory has the size and the alignment, as asserted.
    unsafe { to.write(words) };
    to.cast_const().cast()
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
    // Pinned where that is fastest: the sum that does not depend on the round before goes first, and the new `a` goes last.
    let early = h.add(scheduled).pin();
    let t1 = early.add(e.choose(f, g)).add(e.rotr(sum1[0]).xor3(e.rotr(sum1[1]), e.rotr(sum1[2])));
    let t2 = a.rotr(sum0[0]).xor3(a.rotr(sum0[1]), a.rotr(sum0[2])).add(a.majority(b, c));
    s[at::<I>(3)] = d.add(t1);
    s[at::<I>(7)] = t1.add(t2).pin();
}

/// The place in round `I` of the variable that is at `place` in round 0.
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
/// As for [`Kernel::fold`].
#[inline(always)]
unsafe fn compress<C: Constants, L: Lane<Word = C::Word>>(state: &mut [L; 8], block: Block) {
    let mut s = *state;
    // SAFETY: the instruction set and the block are promised; `SAME` is false.
    let w = unsafe { block.words::<true, false, L>() };
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
/// As for [`Kernel::fold`].
#[inline(always)]
unsafe fn compress_small<C: Constants, L: Lane<Word = C::Word>>(state: &mut [L; 8], block: Block, shared: Shared) {
    let mut s = *state;
    // A schedule that has the constants in it takes their place, beside words of zero.
    let (mut w, constants, grows) = match shared {
        Shared::Whole(schedule) => ([s[0].splat(C::Word::default()); 16], schedule.cast(), false),
        // SAFETY: the instruction set and the block are promised; `SAME` is false.
        _ => (unsafe { block.words::<true, false, L>() }, C::K.as_ptr(), true),
    };
    let mut t = 0;
    loop {
        macro_rules! one {
            ($i:literal) => {
                // SAFETY: there is a constant, or a word of the schedule, for each round.
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

/// The rounds of messages that differ in the block's first word alone: `parts` is what [`nearly`] returned.
///
/// # Safety
/// As for [`Kernel::fold`], with one word of each message; 32 words can be read at `parts`.
#[inline(always)]
unsafe fn compress_nearly<C: Constants, L: Lane<Word = C::Word>>(
    state: &mut [L; 8],
    block: Block,
    parts: *const C::Word,
) {
    let mut s = *state;
    let [sigma0, sigma1] = C::SIGMAS;
    // SAFETY: the instruction set is promised, and the block's first word of each message. `SAME` is false.
    let mut w = unsafe {
        let (pointers, offset) = block.each();
        [L::read1::<true>(pointers, offset); 16]
    };
    macro_rules! same {
        ($at:expr) => {
            // SAFETY: 32 words are promised, and all places are less than that.
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

/// Whether each of the schedule's first 32 words varies if only the first word of the block does.
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

/// What messages share whose last block differs in its first word alone, as in the nodes of RFC 6962: the schedule's first 16 words
/// with the constants added (of the first word, only the constant), then, of each of the next 16 words, the terms that do not
/// vary.
fn nearly<C: Constants>(block: &[u8]) -> [C::Word; 32] {
    let [sigma0, sigma1] = C::SIGMAS;
    let zero = C::Word::default();
    assert!(block.len() >= 16 * size_of::<C::Word>());
    // SAFETY: one lane needs no instruction set, and its block has 16 words, as asserted.
    let words = unsafe { C::Word::read16::<true>([block.as_ptr()].as_ptr(), 0) };
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

/// The rounds with a schedule that all messages share and that has the constants added.
///
/// # Safety
/// [`ROUNDS`](Constants::ROUNDS) words can be read at `schedule`.
#[inline(always)]
unsafe fn compress_same<C: Constants, L: Lane<Word = C::Word>>(state: &mut [L; 8], schedule: *const C::Word) {
    let mut s = *state;
    let mut t = 0;
    while t < C::ROUNDS {
        macro_rules! next {
            ($i:literal) => {
                // SAFETY: `ROUNDS` words are promised, and `t + $i` is less than that.
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
    type Context = Schedule;
    const LANES: usize = L::LANES;
    const DIGEST: usize = 8 * size_of::<C::Word>();
    const SAME: bool = false;
    lanes_state!(8);

    #[inline(always)]
    unsafe fn fold(state: &mut [L; 8], block: Block, context: &Schedule) {
        // SAFETY: the same promises. A context that points to a schedule points to as many words as its variant says.
        unsafe {
            match context.shared {
                shared if SMALL && L::LANES > 1 => compress_small::<C, L>(state, block, shared),
                _ if SMALL => compress::<C, L>(state, block),
                Shared::Whole(schedule) => compress_same::<C, L>(state, schedule.cast()),
                Shared::Nearly(parts) => compress_nearly::<C, L>(state, block, parts.cast()),
                Shared::None => compress::<C, L>(state, block),
            }
        }
    }

    #[inline(always)]
    unsafe fn digests(state: &[L; 8], out: *mut u8, stride: usize) {
        // SAFETY: `DIGEST` bytes, which are 8 words, can be written for each lane, as promised.
        unsafe { L::write8::<true>(state, out, stride) }
    }
}
