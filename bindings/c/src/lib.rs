//! The functions of `mksum.h` and `hashtree.h`, which document them.
//!
//! No panic unwinds into C: a panic is a bug, and `extern "C"` ends the process.

#[cfg(feature = "catalogue")]
mod catalogue;
mod devices;
mod failure;
#[cfg(feature = "files")]
mod file_proofs;
#[cfg(feature = "files")]
mod files;
#[cfg(feature = "get")]
mod get;
mod hashers;
mod hashtree;
mod inputs;
#[cfg(feature = "log")]
mod logs;
#[cfg(feature = "files")]
mod memory;
#[cfg(feature = "files")]
mod options;
#[cfg(feature = "files")]
mod outboards;
mod proofs;
mod roots;
mod trees;
#[cfg(feature = "files")]
mod verified;

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
