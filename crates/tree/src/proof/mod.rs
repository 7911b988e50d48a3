//! Proofs: that bytes lie in an input, and that an input begins with an older one.

mod cut;
mod error;
mod join;
mod wire;

pub use cut::Cut;
pub use error::ProofError;

use crate::formats::Binding;
use crate::{ClaimedRoot, Digests, Memory, Plan, Root, Spec, Subtrees};
use alloc::string::ToString;
use alloc::vec::Vec;
use core::ops::Range;

/// The statement that a proof shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// An inclusion proof: the bytes `start..end`, with `start < end`, lie in the input.
    Range(Range<u64>),
    /// The input begins with an older one of this length, 1 or more: a consistency proof.
    Consistency(u64),
}

/// A proof about an input: digests, and the bytes of leaves at the edges of a range.
///
/// [`Proof::parse`] and [`Proof::to_bytes`] read and write it as `spec/proofs.md` describes. Nothing in it is trusted: the
/// proof is valid if it recomputes the trusted root.
///
/// ```
/// use mksum::Spec;
/// use mksum::proof::{Proof, Trusted};
///
/// let spec: Spec = "rfc6962:sha256:4".parse()?;
/// let input = b"abcdefghijklmnopqr";
/// let root = spec.root(input)?;
///
/// // The prover has the input, makes a proof and sends it with the bytes.
/// let sent = Proof::of_range(&spec, input, 5..11)?.to_bytes();
///
/// // The verifier trusts the root, and needs nothing else.
/// Proof::parse(&sent)?.verify_range(&Trusted::from(&root), b"fghijk")?;
/// assert!(Proof::parse(&sent)?.verify_range(&Trusted::from(&root), b"fghijX").is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    spec: Spec,
    len: u64,
    claim: Claim,
    digests: Digests,
    edges: Vec<u8>,
}

/// The facts that a verifier trusts: a root, its format and, if it is known from the same place, the input's length.
#[derive(Clone, Debug)]
pub struct Trusted {
    /// The root's format.
    pub spec: Spec,
    /// The root.
    pub root: ClaimedRoot,
    /// The input's length, in bytes. [`Family::binding`](crate::formats::Family::binding) says what a proof shows without
    /// it.
    pub len: Option<u64>,
}

impl From<&Root> for Trusted {
    fn from(root: &Root) -> Self {
        Trusted { spec: root.spec().clone(), root: root.into(), len: Some(root.len()) }
    }
}

impl Proof {
    /// A proof that `range` lies in the input whose bytes are in memory.
    ///
    /// Hashes the whole input: O(n). From a file or an outboard: [`Spec::prove`] and [`Proof::new`].
    ///
    /// # Errors
    /// If the format has no root for this length, or the range is empty or not within the input.
    pub fn of_range(spec: &Spec, input: &[u8], range: Range<u64>) -> Result<Proof, ProofError> {
        Proof::of(spec, input, Claim::Range(range))
    }

    /// A proof that the input in memory begins with its first `old` bytes, as they were before it grew.
    ///
    /// # Errors
    /// If the format has no root for one of the lengths, `old` is 0 or too long, or the format's splits move.
    pub fn of_consistency(spec: &Spec, input: &[u8], old: u64) -> Result<Proof, ProofError> {
        Proof::of(spec, input, Claim::Consistency(old))
    }

    fn of(spec: &Spec, input: &[u8], claim: Claim) -> Result<Proof, ProofError> {
        let len = input.len() as u64;
        let edges = claim.edges(spec, len)?;
        let edges = edges.iter().flat_map(|edge| &input[edge.start as usize..edge.end as usize]).copied().collect();
        let plan = Plan { threads: 1, piece: 1 << 20, group: 1 };
        let (_, digests) = spec.prove(&Memory::new(input), claim.cut(spec, len)?, &plan)?;
        Proof::new(spec, len, claim, digests, edges)
    }

    /// A proof of the digests from [`Spec::prove`] and of the bytes at [`Claim::edges`], one after the other.
    ///
    /// # Errors
    /// If the claim makes no sense for an input of `len` bytes in this format, or asks for more or fewer digests or bytes.
    ///
    /// # Panics
    /// If the digests have another size than the format's.
    pub fn new(spec: &Spec, len: u64, claim: Claim, digests: Digests, edges: Vec<u8>) -> Result<Proof, ProofError> {
        assert_eq!(digests.size(), spec.hash().size(), "digests of {}", spec.hash().name());
        let cut = claim.cut(spec, len)?;
        let count = |expected| Err(ProofError::Count { expected, found: digests.len() as u64 });
        match cut.pieces(digests.len()) {
            Ok(pieces) if pieces.sent.len() == digests.len() => {}
            Ok(pieces) => return count(Some(pieces.sent.len() as u64)),
            Err(_) => return count(None),
        }
        let expected = cut.edges().iter().map(|edge| edge.end - edge.start).sum();
        let found = edges.len() as u64;
        if found != expected {
            return Err(ProofError::Bytes { expected, found });
        }
        Ok(Proof { spec: spec.clone(), len, claim, digests, edges })
    }

    /// The format that the proof says it is in.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// The length that the proof says the input has, in bytes.
    #[allow(clippy::len_without_is_empty)] // An empty input has no proof.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// The statement that it shows if it is valid.
    pub fn claim(&self) -> &Claim {
        &self.claim
    }

    /// The digests, from the lowest node up.
    pub fn digests(&self) -> &Digests {
        &self.digests
    }

    /// The bytes before and after a range that the verifier needs: the rest of the leaves at its edges.
    pub fn edges(&self) -> (&[u8], &[u8]) {
        let before = match &self.claim {
            Claim::Range(range) => {
                let edges = self.claim.edges(&self.spec, self.len).unwrap_or_default();
                edges.first().filter(|edge| edge.end == range.start).map_or(0, |edge| edge.end - edge.start) as usize
            }
            Claim::Consistency(_) => 0,
        };
        self.edges.split_at(before)
    }

    /// Checks that `bytes` are the bytes of the range in the input with the trusted root.
    ///
    /// Hashes the leaves that the range touches and O(arity · log n) nodes.
    ///
    /// # Errors
    /// If they are not, or the proof cannot show it: see [`Proof::sound`].
    pub fn verify_range(&self, trusted: &Trusted, bytes: &[u8]) -> Result<(), ProofError> {
        let Claim::Range(range) = &self.claim else { return Err(ProofError::Kind { expected: "inclusion" }) };
        if bytes.len() as u64 != range.end - range.start {
            return Err(ProofError::Bytes { expected: range.end - range.start, found: bytes.len() as u64 });
        }
        let (before, after) = self.edges();
        let start = range.start - before.len() as u64;
        let whole = [before, bytes, after].concat();
        self.verify_from(trusted, &Memory::from(start, &whole))
    }

    /// Checks the range against `source`, which is asked for the leaves that the range touches, whole, left to right.
    ///
    /// # Errors
    /// As [`Proof::verify_range`]; if `source` fails.
    pub fn verify_from(&self, trusted: &Trusted, source: &dyn Subtrees) -> Result<(), ProofError> {
        self.sound(trusted)?;
        let cut = self.claim.cut(&self.spec, self.len)?;
        self.check(trusted, self.spec.verify_range(source, &self.digests, cut)?)
    }

    /// Checks that the input with the newer root begins with the input with the older one.
    ///
    /// # Errors
    /// If it does not, or the proof cannot show it: see [`Proof::sound`].
    pub fn verify_consistency(&self, old: &Trusted, new: &Trusted) -> Result<(), ProofError> {
        let &Claim::Consistency(old_len) = &self.claim else {
            return Err(ProofError::Kind { expected: "consistency" });
        };
        self.sound(new)?;
        self.sound_for(old, old_len)?;
        let Proof { spec, len, claim, digests, edges } = self;
        let cut = claim.cut(spec, *len)?;
        let start = cut.edges().first().map_or(0, |edge| edge.start);
        let held = Memory::from(start, edges);
        let found = spec.verify_consistency(&held, digests, cut, old.root.digest())?;
        self.check(old, found.0)?;
        self.check(new, found.1)
    }

    /// Checks that the proof can show anything about this root: it is in the root's format and about its length.
    ///
    /// # Errors
    /// If it is in another format or about another length; if no length is trusted and the format hashes leaves and nodes
    /// alike.
    pub fn sound(&self, trusted: &Trusted) -> Result<(), ProofError> {
        self.sound_for(trusted, self.len)
    }

    fn sound_for(&self, trusted: &Trusted, found: u64) -> Result<(), ProofError> {
        if trusted.spec != self.spec {
            return Err(ProofError::Format { expected: trusted.spec.clone(), found: self.spec.clone() });
        }
        match trusted.len {
            Some(expected) if expected != found => Err(ProofError::TrustedLength { expected, found }),
            None if self.spec.family().binding() == Binding::Nothing => Err(ProofError::NeedsLength(self.spec.clone())),
            _ => Ok(()),
        }
    }

    fn check(&self, trusted: &Trusted, found: Root) -> Result<(), ProofError> {
        if found.matches(&trusted.root) {
            return Ok(());
        }
        Err(ProofError::Root { expected: trusted.root.text(&self.spec), found: found.to_string() })
    }
}

impl Claim {
    /// The name of a proof of this: `inclusion` or `consistency` (RFC 9162, 2.1.3 and 2.1.4).
    pub fn kind(&self) -> &'static str {
        match self {
            Claim::Range(_) => "inclusion",
            Claim::Consistency(_) => "consistency",
        }
    }

    /// The bytes that it is about: the range, or those of the older input.
    pub fn bytes(&self) -> Range<u64> {
        match self {
            Claim::Range(range) => range.clone(),
            Claim::Consistency(old) => 0..*old,
        }
    }

    /// The cut that a proof of this makes in the tree over `len` bytes.
    ///
    /// # Errors
    /// If the format has no root for a length, or the claim makes no sense for this input.
    pub fn cut(&self, spec: &Spec, len: u64) -> Result<Cut, ProofError> {
        let shape = spec.shape();
        match self {
            Claim::Range(range) => Cut::range(spec, shape.root(len), range.clone()),
            &Claim::Consistency(old) => Cut::consistency(spec, shape.root(old), len),
        }
    }

    /// The ranges of bytes that a proof carries: the rest of the leaves at the edges of a range, left to right.
    ///
    /// At most two. Empty where the claim ends at leaves.
    ///
    /// # Errors
    /// As [`Claim::cut`].
    pub fn edges(&self, spec: &Spec, len: u64) -> Result<Vec<Range<u64>>, ProofError> {
        Ok(self.cut(spec, len)?.edges())
    }
}
