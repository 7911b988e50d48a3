//! An outboard while it is written: which bytes go where, so that a program that is killed can go on.

use super::header::{self, Seal};
use super::inspect::rejoin;
use super::{HEADER, Header, Kept, Outboard, OutboardError, ReadAt, Telling, open};
use crate::framed::padded;
use crate::{Error, Format, Hash, Memory, NodeHash, Plan, Role, Spec, Subtree, Visitor};
use alloc::vec;
use alloc::vec::Vec;

/// Where the two copies of how far an outboard is lie, in bytes from its beginning.
///
/// A checkpoint overwrites the older one, so that the other is whole whatever happens; the end overwrites both.
pub const SEALS: [u64; 2] = Seal::PLACES;

impl Header {
    /// What a checkpoint writes at one of [`SEALS`], once the first `done` digests are on the disk: `frontier` are those
    /// of [`Kept::frontier`].
    ///
    /// # Errors
    /// As [`Header::encode`].
    pub fn checkpoint<'d>(
        &self,
        done: u64,
        frontier: impl IntoIterator<Item = &'d [u8]>,
    ) -> Result<Vec<u8>, OutboardError> {
        self.seal(done, &frontier_sum(frontier))
    }

    /// What the end writes at each of [`SEALS`], once all digests are on the disk.
    ///
    /// # Errors
    /// As [`Header::encode`].
    pub fn finished(&self, root: &[u8]) -> Result<Vec<u8>, OutboardError> {
        self.seal(self.kept()?.count(), root)
    }

    fn seal(&self, done: u64, value: &[u8]) -> Result<Vec<u8>, OutboardError> {
        let mut seal = Seal { done, value: [0; Hash::MAX_SIZE] };
        seal.value[..value.len()].copy_from_slice(value);
        Ok(seal.encode(&self.encode()?).into())
    }
}

fn frontier_sum<'d>(frontier: impl IntoIterator<Item = &'d [u8]>) -> [u8; 32] {
    let digests: Vec<_> = frontier.into_iter().collect();
    header::checksum(&[b"frontier", &digests.concat()])
}

/// An outboard that was begun and not finished: what its last checkpoint vouches for.
#[derive(Clone, Debug)]
pub struct Begun {
    header: Header,
    /// Where the seal is that vouches for them, in bytes from the beginning.
    seal: Option<u64>,
    done: u64,
    frontier: Vec<(Subtree, Vec<u8>)>,
}

impl Begun {
    /// Reads what was written of an outboard.
    ///
    /// # Errors
    /// If not even its header is whole. A checkpoint whose digests are not all there as they were counts as none.
    pub fn open(bytes: &impl ReadAt) -> Result<Begun, Error> {
        let (header, mut seals) = open(bytes)?;
        let kept = header.kept()?;
        let size = header.spec.hash().size();
        seals.sort_by_key(|(_, seal)| core::cmp::Reverse(seal.done));
        for (place, seal) in seals {
            let there = (bytes.size() - HEADER) / size as u64;
            if seal.done == 0 || seal.done > kept.count().min(there) {
                continue;
            }
            // The end was begun: all was to be there but the root's own place in the frontier.
            let root = kept.root().filter(|_| seal.done == kept.count());
            let done = seal.done - u64::from(root.is_some());
            let read = |node: Subtree| {
                let mut digest = vec![0; size];
                let place = kept.place(node).expect("a frontier is kept");
                bytes.read_at(HEADER + place * size as u64, &mut digest).map(|()| (node, digest))
            };
            let frontier = kept.frontier(done).into_iter().map(read).collect::<Result<Vec<_>, _>>()?;
            let sum = frontier_sum(frontier.iter().map(|(_, digest)| &digest[..]));
            let whole = match root {
                Some(root) => header.spec.visit(Whole { bytes, kept, size, root, value: &seal.value })?,
                None => {
                    seal.value[..32] == sum && header.spec.visit(Rejoined { bytes, kept, size, frontier: &frontier })?
                }
            };
            if whole {
                return Ok(Begun { header, seal: Some(place as u64), done, frontier });
            }
        }
        Ok(Begun { header, seal: None, done: 0, frontier: Vec::new() })
    }

    /// What it says of its file.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// How many digests are there.
    pub fn done(&self) -> u64 {
        self.done
    }

    /// Which of [`SEALS`] the next checkpoint overwrites: not the one that vouches for what is there.
    pub fn next_seal(&self) -> usize {
        usize::from(self.seal == Some(SEALS[0]))
    }

    /// The digests that cover those, as [`Kept::frontier`] has them: what [`Format::root_resumed`] goes on from.
    pub fn into_frontier(self) -> Vec<(Subtree, Vec<u8>)> {
        self.frontier
    }
}

/// Whether the digests below a frontier make it.
struct Rejoined<'a, R> {
    bytes: &'a R,
    kept: Kept,
    /// The bytes of a digest.
    size: usize,
    frontier: &'a [(Subtree, Vec<u8>)],
}

impl<R: ReadAt> Visitor for Rejoined<'_, R> {
    type Output = Result<bool, Error>;

    fn visit<const D: usize, N: NodeHash<Digest = [u8; D]>>(self, format: &Format<N>) -> Result<bool, Error> {
        for (node, digest) in self.frontier {
            let inspected = rejoin(format, self.bytes, self.kept, self.size, (*node, Role::Inner))?;
            if inspected.digest != padded(digest) || !inspected.differing.is_empty() {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Whether all digests are there and make the root.
struct Whole<'a, R> {
    bytes: &'a R,
    kept: Kept,
    /// The bytes of a digest.
    size: usize,
    root: Subtree,
    value: &'a [u8; Hash::MAX_SIZE],
}

impl<R: ReadAt> Visitor for Whole<'_, R> {
    type Output = Result<bool, Error>;

    fn visit<const D: usize, N: NodeHash<Digest = [u8; D]>>(self, format: &Format<N>) -> Result<bool, Error> {
        let inspected = rejoin(format, self.bytes, self.kept, self.size, (self.root, Role::Root))?;
        let root = format.nodes.seal(inspected.digest, self.kept.len());
        Ok(inspected.differing.is_empty() && root[..] == self.value[..D])
    }
}

/// The outboard of bytes in memory, with digests of subtrees of at most `at_most` bytes, and at least leaves.
///
/// # Errors
/// If the format has no root for this length.
pub fn keep(spec: &Spec, at_most: u64, bytes: &[u8]) -> Result<Vec<u8>, Error> {
    struct Writing<'a>(&'a Header, &'a [u8]);
    impl Visitor for Writing<'_> {
        type Output = Result<Vec<u8>, Error>;

        fn visit<const D: usize, N: NodeHash<Digest = [u8; D]>>(self, format: &Format<N>) -> Self::Output {
            let Writing(header, bytes) = self;
            let mut outboard = header.encode()?;
            let memory = Memory::new(bytes);
            let (kept, size) = (header.kept()?, header.spec.hash().size());
            let tell = |_, digest: &[u8; D]| {
                outboard.extend_from_slice(&digest[..size]);
                Ok(())
            };
            let telling = Telling::new(&memory, kept.post_order(0), tell);
            let plan = Plan { threads: 1, piece: kept.unit(), group: 1 };
            let joined = format.root_parallel(&telling, kept.len(), &plan);
            let seal = header.finished(&telling.finish(joined)?)?;
            for place in SEALS.map(|place| place as usize) {
                outboard[place..place + seal.len()].copy_from_slice(&seal);
            }
            Ok(outboard)
        }
    }
    let unit = Kept::unit_within(spec.shape(), at_most);
    let header = Header { spec: spec.clone(), len: bytes.len() as u64, unit, identity: None };
    spec.visit(Writing(&header, bytes))
}

impl<R: ReadAt> Outboard<R> {
    /// The bytes that it is read from.
    pub fn bytes(&self) -> &R {
        &self.bytes
    }
}
