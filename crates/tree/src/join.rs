//! The join: the one recursion from subtree digests to a root.

use crate::hashing::ParentHasher;
use crate::shape::Children;
use crate::{
    Digest, Digests, Edge, Error, LengthError, Memory, Messages, Recipe, Role, Root, Shape, Spec, Subtree, Subtrees,
};

impl Spec {
    /// The root of bytes in memory.
    ///
    /// ```
    /// let spec: mksum::Spec = "blake3".parse()?;
    /// let root = spec.root(b"")?;
    /// assert_eq!(root.to_string(), "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the format has no root for this length.
    pub fn root(&self, bytes: &[u8]) -> Result<Root, Error> {
        self.root_digest(bytes).map(|digest| self.root_with_digest(digest, bytes.len() as u64))
    }

    /// The digest of the root of bytes in memory: equals `root(bytes)?.digest()`, without the cost of a [`Root`].
    ///
    /// # Errors
    /// If the format has no root for this length.
    pub fn root_digest(&self, bytes: &[u8]) -> Result<Digest, Error> {
        let len = bytes.len() as u64;
        if let Some(digest) = self.nodes().whole(bytes) {
            return Ok(digest);
        }
        self.digest_by(len, &mut |top| self.join(&Memory::new(bytes), top, Role::Root))
    }

    /// The root of `len` bytes from the subtrees that `source` has, asked for on this thread.
    ///
    /// # Errors
    /// If the format has no root for this length, or `source` fails or lacks a leaf.
    pub fn root_from(&self, source: &dyn Subtrees, len: u64) -> Result<Root, Error> {
        self.root_by(len, |top| self.join(source, top, Role::Root))
    }

    /// The root of `len` bytes, with the top node's digest from `join`.
    pub(crate) fn root_by(
        &self,
        len: u64,
        mut join: impl FnMut(Subtree) -> Result<Digest, Error>,
    ) -> Result<Root, Error> {
        self.digest_by(len, &mut join).map(|digest| self.root_with_digest(digest, len))
    }

    /// The digest of that root.
    fn digest_by(&self, len: u64, join: &mut dyn FnMut(Subtree) -> Result<Digest, Error>) -> Result<Digest, Error> {
        let shape = self.shape();
        shape.check(len)?;
        let top = match len {
            0 => self.nodes().empty().ok_or_else(|| LengthError { len, rule: "at least one byte".into() })?,
            _ => join(shape.root(len))?,
        };
        Ok(self.nodes().seal(top, len))
    }

    /// The root of `len` bytes whose top node has the digest `top`.
    ///
    /// # Panics
    /// If `top` has another size than the format's digests.
    pub fn seal(&self, top: Digest, len: u64) -> Root {
        assert_eq!(top.as_bytes().len(), self.hash().size(), "a digest of {}", self.hash().name());
        Root::new(self.clone(), len, self.nodes().seal(top, len))
    }

    /// The root of `len` bytes that has this digest: one that was computed elsewhere, [sealed](Spec::seal) already.
    ///
    /// # Panics
    /// If the digest has another size than the format's.
    pub fn root_with_digest(&self, digest: Digest, len: u64) -> Root {
        assert_eq!(digest.as_bytes().len(), self.hash().size(), "a digest of {}", self.hash().name());
        Root::new(self.clone(), len, digest)
    }

    /// The digest of `node`: from `source`, or else joined from its children's.
    ///
    /// Joins at most 64 levels, one child after the other: a source that computes in parallel runs ahead of the join.
    ///
    /// # Errors
    /// If `source` fails or lacks a leaf.
    pub fn join(&self, source: &dyn Subtrees, node: Subtree, role: Role) -> Result<Digest, Error> {
        let digest = match source.digest(self, node, role)? {
            Some(digest) => digest,
            None if node.level == 0 => return Err(Error::Missing(node)),
            None => {
                let mut parent = self.nodes().parent_hasher(role);
                self.join_children(source, &mut parent, self.shape().children(node))?;
                self.padding(node).for_each(|pad| parent.push(&pad, 0));
                parent.finish()
            }
        };
        source.joined(node, &digest);
        Ok(digest)
    }

    /// Joins each of `children` and appends it to `parent`.
    pub(crate) fn join_children(
        &self,
        source: &dyn Subtrees,
        parent: &mut ParentHasher,
        mut children: Children,
    ) -> Result<(), Error> {
        children.try_for_each(|child| {
            parent.push(&self.join(source, child, Role::Inner)?, child.len);
            Ok(())
        })
    }

    /// The digest of `node` over the digests of its children, left to right.
    pub(crate) fn parent(&self, node: Subtree, children: impl IntoIterator<Item = Digest>, role: Role) -> Digest {
        let lengths = self.shape().children(node).map(|child| child.len).chain(core::iter::repeat(0));
        self.nodes().parent(children.into_iter().chain(self.padding(node)).zip(lengths), role)
    }

    /// The digests that stand in for the children that `node` lacks at the right edge.
    fn padding(&self, node: Subtree) -> impl Iterator<Item = Digest> {
        let missing = self.shape().missing(node) as usize;
        let pad = if missing > 0 { self.pad(node.level) } else { self.nodes().zero() };
        core::iter::repeat_n(pad, missing)
    }

    /// The digest that stands in for a missing child of a node at `level`.
    pub(crate) fn pad(&self, level: u32) -> Digest {
        match self.shape() {
            Shape::Even { arity, edge: Edge::PadSubtree, .. } => (1..level).fold(self.nodes().zero(), |below, _| {
                self.nodes().parent(core::iter::repeat_n((below, 0), arity as usize), Role::Inner)
            }),
            _ => self.nodes().zero(),
        }
    }

    /// The digest of the leaf that begins at byte `start`.
    pub fn leaf_digest(&self, start: u64, bytes: &[u8], role: Role) -> Digest {
        self.nodes().leaf(start, bytes, role)
    }

    /// Appends the digests of inner leaves of one length that follow one another, the first beginning at byte `start`:
    /// many side by side.
    pub fn leaf_digests(&self, start: u64, leaves: Messages<'_>, out: &mut Digests) {
        self.nodes().leaves(start, leaves, out);
    }

    /// Appends the digests of the inner parents of `children`, digests one after another, as many to a parent as the shape has: many side
    /// by side.
    ///
    /// # Panics
    /// If the shape is not even, or the children are not those of whole parents.
    pub fn parent_digests(&self, children: &[u8], out: &mut Digests) {
        let Shape::Even { arity, .. } = self.shape() else { panic!("the shape is not even") };
        assert!(children.len().is_multiple_of(self.nodes().size() * arity as usize), "whole parents");
        self.nodes().parents(children, arity as usize, out);
    }

    /// The hashes of a leaf and of a parent as plain data; `None` where no [`Recipe`] describes them.
    pub fn recipe(&self) -> Option<Recipe<'_>> {
        self.nodes().recipe()
    }

    /// Whether a root has another digest than the same node within a larger tree.
    pub fn marks_root(&self) -> bool {
        self.nodes().marks_root()
    }

    /// Whether equal bytes at another offset give another digest.
    pub fn depends_on_start(&self) -> bool {
        self.nodes().depends_on_start()
    }
}
