//! Where a file differs from its outboard.

use super::inspect::{InOrder, Inspection, Truth, is_below};
use super::{Checked, Observed, Outboard, OutboardError, ReadAt};
use crate::{Digest, Error, Memory, Plan, Subtree, Subtrees};
use alloc::collections::BTreeMap;
use alloc::vec::{self, Vec};
use core::iter::Peekable;
use core::mem;
use core::ops::Range;

/// A place where a file and its outboard differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// The bytes of the file under this unit are damaged.
    File(Subtree),
    /// The outboard's digest of this node is damaged; the file is judged apart from it.
    Outboard(Subtree),
}

impl<R: ReadAt> Outboard<R> {
    /// Reports to `found` each damaged unit of the bytes `range`, left to right, and the outboard's own damaged nodes.
    ///
    /// `source` answers for the file, and is asked for whole units: those that have a byte of `range`, and nothing else.
    /// Besides, this reads the outboard's nodes above them and O(log n) more. Where a stored digest is wrong, the digests
    /// around it and the file's own decide which bytes are right; where they cannot, both are reported as damaged.
    ///
    /// # Errors
    /// If `source` or `found` fails, the outboard cannot be read, or it is damaged above the range, so that only the whole
    /// file can be verified.
    pub fn damaged(
        &self,
        source: &(dyn Subtrees + Sync),
        range: Range<u64>,
        plan: &Plan,
        found: &mut (dyn FnMut(Damage) -> Result<(), Error> + Send),
    ) -> Result<(), Error> {
        let (spec, plan) = (self.spec(), Plan { piece: self.layout.unit(), ..*plan });
        let checked = Checked::new(self);
        let Some(root) = self.layout.root() else {
            let empty = spec.root_from(source, 0)?;
            return if empty == self.root() { Ok(()) } else { Err(OutboardError::Seals.into()) };
        };
        for top in self.layout.within(range) {
            let truth = match top {
                top if top == root => Truth::Root,
                top => Truth::Digest(checked.trusted(top)?.expect("it is kept")),
            };
            let Inspection { wrong, blind } = self.inspect(top, truth)?;
            for node in wrong {
                found(Damage::Outboard(node))?;
            }
            let mut comparison = Comparison {
                outboard: self,
                stored: InOrder::under(&self.bytes, self.layout, top, self.size()),
                blind: blind.into_iter().peekable(),
                differing: BTreeMap::new(),
                found: &mut *found,
            };
            let mut compare = |node, digest: &Digest| comparison.compare(node, *digest);
            let observed = Observed::new(source, self.layout.post_order_under(top), &mut compare);
            let joined = spec.join_parallel(&observed, top, truth.role(), &plan);
            observed.finish(joined)?;
        }
        Ok(())
    }

    /// The damaged units of bytes in memory: see [`Outboard::damaged`].
    ///
    /// ```
    /// use mksum::outboard::{Outboard, keep};
    ///
    /// let spec: mksum::Spec = "glacier".parse()?;
    /// let bytes = vec![7; 3 << 20];
    /// let outboard = Outboard::open(keep(&spec, 1 << 20, &bytes)?)?;
    /// assert!(outboard.damaged_in(&bytes)?.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If there are fewer bytes than the file had, or the outboard is damaged.
    pub fn damaged_in(&self, bytes: &[u8]) -> Result<Vec<Subtree>, Error> {
        let plan = Plan { threads: 1, piece: self.layout.unit(), group: 1 };
        let mut all = Vec::new();
        self.damaged(&Memory::new(bytes), 0..self.len(), &plan, &mut |damage| match damage {
            Damage::File(unit) => {
                all.push(unit);
                Ok(())
            }
            Damage::Outboard(node) => Err(OutboardError::Node(node).into()),
        })?;
        Ok(all)
    }
}

/// Compares the digests of a file with the stored ones, in post-order.
struct Comparison<'a, R> {
    outboard: &'a Outboard<R>,
    stored: InOrder<'a, R>,
    /// The nodes below which the stored digests are doubtful, the next first.
    blind: Peekable<vec::IntoIter<(Subtree, Truth)>>,
    /// The nodes below the next doubtful one whose stored digest differs from the file's, with the file's.
    differing: BTreeMap<Subtree, Digest>,
    found: &'a mut (dyn FnMut(Damage) -> Result<(), Error> + Send),
}

impl<R: ReadAt> Comparison<'_, R> {
    fn compare(&mut self, node: Subtree, digest: Digest) -> Result<(), Error> {
        let differs = self.stored.next()? != digest;
        match self.blind.peek() {
            Some(&(top, truth)) if is_below(node, top) => {
                if node == top {
                    self.blind.next();
                    let differing = mem::take(&mut self.differing);
                    return self.settle(top, truth, digest, &differing);
                }
                if differs {
                    self.differing.insert(node, digest);
                }
            }
            _ if differs && self.outboard.layout.is_unit(node) => (self.found)(Damage::File(node))?,
            _ => {}
        }
        Ok(())
    }

    /// Reports the damage below `node`, where stored digests are wrong: with the file's there may be enough right ones.
    fn settle(
        &mut self,
        node: Subtree,
        truth: Truth,
        digest: Digest,
        differing: &BTreeMap<Subtree, Digest>,
    ) -> Result<(), Error> {
        let outboard = self.outboard;
        let below = |above: Subtree| differing.keys().filter(move |&&other| is_below(other, above) && other != node);
        if outboard.fits(truth, digest) {
            return below(node).try_for_each(|&other| (self.found)(Damage::Outboard(other)));
        }
        if outboard.layout.is_unit(node) {
            return (self.found)(Damage::File(node));
        }
        let children: Vec<_> = outboard.layout.children(node).collect();
        let candidates = outboard.candidates(&children, differing)?;
        let Some(chosen) = outboard.choose(node, truth, &candidates) else {
            // Wrong in both: it is not known which bytes are right.
            (self.found)(Damage::Outboard(node))?;
            let units = below(node).filter(|&&other| outboard.layout.is_unit(other));
            return units.copied().try_for_each(|unit| (self.found)(Damage::File(unit)));
        };
        for ((child, candidates), right) in children.into_iter().zip(candidates).zip(chosen) {
            match candidates[..] {
                [stored, of_file] if right == stored && stored != of_file => {
                    self.settle(child, Truth::Digest(right), of_file, differing)?;
                }
                // The file's digest is right, so every stored digest below that differs is wrong.
                _ => below(child).try_for_each(|&other| (self.found)(Damage::Outboard(other)))?,
            }
        }
        Ok(())
    }
}
