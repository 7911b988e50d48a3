//! Proofs made and verified, both by the one join.

use super::cut::Pieces;
use super::{Cut, ProofError};
use crate::lock::Lock;
use crate::{Digest, Digests, Error, Plan, Role, Root, Spec, Subtree, Subtrees};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

impl Spec {
    /// The root of the cut's tree, and the digests that a proof for `cut` sends, in their order.
    ///
    /// Asks `source` for a tree as [`Spec::root_parallel`] does, so it costs as much as a root; a source that has inner
    /// nodes is asked only for O(arity · log n) of them, and for the bytes within the cut.
    ///
    /// # Errors
    /// If `source` fails or lacks a leaf.
    pub fn prove(&self, source: &(dyn Subtrees + Sync), cut: Cut, plan: &Plan) -> Result<(Root, Digests), Error> {
        let pieces = cut.pieces(usize::MAX).expect("no more than there are");
        let mut picked = BTreeMap::new();
        picked.extend(pieces.sent.iter().map(|&node| (node, self.nodes().zero())));
        let picked = Lock::new(picked);
        let picking = Picking { source, cut, picked: &picked };
        let tree = cut.top();
        let top = self.join_parallel(&picking, tree, Role::Root, plan)?;
        let picked = picked.into_inner();
        let mut sent = Digests::new(self.hash().size());
        sent.extend(pieces.sent.iter().map(|node| picked[node]));
        Ok((self.seal(top, tree.len), sent))
    }

    /// The root of the cut's tree, from the verifier's part of a range and the digests sent, in their order.
    ///
    /// `held` is asked for subtrees within the cut's bytes and for the leaves at their edges, left to right. The proof is
    /// valid if the result is the trusted root, and the cut is that of a trusted length: see
    /// [`Binding`](crate::formats::Binding).
    ///
    /// # Errors
    /// If there are fewer or more digests than the cut asks for, or `held` fails or lacks a leaf.
    pub fn verify_range(&self, held: &dyn Subtrees, sent: &Digests, cut: Cut) -> Result<Root, ProofError> {
        let Pieces { sent: nodes, .. } = counted(sent, cut)?;
        let known = known(nodes, sent);
        Ok(self.top(&(&known, Held { held, cut }), cut.top())?)
    }

    /// The roots of the older and of the newer tree, from the digests that the verifier was sent.
    ///
    /// `held` is asked for the leaf that the older input ends in, if it ends in one. The older root is `old` itself where
    /// it is a node of the newer tree, as in RFC 9162, 2.1.4.2.
    ///
    /// # Errors
    /// If there are fewer or more digests than the cut asks for, `held` lacks a leaf, or the cut is around a range.
    pub fn verify_consistency(
        &self,
        held: &dyn Subtrees,
        sent: &Digests,
        cut: Cut,
        old: Digest,
    ) -> Result<(Root, Root), ProofError> {
        let node = cut.old().ok_or(ProofError::Kind { expected: "consistency" })?;
        let Pieces { sent: nodes, has_old } = counted(sent, cut)?;
        let old_root = Root::new(self.clone(), node.len, old);
        if node == cut.top() {
            return Ok((old_root.clone(), old_root));
        }
        let mut known = known(nodes, sent);
        let found = if has_old {
            known.insert(node, old);
            old_root
        } else {
            self.top(&(&known, held), node)?
        };
        Ok((found, self.top(&(&known, Held { held, cut }), cut.top())?))
    }

    /// The root of a tree: that of a whole input, or as if it were one.
    fn top(&self, source: &dyn Subtrees, tree: Subtree) -> Result<Root, Error> {
        Ok(self.seal(self.join(source, tree, Role::Root)?, tree.len))
    }
}

/// The pieces of a cut, as many as digests were sent.
fn counted(sent: &Digests, cut: Cut) -> Result<Pieces, ProofError> {
    let count = |expected| ProofError::Count { expected, found: sent.len() as u64 };
    let pieces = cut.pieces(sent.len()).map_err(|_| count(None))?;
    if pieces.sent.len() < sent.len() {
        return Err(count(Some(pieces.sent.len() as u64)));
    }
    Ok(pieces)
}

/// Digests by their nodes. Inserted one by one: a map made of all at once sorts them first, and modules for WebAssembly would
/// have to carry the sort.
fn known(nodes: Vec<Subtree>, digests: &Digests) -> BTreeMap<Subtree, Digest> {
    let mut known = BTreeMap::new();
    known.extend(nodes.into_iter().zip(digests.iter()));
    known
}

/// A source that is joined along a cut; the digests to be sent are picked as they are joined.
struct Picking<'a> {
    source: &'a (dyn Subtrees + Sync),
    cut: Cut,
    /// The digests to be sent. The join comes to each of them, since it looks into the nodes right above.
    picked: &'a Lock<BTreeMap<Subtree, Digest>>,
}

impl Subtrees for Picking<'_> {
    fn digest(&self, spec: &Spec, node: Subtree, role: Role) -> Result<Option<Digest>, Error> {
        if node.level > 0 && self.cut.opens(node) { Ok(None) } else { self.source.digest(spec, node, role) }
    }

    fn digests(&self, spec: &Spec, nodes: &[Subtree], out: &mut Digests) -> Result<(), Error> {
        if nodes.iter().any(|&node| node.level > 0 && self.cut.opens(node)) {
            for &node in nodes {
                out.push(spec.join(self, node, Role::Inner)?);
            }
            return Ok(());
        }
        self.source.digests(spec, nodes, out)
    }

    fn joined(&self, node: Subtree, digest: &Digest) {
        if let Some(picked) = self.picked.lock().get_mut(&node) {
            *picked = *digest;
        }
        self.source.joined(node, digest);
    }
}

/// The verifier's own source. It never answers for a node that the proof is to lead to, so that each digest sent is used.
struct Held<'a> {
    held: &'a dyn Subtrees,
    cut: Cut,
}

impl Subtrees for Held<'_> {
    fn digest(&self, spec: &Spec, node: Subtree, role: Role) -> Result<Option<Digest>, Error> {
        if node.level > 0 && self.cut.opens(node) { Ok(None) } else { self.held.digest(spec, node, role) }
    }

    fn joined(&self, node: Subtree, digest: &Digest) {
        self.held.joined(node, digest);
    }
}
