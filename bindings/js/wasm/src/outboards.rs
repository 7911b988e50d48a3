//! Outboards: written, read, and compared with files.

use crate::pieces::pieces;
use crate::proofs;
use crate::refusal::{Class, Refusal};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use mksum::outboard::{Checked, Damage, Foreign, ForeignLayout, KeptLayout, Outboard, ReadAt, keep_from};
use mksum::proof::Claim;
use mksum::{Plan, Spec};

/// Returns the longest unit of at most `at_most` bytes, and at least a leaf.
pub fn unit(spec: &Spec, at_most: u64) -> u64 {
    KeptLayout::unit_within(spec.shape(), at_most)
}

/// Returns the outboard of an input of `len` bytes from the digests of its pieces, which are at most a [`unit`] long.
pub fn keep(spec: &Spec, len: u64, unit: u64, digests: &[u8]) -> Result<Vec<u8>, Refusal> {
    Ok(keep_from(spec, unit, len, &pieces(spec, len, unit, digests)?)?)
}

/// Returns the outboard with the digests of the tree that another program keeps over `len` bytes.
pub fn from_foreign(spec: &Spec, len: u64, tree: &[u8]) -> Result<Vec<u8>, Refusal> {
    let foreign = Foreign::open(tree, ForeignLayout::new(spec, len)?)?;
    let (mut outboard, size) = (Vec::new(), foreign.size() as usize);
    if outboard.try_reserve_exact(size).is_err() {
        return Err(Refusal::new(Class::Length, format!("{size} bytes do not fit into WebAssembly's memory")));
    }
    outboard.resize(size, 0);
    foreign.read_at(0, &mut outboard)?;
    Ok(outboard)
}

/// Returns an encoded proof of a claim about an outboard's file, from the bytes of the units in which the claim's range begins and ends:
/// where they start, and the bytes.
pub fn prove(outboard: &[u8], held: [(u64, &[u8]); 2], claim: Claim) -> Result<Vec<u8>, Refusal> {
    let outboard = Outboard::open(outboard)?;
    let (root, proof) =
        proofs::from_source(outboard.spec(), outboard.len(), u64::MAX, &Checked::new(&outboard), held, claim)?;
    if root != outboard.root() {
        return Err(Refusal::new(
            Class::Outboard,
            "the file differs from its outboard where the claim's range begins or ends",
        ));
    }
    Ok(proof)
}

/// Returns the facts of an outboard, one a line: the format, the file's length, the length of a unit, the root's text.
pub fn facts(outboard: &[u8]) -> Result<String, Refusal> {
    let outboard = Outboard::open(outboard)?;
    Ok(format!("{}\n{}\n{}\n{}", outboard.spec(), outboard.len(), outboard.layout().unit(), outboard.root()))
}

/// Returns the differences between a file and its outboard, each as four `f64`: damage to the file (0) or to the outboard
/// (1), start, length and level. `digests` are the digests of the file's pieces, which are at most a unit long.
pub fn damaged(outboard: &[u8], digests: &[u8]) -> Result<Vec<u8>, Refusal> {
    let outboard = Outboard::open(outboard)?;
    let (len, unit) = (outboard.len(), outboard.layout().unit());
    let pieces = pieces(outboard.spec(), len, unit, digests)?;
    let plan = Plan { threads: 1, piece: unit, group: 1 };
    let mut out = Vec::new();
    outboard.damaged(&pieces, 0..len, &plan, &mut |damage| {
        let (kind, node) = match damage {
            Damage::File(node) => (0.0, node),
            Damage::Outboard(node) => (1.0, node),
        };
        for number in [kind, node.start as f64, node.len as f64, f64::from(node.level)] {
            out.extend(number.to_le_bytes());
        }
        Ok(())
    })?;
    Ok(out)
}

/// Returns the digests of an outboard's units, one after the other, each checked up to the outboard's root.
pub fn units(outboard: &[u8]) -> Result<Vec<u8>, Refusal> {
    let outboard = Outboard::open(outboard)?;
    let (checked, layout, mut digests) = (Checked::new(&outboard), outboard.layout(), Vec::new());
    for unit in layout.root().into_iter().flat_map(|root| layout.units_under(root)) {
        let digest = checked.trusted(unit)?;
        digests.extend_from_slice(digest.expect("a unit is kept").as_bytes());
    }
    Ok(digests)
}
