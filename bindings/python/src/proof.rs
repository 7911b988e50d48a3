//! Proofs: that bytes lie in an input, and that an input begins with an older one.

use crate::data::Data;
use crate::errors;
use crate::root::Root;
use crate::spec::Format;
use mksum::proof::{Proof, ProofError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Returns a proof that bytes lie in an input that is in memory (`spec/proofs.md`).
///
/// Args:
///     data: The input: any contiguous object with the buffer protocol.
///     start: The offset of the first byte.
///     end: The offset after the last byte.
///     fmt: The format.
///
/// Raises:
///     ProofError: The range is empty or not within the input.
///     LengthError: The format has no root for this length.
#[pyfunction]
#[pyo3(signature = (data, start, end, fmt = Format(mksum::Spec::default())), text_signature = "(data, start, end, fmt='rfc6962')")]
pub fn prove<'py>(
    py: Python<'py>,
    data: Data<'py>,
    start: u64,
    end: u64,
    fmt: Format,
) -> PyResult<Bound<'py, PyBytes>> {
    let proof = data.with(py, |bytes| Proof::of_range(&fmt.0, bytes, start..end).map(|proof| proof.to_bytes()));
    Ok(PyBytes::new(py, &proof.map_err(|reason| errors::proof(py, reason))?))
}

/// Returns a proof that an input in memory begins with its first `old` bytes as they were before it grew (RFC 9162, 2.1.4).
///
/// Args:
///     data: The input: any contiguous object with the buffer protocol.
///     old: The older length in bytes: 1 or more.
///     fmt: The format.
///
/// Raises:
///     ProofError: The older length is 0 or too long, or the format has no such proofs (`mtsum`).
///     LengthError: The format has no root for one of the lengths.
#[pyfunction]
#[pyo3(signature = (data, old, fmt = Format(mksum::Spec::default())), text_signature = "(data, old, fmt='rfc6962')")]
pub fn prove_consistency<'py>(
    py: Python<'py>,
    data: Data<'py>,
    old: u64,
    fmt: Format,
) -> PyResult<Bound<'py, PyBytes>> {
    let proof = data.with(py, |bytes| Proof::of_consistency(&fmt.0, bytes, old).map(|proof| proof.to_bytes()));
    Ok(PyBytes::new(py, &proof.map_err(|reason| errors::proof(py, reason))?))
}

/// Checks that `data` are bytes of the input with the trusted root (RFC 9162, 2.1.3).
///
/// Args:
///     proof: The bytes of a proof. Nothing in it is trusted.
///     root: The trusted root, with its format and the input's length.
///     data: The bytes of the range.
///
/// Returns:
///     `(start, end)`: the range that is proven, in bytes.
///
/// Raises:
///     ProofError: The proof is not valid, or is about another format, length or root: `expected` and `found`.
#[pyfunction]
pub fn check_proof(py: Python<'_>, proof: Data<'_>, root: Root, data: Data<'_>) -> PyResult<(u64, u64)> {
    let checked = |bytes: &[u8]| -> Result<_, ProofError> {
        let proof = Proof::parse(bytes)?;
        proof.verify_range(&root.trusted(), data.bytes())?;
        Ok(proof.claim().bytes())
    };
    let range = checked(proof.bytes()).map_err(|reason| errors::proof(py, reason))?;
    Ok((range.start, range.end))
}

/// Checks that the input with the newer root begins with the input with the older one (RFC 9162, 2.1.4).
///
/// Args:
///     proof: The bytes of a proof. Nothing in it is trusted.
///     old: The trusted older root.
///     new: The trusted newer root.
///
/// Raises:
///     ProofError: The proof is not valid, or is about another format, length or root: `expected` and `found`.
#[pyfunction]
pub fn check_consistency(py: Python<'_>, proof: Data<'_>, old: Root, new: Root) -> PyResult<()> {
    let checked = |bytes: &[u8]| Proof::parse(bytes)?.verify_consistency(&old.trusted(), &new.trusted());
    checked(proof.bytes()).map_err(|reason| errors::proof(py, reason))
}
