//! BLAKE2s and BLAKE2b without a key (RFC 7693), and the mixing function that BLAKE3 took over.

use crate::{
    kernel::{Kernel, Place, Source, lanes_state},
    lane::{Lane, Word},
    plan::{Padding, Scheme, Words},
    sha256, sha512,
};
use core::marker::PhantomData;

/// What BLAKE2s and BLAKE2b do not share.
pub(crate) trait Variant {
    type Word: Word;
    /// The number of rounds: 10 or 12.
    const ROUNDS: usize;
    /// The rotations of the mixing function.
    const TURNS: [u32; 4];
    /// The first state (RFC 7693, 2.6).
    const START: [Self::Word; 8];
    /// A word of one bits or of zeros.
    fn mask(ones: bool) -> Self::Word;
    /// The low word of the number of bytes hashed, and the high one.
    fn counter(bytes: u64) -> [Self::Word; 2];
}

/// BLAKE2s.
pub(crate) struct Small;

/// BLAKE2b.
pub(crate) struct Big;

impl Variant for Small {
    type Word = u32;
    const ROUNDS: usize = 10;
    const TURNS: [u32; 4] = [16, 12, 8, 7];
    const START: [u32; 8] = sha256::START;

    fn mask(ones: bool) -> u32 {
        if ones { !0 } else { 0 }
    }

    fn counter(bytes: u64) -> [u32; 2] {
        [bytes as u32, (bytes >> 32) as u32]
    }
}

impl Variant for Big {
    type Word = u64;
    const ROUNDS: usize = 12;
    const TURNS: [u32; 4] = [32, 24, 16, 63];
    const START: [u64; 8] = sha512::START;

    fn mask(ones: bool) -> u64 {
        if ones { !0 } else { 0 }
    }

    fn counter(bytes: u64) -> [u64; 2] {
        [bytes, 0]
    }
}

/// Parameters of a hash without a key, not of a tree: the digest's size, and fanout and depth of 1 (RFC 7693, 2.5).
const PARAMETERS: u32 = 0x0101_0000;

/// RFC 7693, 3.3.
pub(crate) static BLAKE2S: Scheme = Scheme {
    block: 64,
    padding: Padding::Zeros,
    start: {
        let mut start = Small::START;
        start[0] ^= PARAMETERS ^ 32;
        Words::of32(&start)
    },
};

/// RFC 7693, 3.3.
pub(crate) static BLAKE2B: Scheme = Scheme {
    block: 128,
    padding: Padding::Zeros,
    start: {
        let mut start = Big::START;
        start[0] ^= (PARAMETERS ^ 64) as u64;
        Words::of64(&start)
    },
};

/// BLAKE2 as variant `V` over the lanes `L`.
pub(crate) struct Blake2<V, L>(PhantomData<(V, L)>);

/// Mixes two message words into each column or diagonal: the four are written step by step, side by side, because each
/// step of one waits for the step before (RFC 7693, 3.1).
macro_rules! mix4 {
    ($v:ident, $m:ident, $order:expr, $turns:expr, $(($a:literal $b:literal $c:literal $d:literal, $k:literal)),*) => {
        $($v[$a] = $v[$a].add($m[$order[$k]]);)*
        $($v[$a] = $v[$a].add($v[$b]);)*
        $($v[$d] = $v[$d].xor($v[$a]);)*
        $($v[$d] = $v[$d].rotr($turns[0]);)*
        $($v[$c] = $v[$c].add($v[$d]);)*
        $($v[$b] = $v[$b].xor($v[$c]);)*
        $($v[$b] = $v[$b].rotr($turns[1]).pin();)*
        $($v[$a] = $v[$a].add($m[$order[$k + 1]]);)*
        $($v[$a] = $v[$a].add($v[$b]);)*
        $($v[$d] = $v[$d].xor($v[$a]);)*
        $($v[$d] = $v[$d].rotr($turns[2]);)*
        $($v[$c] = $v[$c].add($v[$d]);)*
        $($v[$b] = $v[$b].xor($v[$c]);)*
        $($v[$b] = $v[$b].rotr($turns[3]).pin();)*
    };
}

/// Half a round: the columns, with the first 8 of the message's words in the order given (RFC 7693, 3.2).
#[inline(always)]
pub(crate) fn columns<L: Lane>(v: &mut [L; 16], m: &[L; 16], order: &[usize; 16], turns: [u32; 4]) {
    mix4!(v, m, order, turns, (0 4 8 12, 0), (1 5 9 13, 2), (2 6 10 14, 4), (3 7 11 15, 6));
}

/// The other half: the diagonals, with the last 8.
#[inline(always)]
pub(crate) fn diagonals<L: Lane>(v: &mut [L; 16], m: &[L; 16], order: &[usize; 16], turns: [u32; 4]) {
    mix4!(v, m, order, turns, (0 5 10 15, 8), (1 6 11 12, 10), (2 7 8 13, 12), (3 4 9 14, 14));
}

/// One round.
#[inline(always)]
pub(crate) fn round<L: Lane>(v: &mut [L; 16], m: &[L; 16], order: &[usize; 16], turns: [u32; 4]) {
    columns(v, m, order, turns);
    diagonals(v, m, order, turns);
}

/// RFC 7693, 2.7.
pub(crate) const SIGMA: [[usize; 16]; 10] = [
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

#[inline(always)]
fn compress<V: Variant, L: Lane<Word = V::Word>>(h: &mut [L; 8], m: &[L; 16], place: &Place) {
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

impl<V: Variant, L: Lane<Word = V::Word>> Kernel for Blake2<V, L> {
    type State = [L; 8];
    const LANES: usize = L::LANES;
    const DIGEST: usize = 8 * size_of::<V::Word>();
    const SAME: bool = false;
    lanes_state!(8);

    #[inline(always)]
    unsafe fn fold(state: &mut [L; 8], source: Source, place: &Place) {
        // SAFETY: the caller's promise.
        let m = unsafe {
            let (rows, offset) = source.rows();
            L::rows16::<false>(rows, offset)
        };
        compress::<V, L>(state, &m, place);
    }

    #[inline(always)]
    unsafe fn digests(state: &[L; 8], out: *mut u8, stride: usize) {
        // SAFETY: the caller's promise.
        unsafe { L::store8::<false>(state, out, stride) }
    }
}
