//! Outboards while they are written: the order of the bytes, so that a program that is killed can resume.

use super::header::{self, Seal};
use super::inspect::rejoin;
use super::{HEADER, Header, KeptLayout, Observed, OutboardError, ReadAt, open};
use crate::{Digest, Error, Hash, Memory, Plan, Role, Spec, Subtree, Subtrees};
use alloc::vec;
use alloc::vec::Vec;

/// The offsets of the two seals, in bytes: each says how many digests are written, with a checksum.
///
/// A checkpoint overwrites the older one, so that one of them is always whole; the end overwrites both.
pub const SEALS: [u64; 2] = Seal::PLACES;

impl Header {
    /// The seal of a checkpoint, to be written at one of [`SEALS`] once the first `done` digests are on the disk.
    ///
    /// `frontier` are the digests of [`KeptLayout::frontier`].
    ///
    /// # Errors
    /// As [`Header::encode`].
    pub fn checkpoint(&self, done: u64, frontier: impl IntoIterator<Item = Digest>) -> Result<Vec<u8>, OutboardError> {
        self.seal(done, &frontier_sum(frontier))
    }

    /// The seal of a finished outboard, to be written at each of [`SEALS`] once all digests are on the disk.
    ///
    /// # Errors
    /// As [`Header::encode`].
    pub fn finished(&self, root: Digest) -> Result<Vec<u8>, OutboardError> {
        self.seal(self.layout()?.count(), root.as_bytes())
    }

    fn seal(&self, done: u64, value: &[u8]) -> Result<Vec<u8>, OutboardError> {
        let mut seal = Seal { done, value: [0; Hash::MAX_SIZE] };
        seal.value[..value.len()].copy_from_slice(value);
        Ok(seal.encode(&self.encode()?).into())
    }
}

fn frontier_sum(frontier: impl IntoIterator<Item = Digest>) -> [u8; 32] {
    let mut digests = b"frontier".to_vec();
    frontier.into_iter().for_each(|digest| digests.extend_from_slice(digest.as_bytes()));
    header::checksum(&[&digests])
}

/// An outboard that is not finished: the part that its last checkpoint vouches for.
#[derive(Clone, Debug)]
pub struct PartialOutboard {
    header: Header,
    /// The offset of the seal that vouches for this part, in bytes.
    seal: Option<u64>,
    done: u64,
    frontier: Vec<(Subtree, Digest)>,
}

impl PartialOutboard {
    /// Reads an unfinished outboard.
    ///
    /// # Errors
    /// If not even its header is whole. A checkpoint whose digests are missing or changed counts as none.
    pub fn open(bytes: &impl ReadAt) -> Result<PartialOutboard, Error> {
        let (header, mut seals) = open(bytes)?;
        let (layout, spec) = (header.layout()?, &header.spec);
        let size = spec.hash().size();
        seals.sort_by_key(|(_, seal)| core::cmp::Reverse(seal.done));
        for (place, seal) in seals {
            let there = (bytes.size() - HEADER) / size as u64;
            if seal.done == 0 || seal.done > layout.count().min(there) {
                continue;
            }
            // All digests are there: the frontier is that without the root's, which the file may no longer have.
            let root = layout.root().filter(|_| seal.done == layout.count());
            let done = seal.done - u64::from(root.is_some());
            let read = |node: Subtree| {
                let mut digest = vec![0; size];
                let place = layout.place(node).expect("a frontier is kept");
                bytes.read_at(HEADER + place * size as u64, &mut digest).map(|()| (node, Digest::new(&digest)))
            };
            let frontier = layout.frontier(done).into_iter().map(read).collect::<Result<Vec<_>, _>>()?;
            let sum = frontier_sum(frontier.iter().map(|(_, digest)| *digest));
            let whole = match root {
                Some(root) => {
                    let top = rejoin(spec, bytes, layout, (root, Role::Root))?;
                    let root = spec.seal(top.digest, layout.len());
                    top.differing.is_empty() && root.digest() == seal.value[..size]
                }
                None => seal.value[..32] == sum && is_whole(spec, bytes, layout, &frontier)?,
            };
            if whole {
                return Ok(PartialOutboard { header, seal: Some(place as u64), done, frontier });
            }
        }
        Ok(PartialOutboard { header, seal: None, done: 0, frontier: Vec::new() })
    }

    /// The facts about its file.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The number of digests that are there.
    pub fn done(&self) -> u64 {
        self.done
    }

    /// The index in [`SEALS`] of the seal that the next checkpoint overwrites: not the one that vouches for this part.
    pub fn next_seal(&self) -> usize {
        usize::from(self.seal == Some(SEALS[0]))
    }

    /// The digests that cover this part, as [`KeptLayout::frontier`] orders them: [`Spec::root_resumed`] continues from
    /// them.
    pub fn into_frontier(self) -> Vec<(Subtree, Digest)> {
        self.frontier
    }
}

/// Whether the digests below a frontier make it.
fn is_whole(
    spec: &Spec,
    bytes: &impl ReadAt,
    layout: KeptLayout,
    frontier: &[(Subtree, Digest)],
) -> Result<bool, Error> {
    for (node, digest) in frontier {
        let rejoined = rejoin(spec, bytes, layout, (*node, Role::Inner))?;
        if rejoined.digest != *digest || !rejoined.differing.is_empty() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The outboard of bytes in memory, with digests of subtrees of at most `at_most` bytes, and at least leaves.
///
/// # Errors
/// If the format has no root for this length.
pub fn keep(spec: &Spec, at_most: u64, bytes: &[u8]) -> Result<Vec<u8>, Error> {
    keep_from(spec, at_most, bytes.len() as u64, &Memory::new(bytes))
}

/// The outboard of an input of `len` bytes: [`keep`] from any source, such as the [`Pieces`](crate::Pieces) of a plan with the same
/// `at_most`, which others hashed.
///
/// # Errors
/// If the format has no root for this length, or `source` fails or lacks a leaf.
pub fn keep_from(spec: &Spec, at_most: u64, len: u64, source: &(dyn Subtrees + Sync)) -> Result<Vec<u8>, Error> {
    let unit = KeptLayout::unit_within(spec.shape(), at_most);
    let header = Header { spec: spec.clone(), len, unit, identity: None };
    let (mut outboard, layout) = (header.encode()?, header.layout()?);
    let mut append = |_, digest: &Digest| {
        outboard.extend_from_slice(digest.as_bytes());
        Ok(())
    };
    let observed = Observed::new(source, layout.post_order(0), &mut append);
    let plan = Plan { threads: 1, piece: layout.unit(), group: 1 };
    let joined = spec.root_parallel(&observed, layout.len(), &plan);
    let root = observed.finish(joined)?;
    let seal = header.finished(root.digest())?;
    for place in SEALS.map(|place| place as usize) {
        outboard[place..place + seal.len()].copy_from_slice(&seal);
    }
    Ok(outboard)
}
