//! The constants of SHA-1, and how its digests are written.

use crate::lane::Lane;

/// The constants of 20 steps each (FIPS 180-4, 4.2.1).
pub(super) const K: [u32; 4] = [0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6];

/// Writes 32 bytes for each lane, of which the digest is the first 20.
///
/// # Safety
/// As for [`Kernel::digests`](crate::kernel::Kernel::digests).
#[inline(always)]
pub(super) unsafe fn write<L: Lane<Word = u32>>(&[a, b, c, d, e]: &[L; 5], out: *mut u8, stride: usize) {
    // SAFETY: 32 bytes, which are 8 words, can be written for each lane, as promised. The words after the digest are never read.
    unsafe { L::write8::<true>(&[a, b, c, d, e, a, b, c], out, stride) }
}
