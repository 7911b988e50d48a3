//! Where two files differ, from their outboards alone.

use super::{Checked, Outboard, OutboardError, ReadAt};
use crate::{Error, Format, NodeHash, Shape, Subtree, Visitor};
use alloc::string::ToString;
use alloc::vec;
use core::ops::Range;

impl<R: ReadAt> Outboard<R> {
    /// Tells `found` the ranges in which this file and another differ, from left to right, in bytes of whole units.
    ///
    /// Follows differing nodes from the root down, so that it takes time for what differs and not for the files: each unit
    /// costs a path of O(log n) nodes, which are checked on both sides. What the longer file has more is the last range.
    /// Where two units have different lengths at the ragged end, they differ.
    ///
    /// ```
    /// use mksum::{Outboard, Spec, keep};
    ///
    /// let spec: Spec = "blake3".parse()?;
    /// let (ours, mut theirs) = (vec![7; 100_000], vec![7; 100_000]);
    /// theirs[5000] = 8;
    /// let outboards = (Outboard::open(keep(&spec, 1024, &ours)?)?, Outboard::open(keep(&spec, 1024, &theirs)?)?);
    /// outboards.0.diff(&outboards.1, |range| {
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
        found: impl FnMut(Range<u64>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if self.spec() != other.spec() {
            let [ours, theirs] = [self.spec(), other.spec()].map(ToString::to_string);
            return Err(OutboardError::Formats { ours, theirs }.into());
        }
        self.spec().visit(Diff { ours: self, theirs: other, found })
    }
}

struct Diff<'a, R, O, F> {
    ours: &'a Outboard<R>,
    theirs: &'a Outboard<O>,
    found: F,
}

impl<R: ReadAt, O: ReadAt, F: FnMut(Range<u64>) -> Result<(), Error>> Visitor for Diff<'_, R, O, F> {
    type Output = Result<(), Error>;

    fn visit<const D: usize, N: NodeHash<Digest = [u8; D]>>(mut self, format: &Format<N>) -> Result<(), Error> {
        let (ours, theirs) = (self.ours.kept(), self.theirs.kept());
        let both = ours.len().min(theirs.len());
        if ours.len() == theirs.len() && self.ours.root == self.theirs.root {
            return Ok(());
        }
        let moved = ours.len() != theirs.len() && matches!(ours.shape(), Shape::Halved { .. });
        let (Some(our_root), Some(their_root), false) = (ours.root(), theirs.root(), moved) else {
            return (self.found)(0..ours.len().max(theirs.len()));
        };
        let (left, right) = (Checked::new(format, self.ours), Checked::new(format, self.theirs));
        let mut open = vec![our_root];
        while let Some(node) = open.pop() {
            if node.start >= both {
                continue;
            }
            // The digest of a root is no inner node's, be it over the same bytes.
            let alike = (node == our_root) == (node == their_root);
            if alike && let Some(digest) = right.trusted(node)? {
                if left.trusted(node)? == Some(digest) {
                    continue;
                }
                if theirs.is_unit(node) {
                    (self.found)(self::shared(node, both))?;
                    continue;
                }
            }
            if ours.is_unit(node) {
                (self.found)(self::shared(node, both))?;
                continue;
            }
            let first = open.len();
            open.extend(ours.children(node));
            open[first..].reverse();
        }
        match both..ours.len().max(theirs.len()) {
            rest if rest.is_empty() => Ok(()),
            rest => (self.found)(rest),
        }
    }
}

/// The bytes of `node` that both files have.
fn shared(node: Subtree, both: u64) -> Range<u64> {
    node.start..node.end().min(both)
}
