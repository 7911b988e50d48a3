//! Where a file differs from the tree that was kept of it.

use super::inspect::{InOrder, Inspection, Truth, is_below, role};
use super::{Checked, Outboard, OutboardError, ReadAt, Telling};
use crate::framed::padded;
use crate::{Error, Format, Memory, NodeHash, Plan, Subtree, Subtrees, Visitor};
use alloc::collections::BTreeMap;
use alloc::vec::{self, Vec};
use core::iter::Peekable;
use core::mem;
use core::ops::Range;

/// Something that is not as it was kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// The bytes of the file under this unit.
    File(Subtree),
    /// The digest of this node in the outboard; the file is told apart.
    Outboard(Subtree),
}

impl<R: ReadAt> Outboard<R> {
    /// Tells `found` each damaged unit of the bytes `range`, from left to right, and the outboard's own damaged nodes.
    ///
    /// `source` answers for the file, and is asked for whole units: those that have a byte of `range`, and nothing else.
    /// Beside them this reads the outboard's nodes above them and O(log n) more. Where a stored digest is wrong, those
    /// around it and the file's own decide what is right; where they cannot, both are told as damaged.
    ///
    /// # Errors
    /// If `source` or `found` fails, the outboard cannot be read, or it is damaged above the range, so that only all of
    /// the file can be verified.
    pub fn damaged<const D: usize, N, S, F>(
        &self,
        format: &Format<N>,
        source: &S,
        range: Range<u64>,
        plan: &Plan,
        mut found: F,
    ) -> Result<(), Error>
    where
        N: NodeHash<Digest = [u8; D]>,
        S: Subtrees<N> + Sync,
        F: FnMut(Damage) -> Result<(), Error> + Send,
    {
        let plan = Plan { piece: self.kept.unit(), ..*plan };
        let checked = Checked::new(format, self);
        let Some(root) = self.kept.root() else {
            let empty = format.root(source, 0)?;
            return if empty == padded(&self.root) { Ok(()) } else { Err(OutboardError::Seals.into()) };
        };
        for top in self.kept.within(range) {
            let truth = match top {
                top if top == root => Truth::Root,
                top => Truth::Digest(checked.trusted(top)?.expect("it is kept")),
            };
            let Inspection { wrong, blind } = self.inspect(format, top, truth)?;
            for node in wrong {
                found(Damage::Outboard(node))?;
            }
            let mut comparison = Comparison {
                outboard: self,
                format,
                stored: InOrder::under(&self.bytes, self.kept, top, self.size()),
                blind: blind.into_iter().peekable(),
                differing: BTreeMap::new(),
                found: &mut found,
            };
            let order = self.kept.post_order_under(top);
            let telling = Telling::new(source, order, |node, digest: &[u8; D]| comparison.compare(node, *digest));
            let joined = format.join_parallel(&telling, top, role(truth), &plan);
            telling.finish(joined)?;
        }
        Ok(())
    }

    /// The units of bytes in memory that are not as they were kept: see [`Outboard::damaged`].
    ///
    /// ```
    /// let spec: mksum::Spec = "glacier".parse()?;
    /// let bytes = vec![7; 3 << 20];
    /// let outboard = mksum::Outboard::open(mksum::keep(&spec, 1 << 20, &bytes)?)?;
    /// assert!(outboard.damaged_in(&bytes)?.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If they are not as many as the file had, or the outboard is damaged.
    pub fn damaged_in(&self, bytes: &[u8]) -> Result<Vec<Subtree>, Error> {
        struct In<'a, R>(&'a Outboard<R>, &'a [u8]);
        impl<R: ReadAt> Visitor for In<'_, R> {
            type Output = Result<Vec<Subtree>, Error>;

            fn visit<const D: usize, N: NodeHash<Digest = [u8; D]>>(self, format: &Format<N>) -> Self::Output {
                let In(outboard, bytes) = self;
                let plan = Plan { threads: 1, piece: outboard.kept().unit(), group: 1 };
                let mut all = Vec::new();
                outboard.damaged(format, &Memory::new(bytes), 0..outboard.len(), &plan, |damage| match damage {
                    Damage::File(unit) => {
                        all.push(unit);
                        Ok(())
                    }
                    Damage::Outboard(node) => Err(OutboardError::Node(node).into()),
                })?;
                Ok(all)
            }
        }
        self.spec().visit(In(self, bytes))
    }
}

/// Holds the digests of a file against the stored ones, in post-order.
struct Comparison<'a, const D: usize, N: NodeHash<Digest = [u8; D]>, R: ReadAt, F> {
    outboard: &'a Outboard<R>,
    format: &'a Format<N>,
    stored: InOrder<'a, R>,
    /// Where the stored digests cannot be believed, the next first.
    blind: Peekable<vec::IntoIter<(Subtree, Truth<[u8; D]>)>>,
    /// The nodes under the next such place that are stored otherwise than the file has them, with what the file has.
    differing: BTreeMap<Subtree, [u8; D]>,
    found: F,
}

impl<const D: usize, N: NodeHash<Digest = [u8; D]>, R: ReadAt, F: FnMut(Damage) -> Result<(), Error>>
    Comparison<'_, D, N, R, F>
{
    fn compare(&mut self, node: Subtree, digest: [u8; D]) -> Result<(), Error> {
        let differs = self.stored.next::<D>()? != digest;
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
            _ if differs && self.outboard.kept.is_unit(node) => (self.found)(Damage::File(node))?,
            _ => {}
        }
        Ok(())
    }

    /// Tells what is damaged below `node`, where stored digests are wrong: with the file's there may be enough right ones.
    fn settle(
        &mut self,
        node: Subtree,
        truth: Truth<[u8; D]>,
        digest: [u8; D],
        differing: &BTreeMap<Subtree, [u8; D]>,
    ) -> Result<(), Error> {
        let outboard = self.outboard;
        let below = |above: Subtree| differing.keys().filter(move |&&other| is_below(other, above) && other != node);
        if outboard.fits(self.format, truth, digest) {
            return below(node).try_for_each(|&other| (self.found)(Damage::Outboard(other)));
        }
        if outboard.kept.is_unit(node) {
            return (self.found)(Damage::File(node));
        }
        let children: Vec<_> = outboard.kept.children(node).collect();
        let mut candidates = Vec::new();
        for child in &children {
            let stored = outboard.stored(*child)?.expect("it is kept");
            candidates.push([Some(stored), differing.get(child).copied()].into_iter().flatten().collect::<Vec<_>>());
        }
        let Some(chosen) = outboard.choose(self.format, node, truth, &candidates) else {
            // Wrong here and wrong there: what is right, nothing tells.
            (self.found)(Damage::Outboard(node))?;
            let units = below(node).filter(|&&other| outboard.kept.is_unit(other));
            return units.copied().try_for_each(|unit| (self.found)(Damage::File(unit)));
        };
        for ((child, candidates), right) in children.into_iter().zip(candidates).zip(chosen) {
            match candidates[..] {
                [stored, of_file] if right == stored && stored != of_file => {
                    self.settle(child, Truth::Digest(right), of_file, differing)?;
                }
                // The file has the right one: whatever is stored otherwise below it is wrong.
                _ => below(child).try_for_each(|&other| (self.found)(Damage::Outboard(other)))?,
            }
        }
        Ok(())
    }
}
