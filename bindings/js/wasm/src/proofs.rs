//! Proofs: created, read and verified.

use crate::refusal::Refusal;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use mksum::Spec;
use mksum::proof::{Claim, Proof, Trusted};

/// Returns an encoded proof of the claim.
pub fn prove(spec: &Spec, input: &[u8], claim: &Claim) -> Result<Vec<u8>, Refusal> {
    let proof = match claim {
        Claim::Range(range) => Proof::of_range(spec, input, range.clone()),
        &Claim::Consistency(old) => Proof::of_consistency(spec, input, old),
    };
    Ok(proof?.to_bytes())
}

/// Returns the facts of a proof, one a line: the format, the input's length, `range` or `consistency`, start and end of the
/// range or of the older input, the number of digests.
pub fn facts(proof: &[u8]) -> Result<String, Refusal> {
    let proof = Proof::parse(proof)?;
    let (kind, start, end) = match proof.claim() {
        Claim::Range(range) => ("range", range.start, range.end),
        Claim::Consistency(old) => ("consistency", 0, *old),
    };
    Ok(format!("{}\n{}\n{kind}\n{start}\n{end}\n{}", proof.spec(), proof.len(), proof.digests().len()))
}

/// Parses the trusted data from three lines: the format, the root's text, and the length, which may be empty.
fn trusted(lines: &mut core::str::Lines) -> Result<Trusted, Refusal> {
    let mut line = || lines.next().unwrap_or_default();
    let spec: Spec = line().parse()?;
    let root = spec.claimed_root(line())?;
    Ok(Trusted { spec, root, len: line().parse().ok() })
}

/// Checks the bytes of a range against the trusted data in `text` (three lines).
pub fn verify_range(proof: &[u8], text: &str, bytes: &[u8]) -> Result<(), Refusal> {
    Ok(Proof::parse(proof)?.verify_range(&trusted(&mut text.lines())?, bytes)?)
}

/// Checks a consistency proof against the trusted data of the older and the newer root (three lines each).
pub fn verify_consistency(proof: &[u8], text: &str) -> Result<(), Refusal> {
    let mut lines = text.lines();
    let (old, new) = (trusted(&mut lines)?, trusted(&mut lines)?);
    Ok(Proof::parse(proof)?.verify_consistency(&old, &new)?)
}
