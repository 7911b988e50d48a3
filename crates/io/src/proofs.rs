//! Proofs about files, with their outboards or without.

use crate::outboard::{Stored, is_unchanged, prove};
use crate::{Error, File};
use mksum::outboard::Outboard;
use mksum::proof::{Claim, Proof, ProofError};
use mksum::{Root, Spec};

/// The source of the digests in a proof about a file.
#[derive(Clone, Copy, Debug)]
pub enum Prover<'a> {
    /// All bytes of the file, hashed in this format.
    Whole(&'a Spec),
    /// The file's outboard: the file is read at the edges of the range only.
    Kept(&'a Outboard<Stored>),
}

/// The reason why a proof about a file could not be made.
#[derive(Debug)]
pub enum Unproven {
    /// The file or its outboard cannot be read, or the file was changed.
    File(Error),
    /// The proof does not exist, or the file differs from its outboard.
    Proof(ProofError),
}

impl From<Error> for Unproven {
    fn from(error: Error) -> Self {
        Unproven::File(error)
    }
}

impl From<ProofError> for Unproven {
    fn from(error: ProofError) -> Self {
        Unproven::Proof(error)
    }
}

impl Prover<'_> {
    /// The format of the proof.
    pub fn spec(&self) -> &Spec {
        match self {
            Prover::Whole(spec) => spec,
            Prover::Kept(outboard) => outboard.spec(),
        }
    }

    /// Returns a proof about a file, and the root that it leads to.
    ///
    /// # Errors
    /// If the claim makes no sense for this file; if the file cannot be read, changes meanwhile, or is not as it was when its outboard was
    /// written.
    pub fn prove(&self, file: File, claim: Claim) -> Result<(Root, Proof), Unproven> {
        let (spec, len) = (self.spec(), file.len());
        if let Prover::Kept(outboard) = self
            && !is_unchanged(&file, outboard.header())
        {
            let how = "its size, mtime or inode differs from those in its outboard".into();
            return Err(Error::Changed { path: file.input().clone(), how }.into());
        }
        let cut = claim.cut(spec, len)?;
        let edges = claim.edges(spec, len)?.into_iter().map(|edge| file.bytes(edge));
        let edges = edges.collect::<Result<Vec<_>, _>>()?.concat();
        let (root, digests) = match self {
            Prover::Whole(spec) => {
                let made = spec.prove(&file, cut, &file.plan(spec));
                made.map_err(|error| Error::from_join(error, file.input(), spec))?
            }
            Prover::Kept(outboard) => prove(&file, outboard, cut)?,
        };
        file.finish()?;
        if let Prover::Kept(outboard) = self
            && outboard.root() != root
        {
            return Err(ProofError::Root { expected: outboard.root().to_string(), found: root.to_string() }.into());
        }
        Ok((root, Proof::new(spec, len, claim, digests, edges)?))
    }
}
