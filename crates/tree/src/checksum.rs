//! Checksums: `spec/crc.md`, `spec/xxhash.md`, `spec/quickxor.md`. Sums of parts join into that of the whole if they are CRCs or of QuickXorHash.
//!
//! A checksum detects accidents. It is no hash: anybody can find other bytes with the same one.

#[cfg(target_family = "wasm")]
#[path = "crc_wasm.rs"]
mod crc_fast;

use crate::Digest;
use crate::quickxor::{self, Quickxor};
use crate::xxh3::Xxh3;
use core::fmt;
use core::hash::Hasher;
use crc_fast::CrcAlgorithm;
use twox_hash::{XxHash32, XxHash64};

/// A table of checksums, a row each: its variant and name; the size of a sum, in bytes; the polynomial of a CRC without its highest term,
/// reflected: the highest bit is the coefficient of x^0; the sum of no bytes.
macro_rules! checksums {
    ($($(#[$about:meta])* $variant:ident $name:literal $size:literal $polynomial:literal $begin:expr;)*) => {
        /// A checksum: no hash, but fast.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Checksum {
            $($(#[$about])* $variant,)*
        }

        impl Checksum {
            /// Every checksum.
            pub const ALL: &[Checksum] = &[$(Checksum::$variant),*];

            /// The name in format strings.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Checksum::$variant => $name,)*
                }
            }

            /// The size of a sum, in bytes.
            pub const fn size(self) -> usize {
                match self {
                    $(Checksum::$variant => $size,)*
                }
            }

            /// The polynomial of a CRC; 0 of others.
            const fn polynomial(self) -> u64 {
                match self {
                    $(Checksum::$variant => $polynomial,)*
                }
            }

            /// Begins a sum of bytes.
            pub(crate) fn begin(self) -> Running {
                match self {
                    $(Checksum::$variant => $begin,)*
                }
            }
        }
    };
}

checksums! {
    /// CRC-32/ISO-HDLC: that of zlib, gzip, PNG and SFV files.
    Crc32 "crc32" 4 0xedb8_8320 Running::crc(CrcAlgorithm::Crc32IsoHdlc);
    /// CRC-32/ISCSI (RFC 3720, 12.1), Castagnoli's.
    Crc32c "crc32c" 4 0x82f6_3b78 Running::crc(CrcAlgorithm::Crc32Iscsi);
    /// CRC-64/NVME (NVM Express NVM Command Set Specification 1.0d, 5.2.1.3.4).
    Crc64Nvme "crc64nvme" 8 0x9a6c_9329_ac4b_c9b5 Running::crc(CrcAlgorithm::Crc64Nvme);
    /// XXH32 with the seed 0 (the specification of xxHash, 0.2.0).
    Xxh32 "xxh32" 4 0 Running::Xxh32(XxHash32::with_seed(0));
    /// XXH64 with the seed 0.
    Xxh64 "xxh64" 8 0 Running::Xxh64(XxHash64::with_seed(0));
    /// XXH3 of 64 bits with the seed 0.
    Xxh3 "xxh3" 8 0 Running::Xxh3(Xxh3::new());
    /// XXH3 of 128 bits with the seed 0.
    Xxh128 "xxh128" 16 0 Running::Xxh128(Xxh3::new());
    /// QuickXorHash of OneDrive and SharePoint.
    Quickxor "quickxor" 20 0 Running::Quickxor(Quickxor::new());
}

impl Checksum {
    /// The checksum with this name.
    pub fn from_name(name: &str) -> Option<Checksum> {
        Checksum::ALL.iter().copied().find(|sum| sum.name() == name)
    }

    /// Whether the sums of two parts join into that of both.
    pub(crate) const fn joins(self) -> bool {
        self.polynomial() != 0 || matches!(self, Checksum::Quickxor)
    }

    /// The sum of two inputs, one after the other, from the sum and the length in bytes of each.
    ///
    /// # Panics
    /// If such sums do not [join](Checksum::joins).
    pub(crate) fn join(self, left: (&Digest, u64), right: (&Digest, u64)) -> Digest {
        assert!(self.joins(), "sums that join");
        match self {
            Checksum::Quickxor => quickxor::joined(left, right),
            crc => crc.bytes(crc.combine(crc.value(left.0), crc.value(right.0), right.1).into()),
        }
    }

    /// The degree of the polynomial.
    const fn width(self) -> u32 {
        8 * self.size() as u32
    }

    /// The product of two polynomials modulo this one's.
    const fn multiply(self, factor: u64, mut other: u64) -> u64 {
        let (mut product, mut bit) = (0, self.width());
        while bit > 0 {
            bit -= 1;
            product ^= other & (factor >> bit & 1).wrapping_neg();
            other = other >> 1 ^ self.polynomial() & (other & 1).wrapping_neg();
        }
        product
    }

    /// Powers of x: for each k from 0 to 63, x to the power of 8 · 2^k, by which 2^k zero bytes multiply; zeros for what does not join.
    const fn powers(self) -> [u64; 64] {
        let mut powers = [0; 64];
        if self.polynomial() != 0 {
            powers[0] = 1 << (self.width() - 1 - 8);
            let mut k = 1;
            while k < powers.len() {
                powers[k] = self.multiply(powers[k - 1], powers[k - 1]);
                k += 1;
            }
        }
        powers
    }

    /// The CRC of bytes whose beginning has the CRC `left` and whose last `len` bytes have the CRC `right`.
    ///
    /// One multiplication for each bit that is set in `len`. zlib's `crc32_combine` is the same.
    fn combine(self, left: u64, right: u64, len: u64) -> u64 {
        static POWERS: [[u64; 64]; Checksum::ALL.len()] = {
            let mut powers = [[0; 64]; Checksum::ALL.len()];
            let mut row = 0;
            while row < powers.len() {
                powers[row] = Checksum::ALL[row].powers();
                row += 1;
            }
            powers
        };
        let set = POWERS[self as usize].iter().enumerate().filter(|(k, _)| len >> k & 1 == 1);
        set.fold(left, |shifted, (_, &power)| self.multiply(power, shifted)) ^ right
    }

    /// The sum of the bytes so far.
    pub(crate) fn digest(self, running: &Running) -> Digest {
        self.bytes(match running {
            Running::Crc(sum) => sum.finalize().into(),
            Running::Xxh32(sum) => sum.finish_32().into(),
            Running::Xxh64(sum) => sum.finish().into(),
            Running::Xxh3(sum) => sum.sum64().into(),
            Running::Xxh128(sum) => sum.sum128(),
            Running::Quickxor(sum) => return sum.digest(),
        })
    }

    /// The bytes of a sum that is a number, the most significant first.
    fn bytes(self, value: u128) -> Digest {
        Digest::new(&value.to_be_bytes()[16 - self.size()..])
    }

    /// The sum with these bytes.
    fn value(self, digest: &Digest) -> u64 {
        digest.as_bytes().iter().fold(0, |value, &byte| value << 8 | u64::from(byte))
    }
}

/// A sum of the bytes so far.
#[derive(Clone)]
pub(crate) enum Running {
    Crc(crc_fast::Digest),
    Xxh32(XxHash32),
    Xxh64(XxHash64),
    Xxh3(Xxh3),
    Xxh128(Xxh3),
    Quickxor(Quickxor),
}

impl Running {
    fn crc(algorithm: CrcAlgorithm) -> Running {
        Running::Crc(crc_fast::Digest::new(algorithm))
    }

    /// Appends bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        match self {
            Running::Crc(sum) => sum.update(bytes),
            Running::Xxh32(sum) => sum.write(bytes),
            Running::Xxh64(sum) => sum.write(bytes),
            Running::Xxh3(sum) | Running::Xxh128(sum) => sum.update(bytes),
            Running::Quickxor(sum) => sum.update(bytes),
        }
    }
}

impl fmt::Debug for Running {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Running")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    /// The definition, bit by bit.
    fn slow(crc: Checksum, bytes: &[u8]) -> u64 {
        let ones = u64::MAX >> (64 - crc.width());
        let mut state = ones;
        for byte in bytes {
            state ^= u64::from(*byte);
            for _ in 0..8 {
                state = if state & 1 == 1 { state >> 1 ^ crc.polynomial() } else { state >> 1 };
            }
        }
        state ^ ones
    }

    fn fast(sum: Checksum, bytes: &[u8]) -> Digest {
        let mut running = sum.begin();
        running.update(bytes);
        sum.digest(&running)
    }

    fn crcs() -> impl Iterator<Item = Checksum> {
        Checksum::ALL.iter().copied().filter(|sum| sum.polynomial() != 0)
    }

    #[test]
    fn the_published_check_values() {
        for (crc, check) in [
            (Checksum::Crc32, 0xcbf4_3926),
            (Checksum::Crc32c, 0xe306_9283),
            (Checksum::Crc64Nvme, 0xae8b_1486_0a79_9888),
        ] {
            assert_eq!((slow(crc, b"123456789"), crc.value(&fast(crc, b"123456789"))), (check, check), "{crc:?}");
            assert_eq!((crc.value(&fast(crc, b"")), crc.combine(check, 0, 0)), (0, check), "{crc:?}");
        }
    }

    #[test]
    fn a_length_of_2_63_is_combined() {
        // Twice 2^62 zero bytes are 2^63.
        for crc in crcs() {
            let once = crc.combine(1, 0, 1 << 62);
            assert_eq!(crc.combine(once, 0, 1 << 62), crc.combine(1, 0, 1 << 63), "{crc:?}");
        }
    }

    proptest! {
        #[test]
        fn any_split_has_the_sum_of_the_definition(
            bytes in prop::collection::vec(any::<u8>(), 0..2000),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..5),
        ) {
            for sum in Checksum::ALL {
                let mut running = sum.begin();
                bytes.chunks(cuts.len() + 1).for_each(|part| running.update(part));
                prop_assert_eq!(sum.digest(&running), fast(*sum, &bytes));
            }
            for crc in crcs() {
                let expected = slow(crc, &bytes);
                prop_assert_eq!(crc.value(&fast(crc, &bytes)), expected);
                let mut cuts: Vec<_> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
                cuts.extend([0, bytes.len()]);
                cuts.sort_unstable();
                let (mut joined, mut running) = (0, crc.begin());
                for cut in cuts.windows(2) {
                    let part = &bytes[cut[0]..cut[1]];
                    joined = crc.combine(joined, slow(crc, part), part.len() as u64);
                    running.update(part);
                    prop_assert_eq!(crc.value(&crc.digest(&running)), joined);
                }
                prop_assert_eq!(joined, expected);
                prop_assert_eq!(crc.value(&crc.bytes(joined.into())), joined);
            }
        }
    }
}
