//! Proofs: created, read and verified.

use crate::pieces::pieces;
use crate::refusal::Refusal;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use mksum::proof::{Claim, Proof, Trusted};
use mksum::{Memory, Plan, Root, Spec, Subtrees};

/// Returns an encoded proof of a claim about an input of `len` bytes, from the digests of its pieces, and from the bytes of the
/// pieces in which the claim's range begins and ends: where they start, and the bytes.
pub fn prove(
    spec: &Spec,
    len: u64,
    at_most: u64,
    digests: &[u8],
    held: [(u64, &[u8]); 2],
    claim: Claim,
) -> Result<Vec<u8>, Refusal> {
    Ok(from_source(spec, len, at_most, &pieces(spec, len, at_most, digests)?, held, claim)?.1)
}

/// Returns a root and the encoded proof of a claim, from a source of digests and as [`prove`] from bytes. The join asks for pieces of at
/// most so many bytes.
pub fn from_source(
    spec: &Spec,
    len: u64,
    piece: u64,
    digests: &(dyn Subtrees + Sync),
    held: [(u64, &[u8]); 2],
    claim: Claim,
) -> Result<(Root, Vec<u8>), Refusal> {
    let mut sent = Vec::new();
    for edge in claim.edges(spec, len)? {
        let own = held.iter().find_map(|&(start, bytes)| {
            let from = edge.start.checked_sub(start)? as usize;
            bytes.get(from..from + (edge.end - edge.start) as usize)
        });
        // A proof is not made without them.
        sent.extend_from_slice(own.unwrap_or_default());
    }
    let [first, last] = held.map(|(start, bytes)| Memory::from(start, bytes));
    let plan = Plan { threads: 1, piece, group: 1 };
    let (root, found) = spec.prove(&(first, (last, digests)), claim.cut(spec, len)?, &plan)?;
    Ok((root, Proof::new(spec, len, claim, found, sent)?.to_bytes()))
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
