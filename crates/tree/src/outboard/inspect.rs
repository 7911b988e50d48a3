//! The digests of an outboard against each other: which of them are right, as far as they alone can tell.

use super::{HEADER, Kept, Outboard, ReadAt, Telling};
use crate::framed::padded;
use crate::{Error, Format, NodeHash, Role, Subtree, Subtrees};
use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;
use core::cell::RefCell;

/// Stored digests in post-order, read many at a time.
pub(super) struct InOrder<'a, R: ?Sized> {
    bytes: &'a R,
    /// The offset of the next byte that is not in the buffer, and the end of those wanted.
    next: u64,
    end: u64,
    buffer: Vec<u8>,
    used: usize,
    /// The bytes of a digest.
    size: usize,
}

impl<'a, R: ReadAt + ?Sized> InOrder<'a, R> {
    /// The digests of a kept node's subtree, `size` bytes each.
    pub fn under(bytes: &'a R, kept: Kept, node: Subtree, size: usize) -> Self {
        let last = kept.place(node).expect("a kept node");
        let (end, first) = (last + 1, last + 1 - kept.under(node));
        let offset = |place: u64| HEADER + place * size as u64;
        InOrder { bytes, next: offset(first), end: offset(end), buffer: Vec::new(), used: 0, size }
    }

    /// The next digest.
    pub fn next<const D: usize>(&mut self) -> Result<[u8; D], Error> {
        if self.used == self.buffer.len() {
            let most = (1 << 16) / self.size * self.size;
            self.buffer.resize((self.end - self.next).min(most as u64) as usize, 0);
            self.bytes.read_at(self.next, &mut self.buffer)?;
            (self.next, self.used) = (self.next + self.buffer.len() as u64, 0);
        }
        let digest = padded(&self.buffer[self.used..][..self.size]);
        self.used += self.size;
        Ok(digest)
    }
}

/// What the units of a subtree make of it.
pub(super) struct Rejoined<D> {
    /// The digest of the whole.
    pub digest: D,
    /// The nodes that are stored otherwise, with what their units make.
    pub differing: BTreeMap<Subtree, D>,
}

/// Joins the stored units below `top` again, and compares every node above them with what is stored.
pub(super) fn rejoin<const D: usize, N: NodeHash<Digest = [u8; D]>, R: ReadAt + ?Sized>(
    format: &Format<N>,
    bytes: &R,
    kept: Kept,
    size: usize,
    (top, role): (Subtree, Role),
) -> Result<Rejoined<[u8; D]>, Error> {
    let stored = RefCell::new(InOrder::under(bytes, kept, top, size));
    let units = Units { kept, stored: &stored };
    let mut differing = BTreeMap::new();
    let compare = |node: Subtree, digest: &[u8; D]| {
        if !kept.is_unit(node) && stored.borrow_mut().next::<D>()? != *digest {
            differing.insert(node, *digest);
        }
        Ok(())
    };
    let telling = Telling::new(&units, kept.post_order_under(top), compare);
    let joined = format.join(&telling, top, role);
    let digest = telling.finish(joined)?;
    Ok(Rejoined { digest, differing })
}

/// Units as they are stored, asked for from left to right.
struct Units<'a, 'b, R: ?Sized> {
    kept: Kept,
    stored: &'a RefCell<InOrder<'b, R>>,
}

impl<const D: usize, N: NodeHash<Digest = [u8; D]>, R: ReadAt + ?Sized> Subtrees<N> for Units<'_, '_, R> {
    fn digest(&self, _: &Format<N>, node: Subtree, _: Role) -> Result<Option<[u8; D]>, Error> {
        if self.kept.is_unit(node) { self.stored.borrow_mut().next().map(Some) } else { Ok(None) }
    }
}

/// What a digest must be, to be right.
#[derive(Clone, Copy, Debug)]
pub(super) enum Truth<D> {
    /// This one.
    Digest(D),
    /// The one that the root is made of.
    Root,
}

/// What the outboard alone can tell of the digests below a node.
#[derive(Debug)]
pub(super) struct Inspection<D> {
    /// The nodes whose stored digest is wrong, the right one being known, in their order.
    pub wrong: Vec<Subtree>,
    /// The nodes below which some digest is wrong and nothing tells which, left to right, with what they must be.
    pub blind: Vec<(Subtree, Truth<D>)>,
}

impl<R: ReadAt> Outboard<R> {
    /// Whether `digest` is what `node` must have.
    pub(super) fn fits<const D: usize, N: NodeHash<Digest = [u8; D]>>(
        &self,
        format: &Format<N>,
        truth: Truth<[u8; D]>,
        digest: [u8; D],
    ) -> bool {
        match truth {
            Truth::Digest(right) => right == digest,
            Truth::Root => format.nodes.seal(digest, self.len()) == padded(&self.root),
        }
    }

    /// Tells right digests from wrong ones below `top`, of which the truth is known.
    pub(super) fn inspect<const D: usize, N: NodeHash<Digest = [u8; D]>>(
        &self,
        format: &Format<N>,
        top: Subtree,
        truth: Truth<[u8; D]>,
    ) -> Result<Inspection<[u8; D]>, Error> {
        let mut found = Inspection { wrong: Vec::new(), blind: Vec::new() };
        let role = role(truth);
        let Rejoined { digest, differing } = rejoin(format, &self.bytes, self.kept, self.size(), (top, role))?;
        if !self.fits(format, truth, self.stored(top)?.expect("it is kept")) {
            found.wrong.push(top);
        }
        if self.fits(format, truth, digest) {
            // The units are right, and whatever is stored otherwise than they make it is wrong.
            found.wrong.extend(differing.into_keys().filter(|&node| node != top));
        } else {
            self.weigh(format, (top, truth), &differing, &mut found)?;
        }
        Ok(found)
    }

    /// Tells right digests from wrong ones below a node that is doubted, in the order of nodes.
    fn weigh<const D: usize, N: NodeHash<Digest = [u8; D]>>(
        &self,
        format: &Format<N>,
        (node, truth): (Subtree, Truth<[u8; D]>),
        differing: &BTreeMap<Subtree, [u8; D]>,
        found: &mut Inspection<[u8; D]>,
    ) -> Result<(), Error> {
        let children: Vec<_> = self.kept.children(node).collect();
        let mut candidates = Vec::new();
        for child in &children {
            let stored = self.stored(*child)?.expect("it is kept");
            candidates.push([Some(stored), differing.get(child).copied()].into_iter().flatten().collect());
        }
        let Some(chosen) = self.choose(format, node, truth, &candidates) else {
            found.blind.push((node, truth));
            return Ok(());
        };
        for ((child, candidates), digest) in children.into_iter().zip(candidates).zip(chosen) {
            if digest == candidates[0] && candidates.len() > 1 {
                self.weigh(format, (child, Truth::Digest(digest)), differing, found)?;
                continue;
            }
            // Its own digest is known now: whatever is stored otherwise than the units make it below is wrong.
            if digest != candidates[0] {
                found.wrong.push(child);
            }
            found.wrong.extend(differing.keys().filter(|&&below| below != child && is_below(below, child)));
        }
        Ok(())
    }

    /// One digest for each child, of those that it may have, so that they make what `node` must be.
    pub(super) fn choose<const D: usize, N: NodeHash<Digest = [u8; D]>>(
        &self,
        format: &Format<N>,
        node: Subtree,
        truth: Truth<[u8; D]>,
        candidates: &[Vec<[u8; D]>],
    ) -> Option<Vec<[u8; D]>> {
        /// Where more than a handful are in doubt, their mixtures are not all tried.
        const TRIES: usize = 4096;
        if candidates.is_empty() {
            return None;
        }
        let padding = format.padding(node);
        let makes = |digests: &[[u8; D]]| {
            let all = [digests, &padding].concat();
            self.fits(format, truth, format.nodes.parent(&all, role(truth)))
        };
        let last: Vec<_> = candidates.iter().map(|digests| *digests.last().expect("one at least")).collect();
        if makes(&last) {
            return Some(last);
        }
        let mut choice = vec![0; candidates.len()];
        for _ in 0..TRIES {
            let digests: Vec<_> = choice.iter().zip(candidates).map(|(&index, digests)| digests[index]).collect();
            if makes(&digests) {
                return Some(digests);
            }
            // The next mixture: as one counts.
            let place = choice.iter().zip(candidates).position(|(&index, digests)| index + 1 < digests.len())?;
            choice[..place].fill(0);
            choice[place] += 1;
        }
        None
    }
}

/// Whether `node` is `above` or below it.
pub(super) fn is_below(node: Subtree, above: Subtree) -> bool {
    node.start >= above.start && node.end() <= above.end() && node.level <= above.level
}

/// The role of a node of which this is the truth.
pub(super) fn role<D>(truth: Truth<D>) -> Role {
    match truth {
        Truth::Digest(_) => Role::Inner,
        Truth::Root => Role::Root,
    }
}
