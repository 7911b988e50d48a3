//! BLAKE2 and BLAKE3 with a message's state as four rows of a matrix, for one message or a few: the four mixings of a half round lie
//! side by side in a vector, where lanes without a message would idle.

use crate::{
    hash::mixing::Variant,
    kernel::{Block, Context, Kernel},
    quad::Quad,
};
use core::{marker::PhantomData, mem::MaybeUninit};

/// The differences between the hashes, for quads `Q`.
pub(crate) trait Flavour<Q: Quad> {
    type Variant: Variant<Word = Q::Word>;
    /// What is mixed in beside the blocks.
    type Context: Context;
    /// The number of rounds.
    const ROUNDS: usize;
    /// The order of the message's words in each round; it begins again where there are more rounds.
    const ORDERS: &'static [[usize; 16]];
    /// Whether the state before a block is added to the one after it.
    const FEEDS: bool;

    /// The last row of a message's matrix before the first round.
    fn last_row(context: &Self::Context, message: usize) -> [Q::Word; 4];

    /// Whether the last rows of all messages are equal.
    #[inline(always)]
    fn alike(_: &Self::Context) -> bool {
        true
    }

    /// The words of a round, a quad for each half of a mixing, from the block and from those of the round before.
    #[inline(always)]
    fn words(blocks: &Q::Blocks, round: usize, _before: [Q; 4]) -> [Q; 4] {
        ordered(blocks, &Self::ORDERS[round % Self::ORDERS.len()])
    }
}

/// The hash `F` by quads `Q`.
pub(crate) struct ByRows<F, Q>(PhantomData<(F, Q)>);

/// Half a mixing of all columns. The words are added first, because the second row is the one that is ready last.
#[inline(always)]
fn half<Q: Quad>([a, b, c, d]: &mut [Q; 4], words: Q, turns: [u32; 2]) {
    // Pinned: the compiler would add the second row first.
    *a = a.add(words).pin().add(*b);
    *d = d.xor(*a).rotr(turns[0]);
    *c = c.add(*d);
    *b = b.xor(*c).rotr(turns[1]);
}

/// The words of a round in the given order, as its half mixings take them: the diagonals are turned below the second row's words.
#[inline(always)]
pub(crate) fn ordered<Q: Quad>(blocks: &Q::Blocks, o: &[usize; 16]) -> [Q; 4] {
    [
        Q::words(blocks, [o[0], o[2], o[4], o[6]]),
        Q::words(blocks, [o[1], o[3], o[5], o[7]]),
        Q::words(blocks, [o[14], o[8], o[10], o[12]]),
        Q::words(blocks, [o[15], o[9], o[11], o[13]]),
    ]
}

/// One round: the columns, then the diagonals (RFC 7693, 3.2).
#[inline(always)]
fn round<Q: Quad>(v: &mut [Q; 4], words: [Q; 4], turns: [u32; 4]) {
    let [first, second] = [[turns[0], turns[1]], [turns[2], turns[3]]];
    half(v, words[0], first);
    half(v, words[1], second);
    [v[0], v[2], v[3]] = [v[0].turn(3), v[2].turn(1), v[3].turn(2)];
    half(v, words[2], first);
    half(v, words[3], second);
    [v[0], v[2], v[3]] = [v[0].turn(1), v[2].turn(3), v[3].turn(2)];
}

impl<F: Flavour<Q>, Q: Quad> ByRows<F, Q> {
    const MESSAGES: usize = Q::LANES / 4;

    /// The compression function of each message, whose last row before the first round is `last`.
    #[inline(always)]
    pub fn compress(state: &mut [Q; 2], blocks: &Q::Blocks, last: Q) {
        let [a, b, c, d, ..] = <F::Variant as Variant>::START;
        // SAFETY: `last` proves that the machine has the instruction set.
        let third = unsafe { Q::fours([a, b, c, d]) };
        let mut v = [state[0], state[1], third, last];
        let turns = <F::Variant as Variant>::TURNS;
        let mut words = ordered(blocks, &F::ORDERS[0]);
        round(&mut v, words, turns);
        macro_rules! rounds {
            ($($at:literal)*) => {
                $(if $at < F::ROUNDS {
                    words = F::words(blocks, $at, words);
                    round(&mut v, words, turns);
                })*
            };
        }
        rounds!(1 2 3 4 5 6 7 8 9 10 11);
        *state = match F::FEEDS {
            true => [state[0].xor3(v[0], v[2]), state[1].xor3(v[1], v[3])],
            false => [v[0].xor(v[2]), v[1].xor(v[3])],
        };
    }
}

impl<F: Flavour<Q>, Q: Quad> Kernel for ByRows<F, Q> {
    type State = [Q; 2];
    type Context = F::Context;
    const LANES: usize = Self::MESSAGES;
    type Each<T: Copy> = Q::Each<T>;
    const DIGEST: usize = 8 * size_of::<Q::Word>();
    const SAME: bool = false;
    const BY_ROWS: bool = true;

    #[inline(always)]
    unsafe fn same(words: *const u8) -> [Q; 2] {
        // SAFETY: the instruction set is promised, and the 8 words of one state, which are aligned.
        unsafe {
            let words: *const [Q::Word; 4] = words.cast();
            [Q::fours(words.read()), Q::fours(words.add(1).read())]
        }
    }

    #[inline(always)]
    unsafe fn load(words: *const u8) -> [Q; 2] {
        let mut rows = MaybeUninit::<[Q::Each<Q::Word>; 2]>::uninit();
        let (rows, words): (*mut Q::Word, *const Q::Word) = (rows.as_mut_ptr().cast(), words.cast());
        let mut at = 0;
        // SAFETY: the instruction set is promised, and 8 words of each message: word `4 * half + lane % 4` of all of them, then the
        // next. All words of both rows are written before they are read.
        unsafe {
            while at < 2 * Q::LANES {
                let (half, lane) = (at / Q::LANES, at % Q::LANES);
                *rows.add(at) = *words.add((4 * half + lane % 4) * Self::MESSAGES + lane / 4);
                at += 1;
            }
            [Q::load(rows), Q::load(rows.add(Q::LANES))]
        }
    }

    #[inline(always)]
    unsafe fn store(state: &[Q; 2], words: *mut u8) {
        let mut row = MaybeUninit::<Q::Each<Q::Word>>::uninit();
        let (row, words): (*mut Q::Word, *mut Q::Word) = (row.as_mut_ptr().cast(), words.cast());
        let mut half = 0;
        while half < 2 {
            // SAFETY: room for 8 words of each message is promised, in the order of `load`; `row` has a word for each lane, which is
            // written before it is read.
            unsafe {
                state[half].store(row);
                let mut lane = 0;
                while lane < Q::LANES {
                    *words.add((4 * half + lane % 4) * Self::MESSAGES + lane / 4) = *row.add(lane);
                    lane += 1;
                }
            }
            half += 1;
        }
    }

    #[inline(always)]
    unsafe fn fold(state: &mut [Q; 2], block: Block, context: &F::Context) {
        // SAFETY: the instruction set is promised, and a block of each message, because `SAME` is false. All words of the last row
        // are written before they are read.
        unsafe {
            let last = if Self::MESSAGES == 1 || F::alike(context) {
                Q::fours(F::last_row(context, 0))
            } else {
                let mut last = MaybeUninit::<Q::Each<Q::Word>>::uninit();
                let mut message = 0;
                while message < Self::MESSAGES {
                    *last.as_mut_ptr().cast::<[Q::Word; 4]>().add(message) = F::last_row(context, message);
                    message += 1;
                }
                Q::load(last.as_ptr().cast())
            };
            let (pointers, offset) = block.each();
            Self::compress(state, &Q::blocks(pointers, offset), last);
        }
    }

    #[inline(always)]
    unsafe fn digests(state: &[Q; 2], out: *mut u8, stride: usize) {
        let mut rows = MaybeUninit::<[Q::Each<Q::Word>; 2]>::uninit();
        let rows: *mut Q::Word = rows.as_mut_ptr().cast();
        // SAFETY: `DIGEST` bytes, which are 8 words, can be written for each message, as promised. Both rows are written before they
        // are read. Machines with quads have words whose first byte is the least significant, as the digests have.
        unsafe {
            state[0].store(rows);
            state[1].store(rows.add(Q::LANES));
            let mut message = 0;
            while message < Self::MESSAGES {
                let to: *mut [Q::Word; 4] = out.add(message * stride).cast();
                to.write_unaligned(rows.add(4 * message).cast::<[Q::Word; 4]>().read());
                to.add(1).write_unaligned(rows.add(Q::LANES + 4 * message).cast::<[Q::Word; 4]>().read());
                message += 1;
            }
        }
    }
}
