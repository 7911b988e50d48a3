//! BLAKE3's compression function over lanes and by rows (the BLAKE3 paper, 2.2).

use crate::{
    dispatch::family,
    hash::mixing::{Small, Variant, columns, diagonals, round},
    kernel::{Block, Context, Job, Kernel, lanes_state},
    lane::Lane,
    plan::{Framing, Padding, Step},
    scheme::Scheme,
    words::Words,
};
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
use crate::{
    hash::by_rows::{ByRows, Flavour, ordered},
    quad::{Pick, Quad},
};
use core::marker::PhantomData;

/// A chunk as a message (the BLAKE3 paper, 2.1 and 2.4).
pub(crate) static BLAKE3: Scheme =
    Scheme::new(Framing { block: 64, padding: Padding::Zeros }, Words::of32(&<Small as Variant>::START), &KERNELS);

family! {
    KERNELS: [u32; 8];
    x86 {
        "AVX-512 × 2" AVX512 Blake3<Two<avx512::Z32>>, 330;
        "AVX-512" AVX512 Blake3<avx512::Z32>, 170;
        "AVX-512, 256 bits" AVX512 Blake3<avx512::Y32>, 112;
        "AVX-512 rows × 4" AVX512 ByRows<Permuted, avx512::Z32>, 70;
        "AVX-512 rows × 2" AVX512 ByRows<Permuted, avx512::Y32>, 62;
        "AVX-512 rows" AVX512 ByRows<Picked, avx512::X32>, 61;
        "AVX2 × 2" AVX2 Blake3<Two<avx2::Y32>>, 325;
        "AVX2" AVX2 Blake3<avx2::Y32>, 162;
        "SSE4.1 × 2" SSE41 Blake3<Two<sse41::X32>>, 301;
        "SSE4.1" SSE41 Blake3<sse41::X32>, 150;
        "AVX2 rows" AVX2 ByRows<Picked, sse41::X32>, 72;
        "BMI2" BMI Blake3<u32>, 82;
    }
    arm {
        "NEON" NEON Blake3<neon::N32>, 160;
    }
    wasm {
        "simd128" SIMD128 Blake3<simd128::W32>, 160;
    }
    any {
        "portable" NONE Blake3<u32>, 82;
    }
    zen5 {
        "AVX-512 × 2", 136 148;
        "AVX-512", 90 98;
        "AVX-512, 256 bits", 88 91;
        "AVX-512 rows × 4", 80 81;
        "AVX-512 rows × 2", 80 80;
        "AVX-512 rows", 79 79;
        "AVX2 × 2", 180 180;
        "AVX2", 117 120;
        "SSE4.1 × 2", 180 183;
        "SSE4.1", 107 107;
        "AVX2 rows", 102 102;
        "BMI2", 52 52;
        "portable", 52 51;
    }
}

/// The order of the message's words in each round: each permutes the one before (the BLAKE3 paper, table 2).
pub(crate) const ORDER: [[usize; 16]; 7] = {
    let permutation = [2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8];
    let mut order = [[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]; 7];
    let mut round = 1;
    while round < 7 {
        let mut word = 0;
        while word < 16 {
            order[round][word] = order[round - 1][permutation[word]];
            word += 1;
        }
        round += 1;
    }
    order
};

/// The terms of a job: which nodes of the tree its messages are.
#[derive(Clone, Copy)]
pub(crate) struct Terms {
    /// The flags of a node's first block.
    pub first: u32,
    /// The flags of every block.
    pub every: u32,
    /// The flags of a node's last block.
    pub last: u32,
    /// The number of each run's first chunk; 0 of parents.
    pub counter: u64,
    /// Whether each further chunk of a run has the next number.
    pub counts: bool,
}

/// Where a block is in the tree. `E` is memory for a word of each lane.
#[derive(Clone, Copy)]
pub(crate) struct Node<E> {
    terms: Terms,
    numbers: Numbers,
    /// The bytes of the block that are not padding.
    len: u32,
    flags: u32,
    lanes: PhantomData<E>,
}

/// The numbers of the chunks.
#[derive(Clone, Copy)]
enum Numbers {
    /// All have this one. It is not in memory: a vector cannot be loaded from words that were just written before all earlier
    /// instructions are done, and so one short message would wait for the one before.
    Same(u64),
    /// The low halves of each lane's, and the high ones.
    Each([*mut u32; 2]),
}

impl<E: Copy> Context for Node<E> {
    type Lanes = [E; 2];

    #[inline(always)]
    unsafe fn new(job: &Job<'_>, lanes: *mut [E; 2]) -> Self {
        // SAFETY: the terms of a job for BLAKE3's kernels are `Terms`, as `blake3::nodes` makes them.
        let terms = unsafe { *job.terms.cast::<Terms>() };
        let numbers = match terms.counts && job.grid.run > 1 {
            true => Numbers::Each([lanes.cast(), lanes.cast::<E>().wrapping_add(1).cast()]),
            false => Numbers::Same(terms.counter),
        };
        Node { terms, numbers, len: 0, flags: 0, lanes: PhantomData }
    }

    #[inline(always)]
    unsafe fn lane(&mut self, lane: usize, place: usize) {
        if let Numbers::Each([low, high]) = self.numbers {
            let number = self.terms.counter.wrapping_add(place as u64);
            // SAFETY: there is memory for a word of each lane, and `lane` is one, as promised.
            unsafe {
                *low.add(lane) = number as u32;
                *high.add(lane) = (number >> 32) as u32;
            }
        }
    }

    #[inline(always)]
    fn step(&mut self, step: &Step) {
        self.len = step.len;
        self.flags = self.terms.every | if step.first { self.terms.first } else { 0 };
    }

    #[inline(always)]
    fn last(&mut self) {
        self.flags |= self.terms.last;
    }

    #[inline(always)]
    fn next(&mut self) {
        self.flags = self.terms.every;
    }
}

/// BLAKE3 over the lanes `L`.
pub(crate) struct Blake3<L>(PhantomData<L>);

/// One block of each message: of the node with this number, so many bytes and these flags. Unless `WHOLE`, the block's second half is read
/// when the first one is mixed in, so that the shuffles of which reading consists run beside the mixing.
///
/// # Safety
/// The machine has the instruction set. There is a pointer for each lane, and 16 words `offset` bytes after it.
#[inline(always)]
pub(crate) unsafe fn compress<const WHOLE: bool, L: Lane<Word = u32>>(
    cv: &mut [L; 8],
    pointers: *const *const u8,
    offset: isize,
    numbers: [L; 2],
    [len, flags]: [u32; 2],
) {
    let one = cv[0];
    let iv = <Small as Variant>::START;
    let mut v = [
        cv[0],
        cv[1],
        cv[2],
        cv[3],
        cv[4],
        cv[5],
        cv[6],
        cv[7],
        one.splat(iv[0]),
        one.splat(iv[1]),
        one.splat(iv[2]),
        one.splat(iv[3]),
        numbers[0],
        numbers[1],
        one.splat(len),
        one.splat(flags),
    ];
    let turns = <Small as Variant>::TURNS;
    let mut m = [one; 16];
    // SAFETY: the instruction set is promised, and 16 words of each message: all of them, or the first half.
    unsafe {
        match WHOLE {
            true => m = L::read_lines(pointers, offset),
            false => put(&mut m, 0, L::read8::<false>(pointers, offset)),
        }
    }
    columns(&mut v, &m, &ORDER[0], turns);
    if !WHOLE {
        // SAFETY: this is the other half.
        put(&mut m, 8, unsafe { L::read8::<false>(pointers, offset + 32) });
    }
    diagonals(&mut v, &m, &ORDER[0], turns);
    macro_rules! rounds {
        ($($round:literal)*) => { $(round(&mut v, &m, &ORDER[$round], turns);)* };
    }
    rounds!(1 2 3 4 5 6);
    let mut at = 0;
    while at < 8 {
        cv[at] = v[at].xor(v[at + 8]);
        at += 1;
    }
}

/// Puts half a block in its place.
#[inline(always)]
fn put<L: Lane>(m: &mut [L; 16], from: usize, half: [L; 8]) {
    let mut at = 0;
    while at < 8 {
        m[from + at] = half[at];
        at += 1;
    }
}

impl<L: Lane<Word = u32>> Kernel for Blake3<L> {
    type State = [L; 8];
    type Context = Node<L::Each<u32>>;
    const LANES: usize = L::LANES;
    const DIGEST: usize = 32;
    const SAME: bool = false;
    lanes_state!(8);

    #[inline(always)]
    unsafe fn fold(state: &mut [L; 8], block: Block, node: &Self::Context) {
        // SAFETY: the instruction set is promised, and a block of each message, because `SAME` is false. A node with numbers in memory
        // has one for each lane.
        unsafe {
            let numbers = match node.numbers {
                Numbers::Same(number) => [L::broadcast(number as u32), L::broadcast((number >> 32) as u32)],
                Numbers::Each([low, high]) => [L::load(low), L::load(high)],
            };
            let (pointers, offset) = block.each();
            compress::<false, L>(state, pointers, offset, numbers, [node.len, node.flags]);
        }
    }

    #[inline(always)]
    unsafe fn digests(state: &[L; 8], out: *mut u8, stride: usize) {
        // SAFETY: 32 bytes, which are 8 words, can be written for each lane, as promised.
        unsafe { L::write8::<false>(state, out, stride) }
    }
}

/// BLAKE3 by rows, with the words of each round picked from the block.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(crate) struct Picked;

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
impl<Q: Quad<Word = u32>> Flavour<Q> for Picked {
    type Variant = Small;
    type Context = Node<Q::Each<u32>>;
    const ROUNDS: usize = ORDER.len();
    const ORDERS: &'static [[usize; 16]] = &ORDER;
    const FEEDS: bool = false;

    #[inline(always)]
    fn last_row(node: &Self::Context, message: usize) -> [u32; 4] {
        let [low, high] = match node.numbers {
            Numbers::Same(number) => [number as u32, (number >> 32) as u32],
            // SAFETY: a node with numbers in memory has one for each message, which was written when its lane was filled.
            Numbers::Each([low, high]) => unsafe { [*low.add(message), *high.add(message)] },
        };
        [low, high, node.len, node.flags]
    }

    #[inline(always)]
    fn alike(node: &Self::Context) -> bool {
        matches!(node.numbers, Numbers::Same(_))
    }
}

/// BLAKE3 by rows, with the words of each round made from those of the round before, which takes less work where several messages
/// share a vector.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(crate) struct Permuted;

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
impl<Q: Pick + Quad<Word = u32>> Flavour<Q> for Permuted {
    type Variant = Small;
    type Context = Node<Q::Each<u32>>;
    const ROUNDS: usize = ORDER.len();
    const ORDERS: &'static [[usize; 16]] = &ORDER;
    const FEEDS: bool = false;

    #[inline(always)]
    fn last_row(node: &Self::Context, message: usize) -> [u32; 4] {
        <Picked as Flavour<Q>>::last_row(node, message)
    }

    #[inline(always)]
    fn alike(node: &Self::Context) -> bool {
        <Picked as Flavour<Q>>::alike(node)
    }

    #[inline(always)]
    fn words(blocks: &Q::Blocks, round: usize, [a, b, c, d]: [Q; 4]) -> [Q; 4] {
        if round == 0 {
            return ordered(blocks, &ORDER[0]);
        }
        // Words that one result takes from the third quad and from the fourth are put into one register first, which any unit can do.
        // Pinned: the compiler would join two rounds' orders into one.
        [
            a.pick(b, [1, 5, 7, 2]).pin(),
            a.pick(c.blend(0b1000, d), [3, 6, 0, 7]).pin(),
            d.blend(0b1000, c).pick(b, [0, 4, 3, 1]).pin(),
            c.blend(0b0100, d).pick(b, [1, 2, 6, 0]).pin(),
        ]
    }
}
