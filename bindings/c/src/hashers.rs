//! Digests of bytes in memory, and of bytes that come piece by piece.

use crate::failure::{Failure, Status, status};
use crate::inputs;
use crate::roots::{no_root, spec, write};
use crate::trees::hash_named;
use mksum::{Frontier, Hash, Root, Spec};
use std::ffi::c_char;

/// `mksum_digest_size`.
///
/// # Safety
/// The contract in `mksum.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mksum_digest_size(name: *const c_char) -> usize {
    // SAFETY: `mksum.h` requires a valid pointer of the caller.
    let Ok(name) = (unsafe { inputs::string(name, "name") }) else { return 0 };
    let of_nodes = || hash_named(name).map_or(0, Hash::size);
    name.parse().map_or_else(|_| of_nodes(), |spec: Spec| spec.hash().size())
}

/// `mksum_digest`.
///
/// # Safety
/// The contract in `mksum.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mksum_digest(
    format: *const c_char,
    bytes: *const u8,
    len: usize,
    digest: *mut u8,
    room: usize,
) -> Status {
    status(|| {
        // SAFETY: `mksum.h` requires valid pointers of the caller.
        let (spec, bytes) = unsafe { (spec(format)?, inputs::bytes(bytes, len, "bytes")?) };
        // SAFETY: `mksum.h` requires valid pointers of the caller.
        let place = unsafe { inputs::room(digest, room, bytes, "digest")? };
        let found = spec.root_digest(bytes).map_err(|error| no_root(&spec, &error))?;
        inputs::put(found.as_bytes(), place, "digest")
    })
}

/// `mksum_hasher`.
#[derive(Clone)]
pub struct Hasher {
    spec: Spec,
    /// The bytes so far; `None` once the hasher is finished.
    frontier: Option<Frontier>,
}

impl Hasher {
    /// Before the first byte.
    fn new(spec: Spec) -> Result<Self, Failure> {
        let frontier = begin(&spec)?;
        Ok(Hasher { spec, frontier: Some(frontier) })
    }

    /// Has `write` write the root of the bytes so far. If it does, the hasher is finished.
    fn finish(&mut self, write: impl FnOnce(&Root) -> Result<(), Failure>) -> Result<(), Failure> {
        let root = self.growing()?.root();
        write(&root.map_err(|error| no_root(&self.spec, &error))?)?;
        self.frontier = None;
        Ok(())
    }

    fn growing(&mut self) -> Result<&mut Frontier, Failure> {
        let finished = || Failure::new(Status::Finished, "the hasher is finished: reset it to hash other bytes");
        self.frontier.as_mut().ok_or_else(finished)
    }
}

/// Returns the frontier of a format before the first byte.
fn begin(spec: &Spec) -> Result<Frontier, Failure> {
    spec.frontier().map_err(|error| Failure::new(Status::BadFormat, format_args!("{spec}: {error}")))
}

/// `mksum_hasher_new`.
///
/// # Safety
/// The contract in `mksum.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mksum_hasher_new(format: *const c_char, hasher: *mut *mut Hasher) -> Status {
    // SAFETY: `mksum.h` requires valid pointers of the caller.
    let make = || unsafe { spec(format) }.and_then(Hasher::new);
    // SAFETY: `mksum.h` requires valid pointers of the caller.
    status(|| unsafe { inputs::give(hasher, "hasher", make) })
}

/// `mksum_hasher_clone`.
///
/// # Safety
/// The contract in `mksum.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mksum_hasher_clone(hasher: *const Hasher, clone: *mut *mut Hasher) -> Status {
    // SAFETY: `mksum.h` requires a hasher that nobody changes meanwhile.
    let make = || unsafe { inputs::shared(hasher, "hasher") }.cloned();
    // SAFETY: `mksum.h` requires valid pointers of the caller.
    status(|| unsafe { inputs::give(clone, "clone", make) })
}

/// `mksum_hasher_update`.
///
/// # Safety
/// The contract in `mksum.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mksum_hasher_update(hasher: *mut Hasher, bytes: *const u8, len: usize) -> Status {
    status(|| {
        // SAFETY: `mksum.h` requires valid pointers of the caller.
        let (hasher, bytes) = unsafe { (inputs::exclusive(hasher, "hasher")?, inputs::bytes(bytes, len, "bytes")?) };
        let updated = hasher.growing()?.update(bytes);
        updated.map_err(|error| no_root(&hasher.spec, &error))
    })
}

/// `mksum_hasher_finish`.
///
/// # Safety
/// The contract in `mksum.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mksum_hasher_finish(hasher: *mut Hasher, digest: *mut u8, room: usize) -> Status {
    status(|| {
        // SAFETY: `mksum.h` requires valid pointers of the caller.
        let (hasher, place) =
            unsafe { (inputs::exclusive(hasher, "hasher")?, inputs::room(digest, room, &[], "digest")?) };
        hasher.finish(|root| inputs::put(root.digest().as_bytes(), place, "digest"))
    })
}

/// `mksum_hasher_finish_text`.
///
/// # Safety
/// The contract in `mksum.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mksum_hasher_finish_text(hasher: *mut Hasher, text: *mut c_char, room: usize) -> Status {
    status(|| {
        // SAFETY: `mksum.h` requires valid pointers of the caller.
        let (hasher, place) =
            unsafe { (inputs::exclusive(hasher, "hasher")?, inputs::room(text.cast(), room, &[], "text")?) };
        hasher.finish(|root| write(root, place))
    })
}

/// `mksum_hasher_reset`.
///
/// # Safety
/// The contract in `mksum.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mksum_hasher_reset(hasher: *mut Hasher) -> Status {
    status(|| {
        // SAFETY: `mksum.h` requires valid pointers of the caller.
        let hasher = unsafe { inputs::exclusive(hasher, "hasher")? };
        hasher.frontier = Some(begin(&hasher.spec)?);
        Ok(())
    })
}

/// `mksum_hasher_free`.
///
/// # Safety
/// The contract in `mksum.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mksum_hasher_free(hasher: *mut Hasher) {
    // SAFETY: `mksum.h` requires a hasher that nobody uses any more.
    unsafe { inputs::free(hasher) }
}
