//! SHA-256 and SHA-224 (FIPS 180-4).

use crate::{
    plan::{Padding, Scheme, Words},
    sha2::Constants,
};

/// The constants of SHA-256.
pub(crate) struct Sha256;

impl Constants for Sha256 {
    type Word = u32;
    const ROUNDS: usize = 64;
    const K: &'static [u32] = &K;
    const SUMS: [[u32; 3]; 2] = [[2, 13, 22], [6, 11, 25]];
    const SIGMAS: [[u32; 3]; 2] = [[7, 18, 3], [17, 19, 10]];
}

const fn scheme(start: [u32; 8]) -> Scheme {
    Scheme { block: 64, padding: Padding::Length { bytes: 8, big: true }, start: Words::of32(&start) }
}

/// FIPS 180-4, 5.3.2.
pub(crate) static SHA224: Scheme =
    scheme([0xc1059ed8, 0x367cd507, 0x3070dd17, 0xf70e5939, 0xffc00b31, 0x68581511, 0x64f98fa7, 0xbefa4fa4]);

/// FIPS 180-4, 5.3.3.
pub(crate) static SHA256: Scheme = scheme(START);

/// The first state of SHA-256.
pub(crate) const START: [u32; 8] =
    [0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19];

/// The schedule of a block, with the constants.
pub(crate) const fn schedule(block: &[u8; 64]) -> [u32; 64] {
    let mut w = [0; 64];
    let mut t = 0;
    while t < 16 {
        w[t] = u32::from_be_bytes([block[4 * t], block[4 * t + 1], block[4 * t + 2], block[4 * t + 3]]);
        t += 1;
    }
    while t < 64 {
        let (x, y) = (w[t - 15], w[t - 2]);
        let s0 = x.rotate_right(7) ^ x.rotate_right(18) ^ (x >> 3);
        let s1 = y.rotate_right(17) ^ y.rotate_right(19) ^ (y >> 10);
        w[t] = w[t - 16].wrapping_add(s0).wrapping_add(w[t - 7]).wrapping_add(s1);
        t += 1;
    }
    while t > 0 {
        t -= 1;
        w[t] = w[t].wrapping_add(K[t]);
    }
    w
}

/// The schedule of the padding after 64 bytes: the second block of every pair of nodes.
pub(crate) static AFTER_64: [u32; 64] = {
    let mut block = [0; 64];
    block[0] = 0x80;
    block[62] = 2;
    schedule(&block)
};

/// FIPS 180-4, 4.2.2.
pub(crate) static K: [u32; 64] = [
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98,
    0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8,
    0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819,
    0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
    0xc67178f2,
];
