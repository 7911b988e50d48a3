//! An outboard as a source of subtrees: every digest is checked against the root before it is handed out.

use super::{Outboard, OutboardError, ReadAt};
use crate::lock::Lock;
use crate::{Digest, Digests, Error, Memory, Role, Spec, Subtree, Subtrees};
use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

/// An outboard, or a reference to one.
#[derive(Debug)]
enum Held<'a, R> {
    Owned(Outboard<R>),
    Borrowed(&'a Outboard<R>),
}

/// The digests of an outboard, each checked against its parent's on the way down from the root when it is asked for.
///
/// One that was not asked for before costs a read of its siblings and a hash for each level that is new: O(log n), and in
/// a flat tree O(n) once. It never answers a root: the join is to find it.
#[derive(Debug)]
pub struct Checked<'a, R> {
    outboard: Held<'a, R>,
    /// The digests that were found right.
    known: Lock<BTreeMap<Subtree, Digest>>,
}

impl<'a, R: ReadAt> Checked<'a, R> {
    /// The digests remembered at most, but for those of one path.
    const REMEMBERED: usize = 1 << 16;

    /// The source for the format of `outboard`.
    pub fn new(outboard: &'a Outboard<R>) -> Self {
        Checked { outboard: Held::Borrowed(outboard), known: Lock::default() }
    }

    /// The source for the format of `outboard`, which it keeps.
    pub fn owning(outboard: Outboard<R>) -> Self {
        Checked { outboard: Held::Owned(outboard), known: Lock::default() }
    }

    /// The outboard.
    pub fn outboard(&self) -> &Outboard<R> {
        match &self.outboard {
            Held::Owned(outboard) => outboard,
            Held::Borrowed(outboard) => outboard,
        }
    }

    /// The digest of a kept node, the root's included; `None` if `node` is not kept.
    ///
    /// # Errors
    /// If the outboard cannot be read, or is damaged on the way from the root to `node`.
    pub fn trusted(&self, node: Subtree) -> Result<Option<Digest>, Error> {
        let layout = self.outboard().layout();
        let mut known = self.known.lock();
        // Its sibling was asked for, mostly.
        if let Some(digest) = known.get(&node) {
            return Ok(Some(*digest));
        }
        let (Some(root), Some(_)) = (layout.root(), layout.place(node)) else { return Ok(None) };
        if known.len() > Self::REMEMBERED {
            known.clear();
        }
        if !known.contains_key(&root) {
            let (digest, children) = match layout.is_unit(root) {
                true => (self.outboard().stored(root)?.expect("the root is kept"), Vec::new()),
                false => self.children(root, Role::Root)?,
            };
            if !self.outboard().is_top(digest) {
                return Err(OutboardError::Node(root).into());
            }
            known.extend(children);
            known.insert(root, digest);
        }
        let mut at = root;
        while at != node {
            let child = layout.shape().child_over(at, node).1;
            if !known.contains_key(&child) {
                let (digest, children) = self.children(at, Role::Inner)?;
                if known.get(&at) != Some(&digest) && at != root {
                    return Err(OutboardError::Node(at).into());
                }
                known.extend(children);
            }
            at = child;
        }
        Ok(known.get(&node).copied())
    }

    /// Whether `bytes` are those of the kept unit `unit`.
    ///
    /// # Errors
    /// As [`Checked::trusted`]; if there are not as many bytes as the unit has.
    pub fn accepts(&self, unit: Subtree, bytes: &[u8]) -> Result<bool, Error> {
        let digest = self.outboard().spec().map(self.outboard().len(), unit, bytes)?;
        Ok(self.trusted(unit)? == Some(digest))
    }

    /// Whether `bytes` are right in each of `units`, kept units that follow one another: they are hashed side by side, several times as fast
    /// as one after the other.
    ///
    /// # Errors
    /// As [`Checked::accepts`], and if there are not as many bytes as the units have.
    pub fn accepts_each(&self, units: &[Subtree], bytes: &[u8]) -> Result<Vec<bool>, Error> {
        let (spec, mut digests) = (self.outboard().spec(), Digests::new(self.outboard().spec().hash().size()));
        match *units {
            [] => {}
            // It may be the root.
            [unit] => digests.push(spec.map(self.outboard().len(), unit, bytes)?),
            [first, ..] => Memory::from(first.start, bytes).digests(spec, units, &mut digests)?,
        }
        self.are_right(units, &digests)
    }

    /// Whether each of `units`, kept units that follow one another, has its digest of `digests`.
    ///
    /// Right units make a right node above them: one digest of the outboard is read for many, and each unit's only if one is not right.
    ///
    /// # Errors
    /// If the outboard cannot be read, or is damaged on the way from the root to one of them.
    pub fn are_right(&self, units: &[Subtree], digests: &Digests) -> Result<Vec<bool>, Error> {
        let (Some(first), Some(last)) = (units.first(), units.last()) else { return Ok(Vec::new()) };
        let (outboard, made) = (self.outboard(), Made { units, digests });
        let is_right = |node| {
            let role = outboard.spec().role(outboard.len(), node);
            Ok::<_, Error>(self.trusted(node)? == Some(outboard.spec().join(&made, node, role)?))
        };
        let mut tops = outboard.layout().within(first.start..last.end());
        if tops.try_fold(true, |all, node| Ok::<_, Error>(all && is_right(node)?))? {
            return Ok(vec![true; units.len()]);
        }
        units.iter().zip(digests.iter()).map(|(unit, digest)| Ok(self.trusted(*unit)? == Some(digest))).collect()
    }

    /// The digest that the stored children of `node` make, and those children.
    fn children(&self, node: Subtree, role: Role) -> Result<(Digest, Vec<(Subtree, Digest)>), Error> {
        let children = self.outboard().layout().children(node);
        let stored = children.map(|child| Ok((child, self.outboard().stored(child)?.expect("it is kept"))));
        let stored = stored.collect::<Result<Vec<_>, Error>>()?;
        let digests = stored.iter().map(|(_, digest)| *digest);
        Ok((self.outboard().spec().parent(node, digests, role), stored))
    }
}

/// The digests of units that follow one another.
struct Made<'a> {
    units: &'a [Subtree],
    digests: &'a Digests,
}

impl Subtrees for Made<'_> {
    fn digest(&self, _: &Spec, node: Subtree, _: Role) -> Result<Option<Digest>, Error> {
        Ok(self.units.binary_search(&node).ok().and_then(|place| self.digests.get(place)))
    }
}

impl<R: ReadAt> Subtrees for Checked<'_, R> {
    fn digest(&self, _: &Spec, node: Subtree, role: Role) -> Result<Option<Digest>, Error> {
        if role == Role::Root { Ok(None) } else { self.trusted(node) }
    }
}
