//! Proofs about files, from all of their bytes or from their outboards.

use crate::failure::{Failure, Status, of_io, status};
use crate::inputs::{self, path_of};
use crate::options::{Call, CallOptions};
use crate::outboards::Pair;
use crate::proofs::{Wanted, unproven};
use crate::roots::spec;
use mksum::proof::Claim;
use mksum_io::{File, Prover, Unproven};
use std::ffi::c_char;
use std::path::Path;

/// Writes a proof about the file at `path`.
fn prove(mut call: Call, path: &Path, prover: Prover<'_>, claim: Claim, mut wanted: Wanted<'_>) -> Result<(), Failure> {
    let (spec, file) = (prover.spec(), File::open(path, &call.options).map_err(of_io)?);
    wanted.fits(spec, file.len(), &claim)?;
    if matches!(prover, Prover::Whole(_)) {
        call.expect_files([path]);
    }
    let made = call.run(|_| prover.prove(file, claim))?;
    let (_, proof) = made.map_err(|error| match error {
        Unproven::Proof(error) => unproven(spec, &error),
        Unproven::File(error) => of_io(error),
    })?;
    wanted.write(&proof)
}

/// # Safety
/// The contract of `mksum_prove_file` in `mksum.h`.
unsafe fn prove_file(
    format: *const c_char,
    path: *const c_char,
    claim: Claim,
    options: *const CallOptions,
    (proof, room, proof_len): (*mut u8, usize, *mut usize),
) -> Result<(), Failure> {
    // SAFETY: this function has the same contract.
    let (spec, path) = unsafe { (spec(format)?, inputs::bytes_of(path, "path")?) };
    // SAFETY: as above.
    let (call, wanted) = unsafe { (Call::new(options)?, Wanted::new(proof, room, proof_len, path)?) };
    prove(call, &path_of(path)?, Prover::Whole(&spec), claim, wanted)
}

/// `mksum_prove_file`.
///
/// # Safety
/// The contract in `mksum.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mksum_prove_file(
    format: *const c_char,
    path: *const c_char,
    start: u64,
    end: u64,
    options: *const CallOptions,
    proof: *mut u8,
    room: usize,
    proof_len: *mut usize,
) -> Status {
    // SAFETY: both functions have the same contract.
    status(|| unsafe { prove_file(format, path, Claim::Range(start..end), options, (proof, room, proof_len)) })
}

/// `mksum_prove_file_consistency`.
///
/// # Safety
/// The contract in `mksum.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mksum_prove_file_consistency(
    format: *const c_char,
    path: *const c_char,
    old: u64,
    options: *const CallOptions,
    proof: *mut u8,
    room: usize,
    proof_len: *mut usize,
) -> Status {
    // SAFETY: both functions have the same contract.
    status(|| unsafe { prove_file(format, path, Claim::Consistency(old), options, (proof, room, proof_len)) })
}

/// # Safety
/// The contract of `mksum_outboard_prove` in `mksum.h`.
unsafe fn prove_kept(
    path: *const c_char,
    outboard: *const c_char,
    claim: Claim,
    (proof, room, proof_len): (*mut u8, usize, *mut usize),
) -> Result<(), Failure> {
    // SAFETY: this function has the same contract.
    let (pair, wanted) = unsafe { (Pair::new(path, outboard)?, Wanted::new(proof, room, proof_len, &[])?) };
    // SAFETY: no options are given.
    let call = unsafe { Call::new(std::ptr::null())? };
    prove(call, &pair.path, Prover::Kept(&pair.open()?), claim, wanted)
}

/// `mksum_outboard_prove`.
///
/// # Safety
/// The contract in `mksum.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mksum_outboard_prove(
    path: *const c_char,
    outboard: *const c_char,
    start: u64,
    end: u64,
    proof: *mut u8,
    room: usize,
    proof_len: *mut usize,
) -> Status {
    // SAFETY: both functions have the same contract.
    status(|| unsafe { prove_kept(path, outboard, Claim::Range(start..end), (proof, room, proof_len)) })
}

/// `mksum_outboard_prove_consistency`.
///
/// # Safety
/// The contract in `mksum.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mksum_outboard_prove_consistency(
    path: *const c_char,
    outboard: *const c_char,
    old: u64,
    proof: *mut u8,
    room: usize,
    proof_len: *mut usize,
) -> Status {
    // SAFETY: both functions have the same contract.
    status(|| unsafe { prove_kept(path, outboard, Claim::Consistency(old), (proof, room, proof_len)) })
}
