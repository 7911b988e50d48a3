//! The fractional parts of the square roots of the first eight primes: the first states of SHA-256 and SHA-512 (FIPS 180-4, 5.3.3
//! and 5.3.5), and constants of BLAKE2 and BLAKE3 (RFC 7693, 2.6; the BLAKE3 paper, table 1).

/// The first 32 bits of each.
pub(crate) const ROOTS32: [u32; 8] =
    [0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19];

/// The first 64 bits of each.
pub(crate) const ROOTS64: [u64; 8] = [
    0x6a09e667f3bcc908,
    0xbb67ae8584caa73b,
    0x3c6ef372fe94f82b,
    0xa54ff53a5f1d36f1,
    0x510e527fade682d1,
    0x9b05688c2b3e6c1f,
    0x1f83d9abfb41bd6b,
    0x5be0cd19137e2179,
];
