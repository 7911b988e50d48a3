//! BLAKE2s and BLAKE2b without a key (RFC 7693).

use crate::{
    dispatch::family,
    hash::mixing::{Big, Small, Variant, round},
    kernel::{Block, Context, Job, Kernel, lanes_state},
    lane::Lane,
    plan::{Framing, Padding, Step},
    scheme::Scheme,
    words::Words,
};
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
use crate::{
    hash::by_rows::{ByRows, Flavour},
    quad::Quad,
};
use core::marker::PhantomData;

/// The differences between BLAKE2s and BLAKE2b.
pub(crate) trait Blake: Variant {
    /// The number of rounds: 10 or 12.
    const ROUNDS: usize;
    /// A word of one bits or of zeros.
    fn mask(ones: bool) -> Self::Word;
    /// The low word of the number of bytes hashed, and the high one.
    fn counter(bytes: u64) -> [Self::Word; 2];
}

impl Blake for Small {
    const ROUNDS: usize = 10;

    fn mask(ones: bool) -> u32 {
        if ones { !0 } else { 0 }
    }

    fn counter(bytes: u64) -> [u32; 2] {
        [bytes as u32, (bytes >> 32) as u32]
    }
}

impl Blake for Big {
    const ROUNDS: usize = 12;

    fn mask(ones: bool) -> u64 {
        if ones { !0 } else { 0 }
    }

    fn counter(bytes: u64) -> [u64; 2] {
        [bytes, 0]
    }
}

/// The parameters of a hash that has no key and is no tree's: fanout and depth of 1 (RFC 7693, 2.5). The digest's size is added.
const PARAMETERS: u32 = 0x0101_0000;

/// RFC 7693, 3.3.
pub(crate) static BLAKE2S: Scheme = Scheme::new(
    Framing { block: 64, padding: Padding::Zeros },
    {
        let mut start = Small::START;
        start[0] ^= PARAMETERS ^ 32;
        Words::of32(&start)
    },
    &KERNELS32,
);

/// RFC 7693, 3.3.
pub(crate) static BLAKE2B: Scheme = Scheme::new(
    Framing { block: 128, padding: Padding::Zeros },
    {
        let mut start = Big::START;
        start[0] ^= (PARAMETERS ^ 64) as u64;
        Words::of64(&start)
    },
    &KERNELS64,
);

family! {
    /// The kernels of BLAKE2s, by instruction set.
    KERNELS32: [u32; 8];
    x86 {
        "AVX-512 × 2" AVX512 Blake2<Small, Two<avx512::Z32>>, 459;
        "AVX-512" AVX512 Blake2<Small, avx512::Z32>, 235;
        "AVX-512, 256 bits" AVX512 Blake2<Small, avx512::Y32>, 156;
        "AVX-512 rows" AVX512 ByRows<Small, avx512::X32>, 95;
        "AVX2" AVX2 Blake2<Small, avx2::Y32>, 234;
        "SSE4.1" SSE41 Blake2<Small, sse41::X32>, 215;
        "BMI2" BMI Blake2<Small, u32>, 116;
    }
    arm {
        "NEON" NEON Blake2<Small, neon::N32>, 222;
    }
    wasm {
        "simd128" SIMD128 Blake2<Small, simd128::W32>, 222;
    }
    any {
        "portable" NONE Blake2<Small, u32>, 116;
    }
    zen5 {
        "AVX-512 × 2", 187 197;
        "AVX-512", 126 135;
        "AVX-512, 256 bits", 126 129;
        "AVX-512 rows", 113 113;
        "AVX2", 167 170;
        "SSE4.1", 154 153;
        "BMI2", 74 74;
        "portable", 71 70;
    }
}

family! {
    /// The kernels of BLAKE2b, by instruction set.
    KERNELS64: [u64; 8];
    x86 {
        "AVX-512 × 2" AVX512 Blake2<Big, Two<avx512::Z64>>, 518;
        "AVX-512" AVX512 Blake2<Big, avx512::Z64>, 253;
        "AVX-512, 256 bits" AVX512 Blake2<Big, avx512::Y64>, 180;
        "AVX-512 rows" AVX512 ByRows<Big, avx512::Y64>, 125;
        "AVX2" AVX2 Blake2<Big, avx2::Y64>, 235;
        "SSE4.1" SSE41 Blake2<Big, sse41::X64>, 229;
        "BMI2" BMI Blake2<Big, u64>, 139;
    }
    arm {
        "NEON" NEON Blake2<Big, neon::N64>, 233;
    }
    wasm {}
    any {
        "portable" NONE Blake2<Big, u64>, 147;
    }
    zen5 {
        "AVX-512 × 2", 215 220;
        "AVX-512", 150 157;
        "AVX-512, 256 bits", 148 150;
        "AVX-512 rows", 138 138;
        "AVX2", 181 183;
        "SSE4.1", 172 172;
        "BMI2", 88 88;
        "portable", 84 83;
    }
}

/// The order of the message's words in each round (RFC 7693, 2.7).
const SIGMA: [[usize; 16]; 10] = [
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
    [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
    [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4],
    [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
    [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13],
    [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
    [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11],
    [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
    [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5],
    [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
];

/// The place of a block in its message.
#[derive(Clone, Copy)]
pub(crate) struct Place<V> {
    /// The number of bytes hashed up to and including the block.
    counter: u64,
    /// Whether it is the last block.
    last: bool,
    variant: PhantomData<V>,
}

impl<V: Variant> Context for Place<V> {
    type Lanes = ();

    #[inline(always)]
    unsafe fn new(_: &Job<'_>, _: *mut ()) -> Self {
        Place { counter: 0, last: false, variant: PhantomData }
    }

    #[inline(always)]
    fn step(&mut self, step: &Step) {
        (self.counter, self.last) = (step.counter, false);
    }

    #[inline(always)]
    fn last(&mut self) {
        self.last = true;
    }

    #[inline(always)]
    fn next(&mut self) {
        self.counter = self.counter.wrapping_add(16 * size_of::<V::Word>() as u64);
    }
}

/// BLAKE2 as variant `V` over the lanes `L`.
pub(crate) struct Blake2<V, L>(PhantomData<(V, L)>);

/// RFC 7693, 3.2.
#[inline(always)]
fn compress<V: Blake, L: Lane<Word = V::Word>>(h: &mut [L; 8], m: &[L; 16], place: &Place<V>) {
    let [low, high] = V::counter(place.counter);
    let [i0, i1, i2, i3, i4, i5, i6, i7] = V::START;
    let one = h[0];
    let mut v = [
        h[0],
        h[1],
        h[2],
        h[3],
        h[4],
        h[5],
        h[6],
        h[7],
        one.splat(i0),
        one.splat(i1),
        one.splat(i2),
        one.splat(i3),
        one.splat(i4).xor(one.splat(low)),
        one.splat(i5).xor(one.splat(high)),
        one.splat(i6).xor(one.splat(V::mask(place.last))),
        one.splat(i7),
    ];
    macro_rules! rounds {
        ($($round:literal)*) => {
            $(if $round < V::ROUNDS {
                round(&mut v, m, &SIGMA[$round % 10], V::TURNS);
            })*
        };
    }
    rounds!(0 1 2 3 4 5 6 7 8 9 10 11);
    let mut at = 0;
    while at < 8 {
        h[at] = h[at].xor3(v[at], v[at + 8]);
        at += 1;
    }
}

impl<V: Blake, L: Lane<Word = V::Word>> Kernel for Blake2<V, L> {
    type State = [L; 8];
    type Context = Place<V>;
    const LANES: usize = L::LANES;
    const DIGEST: usize = 8 * size_of::<V::Word>();
    const SAME: bool = false;
    lanes_state!(8);

    #[inline(always)]
    unsafe fn fold(state: &mut [L; 8], block: Block, place: &Place<V>) {
        // SAFETY: the instruction set is promised, and a block of each message, because `SAME` is false.
        let m = unsafe {
            let (pointers, offset) = block.each();
            L::read16::<false>(pointers, offset)
        };
        compress::<V, L>(state, &m, place);
    }

    #[inline(always)]
    unsafe fn digests(state: &[L; 8], out: *mut u8, stride: usize) {
        // SAFETY: `DIGEST` bytes, which are 8 words, can be written for each lane, as promised.
        unsafe { L::write8::<false>(state, out, stride) }
    }
}

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
impl<V: Blake<Word = Q::Word>, Q: Quad> Flavour<Q> for V {
    type Variant = V;
    type Context = Place<V>;
    const ROUNDS: usize = <V as Blake>::ROUNDS;
    const ORDERS: &'static [[usize; 16]] = &SIGMA;
    const FEEDS: bool = true;

    /// Half of the initialization vector, the number of bytes, and the mark of the last block (RFC 7693, 3.2).
    #[inline(always)]
    fn last_row(place: &Place<V>, _: usize) -> [V::Word; 4] {
        let ([low, high], [.., a, b, c, d]) = (V::counter(place.counter), V::START);
        [a.xor(low), b.xor(high), c.xor(V::mask(place.last)), d]
    }
}
