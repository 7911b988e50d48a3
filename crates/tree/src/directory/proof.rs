//! Proofs that an entry is in a directory.

use super::{DirectorySpec, Entry, EntryError, Leaves};
use crate::proof::{Claim, Proof, ProofError, Trusted};
use crate::{ClaimedRoot, Digest, Error, Plan, Role, Root, Spec, Subtree, Subtrees};
use alloc::vec::Vec;
use core::fmt;

/// A proof that an entry is in the directory with a root: the entry, and O(log n) digests.
///
/// Nothing in it is trusted: it is valid if it recomputes the trusted root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryProof {
    entry: Vec<u8>,
    proof: Proof,
}

impl EntryProof {
    /// The first bytes of every such proof.
    pub const MAGIC: [u8; 8] = *b"mksument";

    /// The proof that the entry with these bytes, the one with this index, is among `leaves`; and the root.
    ///
    /// # Errors
    /// If there is no such entry.
    pub fn new(leaves: &Leaves, index: u64, entry: Vec<u8>) -> Result<(Root, EntryProof), EntryProofError> {
        let (tree, len) = (leaves.spec.tree(), leaves.len());
        if !leaves.spec.has_proofs() {
            return Err(EntryError::Folders.into());
        }
        let claim = Claim::Range(index..index.saturating_add(1));
        let cut = claim.cut(tree, len)?;
        let (root, digests) =
            tree.prove(leaves, cut, &Plan { threads: 1, piece: 1, group: 1 }).map_err(ProofError::Join)?;
        let proof = Proof::new(tree, len, claim, digests, Vec::new())?;
        Ok((root, EntryProof { entry, proof }))
    }

    /// Checks it against a trusted root, and returns the entry.
    ///
    /// # Errors
    /// If it does not recompute the root, or the entry is none of this format.
    pub fn verify(&self, spec: &DirectorySpec, root: &ClaimedRoot) -> Result<Entry<'_>, EntryProofError> {
        if !spec.has_proofs() {
            return Err(EntryError::Folders.into());
        }
        let trusted = Trusted { spec: spec.tree().clone(), root: root.clone(), len: None };
        self.proof.verify_from(&trusted, &One(spec.leaf(&self.entry)))?;
        Ok(Entry::parse(spec, &self.entry)?)
    }

    /// The number of entries, as the proof has it, and the index of this one.
    pub fn place(&self) -> (u64, u64) {
        (self.proof.claim().bytes().start, self.proof.len())
    }

    /// The number of digests.
    pub fn digests(&self) -> usize {
        self.proof.digests().len()
    }

    /// The proof as it is sent (`spec/directory.md`).
    pub fn to_bytes(&self) -> Vec<u8> {
        let len = (self.entry.len() as u64).to_le_bytes();
        [&Self::MAGIC[..], &len, &self.entry, &self.proof.to_bytes()].concat()
    }

    /// Reads a proof: the whole of `bytes`.
    ///
    /// # Errors
    /// If they are none.
    pub fn parse(bytes: &[u8]) -> Result<EntryProof, EntryProofError> {
        let rest = bytes.strip_prefix(&Self::MAGIC).ok_or(EntryProofError::Magic)?;
        let (len, rest) = rest.split_at_checked(8).ok_or(EntryError::Malformed)?;
        let len = u64::from_le_bytes(len.try_into().expect("eight bytes"));
        let len = usize::try_from(len).map_err(|_| EntryError::Malformed)?;
        let (entry, proof) = rest.split_at_checked(len).ok_or(EntryError::Malformed)?;
        Ok(EntryProof { entry: entry.into(), proof: Proof::parse(proof)? })
    }
}

/// The one leaf that a proof is about.
struct One(Digest);

impl Subtrees for One {
    fn digest(&self, _: &Spec, node: Subtree, _: Role) -> Result<Option<Digest>, Error> {
        Ok((node.level == 0).then_some(self.0))
    }
}

/// The reason why a proof of a directory's entry does not exist or is not valid.
#[derive(Debug)]
pub enum EntryProofError {
    /// The bytes do not begin as those of a proof.
    Magic,
    /// The entry is none.
    Entry(EntryError),
    /// The proof about it is not valid.
    Proof(ProofError),
}

impl fmt::Display for EntryProofError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EntryProofError::Magic => {
                f.write_str("not a proof about an entry of a directory: expected the bytes 'mksument'")
            }
            EntryProofError::Entry(error) => error.fmt(f),
            EntryProofError::Proof(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for EntryProofError {}

impl From<EntryError> for EntryProofError {
    fn from(error: EntryError) -> Self {
        EntryProofError::Entry(error)
    }
}

impl From<ProofError> for EntryProofError {
    fn from(error: ProofError) -> Self {
        EntryProofError::Proof(error)
    }
}
