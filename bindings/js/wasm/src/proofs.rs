//! Proofs made and verified.

use crate::refusal::Refusal;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use mksum::{Claim, Proof, Spec, Trusted};

/// A proof, as it is sent.
pub fn prove(spec: &Spec, input: &[u8], claim: &Claim) -> Result<Vec<u8>, Refusal> {
    let proof = match claim {
        Claim::Range(range) => Proof::of_range(spec, input, range.clone()),
        &Claim::Growth(old) => Proof::of_growth(spec, input, old),
    };
    Ok(proof?.to_bytes())
}

/// Facts of a proof, a line each: the format, the input's length, `range` or `growth`, the range's or the older input's
/// begin and end, the number of digests.
pub fn facts(proof: &[u8]) -> Result<String, Refusal> {
    let proof = Proof::parse(proof)?;
    let (kind, start, end) = match proof.claim() {
        Claim::Range(range) => ("range", range.start, range.end),
        Claim::Growth(old) => ("growth", 0, *old),
    };
    Ok(format!("{}\n{}\n{kind}\n{start}\n{end}\n{}", proof.spec(), proof.len(), proof.digests().len()))
}

/// What a verifier trusts, from lines: the format, the root as it is written, and the length or nothing.
fn trusted(lines: &mut core::str::Lines) -> Result<Trusted, Refusal> {
    let mut line = || lines.next().unwrap_or_default();
    let spec: Spec = line().parse()?;
    let root = spec.told(line())?;
    Ok(Trusted { spec, root, len: line().parse().ok() })
}

/// Checks a range's bytes against the root that is trusted: three lines.
pub fn verify_range(proof: &[u8], text: &str, bytes: &[u8]) -> Result<(), Refusal> {
    Ok(Proof::parse(proof)?.verify_range(&trusted(&mut text.lines())?, bytes)?)
}

/// Checks growth against the older root and the newer one: three lines each.
pub fn verify_growth(proof: &[u8], text: &str) -> Result<(), Refusal> {
    let mut lines = text.lines();
    let (old, new) = (trusted(&mut lines)?, trusted(&mut lines)?);
    Ok(Proof::parse(proof)?.verify_growth(&old, &new)?)
}
