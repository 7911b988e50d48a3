//! Roots of bytes and files.

use crate::failure::{Failure, Status, status};
use crate::inputs;
use mksum::{Root, Spec};
use mksum_io::{Error, Input, Job, Options, hash};
use std::ffi::c_char;
use std::path::PathBuf;

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
    let root = || {
        // SAFETY: `mksum.h` requires valid pointers of the caller.
        let (spec, bytes) = unsafe { (spec(format)?, inputs::bytes(bytes, len, "bytes")?) };
        // SAFETY: `mksum.h` requires valid pointers of the caller.
        let text = unsafe { inputs::room(text.cast(), room, bytes, "text")? };
        let root = spec.root(bytes).map_err(|error| Failure::new(Status::NoRoot, format_args!("{spec}: {error}")))?;
        write(&root, text)
    };
    status(root())
}

/// `mksum_root_of_file`.
///
/// # Safety
/// The contract in `mksum.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mksum_root_of_file(
    format: *const c_char,
    path: *const c_char,
    text: *mut c_char,
    room: usize,
) -> Status {
    let root = || {
        // SAFETY: `mksum.h` requires valid pointers of the caller.
        let (spec, path) = unsafe { (spec(format)?, inputs::bytes_of(path, "path")?) };
        // SAFETY: `mksum.h` requires valid pointers of the caller.
        let text = unsafe { inputs::room(text.cast(), room, path, "text")? };
        let path = path_of(path)?;
        let fail = |error: Error| {
            let status = if matches!(error, Error::Format { .. }) { Status::NoRoot } else { Status::ReadFailed };
            Failure::new(status, format_args!("{}: {error}", path.display()))
        };
        let job = Job::new(Input::Path(path.clone()), vec![spec]);
        let roots = hash(&job, &Options::new()).map_err(fail)?;
        for root in roots {
            write(&root.map_err(fail)?, text)?;
        }
        Ok(())
    };
    status(root())
}

/// Parses the format string.
///
/// # Safety
/// As [`inputs::string`].
unsafe fn spec(format: *const c_char) -> Result<Spec, Failure> {
    // SAFETY: this function has the same contract.
    let name = unsafe { inputs::string(format, "format")? };
    name.parse().map_err(|error| Failure::new(Status::BadFormat, format_args!("{name}: {error}")))
}

#[cfg(unix)]
fn path_of(bytes: &[u8]) -> Result<PathBuf, Failure> {
    use std::os::unix::ffi::OsStrExt;
    Ok(std::ffi::OsStr::from_bytes(bytes).into())
}

#[cfg(not(unix))]
fn path_of(bytes: &[u8]) -> Result<PathBuf, Failure> {
    let text = str::from_utf8(bytes).map_err(|_| Failure::new(Status::BadArgument, "path: not UTF-8"))?;
    Ok(text.into())
}

fn write(root: &Root, text: &mut [u8]) -> Result<(), Failure> {
    let root = root.to_string() + "\0";
    match text.get_mut(..root.len()) {
        Some(place) => place.copy_from_slice(root.as_bytes()),
        None => {
            let (found, needed) = (text.len(), root.len());
            return Err(Failure::new(
                Status::NoRoom,
                format_args!("text: expected a buffer of {needed} bytes, found {found}"),
            ));
        }
    }
    Ok(())
}
