//! Logs: appending entries, and making and checking proofs.

use crate::failure::{Failure, Status, status};
use crate::inputs::{self, bad, path_of};
use mksum_log::{Checkpoint, ConsistencyProof, Error, Folder, Log, Note, Policy, Proof, Published};
use std::ffi::c_char;
use std::fmt::Display;
use std::path::PathBuf;

/// The failure of work on a log: `io` is the status of a file that the system could not read or write.
fn failed(io: Status) -> impl Fn(Error) -> Failure {
    move |error| {
        let status = match &error {
            Error::Io { .. } | Error::Source { .. } => io,
            Error::Missing { .. } | Error::Damaged { .. } => Status::Damaged,
            Error::Malformed { .. } | Error::Untrusted(_) | Error::Invalid(_) => Status::BadProof,
            _ => Status::Refused,
        };
        Failure::new(status, error)
    }
}

/// Returns the path at `directory`.
///
/// # Safety
/// As [`inputs::bytes_of`].
unsafe fn folder(directory: *const c_char) -> Result<PathBuf, Failure> {
    // SAFETY: this function has the same contract.
    path_of(unsafe { inputs::bytes_of(directory, "directory")? })
}

/// Returns whom `trusted` trusts: the log of a public key, or a policy of several lines.
///
/// # Safety
/// As [`inputs::string`].
unsafe fn policy(trusted: *const c_char) -> Result<Policy, Failure> {
    // SAFETY: this function has the same contract.
    let text = unsafe { inputs::string(trusted, "trusted")? };
    text.parse().map_err(|error: Error| bad("trusted", error))
}

/// `mksum_log_create`.
///
/// # Safety
/// The contract in `mksum.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mksum_log_create(
    directory: *const c_char,
    origin: *const c_char,
    key: *mut c_char,
    room: usize,
) -> Status {
    status(|| {
        // SAFETY: `mksum.h` requires valid pointers of the caller.
        let (path, origin) = unsafe { (folder(directory)?, inputs::string(origin, "origin")?) };
        // SAFETY: as above.
        let key = unsafe { inputs::room(key.cast(), room, origin.as_bytes(), "key")? };
        // The name, two plus signs, eight hex digits, the base64 of 33 bytes, and the zero byte.
        let needed = origin.len() + 2 + 8 + 44 + 1;
        if key.len() < needed {
            let why = format_args!("key: expected a buffer of {needed} bytes, found {}", key.len());
            return Err(Failure::new(Status::NoRoom, why));
        }
        let log = Log::create(&path, origin).map_err(failed(Status::WriteFailed))?;
        inputs::put_text(&log.verifier(), key, "key")
    })
}

/// `mksum_log_append`.
///
/// # Safety
/// The contract in `mksum.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mksum_log_append(
    directory: *const c_char,
    entries: *const *const u8,
    lens: *const usize,
    count: usize,
    first: *mut u64,
) -> Status {
    status(|| {
        // SAFETY: `mksum.h` requires valid pointers of the caller.
        let (path, first, entries, lens) = unsafe {
            let first = inputs::exclusive(first, "first")?;
            (folder(directory)?, first, inputs::array(entries, count, "entries")?, inputs::array(lens, count, "lens")?)
        };
        let entries = entries.iter().zip(lens).map(|(&entry, &len)| {
            // SAFETY: `mksum.h` requires valid pointers of the caller, also in the array.
            unsafe { inputs::bytes(entry, len, "entries") }
        });
        let entries = entries.collect::<Result<Vec<_>, _>>()?;
        let mut log = Log::open(&path).map_err(failed(Status::WriteFailed))?;
        let indices = log.append(entries).map_err(failed(Status::WriteFailed))?;
        log.checkpoint().map_err(failed(Status::WriteFailed))?;
        *first = indices.start;
        Ok(())
    })
}

/// Writes what `make` makes of the log in a folder to the caller's buffer.
///
/// # Safety
/// The contract of `mksum_log_prove` in `mksum.h`.
unsafe fn prove<P: Display>(
    directory: *const c_char,
    (proof, room, proof_len): (*mut u8, usize, *mut usize),
    make: impl FnOnce(&Published<Folder>) -> Result<P, Error>,
) -> Result<(), Failure> {
    // SAFETY: this function has the same contract.
    let (path, room, len) = unsafe {
        (folder(directory)?, inputs::room(proof, room, &[], "proof")?, inputs::exclusive(proof_len, "proof_len")?)
    };
    let read = failed(Status::ReadFailed);
    let text = make(&Published::unverified(Folder::new(path)).map_err(&read)?).map_err(&read)?.to_string();
    *len = text.len();
    inputs::put(text.as_bytes(), room, "proof")
}

/// `mksum_log_prove`.
///
/// # Safety
/// The contract in `mksum.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mksum_log_prove(
    directory: *const c_char,
    index: u64,
    proof: *mut u8,
    room: usize,
    proof_len: *mut usize,
) -> Status {
    // SAFETY: both functions have the same contract.
    status(|| unsafe { prove(directory, (proof, room, proof_len), |log| log.inclusion(index)) })
}

/// `mksum_log_prove_consistency`.
///
/// # Safety
/// The contract in `mksum.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mksum_log_prove_consistency(
    directory: *const c_char,
    old: u64,
    proof: *mut u8,
    room: usize,
    proof_len: *mut usize,
) -> Status {
    // SAFETY: both functions have the same contract.
    status(|| unsafe { prove(directory, (proof, room, proof_len), |log| log.consistency(old)) })
}

/// `mksum_log_check`.
///
/// # Safety
/// The contract in `mksum.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mksum_log_check(
    proof: *const u8,
    proof_len: usize,
    trusted: *const c_char,
    entry: *const u8,
    entry_len: usize,
    index: *mut u64,
) -> Status {
    status(|| {
        // SAFETY: `mksum.h` requires valid pointers of the caller.
        let (proof, entry, policy, index) = unsafe {
            let proof = inputs::bytes(proof, proof_len, "proof")?;
            let entry = inputs::bytes(entry, entry_len, "entry")?;
            (proof, entry, policy(trusted)?, inputs::exclusive(index, "index")?)
        };
        let proof = Proof::parse(proof).map_err(failed(Status::BadProof))?;
        proof.check(entry, &policy).map_err(failed(Status::BadProof))?;
        *index = proof.index();
        Ok(())
    })
}

/// `mksum_log_check_consistency`.
///
/// # Safety
/// The contract in `mksum.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mksum_log_check_consistency(
    proof: *const u8,
    proof_len: usize,
    trusted: *const c_char,
    old: *const u8,
    old_len: usize,
    size: *mut u64,
) -> Status {
    status(|| {
        // SAFETY: `mksum.h` requires valid pointers of the caller.
        let (proof, old, policy, size) = unsafe {
            let proof = inputs::bytes(proof, proof_len, "proof")?;
            let old = inputs::bytes(old, old_len, "old")?;
            (proof, old, policy(trusted)?, inputs::exclusive(size, "size")?)
        };
        let wrong = failed(Status::BadProof);
        let old: Checkpoint = Note::parse(old).and_then(|note| policy.check(&note)).map_err(&wrong)?;
        let new = ConsistencyProof::parse(proof).and_then(|proof| proof.check(&old, &policy)).map_err(&wrong)?;
        *size = new.size();
        Ok(())
    })
}
