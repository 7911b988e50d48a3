//! XXH3 of bytes that come in slices, as sums of 64 and of 128 bits (the specification of xxHash, 0.2.0, "XXH3").

use core::array;
use mksum_lanes::{Loops, vectorized};
use twox_hash::{XxHash3_64, XxHash3_128};

/// The bytes that are taken at a time.
const STRIPE: usize = 64;
/// The stripes after which the accumulators are scrambled.
const BLOCK: usize = 16;
/// Inputs of up to this many bytes have formulas of their own.
const SHORT: u64 = 240;
/// The bytes that wait, at most: all of a short input, in whole stripes.
const HELD: usize = 256;

const PRIME32: [u64; 3] = [0x9e37_79b1, 0x85eb_ca77, 0xc2b2_ae3d];
const PRIME64: [u64; 5] =
    [0x9e37_79b1_85eb_ca87, 0xc2b2_ae3d_27d4_eb4f, 0x1656_67b1_9e37_79f9, 0x85eb_ca77_c2b2_ae63, 0x27d4_eb2f_1656_67c5];
/// The multiplier of the last mixing step ("PRIME_MX1").
const MIX: u64 = 0x1656_6791_9e37_79f9;

/// The default secret.
const SECRET: [u8; 192] = [
    0xb8, 0xfe, 0x6c, 0x39, 0x23, 0xa4, 0x4b, 0xbe, 0x7c, 0x01, 0x81, 0x2c, 0xf7, 0x21, 0xad, 0x1c, 0xde, 0xd4, 0x6d,
    0xe9, 0x83, 0x90, 0x97, 0xdb, 0x72, 0x40, 0xa4, 0xa4, 0xb7, 0xb3, 0x67, 0x1f, 0xcb, 0x79, 0xe6, 0x4e, 0xcc, 0xc0,
    0xe5, 0x78, 0x82, 0x5a, 0xd0, 0x7d, 0xcc, 0xff, 0x72, 0x21, 0xb8, 0x08, 0x46, 0x74, 0xf7, 0x43, 0x24, 0x8e, 0xe0,
    0x35, 0x90, 0xe6, 0x81, 0x3a, 0x26, 0x4c, 0x3c, 0x28, 0x52, 0xbb, 0x91, 0xc3, 0x00, 0xcb, 0x88, 0xd0, 0x65, 0x8b,
    0x1b, 0x53, 0x2e, 0xa3, 0x71, 0x64, 0x48, 0x97, 0xa2, 0x0d, 0xf9, 0x4e, 0x38, 0x19, 0xef, 0x46, 0xa9, 0xde, 0xac,
    0xd8, 0xa8, 0xfa, 0x76, 0x3f, 0xe3, 0x9c, 0x34, 0x3f, 0xf9, 0xdc, 0xbb, 0xc7, 0xc7, 0x0b, 0x4f, 0x1d, 0x8a, 0x51,
    0xe0, 0x4b, 0xcd, 0xb4, 0x59, 0x31, 0xc8, 0x9f, 0x7e, 0xc9, 0xd9, 0x78, 0x73, 0x64, 0xea, 0xc5, 0xac, 0x83, 0x34,
    0xd3, 0xeb, 0xc3, 0xc5, 0x81, 0xa0, 0xff, 0xfa, 0x13, 0x63, 0xeb, 0x17, 0x0d, 0xdd, 0x51, 0xb7, 0xf0, 0xda, 0x49,
    0xd3, 0x16, 0x55, 0x26, 0x29, 0xd4, 0x68, 0x9e, 0x2b, 0x16, 0xbe, 0x58, 0x7d, 0x47, 0xa1, 0xfc, 0x8f, 0xf8, 0xb8,
    0xd1, 0x7a, 0xd0, 0x31, 0xce, 0x45, 0xcb, 0x3a, 0x8f, 0x95, 0x16, 0x04, 0x28, 0xaf, 0xd7, 0xfb, 0xca, 0xbb, 0x4b,
    0x40, 0x7e,
];
/// Where in the secret that of the merges begins (of the other half of 128 bits, as far from the end), of the last stripe, and of scrambling.
const MERGE: usize = 11;
const LAST: usize = SECRET.len() - STRIPE - 7;
const SCRAMBLE: usize = SECRET.len() - STRIPE;

type Stripe = [u8; STRIPE];

/// The sum of the bytes so far.
///
/// Long inputs are not left to the crate: its state takes a third of the bytes in a second, because each stripe waits for a store.
#[derive(Clone)]
pub(crate) struct Xxh3 {
    state: State,
    len: u64,
    /// Bytes that are not in the state. After the first that are, at least one byte waits; the last stripe in the state is at the end.
    held: [u8; HELD],
    count: usize,
}

/// The accumulators, and the number of stripes since they were scrambled.
#[derive(Clone, Copy)]
struct State {
    accumulators: [u64; 8],
    stripes: usize,
}

impl Xxh3 {
    /// No bytes.
    pub fn new() -> Self {
        let [a, b, c, d, e] = PRIME64;
        let accumulators = [PRIME32[2], a, b, c, d, PRIME32[1], e, PRIME32[0]];
        Xxh3 { state: State { accumulators, stripes: 0 }, len: 0, held: [0; HELD], count: 0 }
    }

    /// Appends bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.len += bytes.len() as u64;
        let (first, rest) = bytes.split_at(bytes.len().min(HELD - self.count));
        self.held[self.count..][..first.len()].copy_from_slice(first);
        self.count += first.len();
        if rest.is_empty() {
            return;
        }
        // The last stripe has a secret of its own, so a byte at least waits.
        let (stripes, rest) = rest.split_at((rest.len() - 1) / STRIPE * STRIPE);
        self.state = vectorized(Stripes(self.state, &self.held));
        self.state = vectorized(Stripes(self.state, stripes));
        if let Some(last) = stripes.last_chunk::<STRIPE>() {
            self.held[HELD - STRIPE..].copy_from_slice(last);
        }
        self.held[..rest.len()].copy_from_slice(rest);
        self.count = rest.len();
    }

    /// The sum of 64 bits.
    pub fn sum64(&self) -> u64 {
        match self.short() {
            Some(input) => XxHash3_64::oneshot(input),
            None => self.merged(MERGE, self.len.wrapping_mul(PRIME64[0])),
        }
    }

    /// The sum of 128 bits.
    pub fn sum128(&self) -> u128 {
        match self.short() {
            Some(input) => XxHash3_128::oneshot(input),
            None => {
                let high = self.merged(SECRET.len() - STRIPE - MERGE, !self.len.wrapping_mul(PRIME64[1]));
                u128::from(high) << 64 | u128::from(self.sum64())
            }
        }
    }

    /// All bytes, of a short input.
    fn short(&self) -> Option<&[u8]> {
        (self.len <= SHORT).then(|| &self.held[..self.count])
    }

    /// The accumulators with what waits, multiplied in pairs.
    fn merged(&self, secret: usize, start: u64) -> u64 {
        let whole = &self.held[..(self.count - 1) / STRIPE * STRIPE];
        let mut accumulators = Stripes(self.state, whole).run().accumulators;
        // The last 64 bytes of the input: before those that wait stand those at the end.
        let last = array::from_fn(|at| self.held[(self.count + HELD - STRIPE + at) % HELD]);
        accumulate(&mut accumulators, &last, stripe(&SECRET[LAST..]));
        let (words, mut sum) = (words(stripe(&SECRET[secret..])), start);
        for (pair, secret) in accumulators.chunks_exact(2).zip(words.chunks_exact(2)) {
            let product = u128::from(pair[0] ^ secret[0]) * u128::from(pair[1] ^ secret[1]);
            sum = sum.wrapping_add(product as u64 ^ (product >> 64) as u64);
        }
        sum = (sum ^ sum >> 37).wrapping_mul(MIX);
        sum ^ sum >> 32
    }
}

/// A state, and whole stripes to be taken into it.
struct Stripes<'a>(State, &'a [u8]);

impl Loops for Stripes<'_> {
    type Output = State;

    #[inline(always)]
    fn run(self) -> State {
        // A copy without a pointer to it stays in registers.
        let Stripes(State { mut accumulators, mut stripes }, bytes) = self;
        let (mut rest, _) = bytes.as_chunks();
        while !rest.is_empty() {
            let (now, later) = rest.split_at(rest.len().min(BLOCK - stripes));
            for (bytes, secret) in now.iter().zip(SECRET[8 * stripes..].windows(STRIPE).step_by(8)) {
                accumulate(&mut accumulators, bytes, stripe(secret));
            }
            (rest, stripes) = (later, stripes + now.len());
            if stripes == BLOCK {
                scramble(&mut accumulators);
                stripes = 0;
            }
        }
        State { accumulators, stripes }
    }
}

/// Adds a stripe with its part of the secret.
#[inline(always)]
#[allow(clippy::needless_range_loop)] // One index for all: of iterators the compiler makes no vectors here.
fn accumulate(accumulators: &mut [u64; 8], bytes: &Stripe, secret: &Stripe) {
    let (words, secret) = (words(bytes), words(secret));
    let mut sums = *accumulators;
    for at in 0..8 {
        let key = words[at] ^ secret[at];
        sums[at] = sums[at].wrapping_add(words[at ^ 1]).wrapping_add((key & 0xffff_ffff) * (key >> 32));
    }
    *accumulators = sums;
}

/// Mixes the accumulators behind a block.
#[inline(always)]
#[allow(clippy::needless_range_loop)]
fn scramble(accumulators: &mut [u64; 8]) {
    let secret = words(stripe(&SECRET[SCRAMBLE..]));
    for at in 0..8 {
        let sum = accumulators[at];
        accumulators[at] = (sum ^ sum >> 47 ^ secret[at]).wrapping_mul(PRIME32[0]);
    }
}

/// The first stripe of a part of the secret.
#[inline(always)]
fn stripe(bytes: &[u8]) -> &Stripe {
    bytes.first_chunk().expect("a stripe of the secret")
}

/// The words of a stripe.
#[inline(always)]
#[allow(clippy::needless_range_loop)]
fn words(stripe: &Stripe) -> [u64; 8] {
    let (bytes, mut words) = (stripe.as_chunks().0, [0; 8]);
    for at in 0..8 {
        words[at] = u64::from_le_bytes(bytes[at]);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use mksum_lanes::{cpu::Cpu, vectorized_on};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_split_has_the_sum_of_the_crate(
            bytes in prop::collection::vec(any::<u8>(), 0..6000),
            slices in prop::collection::vec(0..700_usize, 0..20),
        ) {
            let (mut sum, mut rest) = (Xxh3::new(), &bytes[..]);
            for len in slices {
                let (slice, later) = rest.split_at(len.min(rest.len()));
                sum.update(slice);
                rest = later;
            }
            sum.update(rest);
            prop_assert_eq!(sum.sum64(), XxHash3_64::oneshot(&bytes));
            prop_assert_eq!(sum.sum128(), XxHash3_128::oneshot(&bytes));
        }
    }

    #[test]
    fn every_length_and_split_around_a_stripe_has_the_sum_of_the_crate() {
        let bytes: alloc::vec::Vec<u8> = (0..2200_u32).map(|at| (at * at % 251) as u8).collect();
        for len in (0..700).chain(1020..1100).chain(2040..2200) {
            for cut in [0, 1, 63, 64, 65, 240, 241, 255, 256, 257, 320, 321, 1024] {
                let (first, rest) = bytes[..len].split_at(cut.min(len));
                let mut sum = Xxh3::new();
                sum.update(first);
                sum.update(rest);
                assert_eq!(sum.sum64(), XxHash3_64::oneshot(&bytes[..len]), "{len} {cut}");
                assert_eq!(sum.sum128(), XxHash3_128::oneshot(&bytes[..len]), "{len} {cut}");
            }
        }
    }

    #[test]
    fn every_instruction_set_has_the_same_state() {
        let bytes: [u8; 40 * STRIPE] = array::from_fn(|at| (at * at % 251) as u8);
        let expected = Stripes(Xxh3::new().state, &bytes).run();
        for cpu in Cpu::available() {
            let found = vectorized_on(cpu, Stripes(Xxh3::new().state, &bytes));
            assert_eq!((found.accumulators, found.stripes), (expected.accumulators, expected.stripes), "{cpu:?}");
        }
    }
}
