//! Reads of files of which every byte is verified.

use crate::failure::{Failure, Status, of_io, status};
use crate::inputs::{self, bad};
use crate::options::{Call, CallOptions, sized};
use mksum_io::outboard::{EXTENSION, place_of};
use mksum_io::{Opening, Verified};
use mksum_sums::expected::Expected;
use std::ffi::c_char;

/// `mksum_verified_options`.
#[repr(C)]
pub struct VerifiedOptions {
    size: usize,
    outboard: *const c_char,
    length: u64,
    replicas: *const *const c_char,
    replicas_len: usize,
}

/// What is opened, with these options.
///
/// # Safety
/// The contract of [`mksum_verified_open`].
unsafe fn opening(path: *const c_char, root: *const c_char, how: *const VerifiedOptions) -> Result<Opening, Failure> {
    // SAFETY: this function has the same contract.
    let (file, root) = unsafe { (inputs::place(path, "path")?, inputs::string(root, "root")?) };
    let place = place_of(&file, EXTENSION);
    let mut opening = Opening::new(file, place);
    opening.expected = Some(Expected::parse(root, None).and_then(Expected::of_file).map_err(|why| bad("root", why))?);
    if how.is_null() {
        return Ok(opening);
    }
    // SAFETY: this function has the same contract.
    let how = unsafe { sized(how, "how", "MKSUM_VERIFIED_OPTIONS")? };
    if !how.outboard.is_null() {
        // SAFETY: as above.
        opening.outboard = Some(unsafe { inputs::place(how.outboard, "outboard")? });
    }
    opening.len = Some(how.length).filter(|&len| len != u64::MAX);
    // SAFETY: as above.
    let replicas = unsafe { inputs::array(how.replicas, how.replicas_len, "replicas")? };
    // SAFETY: as above.
    opening.replicas =
        replicas.iter().map(|&place| unsafe { inputs::place(place, "replicas") }).collect::<Result<_, _>>()?;
    Ok(opening)
}

/// `mksum_verified_open`.
///
/// # Safety
/// The contract in `mksum.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mksum_verified_open(
    path: *const c_char,
    root: *const c_char,
    how: *const VerifiedOptions,
    options: *const CallOptions,
    verified: *mut *mut Verified,
) -> Status {
    let open = || {
        // SAFETY: `mksum.h` requires valid pointers of the caller.
        let (opening, options) = unsafe { (opening(path, root, how)?, Call::new(options)?.options) };
        #[cfg(feature = "get")]
        let options = mksum_io::Options { objects: Some(std::sync::Arc::new(mksum_stores::Stores::new())), ..options };
        Verified::open(opening, &options).map_err(of_io)
    };
    // SAFETY: `mksum.h` requires valid pointers of the caller.
    status(|| unsafe { inputs::give(verified, "verified", open) })
}

/// `mksum_verified_length`.
///
/// # Safety
/// The contract in `mksum.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mksum_verified_length(verified: *const Verified) -> u64 {
    // SAFETY: `mksum.h` requires a file that is open.
    unsafe { inputs::shared(verified, "verified") }.map_or(0, Verified::len)
}

/// `mksum_verified_read`.
///
/// # Safety
/// The contract in `mksum.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mksum_verified_read(
    verified: *const Verified,
    offset: u64,
    buffer: *mut u8,
    room: usize,
    len: *mut usize,
) -> Status {
    status(|| {
        // SAFETY: `mksum.h` requires valid pointers of the caller.
        let (verified, out, len) = unsafe {
            let out = inputs::room(buffer, room, &[], "buffer")?;
            (inputs::shared(verified, "verified")?, out, inputs::exclusive(len, "len")?)
        };
        *len = 0;
        *len = verified.read_at(offset, out).map_err(of_io)?;
        Ok(())
    })
}

/// `mksum_verified_close`.
///
/// # Safety
/// The contract in `mksum.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mksum_verified_close(verified: *mut Verified) {
    // SAFETY: `mksum.h` requires a file that nobody uses any more.
    unsafe { inputs::free(verified) }
}
