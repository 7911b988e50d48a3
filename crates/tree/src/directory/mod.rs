//! The root of a directory: a tree of RFC 6962 over its entries (`spec/directory.md`).

mod entry;
mod proof;
mod spec;

pub use entry::{Content, Entry, EntryError};
pub use proof::{EntryProof, EntryProofError};
pub use spec::DirectorySpec;

use crate::{Digest, Digests, Error, Role, Root, Spec, Subtree, Subtrees};
use alloc::vec::Vec;
use core::cmp::Ordering;

/// The leaves of a directory's tree, which are added in the order of their paths: O(1) memory each, a digest.
///
/// ```
/// use mksum::directory::{Content, DirectorySpec, Entry, Leaves};
///
/// let spec: DirectorySpec = "dir:sha256".parse()?;
/// let mut leaves = Leaves::new(&spec);
/// let root = spec.file().root(b"hello")?;
/// leaves.push(&Entry { path: b"a", content: Content::File(root), mode: 0o644, modified: (0, 0) })?;
/// leaves.push(&Entry { path: b"b", content: Content::Link(b"a"), mode: 0, modified: (0, 0) })?;
/// assert_eq!(leaves.root()?.len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Leaves {
    spec: DirectorySpec,
    digests: Digests,
    last: Vec<u8>,
}

impl Leaves {
    /// None yet.
    pub fn new(spec: &DirectorySpec) -> Self {
        Leaves { spec: spec.clone(), digests: Digests::new(spec.tree().hash().size()), last: Vec::new() }
    }

    /// Adds an entry.
    ///
    /// # Errors
    /// If its path does not follow that of the last one, or it is none of this format.
    pub fn push(&mut self, entry: &Entry<'_>) -> Result<(), EntryError> {
        let bytes = self.spec.encode(entry)?;
        if !self.digests.is_empty() && self.last.as_slice().cmp(entry.path) != Ordering::Less {
            return Err(EntryError::Order);
        }
        self.last.clear();
        self.last.extend_from_slice(entry.path);
        self.digests.push(self.spec.leaf(&bytes));
        Ok(())
    }

    /// The number of entries.
    pub fn len(&self) -> u64 {
        self.digests.len() as u64
    }

    /// Whether there are none: an empty directory has a root, too.
    pub fn is_empty(&self) -> bool {
        self.digests.is_empty()
    }

    /// The root over all entries so far; its length is their number.
    ///
    /// # Errors
    /// None that this source can cause.
    pub fn root(&self) -> Result<Root, Error> {
        self.spec.tree().root_from(self, self.len())
    }
}

impl Subtrees for Leaves {
    fn digest(&self, _: &Spec, node: Subtree, _: Role) -> Result<Option<Digest>, Error> {
        Ok(if node.level == 0 { self.digests.get(node.start as usize) } else { None })
    }
}
