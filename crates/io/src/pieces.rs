//! The digests of a file's pieces, in two formats from one read.

use crate::holes::Sparse;
use crate::{Error, File};
use mksum::{Digest, Digests, Messages, Plan, Role, Root, Shape, Spec, Subtree, Subtrees};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// The digests of a file's pieces.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Pieces {
    /// The root of the file.
    pub root: Root,
    /// The digest of each piece, left to right: that of a node as long as a piece.
    pub digests: Vec<u8>,
    /// The digest of each piece in the second format, left to right; none without one.
    pub flat: Vec<u8>,
}

/// Hashes a file that is not empty, and each of its pieces; in the format `flat`, whose leaves are the pieces, each as a leaf as well.
///
/// # Errors
/// If the file cannot be read, or is not what it was when it was opened.
///
/// # Panics
/// If a piece is no power of two times as long as a leaf of `spec`.
pub fn hash_pieces(file: File, spec: &Spec, piece: u64, flat: Option<&Spec>) -> Result<Pieces, Error> {
    let times = piece / spec.leaf();
    assert!(times.is_power_of_two() && times * spec.leaf() == piece, "a piece of whole leaves");
    let mut plan = file.plan_of(spec, piece);
    if let Some(flat) = flat.filter(|_| !file.is_in_order()) {
        let share = file.len().div_ceil(piece).div_ceil(plan.threads as u64);
        plan = Plan { group: flat.hash().lanes().min(share as usize).max(1), ..plan };
    }
    let flat = flat.map(|flat| (flat, Sparse::of(&file, flat)));
    let sparse = Sparse::of(&file, spec);
    let source = Source { file: &file, sparse, piece, level: times.ilog2(), flat, found: Mutex::default() };
    let root =
        spec.root_parallel(&source, file.len(), &plan).map_err(|error| Error::from_join(error, file.input(), spec))?;
    let (digests, flat) = source.found.into_inner().unwrap_or_else(PoisonError::into_inner);
    file.finish()?;
    let joined =
        |digests: BTreeMap<u64, Digest>| digests.values().flat_map(|digest| digest.as_bytes().to_vec()).collect();
    Ok(Pieces { root, digests: joined(digests), flat: joined(flat) })
}

/// The nodes of a file up to those as long as a piece.
struct Source<'a> {
    file: &'a File,
    /// The file in the first format, without its holes.
    sparse: Sparse<'a>,
    piece: u64,
    /// The level of a piece's node.
    level: u32,
    flat: Option<(&'a Spec, Sparse<'a>)>,
    /// The digests of pieces, and those in the second format, by the offset of the piece.
    found: Mutex<(BTreeMap<u64, Digest>, BTreeMap<u64, Digest>)>,
}

impl Subtrees for Source<'_> {
    fn digest(&self, spec: &Spec, node: Subtree, role: Role) -> Result<Option<Digest>, mksum::Error> {
        if node.level > self.level {
            return Ok(None);
        }
        if let Some((flat, sparse)) = &self.flat {
            let digest = flat.join(sparse, Subtree { level: 0, ..node }, Role::Inner)?;
            self.note(|(_, flat)| flat.insert(node.start, digest));
        }
        Ok(Some(spec.join(&self.sparse, node, role)?))
    }

    fn digests(&self, spec: &Spec, nodes: &[Subtree], out: &mut Digests) -> Result<(), mksum::Error> {
        let is_even = matches!(spec.shape(), Shape::Even { .. });
        // A node above the pieces can have fewer bytes than one, at the end.
        let is_whole = |node: &Subtree| is_even && node.level == self.level && node.len == self.piece;
        for run in nodes.chunk_by(|one, other| is_whole(one) == is_whole(other)) {
            match (&self.flat, run) {
                (Some((flat, _)), [first, _, ..]) if is_whole(first) && !self.file.is_sparse() => {
                    self.side_by_side(spec, flat, run, out)?
                }
                (None, _) if run.iter().all(|node| node.level <= self.level) => self.sparse.digests(spec, run, out)?,
                _ => {
                    for &node in run {
                        out.push(spec.join(self, node, Role::Inner)?);
                    }
                }
            }
        }
        Ok(())
    }

    fn joined(&self, node: Subtree, digest: &Digest) {
        if node.level == self.level {
            self.note(|(digests, _)| digests.insert(node.start, *digest));
        }
    }
}

impl Source<'_> {
    fn note<R>(&self, note: impl FnOnce(&mut (BTreeMap<u64, Digest>, BTreeMap<u64, Digest>)) -> R) {
        note(&mut self.found.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Reads whole pieces side by side, slice by slice, and hashes each slice in both formats while the cache holds it.
    fn side_by_side(&self, spec: &Spec, flat: &Spec, nodes: &[Subtree], out: &mut Digests) -> Result<(), mksum::Error> {
        let leaves: Vec<_> = nodes.iter().map(|&node| Subtree { level: 0, ..node }).collect();
        let starts: Vec<_> = nodes.iter().map(|node| node.start).collect();
        let (leaf, size) = (spec.leaf() as usize, spec.hash().size());
        let mut messages = flat.leaf_hasher(&leaves);
        // The leaves of each piece, one piece after the other.
        let mut level = vec![0; nodes.len() * (size << self.level)];
        let (mut at, mut row) = (0, Digests::new(size));
        self.file.slices(&starts, self.piece, (File::PIECE, spec.leaf()), |slices| {
            messages.update(slices);
            for start in (0..slices.len()).step_by(leaf) {
                row.clear();
                let part = Messages::strided(&slices.bytes()[start..], leaf, slices.stride(), slices.count());
                spec.leaf_digests(nodes[0].start, part, &mut row);
                for (tree, digest) in level.chunks_exact_mut(size << self.level).zip(row.as_bytes().chunks_exact(size))
                {
                    tree[at..][..size].copy_from_slice(digest);
                }
                at += size;
            }
        })?;
        for _ in 0..self.level {
            let mut parents = Digests::new(size);
            spec.parent_digests(&level, &mut parents);
            level = parents.into_bytes();
        }
        Digests::from_bytes(size, level).iter().for_each(|digest| out.push(digest));
        let mut sums = Digests::new(flat.hash().size());
        messages.finish(&vec![&[][..]; nodes.len()], Role::Inner, &mut sums);
        self.note(|(_, flat)| flat.extend(starts.into_iter().zip(sums.iter())));
        Ok(())
    }
}
