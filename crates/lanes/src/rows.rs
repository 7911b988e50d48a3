//! BLAKE2 and BLAKE3 with a message's state in four rows, for one message or a few: the four mixings of a round go side by
//! side within a vector, where lanes without a message would idle.

use crate::{
    blake2::{Big, Small, Variant},
    blake3,
    kernel::{Kernel, Numbers, Place, Source},
    lane::{Lane, Word},
};
use core::{marker::PhantomData, mem::MaybeUninit, ptr};

/// A row of four words, of one message or of several: those of the first, then those of the second, and so on.
pub(crate) trait Row: Lane {
    /// The words of a block of each message.
    type Blocks: Copy;

    /// The same four words for each message.
    ///
    /// # Safety
    /// The machine has the instruction set.
    unsafe fn fours(words: [Self::Word; 4]) -> Self;

    /// Reads a block of each message.
    ///
    /// # Safety
    /// The machine has the instruction set; there is a row for each message, with 16 words at `offset`.
    unsafe fn blocks(rows: *const *const u8, offset: isize) -> Self::Blocks;

    /// Reads less than a block of 64 bytes of each message, and zeros.
    ///
    /// # Safety
    /// The machine has the instruction set; there is a row for each message, with `len < 64` bytes.
    #[inline(always)]
    unsafe fn part(rows: *const *const u8, len: usize) -> Self::Blocks {
        let (mut copies, mut at) = ([[0u8; 64]; 4], [ptr::null(); 4]);
        let mut message = 0;
        // SAFETY: the caller's promise.
        unsafe {
            while message < Self::LANES / 4 {
                ptr::copy_nonoverlapping(*rows.add(message), copies[message].as_mut_ptr(), len);
                at[message] = copies[message].as_ptr();
                message += 1;
            }
            Self::blocks(at.as_ptr(), 0)
        }
    }

    /// Four words of each block, by their places in it.
    fn words(blocks: &Self::Blocks, at: [usize; 4]) -> Self;

    /// Each message's four words, moved to the left by 1, 2 or 3 places.
    fn turn(self, by: usize) -> Self;

    /// Whether [`permuted`](Row::permuted) takes less work than picking the words from the block.
    const PERMUTES: bool = false;

    /// The words of BLAKE3's next round, as the halves take them, from those of this one.
    #[inline(always)]
    fn permuted(words: [Self; 4]) -> [Self; 4] {
        words
    }
}

/// The function `F` by rows `R`.
pub(crate) struct ByRows<F, R>(PhantomData<(F, R)>);

/// Half a mixing of all columns: the words are added first, because the second row is the one that comes last.
#[inline(always)]
fn half<R: Row>([a, b, c, d]: &mut [R; 4], words: R, turns: [u32; 2]) {
    // Pinned: the compiler would add the second row first.
    *a = a.add(words).pin().add(*b);
    *d = d.xor(*a).rotr(turns[0]);
    *c = c.add(*d);
    *b = b.xor(*c).rotr(turns[1]);
}

/// The words of a round, as its halves take them: the diagonals are turned under the second row's words.
#[inline(always)]
fn ordered<R: Row>(blocks: &R::Blocks, o: &[usize; 16]) -> [R; 4] {
    [
        R::words(blocks, [o[0], o[2], o[4], o[6]]),
        R::words(blocks, [o[1], o[3], o[5], o[7]]),
        R::words(blocks, [o[14], o[8], o[10], o[12]]),
        R::words(blocks, [o[15], o[9], o[11], o[13]]),
    ]
}

/// One round: the columns, then the diagonals (RFC 7693, 3.2).
#[inline(always)]
fn round<R: Row>(v: &mut [R; 4], words: [R; 4], turns: [u32; 4]) {
    let [first, second] = [[turns[0], turns[1]], [turns[2], turns[3]]];
    half(v, words[0], first);
    half(v, words[1], second);
    [v[0], v[2], v[3]] = [v[0].turn(3), v[2].turn(1), v[3].turn(2)];
    half(v, words[2], first);
    half(v, words[3], second);
    [v[0], v[2], v[3]] = [v[0].turn(1), v[2].turn(3), v[3].turn(2)];
}

impl<F: Flavour, R: Row<Word = F::Word>> ByRows<F, R> {
    const MESSAGES: usize = R::LANES / 4;

    /// The compression function of each message, whose last row before the first round is `last`.
    ///
    /// # Safety
    /// The machine has the instruction set.
    #[inline(always)]
    unsafe fn compress(state: &mut [R; 2], blocks: &R::Blocks, last: R) {
        let [a, b, c, d, ..] = <F::Variant as Variant>::START;
        // SAFETY: the caller's promise.
        let third = unsafe { R::fours([a, b, c, d]) };
        let mut v = [state[0], state[1], third, last];
        let turns = <F::Variant as Variant>::TURNS;
        let mut words = ordered(blocks, &F::ORDERS[0]);
        round(&mut v, words, turns);
        macro_rules! rounds {
            ($($at:literal)*) => {
                $(if $at < F::ROUNDS {
                    words = match F::PERMUTES && R::PERMUTES {
                        true => R::permuted(words),
                        false => ordered(blocks, &F::ORDERS[$at % F::ORDERS.len()]),
                    };
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

/// A few nodes of BLAKE3's tree: chunks, or the pairs that parents are made of. It all fits registers.
#[derive(Clone, Copy)]
pub(crate) struct Nodes {
    /// The first node, and the distance to the next one, in bytes.
    pub base: *const u8,
    pub stride: usize,
    /// The bytes of each.
    pub len: usize,
    /// The number of the first chunk; 0 for parents.
    pub number: u64,
    pub flags: Flags,
}

/// BLAKE3's flags of a node.
#[derive(Clone, Copy)]
pub(crate) struct Flags {
    /// Of its first block.
    pub first: u8,
    /// Of every block.
    pub every: u8,
    /// Of its last block.
    pub last: u8,
    /// How much larger the next node's number is: 0 or 1.
    pub up: u8,
}

/// [`few`], with an instruction set.
pub(crate) type Few = unsafe fn(nodes: Nodes, count: usize, out: *mut u8);

/// Writes the values of so many nodes as `R` holds messages, or of fewer. What [`run`](crate::kernel::run) does for any
/// messages would take a good part of the time.
///
/// # Safety
/// The machine has the instruction set. The nodes can be read, and 32 bytes for each of `count` be written.
#[inline(always)]
pub(crate) unsafe fn few<R: Row<Word = u32>>(nodes: Nodes, count: usize, out: *mut u8) {
    let Flags { first, every, last, up } = nodes.flags;
    let messages = R::LANES / 4;
    let (mut rows, mut numbers) = ([nodes.base; 4], [[0; 4]; 4]);
    let mut message = 0;
    while message < messages {
        // Where there are fewer, the last one is hashed again.
        let place = message.min(count - 1);
        rows[message] = nodes.base.wrapping_add(place * nodes.stride);
        let number = nodes.number + u64::from(up) * place as u64;
        numbers[message] = [number as u32, (number >> 32) as u32, 0, 0];
        message += 1;
    }
    let (mut left, mut flags) = (nodes.len, first | every);
    // SAFETY: the caller's promise: `left` bytes at each row.
    unsafe {
        let numbers = if up == 0 { R::fours(numbers[0]) } else { R::load(numbers.as_ptr().cast()) };
        let mut state = ByRows::<Chunks, R>::same(blake3::BLAKE3.start.as_ptr());
        loop {
            let len = left.min(64);
            if left <= 64 {
                flags |= last;
            }
            let row = R::fours([0, 0, len as u32, flags.into()]).xor(numbers);
            let blocks = if len == 64 { R::blocks(rows.as_ptr(), 0) } else { R::part(rows.as_ptr(), len) };
            ByRows::<Chunks, R>::compress(&mut state, &blocks, row);
            if left <= 64 {
                break;
            }
            (left, flags, message) = (left - 64, every, 0);
            while message < messages {
                rows[message] = rows[message].add(64);
                message += 1;
            }
        }
        if count == messages {
            ByRows::<Chunks, R>::digests(&state, out, 32);
        } else {
            let mut values = [[0; 32]; 4];
            ByRows::<Chunks, R>::digests(&state, values.as_mut_ptr().cast(), 32);
            ptr::copy_nonoverlapping(values.as_ptr().cast(), out, 32 * count);
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
        unsafe {
            let words: *const [F::Word; 4] = words.cast();
            [R::fours(words.read()), R::fours(words.add(1).read())]
        }
    }

    #[inline(always)]
    unsafe fn load(words: *const u8) -> [R; 2] {
        let mut rows = MaybeUninit::<[R::Each<F::Word>; 2]>::uninit();
        let (rows, words): (*mut F::Word, *const F::Word) = (rows.as_mut_ptr().cast(), words.cast());
        let mut at = 0;
        // SAFETY: the caller's promise: 8 words of each message; all words of the rows are written before they are read.
        unsafe {
            while at < 2 * R::LANES {
                let (half, lane) = (at / R::LANES, at % R::LANES);
                *rows.add(at) = *words.add((4 * half + lane % 4) * Self::MESSAGES + lane / 4);
                at += 1;
            }
            [R::load(rows), R::load(rows.add(R::LANES))]
        }
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
        // SAFETY: the caller's promise; all words of the last row are written before they are read.
        unsafe {
            let last = if Self::MESSAGES == 1 || matches!(place.numbers, Numbers::Same(_)) {
                R::fours(F::last_row(place, 0))
            } else {
                let mut last = MaybeUninit::<R::Each<F::Word>>::uninit();
                let mut message = 0;
                while message < Self::MESSAGES {
                    *last.as_mut_ptr().cast::<[F::Word; 4]>().add(message) = F::last_row(place, message);
                    message += 1;
                }
                R::load(last.as_ptr().cast())
            };
            let (rows, offset) = source.rows();
            Self::compress(state, &R::blocks(rows, offset), last);
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
    /// Whether each round's order permutes that of the one before in BLAKE3's way.
    const PERMUTES: bool;
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
    const PERMUTES: bool = false;
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
    const PERMUTES: bool = false;
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
    const PERMUTES: bool = true;
    const FEEDS: bool = false;

    #[inline(always)]
    fn last_row(place: &Place, message: usize) -> [u32; 4] {
        let [low, high] = match place.numbers {
            Numbers::Same(number) => [number as u32, (number >> 32) as u32],
            // SAFETY: there are numbers for each message.
            Numbers::Each([low, high]) => unsafe { [*low.add(message), *high.add(message)] },
        };
        [low, high, place.len, place.flags]
    }
}

/// The last row of BLAKE2: half of the start, the number of bytes, and the mark of the last block (RFC 7693, 3.2).
#[inline(always)]
fn blake2_row<V: Variant>(place: &Place) -> [V::Word; 4] {
    let ([low, high], [.., a, b, c, d]) = (V::counter(place.counter), V::START);
    [a.xor(low), b.xor(high), c.xor(V::mask(place.last)), d]
}
