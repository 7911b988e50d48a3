//! SHAKE128 and SHAKE256 (FIPS 202, 6.2): sponges over Keccak-f\[1600\].

use mksum_lanes::keccak_f1600;

/// The bits that FIPS 202 adds to a message of SHAKE, and the first one of the padding.
const END: u8 = 0x1f;

/// A sponge that takes bytes.
#[derive(Clone)]
pub struct Shake {
    state: [u64; 25],
    /// The length of a block, in bytes: a multiple of 8.
    rate: usize,
    /// The bytes of the block so far: fewer than a block.
    at: usize,
}

impl Shake {
    /// SHAKE128, in blocks of 168 bytes.
    pub fn new128() -> Self {
        Shake { state: [0; 25], rate: 168, at: 0 }
    }

    /// SHAKE256, in blocks of 136 bytes.
    pub fn new256() -> Self {
        Shake { state: [0; 25], rate: 136, at: 0 }
    }

    /// Appends bytes.
    pub fn update(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let (now, rest) = bytes.split_at(bytes.len().min(self.rate - self.at));
            self.absorb(now);
            self.at += now.len();
            if self.at == self.rate {
                keccak_f1600(&mut self.state);
                self.at = 0;
            }
            bytes = rest;
        }
    }

    /// Adds bytes to the block from `at` on: word by word where they begin with one.
    fn absorb(&mut self, bytes: &[u8]) {
        let aligned = if self.at.is_multiple_of(8) { bytes.len() / 8 * 8 } else { 0 };
        let (words, others) = bytes.split_at(aligned);
        for (own, word) in self.state[self.at / 8..].iter_mut().zip(words.as_chunks().0) {
            *own ^= u64::from_le_bytes(*word);
        }
        for (place, &byte) in (self.at + aligned..).zip(others) {
            self.add(place, byte);
        }
    }

    fn add(&mut self, place: usize, byte: u8) {
        self.state[place / 8] ^= u64::from(byte) << (8 * (place % 8));
    }

    /// Writes the bytes of the answer from `offset` on to `out`. Those before them are computed too: there is no other way.
    pub fn read(mut self, mut offset: u64, out: &mut [u8]) {
        self.add(self.at, END);
        self.add(self.rate - 1, 0x80);
        keccak_f1600(&mut self.state);
        let rate = self.rate as u64;
        while offset >= rate {
            keccak_f1600(&mut self.state);
            offset -= rate;
        }
        let (mut left, mut place) = (out, offset as usize);
        while !left.is_empty() {
            if place == self.rate {
                keccak_f1600(&mut self.state);
                place = 0;
            }
            let (now, rest) = left.split_at_mut(left.len().min(self.rate - place));
            for (place, byte) in (place..).zip(&mut *now) {
                *byte = (self.state[place / 8] >> (8 * (place % 8))) as u8;
            }
            place += now.len();
            left = rest;
        }
    }
}
