//! Conversion of a caller's pointers and lengths to slices, strings and references, and of values to pointers.

use crate::failure::{Failure, Status};
#[cfg(feature = "files")]
use mksum_io::Input;
use std::ffi::{CStr, c_char};
use std::fmt::Display;
#[cfg(feature = "files")]
use std::path::PathBuf;
use std::ptr;
use std::slice;

/// The failure of a parameter.
pub fn bad(name: &str, reason: impl Display) -> Failure {
    Failure::new(Status::BadArgument, format_args!("{name}: {reason}"))
}

/// Returns the parameter `name` if it is not NULL.
pub fn given<T>(value: Option<T>, name: &str) -> Result<T, Failure> {
    value.ok_or_else(|| bad(name, "NULL"))
}

/// Returns what is at `pointer`.
///
/// # Safety
/// `pointer` is NULL, or valid, and nobody changes what is there during `'a`.
pub unsafe fn shared<'a, T>(pointer: *const T, name: &str) -> Result<&'a T, Failure> {
    // SAFETY: this function has the same contract.
    given(unsafe { pointer.as_ref() }, name)
}

/// Returns what is at `pointer`, to be changed.
///
/// # Safety
/// `pointer` is NULL, or valid, and nobody else uses what is there during `'a`.
pub unsafe fn exclusive<'a, T>(pointer: *mut T, name: &str) -> Result<&'a mut T, Failure> {
    // SAFETY: this function has the same contract.
    given(unsafe { pointer.as_mut() }, name)
}

/// Writes a pointer to what `make` makes to `place`, or NULL if it fails. The caller [frees](free) it.
///
/// # Safety
/// As [`exclusive`].
pub unsafe fn give<T>(
    place: *mut *mut T,
    name: &str,
    make: impl FnOnce() -> Result<T, Failure>,
) -> Result<(), Failure> {
    // SAFETY: this function has the same contract.
    let place = unsafe { exclusive(place, name)? };
    *place = ptr::null_mut();
    *place = Box::into_raw(Box::new(make()?));
    Ok(())
}

/// Frees what [`give`] gave.
///
/// # Safety
/// `pointer` is NULL or from `give`, and nobody uses it any more.
pub unsafe fn free<T>(pointer: *mut T) {
    if !pointer.is_null() {
        // SAFETY: this function has the same contract.
        drop(unsafe { Box::from_raw(pointer) });
    }
}

/// Returns the string at `text`; `name` is the parameter's name for messages.
///
/// # Safety
/// `text` is NULL or points to a string that ends with a zero byte and does not change during `'a`.
pub unsafe fn string<'a>(text: *const c_char, name: &str) -> Result<&'a str, Failure> {
    // SAFETY: this function has the same contract.
    unsafe { bytes_of(text, name) }.and_then(|text| str::from_utf8(text).map_err(|_| bad(name, "not UTF-8")))
}

/// Returns the bytes of the string at `text`.
///
/// # Safety
/// As [`string`].
pub unsafe fn bytes_of<'a>(text: *const c_char, name: &str) -> Result<&'a [u8], Failure> {
    match text.is_null() {
        true => Err(bad(name, "NULL")),
        // SAFETY: the pointer is not NULL, and the contract requires a zero-terminated string.
        false => Ok(unsafe { CStr::from_ptr(text) }.to_bytes()),
    }
}

/// Returns the `len` bytes at `bytes`.
///
/// # Safety
/// `bytes` is NULL, or points to `len` readable bytes that do not change during `'a`.
pub unsafe fn bytes<'a>(bytes: *const u8, len: usize, name: &str) -> Result<&'a [u8], Failure> {
    match (bytes.is_null(), len) {
        (_, 0) => Ok(&[]),
        (true, _) => Err(bad(name, "NULL")),
        (false, len) if isize::try_from(len).is_err() => Err(bad(name, "longer than half of the address space")),
        // SAFETY: the pointer is not NULL, and the contract requires `len` readable bytes.
        (false, len) => Ok(unsafe { slice::from_raw_parts(bytes, len) }),
    }
}

/// Returns the `len` items at `items`.
///
/// # Safety
/// `items` is NULL, or points to `len` readable items that do not change during `'a`.
#[cfg(feature = "files")]
pub unsafe fn array<'a, T>(items: *const T, len: usize, name: &str) -> Result<&'a [T], Failure> {
    match (items.is_null(), len) {
        (_, 0) => Ok(&[]),
        (true, _) => Err(bad(name, "NULL")),
        (false, len) if len > isize::MAX as usize / size_of::<T>() => {
            Err(bad(name, "longer than half of the address space"))
        }
        // SAFETY: the pointer is not NULL, and the contract requires `len` readable items.
        (false, len) => Ok(unsafe { slice::from_raw_parts(items, len) }),
    }
}

/// Returns the buffer of `len` bytes at `room`, which must not overlap `input`.
///
/// # Safety
/// `room` is NULL, or points to `len` writable bytes that no other code reads or writes during `'a`.
pub unsafe fn room<'a>(room: *mut u8, len: usize, input: &[u8], name: &str) -> Result<&'a mut [u8], Failure> {
    let (from, other) = (room.addr(), input.as_ptr().addr());
    match (room.is_null(), len) {
        (_, 0) => Ok(&mut []),
        (true, _) => Err(bad(name, "NULL")),
        (false, len) if isize::try_from(len).is_err() => Err(bad(name, "longer than half of the address space")),
        (false, len) if from < other + input.len() && other < from.saturating_add(len) => {
            Err(bad(name, "overlaps the input"))
        }
        // SAFETY: the pointer is not NULL and does not overlap the input; the contract requires `len` writable bytes.
        (false, len) => Ok(unsafe { slice::from_raw_parts_mut(room, len) }),
    }
}

/// Copies bytes to the beginning of a buffer, the parameter `name`.
pub fn put(bytes: &[u8], room: &mut [u8], name: &str) -> Result<(), Failure> {
    let (needed, found) = (bytes.len(), room.len());
    let Some(place) = room.get_mut(..needed) else {
        let why = format_args!("{name}: expected a buffer of {needed} bytes, found {found}");
        return Err(Failure::new(Status::NoRoom, why));
    };
    place.copy_from_slice(bytes);
    Ok(())
}

/// Writes a text and a zero byte to the beginning of a buffer, the parameter `name`.
pub fn put_text(text: &dyn Display, room: &mut [u8], name: &str) -> Result<(), Failure> {
    put(format!("{text}\0").as_bytes(), room, name)
}

/// Returns the path or URL at `text`.
///
/// # Safety
/// As [`bytes_of`].
#[cfg(feature = "files")]
pub unsafe fn place(text: *const c_char, name: &str) -> Result<Input, Failure> {
    // SAFETY: this function has the same contract.
    Ok(Input::place(path_of(unsafe { bytes_of(text, name)? })?))
}

/// Returns the path with these bytes.
#[cfg(all(feature = "files", unix))]
pub fn path_of(bytes: &[u8]) -> Result<PathBuf, Failure> {
    use std::os::unix::ffi::OsStrExt;
    Ok(std::ffi::OsStr::from_bytes(bytes).into())
}

/// Returns the path with these bytes.
#[cfg(all(feature = "files", not(unix)))]
pub fn path_of(bytes: &[u8]) -> Result<PathBuf, Failure> {
    str::from_utf8(bytes).map(PathBuf::from).map_err(|_| bad("path", "not UTF-8"))
}
