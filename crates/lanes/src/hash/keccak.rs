//! SHA-3 and Keccak-256 (FIPS 202; Keccak-256 pads as Keccak did before it became a standard).

use crate::{
    dispatch::family,
    kernel::{Block, Context, Job, Kernel, SMALL, lanes_state},
    lane::Lane,
    plan::{Framing, Padding},
    scheme::Scheme,
    words::Words,
};
use core::{hint, marker::PhantomData};

const fn scheme(block: usize, domain: u8) -> Scheme {
    Scheme::new(Framing { block, padding: Padding::Sponge(domain) }, Words::ZERO, &KERNELS)
}

/// FIPS 202, 6.1.
pub(crate) static SHA3_224: Scheme = scheme(144, 6);
/// FIPS 202, 6.1.
pub(crate) static SHA3_256: Scheme = scheme(136, 6);
/// FIPS 202, 6.1.
pub(crate) static SHA3_384: Scheme = scheme(104, 6);
/// FIPS 202, 6.1.
pub(crate) static SHA3_512: Scheme = scheme(72, 6);
/// Ethereum's: SHA3-256 without the two bits that FIPS 202 adds to a message.
pub(crate) static KECCAK256: Scheme = scheme(136, 1);

family! {
    KERNELS: [u64; 25];
    x86 {
        "AVX-512" AVX512 Keccak<avx512::Z64>, 446;
        "AVX-512, 256 bits" AVX512 Keccak<avx512::Y64>, 294;
        "AVX2" AVX2 Keccak<avx2::Y64>, 634;
        "SSE4.1" SSE41 Keccak<sse41::X64>, 542;
        "BMI2" BMI Keccak<u64>, 316;
    }
    arm {
        "NEON" NEON Keccak<neon::N64>, 527;
    }
    wasm {}
    any {
        "portable" NONE Keccak<u64>, 395;
    }
    zen5 {
        "AVX-512", 219 227;
        "AVX-512, 256 bits", 205 209;
        "AVX2", 358 361;
        "SSE4.1", 341 342;
        "BMI2", 223 224;
        "portable", 250 251;
    }
}

/// The number of words of a block.
#[derive(Clone, Copy)]
pub(crate) struct Rate(usize);

impl Context for Rate {
    type Lanes = ();

    #[inline(always)]
    unsafe fn new(job: &Job<'_>, _: *mut ()) -> Self {
        Rate(job.plan.block() / 8)
    }
}

/// Keccak over the lanes `L`.
pub(crate) struct Keccak<L>(PhantomData<L>);

/// Keccak-f[1600] (FIPS 202, 3.2 and 3.3): word `x + 5y` is the lane (x, y) of the standard.
#[inline(always)]
fn permute<L: Lane<Word = u64>>(a: &mut [L; 25]) {
    let mut round = 0;
    while round < 24 {
        // θ: each column is changed by the parities of two others.
        let mut parity = [a[0]; 5];
        let mut x = 0;
        while x < 5 {
            parity[x] = a[x].xor3(a[x + 5], a[x + 10]).xor3(a[x + 15], a[x + 20]);
            x += 1;
        }
        // ρ and π: rotate each word and move it from (x, y) to (y, 2x + 3y).
        let mut b = *a;
        x = 0;
        while x < 5 {
            let (left, right) = (parity[(x + 4) % 5], parity[(x + 1) % 5].rotl(1));
            let mut y = 0;
            while y < 5 {
                let word = a[x + 5 * y].xor3(left, right);
                let turn = TURNS[x + 5 * y];
                b[y + 5 * ((2 * x + 3 * y) % 5)] = if turn == 0 { word } else { word.rotl(turn) };
                y += 1;
            }
            x += 1;
        }
        // χ, and ι on the first word.
        let mut y = 0;
        while y < 5 {
            x = 0;
            while x < 5 {
                a[x + 5 * y] = b[x + 5 * y].xor_not_and(b[(x + 1) % 5 + 5 * y], b[(x + 2) % 5 + 5 * y]);
                x += 1;
            }
            y += 1;
        }
        a[0] = a[0].xor(a[0].splat(ROUNDS[round]));
        round += 1;
    }
}

/// Permutes a state by Keccak-f\[1600\] (FIPS 202, 3.3), for sponges that [`Hash`](crate::Hash) has not: word `x + 5y` is the lane (x, y)
/// of the standard.
pub fn keccak_f1600(state: &mut [u64; 25]) {
    permute(state);
}

impl<L: Lane<Word = u64>> Kernel for Keccak<L> {
    type State = [L; 25];
    type Context = Rate;
    const LANES: usize = L::LANES;
    const DIGEST: usize = 64;
    const SAME: bool = !SMALL;
    lanes_state!(25);

    #[inline(always)]
    unsafe fn fold(state: &mut [L; 25], block: Block, &Rate(words): &Rate) {
        let mut at = 0;
        // SAFETY: the instruction set is promised, and a block, which has `words` words: of each message or of all. Blocks in lanes
        // come only where PBKDF2 has kernels, and Keccak is none of them.
        unsafe {
            match block {
                Block::Each(pointers, offset) => {
                    if words >= 16 {
                        let first = L::read16::<false>(pointers, offset);
                        while at < 16 {
                            state[at] = state[at].xor(first[at]);
                            at += 1;
                        }
                    }
                    while at < words {
                        state[at] = state[at].xor(L::read1::<false>(pointers, offset + 8 * at as isize));
                        at += 1;
                    }
                }
                Block::Same(block) => {
                    while at < words {
                        let word = u64::read1::<false>([block].as_ptr(), 8 * at as isize);
                        state[at] = state[at].xor(L::broadcast(word));
                        at += 1;
                    }
                }
                Block::Lanes(_) => hint::unreachable_unchecked(),
            }
        }
        permute(state);
    }

    #[inline(always)]
    unsafe fn digests(state: &[L; 25], out: *mut u8, stride: usize) {
        let [a, b, c, d, e, f, g, h, ..] = *state;
        // SAFETY: 64 bytes, which are 8 words, can be written for each lane, as promised.
        unsafe { L::write8::<false>(&[a, b, c, d, e, f, g, h], out, stride) }
    }
}

/// The rotation of each word (FIPS 202, 3.2.2): the sums of 1, 2, 3 … along a walk from (1, 0).
const TURNS: [u32; 25] = {
    let mut turns = [0; 25];
    let (mut x, mut y, mut t) = (1, 0, 0);
    while t < 24 {
        turns[x + 5 * y] = ((t + 1) * (t + 2) / 2 % 64) as u32;
        (x, y) = (y, (2 * x + 3 * y) % 5);
        t += 1;
    }
    turns
};

/// The constants of ι (FIPS 202, 3.2.5).
static ROUNDS: [u64; 24] = [
    0x0000000000000001,
    0x0000000000008082,
    0x800000000000808a,
    0x8000000080008000,
    0x000000000000808b,
    0x0000000080000001,
    0x8000000080008081,
    0x8000000000008009,
    0x000000000000008a,
    0x0000000000000088,
    0x0000000080008009,
    0x000000008000000a,
    0x000000008000808b,
    0x800000000000008b,
    0x8000000000008089,
    0x8000000000008003,
    0x8000000000008002,
    0x8000000000000080,
    0x000000000000800a,
    0x800000008000000a,
    0x8000000080008081,
    0x8000000000008080,
    0x0000000080000001,
    0x8000000080008008,
];
