//! BLAKE2 and BLAKE3 with a message's state in four rows, for one message or a few: the four mixings of a round go side by
//! side within a vector, where lanes without a message would idle.

use crate::{
    blake2::{Big, Small, Variant},
    blake3,
    kernel::{Kernel, Place, Source},
    lane::{Lane, Word},
};
use core::{hint, marker::PhantomData, mem::MaybeUninit};

/// A row of four words, of one message or of several: those of the first, then those of the second, and so on.
pub(crate) trait Row: Lane {
    /// The words of a block of each message.
    type Blocks: Copy;

    /// Reads a block of each message.
    ///
    /// # Safety
    /// The machine has the instruction set; there is a row for each message, with 16 words at `offset`.
    unsafe fn blocks(rows: *const *const u8, offset: isize) -> Self::Blocks;

    /// Four words of each block, by their places in it.
    fn words(blocks: &Self::Blocks, at: [usize; 4]) -> Self;

    /// Each message's four words, moved to the left by 1, 2 or 3 places.
    fn turn(self, by: usize) -> Self;
}

/// The function `F` by rows `R`.
pub(crate) struct ByRows<F, R>(PhantomData<(F, R)>);

/// Half a mixing of all columns: the words are added first, because the second row is the one that comes last.
#[inline(always)]
fn half<R: Row>([a, b, c, d]: &mut [R; 4], words: R, turns: [u32; 2]) {
    *a = a.add(words).add(*b);
    *d = d.xor(*a).rotr(turns[0]);
    *c = c.add(*d);
    *b = b.xor(*c).rotr(turns[1]);
}

/// One round: the columns, then the diagonals, which are turned under the second row's words for it (RFC 7693, 3.2).
#[inline(always)]
fn round<R: Row>(v: &mut [R; 4], blocks: &R::Blocks, o: &[usize; 16], turns: [u32; 4]) {
    let [first, second] = [[turns[0], turns[1]], [turns[2], turns[3]]];
    half(v, R::words(blocks, [o[0], o[2], o[4], o[6]]), first);
    half(v, R::words(blocks, [o[1], o[3], o[5], o[7]]), second);
    [v[0], v[2], v[3]] = [v[0].turn(3), v[2].turn(1), v[3].turn(2)];
    half(v, R::words(blocks, [o[14], o[8], o[10], o[12]]), first);
    half(v, R::words(blocks, [o[15], o[9], o[11], o[13]]), second);
    [v[0], v[2], v[3]] = [v[0].turn(1), v[2].turn(3), v[3].turn(2)];
}

impl<F: Flavour, R: Row<Word = F::Word>> ByRows<F, R> {
    const MESSAGES: usize = R::LANES / 4;

    /// The rows that hold each message's words `first..first + 4`. A message's words lie `by` words apart, and the next
    /// message's `next` words behind.
    ///
    /// # Safety
    /// The machine has the instruction set, and the words can be read.
    #[inline(always)]
    unsafe fn row(words: *const F::Word, first: usize, by: usize, next: usize) -> R {
        let mut row = MaybeUninit::<R::Each<F::Word>>::uninit();
        let mut lane = 0;
        // SAFETY: the caller's promise; a word for each lane is written before they are read.
        unsafe {
            while lane < R::LANES {
                let word = *words.add((first + lane % 4) * by + lane / 4 * next);
                *row.as_mut_ptr().cast::<F::Word>().add(lane) = word;
                lane += 1;
            }
            R::load(row.as_ptr().cast())
        }
    }
}

impl<F: Flavour, R: Row<Word = F::Word>> Kernel for ByRows<F, R> {
    type State = [R; 2];
    const LANES: usize = Self::MESSAGES;
    type Each<T: Copy> = R::Each<T>;
    const DIGEST: usize = 8 * size_of::<F::Word>();
    const SAME: bool = false;

    #[inline(always)]
    unsafe fn same(words: *const u8) -> [R; 2] {
        // SAFETY: the caller's promise: 8 words.
        unsafe { [Self::row(words.cast(), 0, 1, 0), Self::row(words.cast(), 4, 1, 0)] }
    }

    #[inline(always)]
    unsafe fn load(words: *const u8) -> [R; 2] {
        // SAFETY: the caller's promise: 8 words of each message.
        unsafe { [Self::row(words.cast(), 0, Self::MESSAGES, 1), Self::row(words.cast(), 4, Self::MESSAGES, 1)] }
    }

    #[inline(always)]
    unsafe fn store(state: &[R; 2], words: *mut u8) {
        let mut row = MaybeUninit::<R::Each<F::Word>>::uninit();
        let (row, words): (*mut F::Word, *mut F::Word) = (row.as_mut_ptr().cast(), words.cast());
        let mut half = 0;
        while half < 2 {
            // SAFETY: the caller's promise: room for 8 words of each message.
            unsafe {
                state[half].store(row);
                let mut lane = 0;
                while lane < R::LANES {
                    *words.add((4 * half + lane % 4) * Self::MESSAGES + lane / 4) = *row.add(lane);
                    lane += 1;
                }
            }
            half += 1;
        }
    }

    #[inline(always)]
    unsafe fn fold(state: &mut [R; 2], source: Source, place: &Place) {
        let start = <F::Variant as Variant>::START;
        let mut last = MaybeUninit::<R::Each<F::Word>>::uninit();
        let mut message = 0;
        // SAFETY: the caller's promise; all words of the last row are written before they are read.
        unsafe {
            while message < Self::MESSAGES {
                *last.as_mut_ptr().cast::<[F::Word; 4]>().add(message) = F::last_row(place, message);
                message += 1;
            }
            let blocks = match source {
                Source::Rows(rows, offset) => R::blocks(rows, offset),
                _ => hint::unreachable_unchecked(),
            };
            let third = Self::row(start.as_ptr(), 0, 1, 0);
            let mut v = [state[0], state[1], third, R::load(last.as_ptr().cast())];
            macro_rules! rounds {
                ($($at:literal)*) => {
                    $(if $at < F::ROUNDS {
                        round(&mut v, &blocks, &F::ORDERS[$at % F::ORDERS.len()], <F::Variant as Variant>::TURNS);
                    })*
                };
            }
            rounds!(0 1 2 3 4 5 6 7 8 9 10 11);
            *state = match F::FEEDS {
                true => [state[0].xor3(v[0], v[2]), state[1].xor3(v[1], v[3])],
                false => [v[0].xor(v[2]), v[1].xor(v[3])],
            };
        }
    }

    #[inline(always)]
    unsafe fn digests(state: &[R; 2], out: *mut u8, stride: usize) {
        let mut rows = MaybeUninit::<[R::Each<F::Word>; 2]>::uninit();
        let rows: *mut F::Word = rows.as_mut_ptr().cast();
        // SAFETY: the caller's promise: 8 words of each message. Where there are rows, a word's first byte is its least.
        unsafe {
            state[0].store(rows);
            state[1].store(rows.add(R::LANES));
            let mut message = 0;
            while message < Self::MESSAGES {
                let to: *mut [F::Word; 4] = out.add(message * stride).cast();
                to.write_unaligned(rows.add(4 * message).cast::<[F::Word; 4]>().read());
                to.add(1).write_unaligned(rows.add(R::LANES + 4 * message).cast::<[F::Word; 4]>().read());
                message += 1;
            }
        }
    }
}

/// What BLAKE2s, BLAKE2b and BLAKE3 do not share.
pub(crate) trait Flavour {
    type Word: Word;
    type Variant: Variant<Word = Self::Word>;
    const ROUNDS: usize;
    /// The order of the message's words in each round.
    const ORDERS: &'static [[usize; 16]];
    /// Whether the state before goes into the one after.
    const FEEDS: bool;
    /// The last row before the first round, of one message.
    fn last_row(place: &Place, message: usize) -> [Self::Word; 4];
}

impl Flavour for Small {
    type Word = u32;
    type Variant = Small;
    const ROUNDS: usize = <Small as Variant>::ROUNDS;
    const ORDERS: &'static [[usize; 16]] = &crate::blake2::SIGMA;
    const FEEDS: bool = true;

    #[inline(always)]
    fn last_row(place: &Place, _: usize) -> [u32; 4] {
        blake2_row::<Small>(place)
    }
}

impl Flavour for Big {
    type Word = u64;
    type Variant = Big;
    const ROUNDS: usize = <Big as Variant>::ROUNDS;
    const ORDERS: &'static [[usize; 16]] = &crate::blake2::SIGMA;
    const FEEDS: bool = true;

    #[inline(always)]
    fn last_row(place: &Place, _: usize) -> [u64; 4] {
        blake2_row::<Big>(place)
    }
}

/// BLAKE3's compression function (the BLAKE3 paper, 2.2).
pub(crate) struct Chunks;

impl Flavour for Chunks {
    type Word = u32;
    type Variant = Small;
    const ROUNDS: usize = blake3::ORDER.len();
    const ORDERS: &'static [[usize; 16]] = &blake3::ORDER;
    const FEEDS: bool = false;

    #[inline(always)]
    fn last_row(place: &Place, message: usize) -> [u32; 4] {
        // SAFETY: there are numbers for each message.
        let [low, high] = unsafe { [*place.numbers[0].add(message), *place.numbers[1].add(message)] };
        [low, high, place.len, place.flags]
    }
}

/// The last row of BLAKE2: half of the start, the number of bytes, and the mark of the last block (RFC 7693, 3.2).
#[inline(always)]
fn blake2_row<V: Variant>(place: &Place) -> [V::Word; 4] {
    let ([low, high], [.., a, b, c, d]) = (V::counter(place.counter), V::START);
    [a.xor(low), b.xor(high), c.xor(V::mask(place.last)), d]
}
