//! SHA-256 of pairs of nodes, as the library hashtree has it.

use mksum_lanes::sha256_pairs;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// `hashtree_hash_fcn`.
pub type Function = unsafe extern "C" fn(*mut u8, *const u8, u64);

/// The [`Function`] that `hashtree_init` was given; NULL for this library's own.
static FUNCTION: AtomicPtr<()> = AtomicPtr::new(ptr::null_mut());

/// `hashtree_init`.
#[unsafe(no_mangle)]
pub extern "C" fn hashtree_init(function: Option<Function>) {
    let function = function.map_or(ptr::null_mut(), |function| function as *mut ());
    FUNCTION.store(function, Ordering::Release);
}

/// `hashtree_hash`.
///
/// # Safety
/// The contract in `hashtree.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashtree_hash(out: *mut u8, chunks: *const u8, count: u64) {
    let function = FUNCTION.load(Ordering::Acquire);
    if function.is_null() {
        // No memory has more blocks than `usize` can count.
        // SAFETY: `hashtree.h` requires so many blocks, and the room for their digests at or before them, or apart.
        unsafe { sha256_pairs(chunks, count as usize, out) }
    } else {
        // SAFETY: only `hashtree_init` stores pointers other than NULL, which it makes of functions.
        let function = unsafe { std::mem::transmute::<*mut (), Function>(function) };
        // SAFETY: `hashtree.h` requires of the function that it does what this one does, and the same of the caller.
        unsafe { function(out, chunks, count) }
    }
}
