//! Proofs made and verified, both by the one join.

use super::cut::Pieces;
use crate::lock::Lock;
use crate::{Cut, Error, Format, NodeHash, Plan, ProofError, Role, Subtree, Subtrees};
use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

impl<N: NodeHash> Format<N> {
    /// The root, and the digests that a proof for `cut` sends, in their order.
    ///
    /// Asks `source` for a tree as [`Format::root_parallel`] does, so that it costs what a root costs; a source that has
    /// inner nodes is asked only for O(arity · log n) of them, and for what is within the cut.
    ///
    /// # Errors
    /// If `source` fails or lacks a subtree.
    pub fn prove<S>(&self, source: &S, cut: Cut, plan: &Plan) -> Result<(N::Digest, Vec<N::Digest>), Error>
    where
        S: Subtrees<N> + Sync,
    {
        let pieces = cut.pieces(usize::MAX).expect("no more than there are");
        let picked = Lock::new(known(pieces.sent.clone(), &vec![self.nodes.zero(); pieces.sent.len()]));
        let picking = Picking { source, cut, picked: &picked };
        let root = match cut.top() {
            Subtree { start: 0, len, .. } => self.root_parallel(&picking, len, plan)?,
            tree => self.top(&picking, tree)?,
        };
        let picked = picked.into_inner();
        Ok((root, pieces.sent.iter().map(|node| picked[node].clone()).collect()))
    }

    /// The root that comes of what the verifier has of a range, and of the digests that it was sent, in their order.
    ///
    /// `held` is asked for subtrees within the cut's bytes and for the leaves at their edges, left to right. The proof
    /// holds if the root is the one that is trusted, and the cut that of a length that is trusted: see [`Binding`].
    ///
    /// [`Binding`]: crate::Binding
    ///
    /// # Errors
    /// If there are fewer or more digests than the cut asks for, or `held` fails or lacks a subtree.
    pub fn verify(&self, held: &dyn Subtrees<N>, sent: &[N::Digest], cut: Cut) -> Result<N::Digest, ProofError> {
        let Pieces { sent: nodes, .. } = self.counted(sent, cut)?;
        let known = known(nodes, sent);
        Ok(self.top(&(&known, &Held { held, cut }), cut.top())?)
    }

    /// The roots of the older and of the newer tree that come of the digests that the verifier was sent.
    ///
    /// `held` is asked for the leaf that the older input ends in, if it ends in one. The older root is `old` itself where
    /// it is a node of the newer tree, as in RFC 9162, 2.1.4.2.
    ///
    /// # Errors
    /// If there are fewer or more digests than the cut asks for, `held` lacks a leaf, or the cut is not one of growth.
    pub fn verify_growth(
        &self,
        held: &dyn Subtrees<N>,
        sent: &[N::Digest],
        cut: Cut,
        old: &N::Digest,
    ) -> Result<(N::Digest, N::Digest), ProofError> {
        let node = cut.old().ok_or(ProofError::Kind { expected: "growth" })?;
        let Pieces { sent: nodes, told, .. } = self.counted(sent, cut)?;
        if node == cut.top() {
            return Ok((old.clone(), old.clone()));
        }
        let mut known = known(nodes, sent);
        let found = if told {
            known.insert(node, old.clone());
            old.clone()
        } else {
            self.top(&(&known, held), node)?
        };
        Ok((found, self.top(&(&known, &Held { held, cut }), cut.top())?))
    }

    /// The root of a tree: of a whole input, or as if it were one.
    fn top(&self, source: &dyn Subtrees<N>, tree: Subtree) -> Result<N::Digest, Error> {
        Ok(self.nodes.seal(self.join(source, tree, Role::Root)?, tree.len))
    }

    /// The pieces of a cut, as many as digests were sent.
    fn counted(&self, sent: &[N::Digest], cut: Cut) -> Result<Pieces, ProofError> {
        let count = |expected| ProofError::Count { expected, found: sent.len() as u64 };
        let pieces = cut.pieces(sent.len()).map_err(|_| count(None))?;
        if pieces.sent.len() < sent.len() {
            return Err(count(Some(pieces.sent.len() as u64)));
        }
        Ok(pieces)
    }
}

/// Digests by their nodes. Put in one by one: a map made of all at once brings a sort with it, which modules would have to carry.
fn known<D: Clone>(nodes: Vec<Subtree>, digests: &[D]) -> BTreeMap<Subtree, D> {
    let mut known = BTreeMap::new();
    known.extend(nodes.into_iter().zip(digests.iter().cloned()));
    known
}

/// A source that is looked into along a cut: the digests that are to be sent are picked as they are joined.
struct Picking<'a, D, S> {
    source: &'a S,
    cut: Cut,
    /// Those: the join comes to each of them, since it looks into the nodes right above.
    picked: &'a Lock<BTreeMap<Subtree, D>>,
}

impl<N: NodeHash, S: Subtrees<N>> Subtrees<N> for Picking<'_, N::Digest, S> {
    fn digest(&self, format: &Format<N>, node: Subtree, role: Role) -> Result<Option<N::Digest>, Error> {
        if node.level > 0 && self.cut.opens(node) { Ok(None) } else { self.source.digest(format, node, role) }
    }

    fn digests(&self, format: &Format<N>, nodes: &[Subtree], out: &mut Vec<N::Digest>) -> Result<(), Error> {
        if nodes.iter().any(|&node| node.level > 0 && self.cut.opens(node)) {
            for &node in nodes {
                out.push(format.join(self, node, Role::Inner)?);
            }
            return Ok(());
        }
        self.source.digests(format, nodes, out)
    }

    fn joined(&self, node: Subtree, digest: &N::Digest) {
        if let Some(picked) = self.picked.lock().get_mut(&node) {
            picked.clone_from(digest);
        }
        self.source.joined(node, digest);
    }
}

/// What a verifier has: never an answer for a node that the proof is to lead to, so that each digest sent is used.
struct Held<'a, N> {
    held: &'a dyn Subtrees<N>,
    cut: Cut,
}

impl<N: NodeHash> Subtrees<N> for Held<'_, N> {
    fn digest(&self, format: &Format<N>, node: Subtree, role: Role) -> Result<Option<N::Digest>, Error> {
        if node.level > 0 && self.cut.opens(node) { Ok(None) } else { self.held.digest(format, node, role) }
    }

    fn joined(&self, node: Subtree, digest: &N::Digest) {
        self.held.joined(node, digest);
    }
}
