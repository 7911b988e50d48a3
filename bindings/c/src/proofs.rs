//! Proofs about bytes in memory, made and checked.

use crate::failure::{Failure, Status, status};
use crate::inputs::{self, bad};
use crate::roots::{FORMAT_MAX, no_root, spec};
use mksum::Spec;
use mksum::proof::{Claim, Proof, ProofError, Trusted};
use std::ffi::{c_char, c_int};
use std::ops::Range;

/// Where a caller wants a proof: its buffer, and the place for its length.
pub struct Wanted<'a> {
    room: &'a mut [u8],
    len: &'a mut usize,
}

impl<'a> Wanted<'a> {
    /// # Safety
    /// `proof` is NULL or points to `room` writable bytes, and `len` is NULL or valid; no other code uses them during `'a`.
    pub unsafe fn new(proof: *mut u8, room: usize, len: *mut usize, input: &[u8]) -> Result<Self, Failure> {
        // SAFETY: this function has the same contract.
        let (room, len) = unsafe { (inputs::room(proof, room, input, "proof")?, inputs::exclusive(len, "proof_len")?) };
        *len = 0;
        Ok(Wanted { room, len })
    }

    /// Refuses a buffer that is too small for a proof about an input of `input` bytes: nothing has been read by then.
    pub fn fits(&mut self, spec: &Spec, input: u64, claim: &Claim) -> Result<(), Failure> {
        let needed = Proof::encoded_len(spec, input, claim).map_err(|error| unproven(spec, &error))?;
        *self.len = usize::try_from(needed).unwrap_or(usize::MAX);
        match *self.len <= self.room.len() {
            true => Ok(()),
            false => Err(Failure::new(
                Status::NoRoom,
                format_args!("proof: expected a buffer of {needed} bytes, found {}", self.room.len()),
            )),
        }
    }

    /// Writes a proof.
    pub fn write(&mut self, proof: &Proof) -> Result<(), Failure> {
        let bytes = proof.to_bytes();
        *self.len = bytes.len();
        inputs::put(&bytes, self.room, "proof")
    }
}

/// The failure to make a proof.
pub fn unproven(spec: &Spec, error: &ProofError) -> Failure {
    match error {
        ProofError::Join(error) => no_root(spec, error),
        ProofError::Length(_) => Failure::new(Status::NoRoot, format_args!("{spec}: {error}")),
        error => Failure::new(Status::BadProof, format_args!("{spec}: {error}")),
    }
}

/// # Safety
/// The contract of `mksum_prove` in `mksum.h`.
unsafe fn prove(
    format: *const c_char,
    bytes: *const u8,
    len: usize,
    claim: Claim,
    proof: *mut u8,
    room: usize,
    proof_len: *mut usize,
) -> Result<(), Failure> {
    // SAFETY: this function has the same contract.
    let (spec, bytes) = unsafe { (spec(format)?, inputs::bytes(bytes, len, "bytes")?) };
    // SAFETY: as above.
    let mut wanted = unsafe { Wanted::new(proof, room, proof_len, bytes)? };
    wanted.fits(&spec, len as u64, &claim)?;
    let made = match claim {
        Claim::Range(range) => Proof::of_range(&spec, bytes, range),
        Claim::Consistency(old) => Proof::of_consistency(&spec, bytes, old),
    };
    wanted.write(&made.map_err(|error| unproven(&spec, &error))?)
}

/// `mksum_prove`.
///
/// # Safety
/// The contract in `mksum.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mksum_prove(
    format: *const c_char,
    bytes: *const u8,
    len: usize,
    start: u64,
    end: u64,
    proof: *mut u8,
    room: usize,
    proof_len: *mut usize,
) -> Status {
    // SAFETY: both functions have the same contract.
    status(|| unsafe { prove(format, bytes, len, Claim::Range(start..end), proof, room, proof_len) })
}

/// `mksum_prove_consistency`.
///
/// # Safety
/// The contract in `mksum.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mksum_prove_consistency(
    format: *const c_char,
    bytes: *const u8,
    len: usize,
    old: u64,
    proof: *mut u8,
    room: usize,
    proof_len: *mut usize,
) -> Status {
    // SAFETY: both functions have the same contract.
    status(|| unsafe { prove(format, bytes, len, Claim::Consistency(old), proof, room, proof_len) })
}

/// The trusted facts of the parameters `root` and `length`.
///
/// # Safety
/// `root` is NULL or a string that ends with a zero byte.
unsafe fn trusted(spec: &Spec, root: *const c_char, length: u64, name: &str) -> Result<Trusted, Failure> {
    // SAFETY: this function has the same contract.
    let root = unsafe { inputs::string(root, name)? };
    let root = spec.claimed_root(root).map_err(|error| bad(name, format_args!("{error} ({spec})")))?;
    Ok(Trusted { spec: spec.clone(), root, len: Some(length).filter(|&length| length != u64::MAX) })
}

/// `mksum_proof_info`.
#[repr(C)]
pub struct ProofInfo {
    format: [u8; FORMAT_MAX],
    length: u64,
    start: u64,
    end: u64,
    is_consistency: c_int,
}

/// `mksum_proof_read`.
///
/// # Safety
/// The contract in `mksum.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mksum_proof_read(proof: *const u8, proof_len: usize, info: *mut ProofInfo) -> Status {
    status(|| {
        // SAFETY: `mksum.h` requires valid pointers of the caller.
        let (proof, info) = unsafe { (inputs::bytes(proof, proof_len, "proof")?, inputs::exclusive(info, "info")?) };
        let proof = Proof::parse(proof).map_err(invalid)?;
        let Range { start, end } = proof.claim().bytes();
        let is_consistency = matches!(proof.claim(), Claim::Consistency(_)).into();
        let mut read = ProofInfo { format: [0; FORMAT_MAX], length: proof.len(), start, end, is_consistency };
        inputs::put_text(proof.spec(), &mut read.format, "format")?;
        *info = read;
        Ok(())
    })
}

/// The failure to check a proof.
fn invalid(error: ProofError) -> Failure {
    Failure::new(Status::BadProof, error)
}

/// `mksum_check_proof`.
///
/// # Safety
/// The contract in `mksum.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mksum_check_proof(
    proof: *const u8,
    proof_len: usize,
    format: *const c_char,
    root: *const c_char,
    length: u64,
    bytes: *const u8,
    len: usize,
    start: *mut u64,
) -> Status {
    status(|| {
        // SAFETY: `mksum.h` requires valid pointers of the caller.
        let (proof, bytes) =
            unsafe { (inputs::bytes(proof, proof_len, "proof")?, inputs::bytes(bytes, len, "bytes")?) };
        // SAFETY: as above.
        let (start, spec) = unsafe { (inputs::exclusive(start, "start")?, spec(format)?) };
        // SAFETY: as above.
        let trusted = unsafe { trusted(&spec, root, length, "root")? };
        let proof = Proof::parse(proof).map_err(invalid)?;
        proof.verify_range(&trusted, bytes).map_err(invalid)?;
        *start = proof.claim().bytes().start;
        Ok(())
    })
}

/// `mksum_check_consistency`.
///
/// # Safety
/// The contract in `mksum.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mksum_check_consistency(
    proof: *const u8,
    proof_len: usize,
    format: *const c_char,
    old_root: *const c_char,
    old_length: u64,
    new_root: *const c_char,
    new_length: u64,
) -> Status {
    status(|| {
        // SAFETY: `mksum.h` requires valid pointers of the caller.
        let (proof, spec) = unsafe { (inputs::bytes(proof, proof_len, "proof")?, spec(format)?) };
        // SAFETY: as above.
        let (old, new) = unsafe {
            (trusted(&spec, old_root, old_length, "old_root")?, trusted(&spec, new_root, new_length, "new_root")?)
        };
        let proof = Proof::parse(proof).map_err(invalid)?;
        proof.verify_consistency(&old, &new).map_err(invalid)
    })
}
