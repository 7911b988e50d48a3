//! The functions of `mksum.h`, which says what they promise.
//!
//! Nothing unwinds into C: a panic would be a defect, and ends the process at the border (`extern "C"`).

mod failure;
mod inputs;
mod roots;
mod trees;

use std::ffi::{CStr, c_char};

/// `mksum_version`.
#[unsafe(no_mangle)]
pub extern "C" fn mksum_version() -> *const c_char {
    const VERSION: &CStr = match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => panic!("one zero byte, at the end"),
    };
    VERSION.as_ptr()
}
