//! The digests of an outboard compared with each other: right and wrong ones, as far as they alone can show.

use super::{HEADER, KeptLayout, Observed, Outboard, ReadAt};
use crate::lock::Lock;
use crate::{Digest, Error, Role, Spec, Subtree, Subtrees};
use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

/// Stored digests in post-order, read many at a time.
pub(super) struct InOrder<'a, R: ?Sized> {
    bytes: &'a R,
    /// The offset of the next byte that is not in the buffer, and the end of the digests wanted.
    next: u64,
    end: u64,
    buffer: Vec<u8>,
    used: usize,
    /// The size of a digest, in bytes.
    size: usize,
}

impl<'a, R: ReadAt + ?Sized> InOrder<'a, R> {
    /// The digests of a kept node's subtree, `size` bytes each.
    pub fn under(bytes: &'a R, layout: KeptLayout, node: Subtree, size: usize) -> Self {
        let last = layout.place(node).expect("a kept node");
        let (end, first) = (last + 1, last + 1 - layout.under(node));
        let offset = |place: u64| HEADER + place * size as u64;
        InOrder { bytes, next: offset(first), end: offset(end), buffer: Vec::new(), used: 0, size }
    }

    /// The next digest.
    pub fn next(&mut self) -> Result<Digest, Error> {
        if self.used == self.buffer.len() {
            let most = (1 << 16) / self.size * self.size;
            self.buffer.resize((self.end - self.next).min(most as u64) as usize, 0);
            self.bytes.read_at(self.next, &mut self.buffer)?;
            (self.next, self.used) = (self.next + self.buffer.len() as u64, 0);
        }
        let digest = Digest::new(&self.buffer[self.used..][..self.size]);
        self.used += self.size;
        Ok(digest)
    }
}

/// A subtree joined again from its stored units.
pub(super) struct Rejoined {
    /// The digest of the whole.
    pub digest: Digest,
    /// The nodes whose stored digest differs, with the digest that their units make.
    pub differing: BTreeMap<Subtree, Digest>,
}

/// Joins the stored units below `top` again, and compares every node above them with its stored digest.
pub(super) fn rejoin<R: ReadAt + ?Sized>(
    spec: &Spec,
    bytes: &R,
    layout: KeptLayout,
    (top, role): (Subtree, Role),
) -> Result<Rejoined, Error> {
    let stored = Lock::new(InOrder::under(bytes, layout, top, spec.hash().size()));
    let units = Units { layout, stored: &stored };
    let mut differing = BTreeMap::new();
    let mut compare = |node: Subtree, digest: &Digest| {
        if !layout.is_unit(node) && stored.lock().next()? != *digest {
            differing.insert(node, *digest);
        }
        Ok(())
    };
    let observed = Observed::new(&units, layout.post_order_under(top), &mut compare);
    let joined = spec.join(&observed, top, role);
    let digest = observed.finish(joined)?;
    Ok(Rejoined { digest, differing })
}

/// Units as they are stored, asked for left to right.
struct Units<'a, 'b, R: ?Sized> {
    layout: KeptLayout,
    stored: &'a Lock<InOrder<'b, R>>,
}

impl<R: ReadAt + ?Sized> Subtrees for Units<'_, '_, R> {
    fn digest(&self, _: &Spec, node: Subtree, _: Role) -> Result<Option<Digest>, Error> {
        if self.layout.is_unit(node) { self.stored.lock().next().map(Some) } else { Ok(None) }
    }
}

/// The condition that a right digest of a node meets.
#[derive(Clone, Copy, Debug)]
pub(super) enum Truth {
    /// The right digest is known.
    Digest(Digest),
    /// The root is made of it.
    Root,
}

impl Truth {
    /// The role of the node.
    pub fn role(self) -> Role {
        match self {
            Truth::Digest(_) => Role::Inner,
            Truth::Root => Role::Root,
        }
    }
}

/// The digests below a node, judged by the outboard alone.
#[derive(Debug)]
pub(super) struct Inspection {
    /// The nodes whose stored digest is wrong, the right one being known, in their order.
    pub wrong: Vec<Subtree>,
    /// The nodes below which some digest is wrong and it is not known which, left to right.
    pub blind: Vec<(Subtree, Truth)>,
}

impl<R: ReadAt> Outboard<R> {
    /// Whether `digest` is right for a node of which this is the truth.
    pub(super) fn fits(&self, truth: Truth, digest: Digest) -> bool {
        match truth {
            Truth::Digest(right) => right == digest,
            Truth::Root => self.is_top(digest),
        }
    }

    /// Sorts right digests from wrong ones below `top`, of which this is the truth.
    pub(super) fn inspect(&self, top: Subtree, truth: Truth) -> Result<Inspection, Error> {
        let mut found = Inspection { wrong: Vec::new(), blind: Vec::new() };
        let Rejoined { digest, differing } = rejoin(self.spec(), &self.bytes, self.layout, (top, truth.role()))?;
        if !self.fits(truth, self.stored(top)?.expect("it is kept")) {
            found.wrong.push(top);
        }
        if self.fits(truth, digest) {
            // The units are right, so every stored digest that differs is wrong.
            found.wrong.extend(differing.into_keys().filter(|&node| node != top));
        } else {
            self.weigh((top, truth), &differing, &mut found)?;
        }
        Ok(found)
    }

    /// Sorts right digests from wrong ones below a node that is doubted, in the order of nodes.
    fn weigh(
        &self,
        (node, truth): (Subtree, Truth),
        differing: &BTreeMap<Subtree, Digest>,
        found: &mut Inspection,
    ) -> Result<(), Error> {
        let children: Vec<_> = self.layout.children(node).collect();
        let candidates = self.candidates(&children, differing)?;
        let Some(chosen) = self.choose(node, truth, &candidates) else {
            found.blind.push((node, truth));
            return Ok(());
        };
        for ((child, candidates), digest) in children.into_iter().zip(candidates).zip(chosen) {
            if digest == candidates[0] && candidates.len() > 1 {
                self.weigh((child, Truth::Digest(digest)), differing, found)?;
                continue;
            }
            // Its digest is known now, so every stored digest below that differs is wrong.
            if digest != candidates[0] {
                found.wrong.push(child);
            }
            found.wrong.extend(differing.keys().filter(|&&below| below != child && is_below(below, child)));
        }
        Ok(())
    }

    /// The digests that each child may have: the stored one, then one that was found otherwise.
    pub(super) fn candidates(
        &self,
        children: &[Subtree],
        differing: &BTreeMap<Subtree, Digest>,
    ) -> Result<Vec<Vec<Digest>>, Error> {
        let of = |child: &Subtree| {
            let stored = self.stored(*child)?.expect("it is kept");
            Ok([Some(stored), differing.get(child).copied()].into_iter().flatten().collect())
        };
        children.iter().map(of).collect()
    }

    /// Chooses a candidate of each child so that together they make a right digest of `node`.
    pub(super) fn choose(&self, node: Subtree, truth: Truth, candidates: &[Vec<Digest>]) -> Option<Vec<Digest>> {
        /// The most mixtures of candidates that are tried.
        const TRIES: usize = 4096;
        if candidates.is_empty() {
            return None;
        }
        let makes =
            |digests: &[Digest]| self.fits(truth, self.spec().parent(node, digests.iter().copied(), truth.role()));
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
