//! Proofs from an outboard: the file itself is read only at the edges.

use super::Stored;
use crate::{Error, File};
use mksum::outboard::{Checked, Outboard};
use mksum::proof::Cut;
use mksum::{Digest, Digests, Plan, Role, Root, Spec, Subtree, Subtrees};

/// The root of `file`, and the digests that a proof for `cut` sends, in their order: see [`Spec::prove`].
///
/// Reads O(log n) digests of the outboard, and of the file the leaves at the edges.
///
/// # Errors
/// If the file cannot be read, or a digest that is needed is damaged.
pub fn prove(file: &File, outboard: &Outboard<Stored>, cut: Cut) -> Result<(Root, Digests), Error> {
    let inner = Inner { checked: Checked::new(outboard), cut };
    // One piece: only the nodes that the proof needs are asked for.
    let plan = Plan { threads: 1, piece: u64::MAX, group: 1 };
    let made = outboard.spec().prove(&(inner, file), cut, &plan);
    made.map_err(|error| Error::from_join(error, file.input(), outboard.spec()))
}

/// An outboard without the leaves at the edges: their bytes are in the proof, so the file has to answer for them.
struct Inner<'a> {
    checked: Checked<'a, Stored>,
    cut: Cut,
}

impl Subtrees for Inner<'_> {
    fn digest(&self, spec: &Spec, node: Subtree, role: Role) -> Result<Option<Digest>, mksum::Error> {
        if self.cut.opens(node) { Ok(None) } else { self.checked.digest(spec, node, role) }
    }
}
