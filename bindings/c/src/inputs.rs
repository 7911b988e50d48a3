//! Pointers and lengths of a caller as slices and strings.

use crate::failure::{Failure, Status};
use std::ffi::{CStr, c_char};
use std::slice;

fn bad(what: &str, why: &str) -> Failure {
    Failure::new(Status::BadArgument, format_args!("{what}: {why}"))
}

/// The string at `text`.
///
/// # Safety
/// `text` is NULL or points to a string that ends with a zero byte and stays as it is.
pub unsafe fn string<'a>(text: *const c_char, what: &str) -> Result<&'a str, Failure> {
    // SAFETY: the caller's promise.
    unsafe { bytes_of(text, what) }.and_then(|text| str::from_utf8(text).map_err(|_| bad(what, "no UTF-8")))
}

/// The bytes of the string at `text`.
///
/// # Safety
/// As [`string`].
pub unsafe fn bytes_of<'a>(text: *const c_char, what: &str) -> Result<&'a [u8], Failure> {
    match text.is_null() {
        true => Err(bad(what, "NULL")),
        // SAFETY: the caller's promise.
        false => Ok(unsafe { CStr::from_ptr(text) }.to_bytes()),
    }
}

/// `len` bytes at `bytes`.
///
/// # Safety
/// `bytes` is NULL, or `len` bytes can be read there and stay as they are.
pub unsafe fn bytes<'a>(bytes: *const u8, len: usize, what: &str) -> Result<&'a [u8], Failure> {
    match (bytes.is_null(), len) {
        (_, 0) => Ok(&[]),
        (true, _) => Err(bad(what, "NULL")),
        (false, len) if isize::try_from(len).is_err() => Err(bad(what, "longer than half of all memory")),
        // SAFETY: the caller's promise.
        (false, len) => Ok(unsafe { slice::from_raw_parts(bytes, len) }),
    }
}

/// Room for `len` bytes at `room`, apart from `others`.
///
/// # Safety
/// `room` is NULL, or `len` bytes can be written there, and nobody else reads or writes them meanwhile.
pub unsafe fn room<'a>(room: *mut u8, len: usize, others: &[u8], what: &str) -> Result<&'a mut [u8], Failure> {
    let (from, other) = (room.addr(), others.as_ptr().addr());
    match (room.is_null(), len) {
        (_, 0) => Ok(&mut []),
        (true, _) => Err(bad(what, "NULL")),
        (false, len) if isize::try_from(len).is_err() => Err(bad(what, "longer than half of all memory")),
        (false, len) if from < other + others.len() && other < from.saturating_add(len) => {
            Err(bad(what, "it overlaps what is read"))
        }
        // SAFETY: the caller's promise; what is read lies elsewhere.
        (false, len) => Ok(unsafe { slice::from_raw_parts_mut(room, len) }),
    }
}
