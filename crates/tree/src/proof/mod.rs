//! Proofs: that bytes lie in an input, and that an input begins with an older one.

mod cut;
mod error;
mod join;
mod wire;

pub use cut::Cut;
pub use error::ProofError;

use crate::framed::padded;
use crate::{Binding, Format, Memory, NodeHash, Plan, Root, Source, Spec, Told, Visitor};
use alloc::string::ToString;
use alloc::vec::Vec;
use core::ops::Range;

/// What a proof shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// That these bytes, `start..end` with `start < end`, lie in the input: an inclusion proof.
    Range(Range<u64>),
    /// That the input begins with an older one of this length, 1 or more: a consistency proof.
    Growth(u64),
}

/// A proof about an input of a length that the proof tells: digests, and the bytes of leaves at the edges.
///
/// [`Proof::parse`] and [`Proof::to_bytes`] read and write it as `spec/proofs.md` has it. Nothing in it is to be trusted:
/// it holds if the root that comes of it is the one that is.
///
/// ```
/// use mksum::{Proof, Spec, Trusted};
///
/// let spec: Spec = "rfc6962:sha256:4".parse()?;
/// let input = b"abcdefghijklmnopqr";
/// let root = spec.root(input)?;
///
/// // Who has the input makes a proof and sends it with the bytes.
/// let sent = Proof::of_range(&spec, input, 5..11)?.to_bytes();
///
/// // Who trusts the root needs nothing else.
/// Proof::parse(&sent)?.verify_range(&Trusted::from(&root), b"fghijk")?;
/// assert!(Proof::parse(&sent)?.verify_range(&Trusted::from(&root), b"fghijX").is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    spec: Spec,
    len: u64,
    claim: Claim,
    /// One after the other.
    digests: Vec<u8>,
    edges: Vec<u8>,
}

/// What a verifier trusts, all of it from one place: a root, its format and, if that place tells it, the input's length.
#[derive(Clone, Debug)]
pub struct Trusted {
    /// The root's format.
    pub spec: Spec,
    /// The root.
    pub root: Told,
    /// The input's length, in bytes; what a proof shows without it tells [`Family::binding`](crate::Family::binding).
    pub len: Option<u64>,
}

impl From<&Root> for Trusted {
    fn from(root: &Root) -> Self {
        Trusted { spec: root.spec().clone(), root: root.told(), len: Some(root.len()) }
    }
}

impl Proof {
    /// A proof that `range` lies in the input whose bytes are in memory.
    ///
    /// Hashes the whole input: O(n). From a file or an outboard: [`Format::prove`] and [`Proof::new`].
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
    pub fn of_growth(spec: &Spec, input: &[u8], old: u64) -> Result<Proof, ProofError> {
        Proof::of(spec, input, Claim::Growth(old))
    }

    fn of(spec: &Spec, input: &[u8], claim: Claim) -> Result<Proof, ProofError> {
        let len = input.len() as u64;
        let edges = claim.edges(spec, len)?;
        let edges = edges.iter().flat_map(|edge| &input[edge.start as usize..edge.end as usize]).copied().collect();
        spec.visit(Make { input: Memory::new(input), spec, len, claim, edges })
    }

    /// A proof of digests that [`Format::prove`] gave, and of the bytes at [`Claim::edges`], one after the other.
    ///
    /// # Errors
    /// If the claim makes no sense for an input of `len` bytes in this format, or asks for more or fewer digests or bytes.
    pub fn new<const N: usize>(
        spec: &Spec,
        len: u64,
        claim: Claim,
        digests: &[[u8; N]],
        edges: Vec<u8>,
    ) -> Result<Proof, ProofError> {
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
        let size = spec.hash().size();
        assert!(N >= size, "a digest of {}", spec.hash().name());
        let digests = digests.iter().flat_map(|digest| &digest[..size]).copied().collect();
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

    /// What it shows if it holds.
    pub fn claim(&self) -> &Claim {
        &self.claim
    }

    /// The digests, from the lowest up: `self.spec().hash().size()` bytes each.
    pub fn digests(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.digests.chunks_exact(self.spec.hash().size())
    }

    /// The same digests as arrays.
    ///
    /// # Panics
    /// If the hash's digests have more than `N` bytes. Fewer are followed by zeros.
    pub fn sent<const N: usize>(&self) -> Vec<[u8; N]> {
        self.digests().map(padded).collect()
    }

    /// The bytes that are sent before and after those of a range: what the verifier lacks of the leaves at its edges.
    pub fn edges(&self) -> (&[u8], &[u8]) {
        let before = match &self.claim {
            Claim::Range(range) => {
                let edges = self.claim.edges(&self.spec, self.len).unwrap_or_default();
                edges.first().filter(|edge| edge.end == range.start).map_or(0, |edge| edge.end - edge.start) as usize
            }
            Claim::Growth(_) => 0,
        };
        self.edges.split_at(before)
    }

    /// Checks that `bytes` are those of the range in the input whose root is trusted.
    ///
    /// Hashes the leaves that the range touches and O(arity · log n) nodes.
    ///
    /// # Errors
    /// If they are not, or nobody can tell: see [`Proof::sound`].
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

    /// Checks the range with what `source` has of it: the leaves that it touches, edges and all, left to right.
    ///
    /// # Errors
    /// As [`Proof::verify_range`]; if `source` fails.
    pub fn verify_from(&self, trusted: &Trusted, source: &impl Source) -> Result<(), ProofError> {
        self.sound(trusted)?;
        let found = self.spec.visit(Verify { proof: self, source })?;
        self.is(trusted, self.spec.sealed(self.len, found))
    }

    /// Checks that the input whose root is trusted begins with the older one whose root is.
    ///
    /// # Errors
    /// If it does not, or nobody can tell: see [`Proof::sound`].
    pub fn verify_growth(&self, old: &Trusted, new: &Trusted) -> Result<(), ProofError> {
        let &Claim::Growth(old_len) = &self.claim else { return Err(ProofError::Kind { expected: "consistency" }) };
        self.sound(new)?;
        self.sound_for(old, old_len)?;
        let (found_old, found_new) = self.spec.visit(VerifyGrowth { proof: self, old: old.root.digest() })?;
        self.is(old, self.spec.sealed(old_len, found_old))?;
        self.is(new, self.spec.sealed(self.len, found_new))
    }

    /// Whether the proof can show anything to somebody who trusts this: it is in the root's format and about the length.
    ///
    /// # Errors
    /// If it is in another format, or about another length; if no length is trusted and the format does not tell a leaf
    /// from a node.
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

    fn is(&self, trusted: &Trusted, found: Root) -> Result<(), ProofError> {
        if found.is(&trusted.root) {
            return Ok(());
        }
        Err(ProofError::Root { expected: trusted.root.text(&self.spec), found: found.to_string() })
    }
}

impl Claim {
    /// What a proof of this is called: `inclusion` or `consistency` (RFC 9162, 2.1.3 and 2.1.4).
    pub fn kind(&self) -> &'static str {
        match self {
            Claim::Range(_) => "inclusion",
            Claim::Growth(_) => "consistency",
        }
    }

    /// The bytes that it is about: the range, or all that the older input had.
    pub fn bytes(&self) -> Range<u64> {
        match self {
            Claim::Range(range) => range.clone(),
            Claim::Growth(old) => 0..*old,
        }
    }

    /// Where a proof of this cuts the tree over `len` bytes.
    ///
    /// # Errors
    /// If the claim makes no sense for this length in this format.
    pub fn cut(&self, spec: &Spec, len: u64) -> Result<Cut, ProofError> {
        struct At<'a>(&'a Claim, u64);
        impl Visitor for At<'_> {
            type Output = Result<Cut, ProofError>;

            fn visit<const N: usize, H: NodeHash<Digest = [u8; N]>>(self, format: &Format<H>) -> Self::Output {
                let At(claim, len) = self;
                match claim {
                    Claim::Range(range) => format.range(format.shape.root(len), range.clone()),
                    &Claim::Growth(old) => format.growth(format.shape.root(old), len),
                }
            }
        }
        spec.visit(At(self, len))
    }

    /// The ranges of bytes that a proof has to carry: what a verifier lacks of the leaves at the edges, left to right.
    ///
    /// At most two. Empty where the claim ends at leaves.
    ///
    /// # Errors
    /// As [`Claim::cut`].
    pub fn edges(&self, spec: &Spec, len: u64) -> Result<Vec<Range<u64>>, ProofError> {
        Ok(self.cut(spec, len)?.edges())
    }
}

/// Makes a proof from memory.
struct Make<'a> {
    input: Memory<'a>,
    spec: &'a Spec,
    len: u64,
    claim: Claim,
    edges: Vec<u8>,
}

impl Visitor for Make<'_> {
    type Output = Result<Proof, ProofError>;

    fn visit<const N: usize, H: NodeHash<Digest = [u8; N]>>(self, format: &Format<H>) -> Self::Output {
        let plan = Plan { threads: 1, piece: 1 << 20, group: 1 };
        let (_, digests) = format.prove(&self.input, self.claim.cut(self.spec, self.len)?, &plan)?;
        Proof::new(self.spec, self.len, self.claim, &digests, self.edges)
    }
}

/// The root that comes of a proof of a range.
struct Verify<'a, S> {
    proof: &'a Proof,
    source: &'a S,
}

impl<S: Source> Visitor for Verify<'_, S> {
    type Output = Result<Vec<u8>, ProofError>;

    fn visit<const N: usize, H: NodeHash<Digest = [u8; N]>>(self, format: &Format<H>) -> Self::Output {
        let cut = self.proof.claim.cut(&self.proof.spec, self.proof.len)?;
        Ok(format.verify(self.source.subtrees(), &self.proof.sent::<N>(), cut)?.into())
    }
}

/// The older and the newer root that come of a proof of growth.
struct VerifyGrowth<'a> {
    proof: &'a Proof,
    old: &'a [u8],
}

impl Visitor for VerifyGrowth<'_> {
    type Output = Result<(Vec<u8>, Vec<u8>), ProofError>;

    fn visit<const N: usize, H: NodeHash<Digest = [u8; N]>>(self, format: &Format<H>) -> Self::Output {
        let Proof { spec, len, claim, edges, .. } = self.proof;
        let cut = claim.cut(spec, *len)?;
        let start = cut.edges().first().map_or(0, |edge| edge.start);
        let old = padded(self.old);
        let (old, new) = format.verify_growth(&Memory::from(start, edges), &self.proof.sent::<N>(), cut, &old)?;
        Ok((old.into(), new.into()))
    }
}
