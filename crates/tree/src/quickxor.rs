//! QuickXorHash (`spec/quickxor.md`): bytes as polynomials over a circle of 160 bits.

use crate::Digest;
use alloc::boxed::Box;

/// The bytes of a sum.
const SIZE: usize = 20;

/// The input bytes after which the places repeat: 11 · 160 bits are whole turns of the circle.
const PERIOD: usize = 160;

/// The XOR of the input's periods so far, and its length in bytes: a byte's place depends only on its index in the period.
#[derive(Clone)]
pub(crate) struct Quickxor {
    periods: Box<[u8; PERIOD]>,
    len: u64,
}

impl Quickxor {
    /// No bytes.
    pub fn new() -> Self {
        Quickxor { periods: Box::new([0; PERIOD]), len: 0 }
    }

    /// Appends bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        let at = (self.len % PERIOD as u64) as usize;
        self.len += bytes.len() as u64;
        // Up to the end of a period, whole periods, and the rest.
        let (first, rest) = bytes.split_at(bytes.len().min(PERIOD - at));
        xor(&mut self.periods[at..], first);
        let (whole, rest) = rest.as_chunks::<PERIOD>();
        // A copy without a pointer to it stays in registers.
        let mut periods = *self.periods;
        for period in whole {
            // By index: so the compiler sees the lengths, and takes vectors four times as fast.
            for at in 0..PERIOD {
                periods[at] ^= period[at];
            }
        }
        xor(&mut periods, rest);
        *self.periods = periods;
    }

    /// The sum.
    pub fn digest(&self) -> Digest {
        let mut circle = [0; SIZE];
        for (index, &byte) in self.periods.iter().enumerate() {
            let mut place = [0; SIZE];
            place[0] = byte;
            xor(&mut circle, &turned(&place, index as u64));
        }
        Digest::new(&sealed(circle, self.len))
    }
}

/// The sum of two inputs, one after the other, from the sum and the length in bytes of each.
pub(crate) fn joined((left, left_len): (&Digest, u64), (right, right_len): (&Digest, u64)) -> Digest {
    let circle = |sum: &Digest, len: u64| {
        let mut circle = [0; SIZE];
        circle.copy_from_slice(sum.as_bytes());
        sealed(circle, len)
    };
    let mut both = circle(left, left_len);
    xor(&mut both, &turned(&circle(right, right_len), left_len));
    Digest::new(&sealed(both, left_len + right_len))
}

/// A circle with the length of its input XORed onto its last bytes: a sum. Done twice, it is undone.
fn sealed(mut circle: [u8; SIZE], len: u64) -> [u8; SIZE] {
    xor(&mut circle[SIZE - 8..], &len.to_le_bytes());
    circle
}

/// A circle turned as far as `bytes` bytes before it turn it: 11 bits each.
fn turned(circle: &[u8; SIZE], bytes: u64) -> [u8; SIZE] {
    let bits = (11 * (bytes % PERIOD as u64) % 160) as usize;
    let mut turned = [0; SIZE];
    for (index, byte) in circle.iter().enumerate() {
        // The byte lies in two, of which the second has the bits that are shifted out of the first.
        let [low, high] = (u16::from(*byte) << (bits % 8)).to_le_bytes();
        turned[(index + bits / 8) % SIZE] ^= low;
        turned[(index + bits / 8 + 1) % SIZE] ^= high;
    }
    turned
}

/// XORs bytes onto others, as far as both go.
#[inline(always)]
fn xor(onto: &mut [u8], bytes: &[u8]) {
    onto.iter_mut().zip(bytes).for_each(|(own, byte)| *own ^= byte);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The definition: bit by bit.
    fn slow(bytes: &[u8]) -> Digest {
        let mut circle = [0; SIZE];
        for (index, byte) in bytes.iter().enumerate() {
            for bit in 0..8 {
                let place = (11 * index + bit) % 160;
                circle[place / 8] ^= (byte >> bit & 1) << (place % 8);
            }
        }
        for (index, byte) in (bytes.len() as u64).to_le_bytes().into_iter().enumerate() {
            circle[SIZE - 8 + index] ^= byte;
        }
        Digest::new(&circle)
    }

    proptest! {
        #[test]
        fn any_split_has_the_sum_of_the_definition(
            bytes in prop::collection::vec(any::<u8>(), 0..2000),
            cut in any::<prop::sample::Index>(),
            slice in 1..400_usize,
        ) {
            let fast = |bytes: &[u8]| {
                let mut running = Quickxor::new();
                bytes.chunks(slice).for_each(|part| running.update(part));
                running.digest()
            };
            prop_assert_eq!(fast(&bytes), slow(&bytes));
            let (left, right) = bytes.split_at(cut.index(bytes.len() + 1));
            let parts = (&slow(left), left.len() as u64);
            prop_assert_eq!(joined(parts, (&fast(right), right.len() as u64)), slow(&bytes));
        }
    }
}
