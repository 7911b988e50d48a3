//! What the kernels with the SHA instructions of Armv8 share.

use core::arch::aarch64::*;

/// Four words of a message, the first byte of each the most significant.
///
/// # Safety
/// The machine has NEON; 16 bytes can be read.
#[inline(always)]
pub(crate) unsafe fn read(at: *const u8) -> uint32x4_t {
    // SAFETY: just these promises.
    unsafe { vreinterpretq_u32_u8(vrev32q_u8(vld1q_u8(at))) }
}

/// Writes four words, the first byte of each the most significant.
///
/// # Safety
/// The machine has NEON; 16 bytes can be written.
#[inline(always)]
pub(crate) unsafe fn write(words: uint32x4_t, out: *mut u8) {
    // SAFETY: just these promises.
    unsafe { vst1q_u8(out, vrev32q_u8(vreinterpretq_u8_u32(words))) }
}
