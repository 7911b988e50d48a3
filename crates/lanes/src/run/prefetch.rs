//! Prefetches: nothing where there is no instruction for them.

/// Prefetches the cache line at an address, which may be outside of all memory.
#[inline(always)]
pub(crate) fn prefetch(_at: *const u8) {
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    // SAFETY: SSE is a part of x86-64, and a prefetch accesses no memory in the language's sense.
    unsafe {
        core::arch::x86_64::_mm_prefetch::<{ core::arch::x86_64::_MM_HINT_T0 }>(_at.cast());
    }
}

/// Prefetches the cache line at an address into the second cache.
#[inline(always)]
pub(super) fn prefetch_far(_at: *const u8) {
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    // SAFETY: SSE is a part of x86-64, and a prefetch accesses no memory in the language's sense.
    unsafe {
        core::arch::x86_64::_mm_prefetch::<{ core::arch::x86_64::_MM_HINT_T1 }>(_at.cast());
    }
}
