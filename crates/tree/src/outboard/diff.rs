//! Where two files differ, from their outboards alone.

use super::{Checked, Outboard, OutboardError, ReadAt};
use crate::cover::Walk;
use crate::{Error, Shape, Subtree};
use alloc::string::ToString;
use core::ops::Range;

impl<R: ReadAt> Outboard<R> {
    /// Reports to `found` the ranges in which this file and another differ, left to right, in bytes of whole units.
    ///
    /// Follows differing nodes from the root down, so the time depends on the differences and not on the files: each unit
    /// costs a path of O(log n) nodes, which are checked on both sides. The bytes that only the longer file has are the last
    /// range. Two units of different lengths at the ragged end differ.
    ///
    /// ```
    /// use mksum::Spec;
    /// use mksum::outboard::{Outboard, keep};
    ///
    /// let spec: Spec = "blake3".parse()?;
    /// let (ours, mut theirs) = (vec![7; 100_000], vec![7; 100_000]);
    /// theirs[5000] = 8;
    /// let outboards = (Outboard::open(keep(&spec, 1024, &ours)?)?, Outboard::open(keep(&spec, 1024, &theirs)?)?);
    /// outboards.0.diff(&outboards.1, &mut |range| {
    ///     assert_eq!(range, 4096..5120);
    ///     Ok(())
    /// })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the outboards are not of one format, cannot be read, or are damaged where they differ; if `found` fails.
    pub fn diff<O: ReadAt>(
        &self,
        other: &Outboard<O>,
        found: &mut dyn FnMut(Range<u64>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if self.spec() != other.spec() {
            let [ours, theirs] = [self.spec(), other.spec()].map(ToString::to_string);
            return Err(OutboardError::Formats { ours, theirs }.into());
        }
        let (ours, theirs) = (self.layout, other.layout);
        let both = ours.len().min(theirs.len());
        if self.root() == other.root() {
            return Ok(());
        }
        let moved = ours.len() != theirs.len() && matches!(ours.shape(), Shape::Halved { .. });
        let (Some(our_root), Some(their_root), false) = (ours.root(), theirs.root(), moved) else {
            return found(0..ours.len().max(theirs.len()));
        };
        let (left, right) = (Checked::new(self), Checked::new(other));
        let mut walk = Walk::new(ours.shape(), Some(our_root));
        while let Some(node) = walk.next() {
            if node.start >= both {
                walk.pass(u64::MAX);
                continue;
            }
            // The digest of a root is no inner node's, be it over the same bytes.
            let alike = (node == our_root) == (node == their_root);
            if alike && let Some(digest) = right.trusted(node)? {
                if left.trusted(node)? == Some(digest) {
                    continue;
                }
                if theirs.is_unit(node) {
                    found(shared(node, both))?;
                    continue;
                }
            }
            match ours.is_unit(node) {
                true => found(shared(node, both))?,
                false => walk.enter(node),
            }
        }
        match both..ours.len().max(theirs.len()) {
            rest if rest.is_empty() => Ok(()),
            rest => found(rest),
        }
    }
}

/// The bytes of `node` that both files have.
fn shared(node: Subtree, both: u64) -> Range<u64> {
    node.start..node.end().min(both)
}
