//! SHA-3 and Keccak-256 (FIPS 202; Keccak-256 pads as Keccak did before it became a standard).

use crate::{
    kernel::{Kernel, Place, SMALL, Source, lanes_state},
    lane::Lane,
    plan::{Padding, Scheme, Words},
};
use core::{hint, marker::PhantomData};

const fn scheme(block: usize, domain: u8) -> Scheme {
    Scheme { block, padding: Padding::Sponge(domain), start: Words::ZERO }
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
        // χ, and ι at the first word.
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

impl<L: Lane<Word = u64>> Kernel for Keccak<L> {
    type State = [L; 25];
    const LANES: usize = L::LANES;
    const DIGEST: usize = 64;
    const SAME: bool = !SMALL;
    lanes_state!(25);

    #[inline(always)]
    unsafe fn fold(state: &mut [L; 25], source: Source, place: &Place) {
        let words = place.block / 8;
        let mut at = 0;
        // SAFETY: the caller's promise: a block of so many words.
        unsafe {
            match source {
                Source::Rows(rows, offset) | Source::Nearly(rows, offset, _) => {
                    if words >= 16 {
                        let first = L::rows16::<false>(rows, offset);
                        while at < 16 {
                            state[at] = state[at].xor(first[at]);
                            at += 1;
                        }
                    }
                    while at < words {
                        state[at] = state[at].xor(L::rows1::<false>(rows, offset + 8 * at as isize));
                        at += 1;
                    }
                }
                Source::Same(block) | Source::Scheduled(block) => {
                    let row = [block; 1];
                    while at < words {
                        let word = u64::rows1::<false>(row.as_ptr(), 8 * at as isize);
                        state[at] = state[at].xor(L::broadcast(word));
                        at += 1;
                    }
                }
                Source::Lanes(_) => hint::unreachable_unchecked(),
            }
        }
        permute(state);
    }

    #[inline(always)]
    unsafe fn digests(state: &[L; 25], out: *mut u8, stride: usize) {
        let [a, b, c, d, e, f, g, h, ..] = *state;
        // SAFETY: the caller's promise.
        unsafe { L::store8::<false>(&[a, b, c, d, e, f, g, h], out, stride) }
    }
}

/// The rotation of each word (FIPS 202, 3.2.2): those of a walk from (1, 0) add up.
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

/// FIPS 202, 3.2.5.
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
