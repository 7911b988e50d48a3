//! Roots of bytes in memory, and the names of formats.

use crate::failure::{Failure, Status, status};
use crate::inputs;
use mksum::{Root, Spec};
use std::ffi::c_char;
use std::fmt::Display;
use std::str::FromStr;

/// `MKSUM_FORMAT_MAX`.
pub const FORMAT_MAX: usize = 640;

/// `mksum_root_of_bytes`.
///
/// # Safety
/// The contract in `mksum.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mksum_root_of_bytes(
    format: *const c_char,
    bytes: *const u8,
    len: usize,
    text: *mut c_char,
    room: usize,
) -> Status {
    status(|| {
        // SAFETY: `mksum.h` requires valid pointers of the caller.
        let (spec, bytes) = unsafe { (spec(format)?, inputs::bytes(bytes, len, "bytes")?) };
        // SAFETY: `mksum.h` requires valid pointers of the caller.
        let text = unsafe { inputs::room(text.cast(), room, bytes, "text")? };
        let root = spec.root(bytes).map_err(|error| no_root(&spec, &error))?;
        write(&root, text)
    })
}

/// Parses the format string.
///
/// # Safety
/// As [`inputs::string`].
pub unsafe fn spec(format: *const c_char) -> Result<Spec, Failure> {
    // SAFETY: this function has the same contract.
    unsafe { parsed(format) }
}

/// Parses a format string of files or of directories.
///
/// # Safety
/// As [`inputs::string`].
pub unsafe fn parsed<T: FromStr<Err: Display>>(format: *const c_char) -> Result<T, Failure> {
    // SAFETY: this function has the same contract.
    let name = unsafe { inputs::string(format, "format")? };
    name.parse().map_err(|error| Failure::new(Status::BadFormat, format_args!("{name}: {error}")))
}

/// The failure of bytes that have no root in a format.
pub fn no_root(spec: &dyn Display, error: &mksum::Error) -> Failure {
    Failure::new(Status::NoRoot, format_args!("{spec}: {error}"))
}

/// Writes the root as text, with a zero byte at the end.
pub fn write(root: &Root, text: &mut [u8]) -> Result<(), Failure> {
    inputs::put_text(root, text, "text")
}
